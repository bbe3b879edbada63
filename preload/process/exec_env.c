/* exec_env.c - see exec_env.h.
 *
 * In two passes, since the caller provides the memory: exec_env_bytes counts what exec_env_fill
 * then writes; the two must agree. */
#include "process/exec_env.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
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

/* any context */
void exec_env_remove(char *list, const char *name)
{
    char *to = list;
    size_t name_length = strlen(name);
    for (char *from = list; *from != '\0';) {
        size_t length = strcspn(from, ": ");
        size_t whole = length + (from[length] != '\0');
        bool is_ours = length >= name_length &&
                       memcmp(from + length - name_length, name, name_length) == 0 &&
                       (length == name_length || from[length - name_length - 1] == '/');
        if (!is_ours) {
            memmove(to, from, whole);
            to += whole;
        }
        from += whole;
    }
    *to = '\0';
    if (to > list && (to[-1] == ':' || to[-1] == ' '))
        to[-1] = '\0';
}

/* Whether the library is in this variable's list. HOOK */
static bool names_library(const char *variable)
{
    return strncmp(variable, PRELOAD, PRELOAD_LENGTH) == 0 &&
           strstr(variable, library_name) != NULL;
}

/* ---- with ours ------------------------------------------------------------------------------ */

/* HOOK */
static size_t bytes_with(char *const envp[])
{
    size_t n = 0, n_missing = 0, n_text = 0;
    for (; envp != NULL && envp[n] != NULL; n++)
        continue;
    char *const *preload = same_name(envp, PRELOAD);
    if (preload != NULL && !names_library(*preload))
        n_text = strlen(ours[0]) + strlen(*preload) + 2;
    for (size_t i = 0; i < n_ours; i++)
        n_missing += same_name(envp, ours[i]) == NULL;
    return n_missing == 0 && n_text == 0 ? 0 : (n + n_missing + 1) * sizeof(char *) + n_text;
}

/* HOOK */
static char *const *fill_with(void *room, char *const envp[])
{
    char **out = room;
    size_t n = 0;
    char **joined = NULL;
    for (; envp != NULL && envp[n] != NULL; n++) {
        out[n] = envp[n];
        if (joined == NULL && strncmp(out[n], PRELOAD, PRELOAD_LENGTH) == 0 &&
            !names_library(out[n]))
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

/* ---- without the library -------------------------------------------------------------------- */

/* HOOK */
static size_t bytes_without(char *const envp[])
{
    size_t n = 0, n_text = 0;
    for (; envp != NULL && envp[n] != NULL; n++)
        if (names_library(envp[n]))
            n_text += strlen(envp[n]) + 1;
    return n_text == 0 ? 0 : (n + 1) * sizeof(char *) + n_text;
}

/* HOOK */
static char *const *fill_without(void *room, char *const envp[])
{
    char **out = room;
    size_t n = 0, n_kept = 0;
    while (envp != NULL && envp[n] != NULL)
        n++;
    char *text = (char *)&out[n + 1];
    for (size_t i = 0; i < n; i++) {
        out[n_kept] = envp[i];
        if (names_library(envp[i])) {
            size_t bytes = strlen(envp[i]) + 1;
            memcpy(text, envp[i], bytes);
            exec_env_remove(text + PRELOAD_LENGTH, library_name);
            if (text[PRELOAD_LENGTH] == '\0')
                continue;
            out[n_kept] = text;
            text += bytes;
        }
        n_kept++;
    }
    out[n_kept] = NULL;
    return out;
}

/* ---- which ---------------------------------------------------------------------------------- */

/* HOOK */
static bool is_without(uint32_t kind)
{
    return kind == CAPTURE_CHILD_ARCH || kind == CAPTURE_CHILD_LIBC;
}

/* HOOK */
size_t exec_env_bytes(char *const envp[], uint32_t kind)
{
    if (n_ours == 0 || session_phase() != SESSION_RUNNING || !session.settings.follow)
        return 0;
    return is_without(kind) ? bytes_without(envp) : bytes_with(envp);
}

/* HOOK */
char *const *exec_env_fill(void *room, char *const envp[], uint32_t kind)
{
    return is_without(kind) ? fill_without(room, envp) : fill_with(room, envp);
}
