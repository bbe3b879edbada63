/* page.c - see page.h. The two files that cmake/HtmlPage.cmake makes, by their bytes. */
#include "formats/html/page.h"

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
