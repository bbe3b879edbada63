/* write.c - the writer: the page around the profile. */
#include "formats/html/write.h"

#include "formats/html/page.h"
#include "formats/sprofile/sprofile.h"
#include "text/base64.h"

bool html_write(const struct profile *profile, const struct format_options *options,
                const struct format_notes *notes, struct sink *out, struct err *err)
{
    struct sink *file;
    if (!sink_create_buffer(&file, err))
        return false;
    bool ok = format_sprofile.write(profile, options, notes, file, err);
    if (ok) {
        struct text before = html_page_before(), after = html_page_after();
        size_t n;
        const void *bytes = sink_buffer(file, &n);
        sink_write(out, before.bytes, before.length);
        base64_write(out, bytes, n);
        sink_write(out, after.bytes, after.length);
    }
    if (!ok) {
        sink_abandon(file);
        return false;
    }
    return sink_close(file, err);
}
