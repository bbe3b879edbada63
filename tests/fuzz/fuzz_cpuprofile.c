/* fuzz_cpuprofile.c - any bytes as a .cpuprofile: read, dumped, and what was read written again in
 * both formats. */
#include <stdint.h>
#include <stdlib.h>

#include "formats/cpuprofile/cpuprofile.h"

static void write_again(const struct profile *profile, const struct format *format)
{
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    const struct format_options options = {0};
    if (!sink_create_buffer(&sink, &err))
        return;
    if (!format->write(profile, &options, NULL, sink, &err) && err.code != ERR_MEMORY)
        abort();
    sink_abandon(sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err err = ERR_INIT;
    struct profile *profile = NULL;
    const struct format_options options = {0};
    if (format_cpuprofile.read(data, size, &options, NULL, &profile, &err)) {
        write_again(profile, &format_cpuprofile);
        write_again(profile, &format_chrome_trace);
        profile_destroy(profile);
    }
    struct sink *sink = NULL;
    struct err dump_err = ERR_INIT;
    if (sink_create_buffer(&sink, &dump_err)) {
        (void)!format_cpuprofile.dump(data, size, NULL, sink, &dump_err);
        sink_abandon(sink);
    }
    return 0;
}
