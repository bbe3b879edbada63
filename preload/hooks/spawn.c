/* spawn.c - posix_spawn: a program that cannot be recorded is noted, and our part of its
 * environment put back. system() and popen() spawn inside libc, and always a shell, which can be
 * recorded. */
#include "hooks/hooks.h"
#include "process/exec_env.h"
#include "process/report.h"
#include "threads/children.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

/* HOOK */
struct program_kind hooks_kind_of(const char *path)
{
    const struct program_kind none = {0};
    return session_phase() == SESSION_RUNNING && path != NULL ? program_kind(path) : none;
}

/* HOOK */
uint32_t hooks_why_missed(const struct program_kind *kind, char *const envp[])
{
    if (kind->missed != 0 || session_phase() != SESSION_RUNNING)
        return kind->missed;
    return program_kind_of_environment(envp, report_library_path());
}

/* HOOK */
static void note_spawned(int error, const char *path, uint32_t why_missed)
{
    if (why_missed != 0 && path != NULL && error == 0)
        children_missed(path, why_missed);
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
    struct program_kind kind = hooks_kind_of(path);
    char *const *given;
    EXEC_ENV(given, envp, &kind);
    int error = LIBC_REAL(posix_spawn)(pid, path, actions, attributes, argv, given);
    note_spawned(error, path, hooks_why_missed(&kind, given));
    return error;
}

/* HOOK */
HOOK_EXPORT int posix_spawnp(pid_t *pid, const char *file, const void *actions,
                             const void *attributes, char *const argv[], char *const envp[])
{
    char found[1024];
    const char *path =
        session_phase() == SESSION_RUNNING ? program_find_in_path(file, found, sizeof found) : NULL;
    struct program_kind kind = hooks_kind_of(path);
    char *const *given;
    EXEC_ENV(given, envp, &kind);
    int error = LIBC_REAL(posix_spawnp)(pid, file, actions, attributes, argv, given);
    note_spawned(error, path, hooks_why_missed(&kind, given));
    return error;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
