/* elf_file.h - an ELF file opened for reading names: a thin, careful layer over libelf.
 *
 * Takes     64-bit little-endian ELF of regular files, or an image in memory (the vdso).
 * Owner     Views into the file live as long as the struct elf_file.
 * Errors    Cannot be opened, not such a file: ERR_IO, ERR_FORMAT with the path.
 * Context   One thread at a time per file. */
#ifndef SAMPLER_ELF_FILE_H
#define SAMPLER_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "err.h"
#include "intern.h"

struct elf_file {
    Elf *elf;
    int fd;             /* -1: an image in memory                 */
    struct stat status; /* of the file, zero for an image         */
    size_t names_index; /* section that holds the section names   */
    void *owned_image;  /* given back with it; NULL: not ours     */
};

MUST_CHECK bool elf_file_open(const char *path, struct elf_file **out, struct err *err);

/* Borrows the image until elf_file_close, which it must outlive; libelf does not write to it. */
MUST_CHECK bool elf_file_open_image(const void *image, size_t size_bytes, struct elf_file **out,
                                    struct err *err);

/* The same of memory from malloc, which is the file's from then on, but not where this fails. */
MUST_CHECK bool elf_file_open_owned(void *image, size_t size_bytes, struct elf_file **out,
                                    struct err *err);
void elf_file_close(struct elf_file *file); /* takes NULL */

/* Whether somebody has written to it, or cut it, since it was opened: what was read is not to be
 * relied on (cut_guard.h). */
bool elf_file_changed(const struct elf_file *file);

/* The bytes of NT_GNU_BUILD_ID; empty if there is none. */
struct text elf_file_build_id(const struct elf_file *file);

/* A section by name with its header; NULL if there is none. */
Elf_Scn *elf_file_section(const struct elf_file *file, const char *name, GElf_Shdr *header);

/* The name of a section, "" if it has none that can be read. */
const char *elf_file_section_name(const struct elf_file *file, const GElf_Shdr *header);

/* True when there is DWARF to read: .debug_info, compressed or not. */
bool elf_file_has_dwarf(const struct elf_file *file);

/* True when it has the names of all functions: .symtab. */
bool elf_file_has_symtab(const struct elf_file *file);

#endif
