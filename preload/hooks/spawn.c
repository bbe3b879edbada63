/* spawn.c - posix_spawn: a program that cannot be recorded is noted, and our part of its
 * environment put back. system() and popen() spawn inside libc, and always a shell, which can be
 * recorded. */
#include "hooks/hooks.h"
#include "process/exec_env.h"
#include "process/program_kind.h"
#include "process/report.h"
#include "threads/children.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

/* Why `path` started with `envp` cannot be recorded, or 0. HOOK */
uint32_t hooks_kind_of(const char *path, char *const envp[])
{
    if (session_phase() != SESSION_RUNNING || path == NULL)
        return 0;
    uint32_t kind = program_kind(path);
    return kind != 0 ? kind : program_kind_of_environment(envp, report_library_path());
}

/* Declared here, without the types of <spawn.h>: actions and attributes are passed through
 * unread. */
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
    uint32_t kind = hooks_kind_of(path, given);
    int error = libc_real()->posix_spawn(pid, path, actions, attributes, argv, given);
    if (kind != 0 && error == 0)
        children_missed(path, kind);
    return error;
}

/* HOOK */
HOOK_EXPORT int posix_spawnp(pid_t *pid, const char *file, const void *actions,
                             const void *attributes, char *const argv[], char *const envp[])
{
    char *const *given;
    EXEC_ENV(given, envp);
    char found[1024];
    const char *path =
        session_phase() == SESSION_RUNNING ? program_find_in_path(file, found, sizeof found) : NULL;
    uint32_t kind = hooks_kind_of(path, given);
    int error = libc_real()->posix_spawnp(pid, file, actions, attributes, argv, given);
    if (kind != 0 && error == 0)
        children_missed(path, kind);
    return error;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
