/* fuzz_nytprof.c - the real NYTProf stream. */
#include "fuzz_nytprof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_input(&format_nytprof, data, size);
    return 0;
}
