/* jit_env.h - `sampler-run --jit`: the environment by which runtimes say what code they make. */
#ifndef SAMPLER_CLI_JIT_ENV_H
#define SAMPLER_CLI_JIT_ENV_H

#include <stdbool.h>

/* Sets it in this process, after what is there: to be called in the child that becomes the program.
 * False with errno when out of memory. */
bool jit_env_set(void);

#endif
