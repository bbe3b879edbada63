/* fuzz_nytprof.c - any bytes through the reader, the dump and, if they make a profile, the writer.
 */
#include <stdlib.h>

#include "nytprof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

/* What was read can be written, and what was written can be read. */
static void write_and_read(const struct profile *profile)
{
    struct err err = ERR_INIT;
    struct sink *out = NULL;
    struct profile *back = NULL;
    if (!sink_create_buffer(&out, &err))
        return;
    check(format_nytprof.write(profile, NULL, NULL, out, &err));
    size_t n;
    const uint8_t *bytes = sink_buffer(out, &n);
    check(format_nytprof.read(bytes, n, NULL, NULL, &back, &err));
    profile_destroy(back);
    sink_abandon(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    bool is_read = format_nytprof.read(data, size, NULL, NULL, &profile, &err);
    check(is_read == (err.code == ERR_NONE));
    if (is_read)
        write_and_read(profile);
    profile_destroy(profile);

    struct err dump_err = ERR_INIT;
    struct sink *out = NULL;
    if (!sink_create_buffer(&out, &dump_err))
        return 0;
    (void)!format_nytprof.dump(data, size, NULL, out, &dump_err);
    sink_abandon(out);
    return 0;
}
