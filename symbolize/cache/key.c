/* key.c - see key.h. */
#include "cache/key.h"

#include <libdeflate.h>
#include <string.h>

#include "digits.h"
#include "text.h"

#define LAYOUT_BYTES 4u

/* Sizes and places of all sections. */
static uint32_t layout_checksum(const struct elf_file *file)
{
    uint32_t checksum = libdeflate_crc32(0, &file->status.st_size, sizeof file->status.st_size);
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(file->elf, section)) != NULL) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) != NULL)
            checksum = libdeflate_crc32(checksum, &header, sizeof header);
    }
    return checksum;
}

bool cache_key_make(const struct elf_file *file, struct cache_key *key)
{
    struct text build_id = elf_file_build_id(file);
    if (build_id.length == 0 || build_id.length > CACHE_BUILD_ID_MAX_BYTES)
        return false;
    uint32_t layout = layout_checksum(file);
    char *at = key->name;
    hex_digits(at, build_id.bytes, build_id.length);
    at += 2 * build_id.length;
    *at++ = '-';
    hex_digits(at, &layout, LAYOUT_BYTES);
    at += (size_t)2 * LAYOUT_BYTES;
    memcpy(at, CACHE_KEY_EXTENSION, sizeof CACHE_KEY_EXTENSION);
    return true;
}

bool cache_key_is(const char *name)
{
    size_t n = strspn(name, "0123456789abcdef");
    return n >= 2 && n <= (size_t)2 * CACHE_BUILD_ID_MAX_BYTES && name[n] == '-' &&
           strspn(name + n + 1, "0123456789abcdef") == (size_t)2 * LAYOUT_BYTES &&
           strcmp(name + n + 1 + (size_t)2 * LAYOUT_BYTES, CACHE_KEY_EXTENSION) == 0;
}
