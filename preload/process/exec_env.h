/* exec_env.h - the environment of a program about to be started, with ours in it.
 *
 * Programs start others with an environment of their own making (clearenv, env -i, su, login, build
 * tools). Where children are followed, what makes them followed is put back: LD_PRELOAD as it was
 * at our start, in front of what is there, and the SAMPLER_ variables that are missing.
 * Context    exec_env_setup: SETUP. The rest: HOOK; also in a vfork child, so the new environment
 * lies on the caller's stack. */
#ifndef SAMPLER_PRELOAD_PROCESS_EXEC_ENV_H
#define SAMPLER_PRELOAD_PROCESS_EXEC_ENV_H

#include <alloca.h>
#include <stddef.h>

void exec_env_setup(const char *library_path);

/* Bytes for exec_env_fill, 0 = `envp` is right as it is. */
size_t exec_env_bytes(char *const envp[]);

/* Fills `room`, of exec_env_bytes(envp), and returns the environment in it. */
char *const *exec_env_fill(void *room, char *const envp[]);

/* Makes `given` what is to be used in place of `envp`. */
#define EXEC_ENV(given, envp)                                                                      \
    do {                                                                                           \
        size_t exec_env_n_bytes = exec_env_bytes(envp);                                            \
        (given) = (envp);                                                                          \
        if (exec_env_n_bytes != 0)                                                                 \
            (given) = exec_env_fill(alloca(exec_env_n_bytes), envp);                               \
    } while (0)

#endif
