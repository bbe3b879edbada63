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
static size_t set_at; /* the one that replaces what is there (exec_env_set); 0: none */
static const char *library_name;

/* SETUP */
static void keep(const char *variable)
{
    char *copy = n_ours < MAX_OURS ? keep_text(variable) : NULL;
    if (copy != NULL)
        ours[n_ours++] = copy;
}

/* Whether the library is in this variable's list. any context */
static bool names_library(const char *variable)
{
    return strncmp(variable, PRELOAD, PRELOAD_LENGTH) == 0 &&
           strstr(variable, library_name) != NULL;
}

/* The sanitizer's runtime that was put before ours for this program; what that starts gets it where
 * it needs it. SETUP */
static void leave_runtime_out(char *list)
{
    size_t length = sanitizer_first_bytes(list), mark_length = strlen(SANITIZER_MARK);
    if (length > 0 && strncmp(list + length, SANITIZER_MARK, mark_length) == 0)
        memmove(list, list + length + mark_length, strlen(list + length + mark_length) + 1);
}

/* The place of the variable of the same name, or NULL. any context */
static char *const *same_name(char *const envp[], const char *variable)
{
    size_t length = 1;
    while (variable[length - 1] != '\0' && variable[length - 1] != '=')
        length++;
    for (; envp != NULL && *envp != NULL; envp++)
        if (strncmp(*envp, variable, length) == 0)
            return envp;
    return NULL;
}

/* SETUP */
void exec_env_setup(const char *library_path)
{
    const char *slash = strrchr(library_path, '/');
    library_name = slash != NULL ? slash + 1 : library_path;
    n_ours = set_at = 0;
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
        if (!names_library(*variable))
            continue;
        leave_runtime_out(*variable + PRELOAD_LENGTH);
        keep(*variable);
    }
    if (n_ours != 1) {
        n_ours = 0; /* not by LD_PRELOAD (ld.so.preload, say): it needs no help */
        return;
    }
    for (char **variable = environ; *variable != NULL; variable++)
        if (strncmp(*variable, "SAMPLER_", 8) == 0)
            keep(*variable);
}

/* SETUP, HOOK */
void exec_env_set(const char *variable)
{
    char *copy = n_ours > 0 ? keep_text(variable) : NULL;
    size_t length = strcspn(variable, "=") + 1;
    if (copy == NULL)
        return;
    for (set_at = 1; set_at < n_ours && strncmp(ours[set_at], variable, length) != 0;)
        set_at++;
    if (set_at == MAX_OURS) {
        set_at = 0;
        return;
    }
    ours[set_at] = copy;
    n_ours += set_at == n_ours;
}

/* any context */
bool exec_env_is_given(void)
{
    return n_ours > 0 && session.settings.follow;
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

/* ---- with ours ------------------------------------------------------------------------------ */

/* LD_PRELOAD as it is to be: a sanitizer's runtime, ours, theirs; any of them may be empty. */
struct list {
    const char *runtime;
    size_t runtime_length;
    const char *mark; /* after it */
    const char *ours;
    const char *theirs;
    bool is_new; /* it differs from what is there */
};

/* `there`: the variable, NULL if there is none. HOOK */
static struct list list_of(const char *there, const char *runtime)
{
    struct list list = {.runtime = runtime,
                        .runtime_length = strlen(runtime),
                        .mark = SANITIZER_MARK,
                        .ours = "",
                        .theirs = there != NULL ? there + PRELOAD_LENGTH : ""};
    size_t length = sanitizer_first_bytes(list.theirs);
    list.is_new = length == 0 && list.runtime_length > 0;
    if (length > 0) {
        list.runtime = list.theirs;
        list.runtime_length = length;
        list.mark = ":";
        list.theirs += length + (list.theirs[length] != '\0');
    }
    if (there == NULL || !names_library(there)) {
        list.ours = ours[0] + PRELOAD_LENGTH;
        list.is_new = true;
    }
    return list;
}

/* HOOK */
static size_t list_bytes(const struct list *list)
{
    return list->is_new ? PRELOAD_LENGTH + list->runtime_length + strlen(list->ours) +
                              strlen(list->theirs) + sizeof SANITIZER_MARK ":"
                        : 0;
}

/* Appends `text` to the string that ends at `end`; returns its new end. HOOK */
static char *append(char *end, const char *text, size_t length)
{
    memcpy(end, text, length);
    end[length] = '\0';
    return end + length;
}

/* HOOK */
static void list_write(char *text, const struct list *list)
{
    char *end = append(text, PRELOAD, PRELOAD_LENGTH);
    end = append(end, list->runtime, list->runtime_length);
    end = append(end, list->mark, list->runtime_length > 0 ? strlen(list->mark) : 0);
    end = append(end, list->ours, strlen(list->ours));
    end = append(end, ":", list->ours[0] != '\0' && list->theirs[0] != '\0');
    append(end, list->theirs, strlen(list->theirs));
}

/* HOOK */
static struct list list_for(char *const envp[], const char *runtime)
{
    char *const *there = same_name(envp, PRELOAD);
    return list_of(there != NULL ? *there : NULL, runtime);
}

/* Whether another value is there than is to be. HOOK */
static bool is_replaced(const char *variable)
{
    return set_at != 0 && strncmp(variable, ours[set_at], strcspn(ours[set_at], "=") + 1) == 0 &&
           strcmp(variable, ours[set_at]) != 0;
}

/* HOOK */
static size_t bytes_with(char *const envp[], const char *runtime)
{
    size_t n = 0, n_missing = 0;
    bool is_right = true;
    struct list list = list_for(envp, runtime);
    for (; envp != NULL && envp[n] != NULL; n++)
        is_right = is_right && !is_replaced(envp[n]);
    for (size_t i = 0; i < n_ours; i++)
        n_missing += same_name(envp, ours[i]) == NULL;
    return n_missing == 0 && is_right && !list.is_new
               ? 0
               : (n + n_missing + 1) * sizeof(char *) + list_bytes(&list);
}

/* HOOK */
static char *const *fill_with(void *room, char *const envp[], const char *runtime)
{
    char **out = room;
    size_t n = 0;
    struct list list = list_for(envp, runtime);
    char **preload = NULL;
    for (; envp != NULL && envp[n] != NULL; n++) {
        out[n] = is_replaced(envp[n]) ? ours[set_at] : envp[n];
        if (preload == NULL && strncmp(out[n], PRELOAD, PRELOAD_LENGTH) == 0)
            preload = &out[n];
    }
    for (size_t i = 0; i < n_ours; i++) {
        if (same_name(envp, ours[i]) != NULL)
            continue;
        if (i == 0)
            preload = &out[n];
        out[n++] = ours[i];
    }
    out[n++] = NULL;
    if (list.is_new && preload != NULL) {
        *preload = (char *)&out[n];
        list_write(*preload, &list);
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
static bool is_without(const struct program_kind *kind)
{
    return kind->missed == CAPTURE_CHILD_ARCH || kind->missed == CAPTURE_CHILD_LIBC;
}

/* HOOK */
size_t exec_env_bytes(char *const envp[], const struct program_kind *kind)
{
    if (n_ours == 0 || session_phase() != SESSION_RUNNING || !session.settings.follow)
        return 0;
    return is_without(kind) ? bytes_without(envp) : bytes_with(envp, kind->runtime);
}

/* HOOK */
char *const *exec_env_fill(void *room, char *const envp[], const struct program_kind *kind)
{
    return is_without(kind) ? fill_without(room, envp) : fill_with(room, envp, kind->runtime);
}
