/* read.c - see read.h. Of the page nothing is looked at but the element with the profile. */
#include "formats/html/read.h"

#include <stdlib.h>
#include <string.h>

#include "formats/html/page.h"
#include "formats/sprofile/sprofile.h"
#include "text/base64.h"

int html_sniff(const uint8_t *head, size_t head_bytes)
{
    return memmem(head, head_bytes, HTML_PAGE_SIGN, strlen(HTML_PAGE_SIGN)) != NULL ? 100 : 0;
}

/* The .sprofile file of the page, to be freed; *n: its bytes. */
static bool file_extract(const uint8_t *data, size_t size_bytes, uint8_t **out, size_t *n,
                         struct err *err)
{
    const uint8_t *end = data + size_bytes;
    const uint8_t *tag = memmem(data, size_bytes, HTML_PROFILE_BEGIN, strlen(HTML_PROFILE_BEGIN));
    if (tag == NULL)
        return err_fail(err, ERR_FORMAT, ERR_NO_OFFSET,
                        "a page that Sampler wrote expected: %s is missing", HTML_PROFILE_BEGIN);
    const uint8_t *text = tag + strlen(HTML_PROFILE_BEGIN);
    const uint8_t *text_end =
        memmem(text, (size_t)(end - text), HTML_PROFILE_END, strlen(HTML_PROFILE_END));
    size_t length = (size_t)((text_end == NULL ? end : text_end) - text);
    uint8_t *file = malloc(BASE64_BYTES_MOST(length));
    if (file == NULL)
        return err_fail_memory(err);
    if (!base64_read((const char *)text, length, file, n, err)) {
        err->offset += (uint64_t)(text - data);
        free(file);
        return false;
    }
    *out = file;
    return true;
}

bool html_read(const uint8_t *data, size_t size_bytes, const struct format_options *options,
               const struct format_notes *notes, struct profile **out, struct err *err)
{
    uint8_t *file = NULL;
    size_t n = 0;
    if (!file_extract(data, size_bytes, &file, &n, err))
        return false;
    struct format_options inner = options == NULL ? (struct format_options){0} : *options;
    if (inner.input_done != NULL)
        inner.input_done(inner.input);
    inner.input_done = NULL; /* what lies in the page is ours */
    bool ok = format_sprofile.read(file, n, &inner, notes, out, err);
    free(file);
    return ok;
}

bool html_dump(const uint8_t *data, size_t size_bytes, const struct format_notes *notes,
               struct sink *out, struct err *err)
{
    uint8_t *file = NULL;
    size_t n = 0;
    if (!file_extract(data, size_bytes, &file, &n, err))
        return false;
    bool ok = format_sprofile.dump(file, n, notes, out, err);
    free(file);
    return ok;
}
