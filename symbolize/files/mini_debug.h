/* mini_debug.h - names of functions that a stripped file carries along: MiniDebugInfo.
 *
 * Fedora and those after it put an ELF file, packed by xz, into the section .gnu_debugdata of what they
 * strip. It has a .symtab of the functions that .dynsym does not name, and no lines (gdb's manual:
 * "Debugging information in a special section"). */
#ifndef SAMPLER_MINI_DEBUG_H
#define SAMPLER_MINI_DEBUG_H

#include "files/elf_file.h"

/* NULL: `file` has none, or none that can be read. What is returned is independent of it. */
struct elf_file *mini_debug_open(const struct elf_file *file);

/* Whether a debug file is such a one, so does not name what the module exports. */
bool is_mini_debug(const struct elf_file *debug);

#endif
