/* alloc_fault.c - see alloc_fault.h. */
#include "alloc_fault.h"

#include <stddef.h>

/* The linker's --wrap gives these names; they are reserved words only in looks. */
/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): names set by ld --wrap */
void *__real_malloc(size_t size_bytes);
void *__real_calloc(size_t n, size_t size_bytes);
void *__real_realloc(void *old, size_t size_bytes);
void *__wrap_malloc(size_t size_bytes);
void *__wrap_calloc(size_t n, size_t size_bytes);
void *__wrap_realloc(void *old, size_t size_bytes);

static unsigned countdown;
static bool fired;

void alloc_fault_arm(unsigned n)
{
    countdown = n;
    fired = false;
}

bool alloc_fault_fired(void)
{
    countdown = 0;
    return fired;
}

static bool must_fail(void)
{
    if (countdown == 0 || --countdown != 0)
        return false;
    fired = true;
    return true;
}

void *__wrap_malloc(size_t size_bytes)
{
    return must_fail() ? NULL : __real_malloc(size_bytes);
}

void *__wrap_calloc(size_t n, size_t size_bytes)
{
    return must_fail() ? NULL : __real_calloc(n, size_bytes);
}

void *__wrap_realloc(void *old, size_t size_bytes)
{
    return must_fail() ? NULL : __real_realloc(old, size_bytes);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
