/* elf_builder.c - see elf_builder.h. */
#include "elf_builder.h"

#include <assert.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* What a part has in the file, of the heap; *n: its bytes. */
static uint8_t *part_bytes(const struct elf_part *part, size_t *n)
{
    *n = part->n;
    if (!part->pack) {
        uint8_t *copy = malloc(part->n + 1);
        assert(copy != NULL);
        if (part->n != 0)
            memcpy(copy, part->bytes, part->n);
        return copy;
    }
    Elf64_Chdr header = {
        .ch_type = ELFCOMPRESS_ZLIB, .ch_size = part->n + part->unpacked_lie, .ch_addralign = 1};
    uLongf packed = compressBound(part->n);
    uint8_t *out = malloc(sizeof header + packed);
    assert(out != NULL);
    memcpy(out, &header, sizeof header);
    int done = compress2(out + sizeof header, &packed, part->bytes, part->n, 6);
    assert(done == Z_OK);
    (void)done;
    *n = sizeof header + packed - part->packed_cut;
    return out;
}

static Elf64_Shdr section_header(const struct elf_part *part, uint32_t name, size_t offset,
                                 size_t n)
{
    return (Elf64_Shdr){
        .sh_name = name,
        .sh_type = part->code_bytes != 0 ? SHT_NOBITS : SHT_PROGBITS,
        .sh_flags = (part->code_bytes != 0 ? SHF_ALLOC | SHF_EXECINSTR : 0) |
                    (part->pack ? SHF_COMPRESSED : 0),
        .sh_addr = part->vaddr,
        .sh_offset = offset,
        .sh_size = (part->code_bytes != 0 ? part->code_bytes : n) + part->size_lie,
        .sh_addralign = 1,
    };
}

static void put(uint8_t **image, size_t *size, const void *bytes, size_t n)
{
    *image = realloc(*image, *size + n + 1);
    assert(*image != NULL);
    if (n != 0)
        memcpy(*image + *size, bytes, n);
    *size += n;
}

/* Names of all sections, those of the parts first. Returns their length. */
static size_t names_fill(const struct elf_part *parts, size_t n_parts, char *names, size_t room,
                         uint32_t *offsets)
{
    size_t n = 1;
    memset(names, 0, room);
    for (size_t i = 0; i < n_parts + 1; i++) {
        const char *name = i < n_parts ? parts[i].name : ".shstrtab";
        size_t length = strlen(name) + 1;
        assert(n + length <= room);
        memcpy(names + n, name, length);
        offsets[i] = (uint32_t)n;
        n += length;
    }
    return n;
}

uint8_t *elf_build(const struct elf_part *parts, size_t n_parts, size_t *size_bytes)
{
    enum { MAX_PARTS = 16 };
    char names[MAX_PARTS * 24];
    uint32_t name_offsets[MAX_PARTS + 1];
    Elf64_Shdr headers[MAX_PARTS + 2] = {{.sh_type = SHT_NULL}};
    assert(n_parts <= MAX_PARTS);
    size_t names_bytes = names_fill(parts, n_parts, names, sizeof names, name_offsets);
    size_t n_headers = n_parts + 2;
    Elf64_Ehdr elf = {
        .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
        .e_type = ET_EXEC,
        .e_machine = EM_X86_64,
        .e_version = EV_CURRENT,
        .e_shoff = sizeof elf,
        .e_ehsize = sizeof elf,
        .e_shentsize = sizeof(Elf64_Shdr),
        .e_shnum = (Elf64_Half)n_headers,
        .e_shstrndx = (Elf64_Half)(n_headers - 1),
    };
    uint8_t *image = NULL;
    size_t size = 0;
    put(&image, &size, &elf, sizeof elf);
    put(&image, &size, headers, n_headers * sizeof *headers);
    headers[n_headers - 1] = (Elf64_Shdr){.sh_name = name_offsets[n_parts],
                                          .sh_type = SHT_STRTAB,
                                          .sh_offset = size,
                                          .sh_size = names_bytes,
                                          .sh_addralign = 1};
    put(&image, &size, names, names_bytes);
    for (size_t i = 0; i < n_parts; i++) {
        size_t n;
        uint8_t *bytes = part_bytes(&parts[i], &n);
        headers[i + 1] = section_header(&parts[i], name_offsets[i], size, n);
        put(&image, &size, bytes, n);
        free(bytes);
    }
    memcpy(image + sizeof elf, headers, n_headers * sizeof *headers);
    uint8_t *fitting = realloc(image, size); /* so that nothing is behind the last section */
    assert(fitting != NULL);
    *size_bytes = size;
    return fitting;
}
