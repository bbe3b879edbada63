/* fuzz_nytprof.h - any bytes through a format's reader, its dump and, if they make a profile, its
 * writer. */
#ifndef SAMPLER_TESTS_FUZZ_NYTPROF_H
#define SAMPLER_TESTS_FUZZ_NYTPROF_H

#include <stdlib.h>

#include "formats/nytprof/nytprof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void check(bool holds)
{
    if (!holds)
        abort();
}

/* What was read can be written, and what was written can be read. */
static inline void write_and_read(const struct format *format, const struct profile *profile)
{
    struct err err = ERR_INIT;
    struct sink *out = NULL;
    struct profile *back = NULL;
    if (!sink_create_buffer(&out, &err))
        return;
    check(format->write(profile, NULL, NULL, out, &err));
    size_t n;
    const uint8_t *bytes = sink_buffer(out, &n);
    check(format->read(bytes, n, NULL, NULL, &back, &err));
    profile_destroy(back);
    sink_abandon(out);
}

static inline void try_input(const struct format *format, const uint8_t *data, size_t size)
{
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    bool is_read = format->read(data, size, NULL, NULL, &profile, &err);
    check(is_read == (err.code == ERR_NONE));
    if (is_read)
        write_and_read(format, profile);
    profile_destroy(profile);

    struct err dump_err = ERR_INIT;
    struct sink *out = NULL;
    if (!sink_create_buffer(&out, &dump_err))
        return;
    (void)!format->dump(data, size, NULL, out, &dump_err);
    sink_abandon(out);
}

#endif
