/* debug_file.c - see debug_file.h. Files come from anywhere: each is opened without blocking,
 * and none is believed because of its name. */
#include "files/debug_file.h"

#include <elfutils/libdwelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "digits.h"
#include "text.h"

/* Longest build id that makes sense; linkers make 8, 16 or 20 bytes. */
#define BUILD_ID_MAX_BYTES 64u

static struct elf_file *open_quietly(const char *path)
{
    struct err err = ERR_INIT;
    struct elf_file *file = NULL;
    return elf_file_open(path, &file, &err) ? file : NULL;
}

/* Opens `path` if it is there and has this build id. */
static struct elf_file *open_with_build_id(const char *path, struct text build_id)
{
    struct elf_file *file = open_quietly(path);
    if (file != NULL && !text_equal(elf_file_build_id(file), build_id)) {
        elf_file_close(file);
        return NULL;
    }
    return file;
}

static bool build_id_path(const char *root, struct text build_id, char *out, size_t out_bytes)
{
    if (build_id.length < 2 || build_id.length > BUILD_ID_MAX_BYTES)
        return false;
    char hex[2 * BUILD_ID_MAX_BYTES + 1] = "";
    hex_digits(hex, build_id.bytes, build_id.length);
    int n = snprintf(out, out_bytes, "%s/.build-id/%.2s/%s.debug", root, hex, hex + 2);
    return n > 0 && (size_t)n < out_bytes;
}

/* CRC of the whole file as .gnu_debuglink means it (the one of zlib). */
static bool file_crc(const struct elf_file *file, uint32_t *out)
{
    size_t size_bytes;
    const char *bytes = elf_rawfile(file->elf, &size_bytes);
    if (bytes == NULL)
        return false;
    *out = (uint32_t)crc32_z(0, (const unsigned char *)bytes, size_bytes);
    return true;
}

/* Opens `path` if it proves to be the debug file: same build id where both have one, else the CRC.
 */
static struct elf_file *open_linked(const char *path, const struct elf_file *main_file,
                                    uint32_t crc)
{
    struct elf_file *file = open_quietly(path);
    if (file == NULL)
        return NULL;
    struct text wanted = elf_file_build_id(main_file);
    struct text got = elf_file_build_id(file);
    bool same_file = file->status.st_dev == main_file->status.st_dev &&
                     file->status.st_ino == main_file->status.st_ino;
    uint32_t got_crc = 0;
    bool right = wanted.length != 0 && got.length != 0 ? text_equal(wanted, got)
                                                       : file_crc(file, &got_crc) && got_crc == crc;
    if (right && !same_file)
        return file;
    elf_file_close(file);
    return NULL;
}

/* Length of the folder part of a path, without the last slash. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (int)(slash - path);
}

static struct elf_file *find_linked(const char *root, const struct elf_file *file, const char *path,
                                    char *found, size_t found_bytes)
{
    GElf_Word crc;
    const char *name = dwelf_elf_gnu_debuglink(file->elf, &crc);
    /* A name with a folder in it is none that objcopy writes. */
    if (name == NULL || name[0] == '\0' || strchr(name, '/') != NULL)
        return NULL;
    char *real = realpath(path, NULL); /* /lib may be a link to /usr/lib */
    const char *const base = real == NULL ? path : real;
    int folder = folder_length(base);
    struct elf_file *debug = NULL;
    for (int place = 0; place < 3 && debug == NULL; place++) {
        int n;
        if (place == 0)
            n = snprintf(found, found_bytes, "%.*s/%s", folder, base, name);
        else if (place == 1)
            n = snprintf(found, found_bytes, "%.*s/.debug/%s", folder, base, name);
        else
            n = snprintf(found, found_bytes, "%s%.*s/%s", root, folder, base, name);
        if (n > 0 && (size_t)n < found_bytes)
            debug = open_linked(found, file, crc);
    }
    free(real);
    return debug;
}

struct elf_file *debug_file_find(const char *root, struct text build_id,
                                 const struct elf_file *file, const char *path, char *found_path,
                                 size_t found_path_bytes)
{
    if (root == NULL)
        root = DEBUG_FILE_ROOT;
    if (build_id.length == 0 && file != NULL)
        build_id = elf_file_build_id(file);
    if (build_id_path(root, build_id, found_path, found_path_bytes)) {
        struct elf_file *debug = open_with_build_id(found_path, build_id);
        if (debug != NULL)
            return debug;
    }
    return file == NULL ? NULL : find_linked(root, file, path, found_path, found_path_bytes);
}

/* The section by hand: libdw's function wants a Dwarf, which needs the answer. */
static bool altlink_read(const struct elf_file *debug, const char **name, struct text *build_id)
{
    GElf_Shdr header;
    Elf_Scn *section = elf_file_section(debug, ".gnu_debugaltlink", &header);
    Elf_Data *data = section == NULL ? NULL : elf_rawdata(section, NULL);
    if (data == NULL || data->d_buf == NULL)
        return false;
    const char *end = memchr(data->d_buf, 0, data->d_size);
    if (end == NULL)
        return false;
    *name = data->d_buf;
    *build_id = (struct text){end + 1, data->d_size - (size_t)(end + 1 - *name)};
    return build_id->length != 0;
}

struct elf_file *debug_file_find_alt(const char *root, const struct elf_file *debug,
                                     const char *debug_path, bool *wanted)
{
    if (root == NULL)
        root = DEBUG_FILE_ROOT;
    const char *name;
    struct text build_id;
    *wanted = altlink_read(debug, &name, &build_id);
    if (!*wanted)
        return NULL;
    char path[PATH_MAX];
    if (build_id_path(root, build_id, path, sizeof path)) {
        struct elf_file *alt = open_with_build_id(path, build_id);
        if (alt != NULL)
            return alt;
    }
    int n = name[0] == '/' ? snprintf(path, sizeof path, "%s", name)
                           : snprintf(path, sizeof path, "%.*s/%s", folder_length(debug_path),
                                      debug_path, name);
    return n > 0 && (size_t)n < sizeof path ? open_with_build_id(path, build_id) : NULL;
}
