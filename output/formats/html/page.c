/* page.c - see page.h. The two files that cmake/HtmlPage.cmake makes, by their bytes. */
#include "formats/html/page.h"

#include <string.h>

#include "file_bytes.h"

FILE_BYTES(page_before, HTML_PAGE_BEFORE);
FILE_BYTES(page_after, HTML_PAGE_AFTER);

struct text html_page_before(void)
{
    return (struct text){page_before, (size_t)(page_before_end - page_before)};
}

struct text html_page_after(void)
{
    return (struct text){page_after, (size_t)(page_after_end - page_after)};
}

bool html_page_is_ours(struct text page)
{
    struct text before = html_page_before(), after = html_page_after();
    size_t around = before.length + after.length;
    if (page.length < around || memcmp(page.bytes, before.bytes, before.length) != 0)
        return false;
    struct text profile = {page.bytes + before.length, page.length - around};
    return memcmp(profile.bytes + profile.length, after.bytes, after.length) == 0 &&
           memchr(profile.bytes, '<', profile.length) == NULL;
}
