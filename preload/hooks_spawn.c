/* hooks_spawn.c - posix_spawn with an environment of the program's own making: ours is put back. */
#include "exec_env.h"
#include "hooks.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

/* <spawn.h> of libc has a name that one of our headers has too, so these declare them. */
HOOK_EXPORT int posix_spawn(pid_t *pid, const char *path, const void *actions,
                            const void *attributes, char *const argv[], char *const envp[]);
HOOK_EXPORT int posix_spawnp(pid_t *pid, const char *file, const void *actions,
                             const void *attributes, char *const argv[], char *const envp[]);

/* HOOK */
HOOK_EXPORT int posix_spawn(pid_t *pid, const char *path, const void *actions,
                            const void *attributes, char *const argv[], char *const envp[])
{
    char *const *given;
    EXEC_ENV(given, envp);
    return libc_real()->posix_spawn(pid, path, actions, attributes, argv, given);
}

/* HOOK */
HOOK_EXPORT int posix_spawnp(pid_t *pid, const char *file, const void *actions,
                             const void *attributes, char *const argv[], char *const envp[])
{
    char *const *given;
    EXEC_ENV(given, envp);
    return libc_real()->posix_spawnp(pid, file, actions, attributes, argv, given);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
