/* program.h - what the program itself is, as far as that decides by which signal it is sampled.
 *
 * Context    SETUP. */
#ifndef SAMPLER_PROGRAM_H
#define SAMPLER_PROGRAM_H

#include <stdbool.h>

/* Built by Go, whose runtime handles every signal itself, by system calls that no hook sees, except
 * the first real-time ones, which it leaves to libc. */
bool program_is_go(void);

/* Built for gprof (gcc -pg): its start-up code has libc's profil() handle SIGPROF, past all
 * hooks. */
bool program_is_gprof(void);

#endif
