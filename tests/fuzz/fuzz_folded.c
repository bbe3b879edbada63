/* fuzz_folded.c - any bytes as folded and as diff-folded: read, dumped, and written so that reading
 * and writing once more changes nothing. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/folded/folded.h"

static struct sink *written(const struct format *format, const struct profile *profile)
{
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    if (!sink_create_buffer(&sink, &err) || !format->write(profile, NULL, NULL, sink, &err))
        abort();
    return sink;
}

static void round_trip(const struct format *format, const struct profile *profile)
{
    struct err err = ERR_INIT;
    struct profile *again = NULL;
    struct sink *first = written(format, profile);
    size_t n, n_again;
    const uint8_t *bytes = sink_buffer(first, &n);
    const struct format_options strict = {.strict = true};
    if (!format->read(bytes, n, &strict, NULL, &again, &err))
        abort();
    struct sink *second = written(format, again);
    const uint8_t *bytes_again = sink_buffer(second, &n_again);
    if (n != n_again || memcmp(bytes, bytes_again, n) != 0)
        abort();
    profile_destroy(again);
    sink_abandon(first);
    sink_abandon(second);
}

static void run(const struct format *format, const uint8_t *data, size_t size)
{
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    if (format->read(data, size, NULL, NULL, &profile, &err))
        round_trip(format, profile);
    profile_destroy(profile);
    struct sink *sink = NULL;
    if (!sink_create_buffer(&sink, &err) || !format->dump(data, size, NULL, sink, &err))
        abort();
    sink_abandon(sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    run(&format_folded, data, size);
    run(&format_diff_folded, data, size);
    (void)format_folded.sniff(data, size);
    return 0;
}
