/* alloc_fault.h - fails the n-th allocation of the code under test (malloc, calloc, realloc wrapped
 * by the linker: sampler_fault_test in CMakeLists.txt).
 *
 *     for (unsigned n = 1; alloc_fault_arm(n), run(), alloc_fault_fired(); n++) ...
 */
#ifndef SAMPLER_TESTS_ALLOC_FAULT_H
#define SAMPLER_TESTS_ALLOC_FAULT_H

#include <stdbool.h>

/* The n-th allocation from now on (1 = the next) fails, once; 0 disarms. */
void alloc_fault_arm(unsigned n);

/* Whether it has failed since; disarms. */
bool alloc_fault_fired(void);

#endif
