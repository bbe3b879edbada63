/* d_name.c - see d_name.h. */
#include "names/d_name.h"

#include <demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What one name may ask for in all. The longest text is 32 KB, and each part of it is made by itself. */
#define MAX_BYTES ((size_t)1 << 20)

/* Each piece of memory counts for some more: a hostile name may ask for a million of one byte. */
#define BYTES_EACH ((size_t)32)

static _Thread_local struct {
    bool is_on;      /* d_name_demangle is running in this thread */
    bool was_abused; /* a name has wanted too much                */
    size_t left_bytes;
    jmp_buf too_much;
} limit;

/* NOLINTBEGIN(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp): the linker gives the names */
void *__real_xmalloc(size_t n);
void *__real_xrealloc(void *before, size_t n);
void *__wrap_xmalloc(size_t n);
void *__wrap_xrealloc(void *before, size_t n);

/* Of the leak sanitizer, NULL without it: what is abandoned is no mistake. */
__attribute__((weak)) void __lsan_disable(void);
__attribute__((weak)) void __lsan_enable(void);

static void take(size_t n)
{
    if (!limit.is_on)
        return;
    if (n > limit.left_bytes || limit.left_bytes - n < BYTES_EACH)
        longjmp(limit.too_much, 1); /* NOLINT(cert-err52-cpp): the only way to stop it */
    limit.left_bytes -= n + BYTES_EACH;
}

void *__wrap_xmalloc(size_t n)
{
    take(n);
    return __real_xmalloc(n);
}

void *__wrap_xrealloc(void *before, size_t n)
{
    take(n);
    return __real_xrealloc(before, n);
}

static void limit_set(bool is_on)
{
    void (*leaks_set)(void) = is_on ? __lsan_disable : __lsan_enable;
    limit.is_on = is_on;
    if (leaks_set != NULL)
        leaks_set();
}
/* NOLINTEND(bugprone-reserved-identifier, cert-dcl37-c, cert-dcl51-cpp) */

/* NULL also when it wants too much. */
static char *text_make_limited(const char *name)
{
    if (limit.was_abused)
        return NULL;
    limit.left_bytes = MAX_BYTES;
    limit_set(true);
    if (setjmp(limit.too_much) != 0) { /* NOLINT(cert-err52-cpp): see take */
        limit.was_abused = true;
        limit_set(false);
        return NULL;
    }
    char *text = dlang_demangle(name, DMGL_PARAMS | DMGL_ANSI);
    limit_set(false);
    return text;
}

size_t d_name_demangle(const char *name, char *out, size_t room)
{
    char *text = text_make_limited(name);
    size_t length = text == NULL ? 0 : strlen(text);
    if (length >= room)
        length = 0;
    if (length > 0)
        memcpy(out, text, length + 1);
    free(text);
    return length;
}
