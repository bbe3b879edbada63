/* elf_builder.h - ELF files put together section by section, in memory, so that a test can lie about
 * any of it.
 *
 *   struct elf_part parts[] = {{.name = ".debug_info", .bytes = ..., .n = ...}, ...};
 *   uint8_t *image = elf_build(parts, N_ELEMENTS(parts), &size);
 *
 * The bytes of sections stand in the order of the parts, behind all headers: what is read beyond the
 * end of the last one is beyond the end of the allocation, and a sanitizer tells. */
#ifndef SAMPLER_TESTS_ELF_BUILDER_H
#define SAMPLER_TESTS_ELF_BUILDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_part {
    const char *name;
    const uint8_t *bytes;
    size_t n;
    uint64_t vaddr;        /* with `code_bytes`                                             */
    uint64_t code_bytes;   /* not 0: executable, without bytes in the file                  */
    uint64_t size_lie;     /* added to sh_size                                              */
    bool pack;             /* with zlib, SHF_COMPRESSED                                     */
    uint64_t unpacked_lie; /* added to ch_size, with `pack`                               */
    size_t packed_cut;     /* bytes missing at the end of what was packed                 */
};

/* The image, of the heap; never NULL. */
uint8_t *elf_build(const struct elf_part *parts, size_t n_parts, size_t *size_bytes);

#endif
