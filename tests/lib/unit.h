/* unit.h - cmocka and what it must find before itself; the first include of every unit test. */
#ifndef SAMPLER_TESTS_UNIT_H
#define SAMPLER_TESTS_UNIT_H

/* cmocka.h needs the first four in front of it. */
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */

#define N_ELEMENTS(array) (sizeof(array) / sizeof((array)[0]))

#endif
