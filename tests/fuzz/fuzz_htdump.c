/* fuzz_htdump.c - any bytes as a HawkTracer stream: dumped and read without harm; what was read can
 * be written, and reading that and writing it again gives the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "htdump.h"

static struct sink *written(const struct profile *profile)
{
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    if (!sink_create_buffer(&sink, &err) || !format_htdump.write(profile, NULL, NULL, sink, &err))
        abort();
    return sink;
}

static void round_trip(const struct profile *profile)
{
    struct err err = ERR_INIT;
    struct profile *back = NULL;
    size_t n, n_again;
    struct sink *sink = written(profile);
    const uint8_t *bytes = sink_buffer(sink, &n);
    if (!format_htdump.read(bytes, n, NULL, NULL, &back, &err))
        abort();
    struct sink *again = written(back);
    const uint8_t *bytes_again = sink_buffer(again, &n_again);
    if (n != n_again || memcmp(bytes, bytes_again, n) != 0)
        abort();
    sink_abandon(sink);
    sink_abandon(again);
    profile_destroy(back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct format_options strict = {.strict = size % 2 == 1};
    struct err err = ERR_INIT, dump_err = ERR_INIT;
    struct profile *profile = NULL;
    struct sink *sink = NULL;
    (void)format_htdump.sniff(data, size);
    if (!sink_create_buffer(&sink, &dump_err))
        abort();
    bool is_dumped = format_htdump.dump(data, size, NULL, sink, &dump_err);
    sink_abandon(sink);
    if (!format_htdump.read(data, size, &strict, NULL, &profile, &err))
        return 0;
    if (!is_dumped)
        abort();
    round_trip(profile);
    profile_destroy(profile);
    return 0;
}
