/* fuzz_nytprof_chunked.c - the chunked NYTProf dialect. */
#include "fuzz_nytprof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_input(&format_nytprof_chunked, data, size);
    return 0;
}
