/* fuzz_recording.c - any bytes as a recording: read, and built into a profile without looking at
 * files (paths are not followed in a fuzzed input: each module's path is replaced by none). */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "account/closing.h"
#include "build/build.h"

/* The recording with no path and no build id in its modules, so that no input makes us open files.
 */
static void hear_line(void *context, const char *line)
{
    (void)context;
    (void)line;
}

static void build_without_files(const struct recording *recording)
{
    struct recording copy = *recording;
    struct recording_module *modules = calloc(recording->n_modules + 1, sizeof *modules);
    if (modules == NULL)
        return;
    for (size_t i = 0; i < recording->n_modules; i++) {
        modules[i] = recording->modules[i];
        modules[i].path = (struct text){"", 0};
        modules[i].build_id = (struct text){"", 0};
    }
    copy.modules = modules;
    const struct recording *const recordings[] = {&copy};
    struct account account;
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    char line[500];
    if (account_init(&account)) {
        if (profile_build(recordings, 1, &(struct build_options){0}, &profile, &account, &err))
            profile_destroy(profile);
        account_format(&account, "x", line, sizeof line);
        account_format_remedy(&account, line, sizeof line);
        account_tell_missing(&account, hear_line, NULL);
        account_deinit(&account);
    }
    free(modules);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
    struct recording *recording = NULL;
    struct err err = ERR_INIT;
    if (recording_read_memory(data, size_bytes, &recording, &err)) {
        build_without_files(recording);
        recording_destroy(recording);
    }
    return 0;
}
