/* program_kind.h - whether a program about to be started can be recorded, and how, judged by its file.
 *
 *   path -> #! lines, up to where the kernel gives up -> set-user-id bits, ELF machine, PT_INTERP,
 *           first DT_NEEDED
 *
 * Costs a stat, an open and three reads. Errors are no answer: a file that cannot be read counts as a
 * program that can be recorded. errno is left alone.
 *
 * Context    HOOK; a vfork child too: nothing is written but the stack. */
#ifndef SAMPLER_PROGRAM_KIND_H
#define SAMPLER_PROGRAM_KIND_H

#include <stddef.h>
#include <stdint.h>

#include "capture.h"
#include "sanitizer.h"

struct program_kind {
    uint32_t missed;                    /* why it cannot be recorded (enum capture_child), or 0 */
    char runtime[SANITIZER_NAME_BYTES]; /* the library to be loaded before ours, "" = none */
};

struct program_kind program_kind(const char *path);

/* CAPTURE_CHILD_ENV unless a program with this environment starts with our library `library` (its
 * path) or one of that name; else 0. */
uint32_t program_kind_of_environment(char *const environment[], const char *library);

/* Where `file` is, as execvp and posix_spawnp look for it; `file` itself when it holds a slash,
 * NULL when it is not found or `out` is too small. */
const char *program_find_in_path(const char *file, char *out, size_t out_bytes);

#endif
