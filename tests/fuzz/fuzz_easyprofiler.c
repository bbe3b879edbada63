/* fuzz_easyprofiler.c - any bytes as a .prof file: read, dump, and written back. What our writer
 * makes of a profile must be readable without a single remark, and the same bytes each time. */
#include <stdlib.h>
#include <string.h>

#include "formats/easyprofiler/easyprofiler.h"
#include "sink.h"

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void dump(const uint8_t *data, size_t size, bool is_readable)
{
    struct err err = ERR_INIT;
    struct sink *sink;
    /* A short file can ask for a long dump: only its begin is of interest. */
    require(sink_create_failing((uint64_t)1 << 20, &sink, &err));
    bool ok = format_easyprofiler.dump(data, size, NULL, sink, &err);
    require(ok == is_readable);
    sink_abandon(sink);
}

static struct sink *write_file(const struct profile *profile)
{
    const struct format_options options = {.strict = false};
    struct err err = ERR_INIT;
    struct sink *sink;
    require(sink_create_buffer(&sink, &err));
    if (format_easyprofiler.write(profile, &options, NULL, sink, &err))
        return sink;
    require(err.code == ERR_UNSUPPORTED); /* nothing in it */
    sink_abandon(sink);
    return NULL;
}

static void write_and_check(const struct profile *profile)
{
    struct sink *first = write_file(profile), *second = write_file(profile);
    require((first == NULL) == (second == NULL));
    if (first == NULL)
        return;
    size_t first_bytes, second_bytes;
    const void *first_data = sink_buffer(first, &first_bytes);
    const void *second_data = sink_buffer(second, &second_bytes);
    require(first_bytes == second_bytes && memcmp(first_data, second_data, first_bytes) == 0);
    struct easyprofiler_file *file = NULL;
    struct err err = ERR_INIT;
    require(easyprofiler_parse(first_data, first_bytes, true, NULL, &file, &err));
    easyprofiler_file_destroy(file);
    sink_abandon(first);
    sink_abandon(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct format_options options = {.strict = false};
    struct profile *profile = NULL;
    struct err err = ERR_INIT;
    bool ok = format_easyprofiler.read(data, size, &options, NULL, &profile, &err);
    require(ok || err.code != ERR_NONE);
    dump(data, size, ok);
    if (ok)
        write_and_check(profile);
    profile_destroy(profile);
    return 0;
}
