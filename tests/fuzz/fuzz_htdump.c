/* fuzz_htdump.c - any bytes as a HawkTracer stream: dumped and read without harm; what was read can
 * be written, and reading that and writing it again gives the same bytes; at the latest from the
 * second time on, since names that only differ in bytes that are no UTF-8 become one. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/htdump/htdump.h"

static void note_changed_names(void *context, const char *text)
{
    bool *changed = context;
    *changed = *changed || strstr(text, "UTF-8") != NULL;
}

static struct sink *written(const struct profile *profile, bool *names_changed)
{
    const struct format_notes notes = {.note = note_changed_names, .context = names_changed};
    struct err err = ERR_INIT;
    struct sink *sink = NULL;
    *names_changed = false;
    if (!sink_create_buffer(&sink, &err) || !format_htdump.write(profile, NULL, &notes, sink, &err))
        abort();
    return sink;
}

/* Whether the names came back as they were. */
static bool round_trip(const struct profile *profile)
{
    struct err err = ERR_INIT;
    struct profile *back = NULL;
    size_t n, n_again;
    bool changed, changed_again;
    struct sink *sink = written(profile, &changed);
    const uint8_t *bytes = sink_buffer(sink, &n);
    if (!format_htdump.read(bytes, n, NULL, NULL, &back, &err))
        abort();
    struct sink *again = written(back, &changed_again);
    const uint8_t *bytes_again = sink_buffer(again, &n_again);
    if (changed ? !round_trip(back) : n != n_again || memcmp(bytes, bytes_again, n) != 0)
        abort();
    sink_abandon(sink);
    sink_abandon(again);
    profile_destroy(back);
    return !changed;
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
    (void)round_trip(profile);
    profile_destroy(profile);
    return 0;
}
