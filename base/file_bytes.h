/* file_bytes.h - files of the build tree that become part of a program, by their bytes. */
#ifndef SAMPLER_BASE_FILE_BYTES_H
#define SAMPLER_BASE_FILE_BYTES_H

/* Declares `name` and `name`_end, of char: the file at PATH, a literal. Whoever uses it must be built anew
 * when the file changes (OBJECT_DEPENDS). */
/* NOLINTBEGIN(bugprone-macro-parentheses): names take none */
#define FILE_BYTES(name, path)                                                                     \
    __asm__(".section .rodata\n"                                                                   \
            ".local " #name "\n"                                                                   \
            ".local " #name "_end\n" #name ":\n"                                                   \
            ".incbin \"" path "\"\n" #name "_end:\n"                                               \
            ".previous\n");                                                                        \
    extern const char name[], name##_end[]
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
