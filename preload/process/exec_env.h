/* exec_env.h - the environment of a program about to be started, with ours in it or without.
 *
 * Programs start others with an environment of their own making (clearenv, env -i, su, login, build
 * tools). Where children are followed, what makes them followed is put back: our LD_PRELOAD as it
 * was at our start, before the one that is there, and the SAMPLER_ variables that are missing.
 * Nothing is done where the library did not come by LD_PRELOAD (ld.so.preload), as it needs no help
 * there.
 *
 * A program that needs a sanitizer's runtime gets that before ours (sanitizer.h); this program's own
 * environment is without it, for what starts programs past our hooks.
 *
 * A program of another libc does not start with our library, and one for another processor has its
 * dynamic linker complain: they get what is there without it. What such a program starts in its turn
 * is not followed.
 *
 * Limits     31 variables of ours besides LD_PRELOAD; further ones are not put back.
 * Context    where nothing else is stated: HOOK; also in a vfork child, so the new environment
 *            lies on the caller's stack, and nothing is allocated. */
#ifndef SAMPLER_EXEC_ENV_H
#define SAMPLER_EXEC_ENV_H

#include <alloca.h>
#include <stdbool.h>
#include <stddef.h>

#include "process/program_kind.h"

/* Keeps copies of what is ours in the environment. `library_path` is kept, not copied. SETUP */
void exec_env_setup(const char *library_path);

/* `variable`, NAME=VALUE, is one more of ours, and replaces what is there of that name; copied. One
 * at a time. SETUP, HOOK in a forked child */
void exec_env_set(const char *variable);

/* Whether what is started gets what is ours. any context */
bool exec_env_is_given(void);

/* Takes the library of file name `name` out of a list as LD_PRELOAD has it, in place. any
 * context */
void exec_env_remove(char *list, const char *name);

/* The bytes that exec_env_fill needs for a program of this kind; 0 = `envp` is
 * right as it is. */
size_t exec_env_bytes(char *const envp[], const struct program_kind *kind);

/* Fills `room`, of as many bytes, and returns the environment in it; it points to texts of `envp`,
 * of `room` and of ours. */
char *const *exec_env_fill(void *room, char *const envp[], const struct program_kind *kind);

/* Sets `given` to the environment to use in place of `envp`. A macro, since it lives in the
 * caller's frame. */
#define EXEC_ENV(given, envp, kind)                                                                \
    do {                                                                                           \
        size_t exec_env_n_bytes = exec_env_bytes(envp, kind);                                      \
        (given) = (envp);                                                                          \
        if (exec_env_n_bytes != 0)                                                                 \
            (given) = exec_env_fill(alloca(exec_env_n_bytes), envp, kind);                         \
    } while (0)

#endif
