/* planted.c - what check_signal_safe.sh must refuse; PLANT says which. */
#include <stdlib.h>
#include <unistd.h>

#include "sys/context.h"

#define PLANT_MALLOC 1
#define PLANT_POINTER 2
#define PLANT_HELPER 3
#define PLANT_OWN_NAME 4
#define PLANT_HOOK 5

SIGNAL_SAFE void *planted_function(size_t n_bytes, void *(*function)(size_t));

#if PLANT == PLANT_HELPER
static __attribute__((noinline)) void *unmarked_helper(size_t n_bytes)
{
    return (void *)(n_bytes * 3);
}
#endif

void *planted_function(size_t n_bytes, void *(*function)(size_t))
{
#if PLANT == PLANT_MALLOC
    (void)function;
    return malloc(n_bytes);
#elif PLANT == PLANT_POINTER
    return (char *)function(n_bytes) + 1;
#elif PLANT == PLANT_OWN_NAME || PLANT == PLANT_HOOK
    (void)function;
    return close((int)n_bytes) == 0 ? NULL : (void *)n_bytes;
#else
    (void)function;
    return (char *)unmarked_helper(n_bytes) + 1;
#endif
}
