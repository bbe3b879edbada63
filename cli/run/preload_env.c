/* preload_env.c - see preload_env.h. */
#include "run/preload_env.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "environment.h"
#include "run/places.h"
#include "text.h"

#define LIBRARY_NAME "libsampler.so"

/* Folders seen from the one of our executable. SAMPLER_LIBDIR is where `cmake --install` put it. */
static const char *const library_folders[] = {"../lib", "../" SAMPLER_LIBDIR, ".", NULL};

bool preload_find(struct preload_env *env, struct err *err)
{
    for (const char *const *folder = library_folders; *folder != NULL; folder++) {
        char name[256];
        char candidate[PATH_MAX];
        snprintf(name, sizeof name, "%s/" LIBRARY_NAME, *folder);
        if (!place_beside_us(name, candidate, sizeof candidate, err))
            return false;
        if (realpath(candidate, env->library) == NULL || access(env->library, R_OK) != 0)
            continue;
        if (strpbrk(env->library, " \t\n:") != NULL)
            return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET,
                            "%.150s: LD_PRELOAD cannot name a path with a blank or a colon",
                            env->library);
        return true;
    }
    char expected[PATH_MAX];
    return place_beside_us("../lib", expected, sizeof expected, err) &&
           err_fail(err, ERR_IO, ERR_NO_OFFSET, "no " LIBRARY_NAME " in %.150s", expected);
}

/* LD_PRELOAD may be set already, to others or (inside another sampler-run) to us. A sanitizer's
 * runtime stays first, or becomes it. */
static bool set_ld_preload(const char *library, const char *runtime)
{
    const char *others = getenv("LD_PRELOAD");
    if (others == NULL)
        others = "";
    const char *mark = SANITIZER_MARK;
    size_t runtime_length = sanitizer_first_bytes(others), length = strlen(library);
    if (runtime_length > 0) {
        runtime = others;
        mark = ":";
        others += runtime_length + (others[runtime_length] != '\0');
    } else {
        runtime_length = strlen(runtime);
    }
    bool has_ours = strncmp(others, library, length) == 0 &&
                    strchr(": ", others[length]) != NULL; /* which also finds the NUL */
    char *joined = NULL;
    if (asprintf(&joined, "%.*s%s%s%s%s", (int)runtime_length, runtime,
                 runtime_length > 0 ? mark : "", has_ours ? "" : library,
                 has_ours || others[0] == '\0' ? "" : ":", others) < 0)
        return false;
    bool ok = setenv("LD_PRELOAD", joined, 1) == 0;
    free(joined);
    return ok;
}

static bool set_since(uint64_t since_ns)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, since_ns);
    return setenv(ENVIRONMENT_SINCE, text, 1) == 0;
}

bool preload_env_set(const struct preload_env *env)
{
    for (enum option_id id = 0; id < N_OPTIONS; id++) {
        const struct option_row *row = &option_table[id];
        const char *value = env->options->values[id];
        if (!row->for_capture || value == NULL)
            continue;
        if (setenv(row->environment, value, 1) != 0)
            return false;
    }
    /* A sampler-run around us may have set it, which is nothing to ours. */
    const char *others_dir = env->others_dir;
    return set_ld_preload(env->library, env->runtime) && set_since(env->since_ns) &&
           setenv(ENVIRONMENT_RECORDING_DIR, env->recording_dir, 1) == 0 &&
           (others_dir[0] != '\0' ? setenv(ENVIRONMENT_OTHERS_DIR, others_dir, 1)
                                  : unsetenv(ENVIRONMENT_OTHERS_DIR)) == 0;
}

bool preload_env_leave(void)
{
    static const char separators[] = " :";
    const char *all = getenv("LD_PRELOAD");
    if (all == NULL)
        return true;
    char *others = malloc(strlen(all) + 1);
    size_t used = 0;
    if (others == NULL)
        return false;
    for (const char *at = all; *(at += strspn(at, separators)) != '\0';) {
        struct text path = {.bytes = at, .length = strcspn(at, separators)};
        at += path.length;
        if (text_is(text_base_name(path), LIBRARY_NAME))
            continue;
        if (used > 0)
            others[used++] = ':';
        memcpy(others + used, path.bytes, path.length);
        used += path.length;
    }
    others[used] = '\0';
    bool ok = (used > 0 ? setenv("LD_PRELOAD", others, 1) : unsetenv("LD_PRELOAD")) == 0;
    free(others);
    return ok;
}
