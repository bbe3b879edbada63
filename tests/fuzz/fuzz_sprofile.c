/* fuzz_sprofile.c - any bytes as an sprofile file: dumped and read without harm, and what was read is
 * written as the same bytes when it is read and written again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/sprofile/sprofile.h"

static struct sink *written(const struct profile *profile)
{
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    if (!sink_create_buffer(&sink, &err) || !format_sprofile.write(profile, NULL, NULL, sink, &err))
        abort();
    return sink;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct format_options strict = {.strict = size % 2 == 1};
    struct err err = ERR_INIT, dump_err = ERR_INIT;
    struct profile *profile = NULL, *back = NULL;
    struct sink *dump = NULL;
    size_t n, n_again;
    (void)format_sprofile.sniff(data, size);
    if (!sink_create_buffer(&dump, &dump_err))
        abort();
    bool is_dumped = format_sprofile.dump(data, size, NULL, dump, &dump_err);
    sink_abandon(dump);
    if (!format_sprofile.read(data, size, &strict, NULL, &profile, &err))
        return 0;
    if (!is_dumped)
        abort();
    struct sink *once = written(profile);
    const uint8_t *bytes = sink_buffer(once, &n);
    if (!format_sprofile.read(bytes, n, &strict, NULL, &back, &err))
        abort();
    struct sink *twice = written(back);
    const uint8_t *bytes_again = sink_buffer(twice, &n_again);
    if (n != n_again || memcmp(bytes, bytes_again, n) != 0)
        abort();
    sink_abandon(once);
    sink_abandon(twice);
    profile_destroy(back);
    profile_destroy(profile);
    return 0;
}
