/* exec_env.c - see exec_env.h.
 *
 * In two passes, since the caller provides the memory: exec_env_bytes counts what exec_env_fill
 * then writes; the two must agree. */
#include "process/exec_env.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "state/run.h"
#include "sys/keep.h"

#define MAX_OURS 32u
#define PRELOAD "LD_PRELOAD="
#define PRELOAD_LENGTH (sizeof PRELOAD - 1)

/* Variables of ours, NAME=VALUE, the first of them LD_PRELOAD. Written in SETUP. */
static char *ours[MAX_OURS];
static size_t n_ours;
static const char *library_name;

/* SETUP */
static void keep(const char *variable)
{
    char *copy = n_ours < MAX_OURS ? keep_text(variable) : NULL;
    if (copy != NULL)
        ours[n_ours++] = copy;
}

/* SETUP */
void exec_env_setup(const char *library_path)
{
    const char *slash = strrchr(library_path, '/');
    library_name = slash != NULL ? slash + 1 : library_path;
    n_ours = 0;
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++)
        if (strncmp(*variable, PRELOAD, PRELOAD_LENGTH) == 0 &&
            strstr(*variable, library_name) != NULL)
            keep(*variable);
    if (n_ours != 1) {
        n_ours = 0; /* not by LD_PRELOAD (ld.so.preload, say): it needs no help */
        return;
    }
    for (char **variable = environ; *variable != NULL; variable++)
        if (strncmp(*variable, "SAMPLER_", 8) == 0)
            keep(*variable);
}

/* The place of the variable of the same name, or NULL. HOOK */
static char *const *same_name(char *const envp[], const char *variable)
{
    size_t length = strcspn(variable, "=") + 1;
    for (; envp != NULL && *envp != NULL; envp++)
        if (strncmp(*envp, variable, length) == 0)
            return envp;
    return NULL;
}

/* HOOK */
static bool is_wanted(void)
{
    return n_ours != 0 && session_phase() == SESSION_RUNNING && session.settings.follow;
}

/* HOOK */
size_t exec_env_bytes(char *const envp[])
{
    size_t n = 0, n_missing = 0, n_text = 0;
    if (!is_wanted())
        return 0;
    for (; envp != NULL && envp[n] != NULL; n++)
        continue;
    char *const *preload = same_name(envp, PRELOAD);
    if (preload != NULL && strstr(*preload, library_name) == NULL)
        n_text = strlen(ours[0]) + strlen(*preload) + 2;
    for (size_t i = 0; i < n_ours; i++)
        n_missing += same_name(envp, ours[i]) == NULL;
    return n_missing == 0 && n_text == 0 ? 0 : (n + n_missing + 1) * sizeof(char *) + n_text;
}

/* HOOK */
char *const *exec_env_fill(void *room, char *const envp[])
{
    char **out = room;
    size_t n = 0;
    char **joined = NULL;
    for (; envp != NULL && envp[n] != NULL; n++) {
        out[n] = envp[n];
        if (joined == NULL && strncmp(out[n], PRELOAD, PRELOAD_LENGTH) == 0 &&
            strstr(out[n], library_name) == NULL)
            joined = &out[n];
    }
    for (size_t i = 0; i < n_ours; i++)
        if (same_name(envp, ours[i]) == NULL)
            out[n++] = ours[i];
    out[n++] = NULL;
    if (joined != NULL) {
        char *text = (char *)&out[n];
        const char *theirs = *joined + PRELOAD_LENGTH;
        *joined = text;
        size_t length = strlen(ours[0]);
        memcpy(text, ours[0], length);
        text[length] = ':';
        memcpy(text + length + 1, theirs, strlen(theirs) + 1);
    }
    return out;
}
