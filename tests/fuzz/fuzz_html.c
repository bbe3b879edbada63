/* fuzz_html.c - any bytes as a page: read and dumped without harm. What lies in it is fuzz_sprofile's. */
#include <stdint.h>
#include <stdlib.h>

#include "formats/html/html.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct format_options options = {.strict = size % 2 == 1};
    struct err err = ERR_INIT, dump_err = ERR_INIT;
    struct profile *profile = NULL;
    struct sink *dump = NULL;
    (void)format_html.sniff(data, size);
    if (!sink_create_buffer(&dump, &dump_err))
        abort();
    bool is_dumped = format_html.dump(data, size, NULL, dump, &dump_err);
    sink_abandon(dump);
    if (format_html.read(data, size, &options, NULL, &profile, &err) && !is_dumped)
        abort();
    profile_destroy(profile);
    return 0;
}
