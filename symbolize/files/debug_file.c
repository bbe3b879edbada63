/* debug_file.c - see debug_file.h. Files come from anywhere: each is opened without blocking,
 * and none is believed because of its name. */
#include "files/debug_file.h"

#include <elfutils/libdwelf.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "digits.h"
#include "files/mini_debug.h"
#include "text.h"

/* Longest build id that makes sense; linkers make 8, 16 or 20 bytes. */
#define BUILD_ID_MAX_BYTES 64u

/* ---- folders to look in ---------------------------------------------------------------------- */

/* One of the folders that have debug files in a system's order, without the slash at its end. */
struct root {
    struct text dir;
    const char *below; /* what follows: "" or DEBUG_FILE_ROOT */
};

/* The user's folders one by one, each of them twice. */
struct roots {
    const char *next; /* in the user's list */
    struct root root;
    bool is_second;
};

static struct roots roots_of(const struct debug_places *places)
{
    return (struct roots){.next = places->path == NULL ? "" : places->path};
}

static bool roots_next(struct roots *roots)
{
    if (roots->is_second) {
        roots->is_second = false;
        roots->root.below = DEBUG_FILE_ROOT;
        return true;
    }
    const char *at = roots->next + strspn(roots->next, ":");
    size_t length = strcspn(at, ":");
    roots->next = at + length;
    roots->is_second = length > 0;
    while (length > 1 && at[length - 1] == '/')
        length--;
    roots->root = (struct root){{at, length}, ""};
    return length > 0;
}

static struct root system_root(const struct debug_places *places)
{
    return (struct root){text_make(places->root == NULL ? DEBUG_FILE_ROOT : places->root), ""};
}

/* ---- the search for one file ----------------------------------------------------------------- */

struct search {
    struct text build_id;        /* "": it has none                                         */
    const struct elf_file *file; /* the module itself, NULL: not there                      */
    const char *link;            /* the name in .gnu_debuglink, NULL: it has none           */
    uint32_t link_crc;
    struct elf_file *best;    /* the best so far, NULL: none; the search ends when it has DWARF */
    char best_path[PATH_MAX]; /* where that is */
};

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

/* Whether a file that was found is what the search is for: the build id where both have one, else
 * the CRC. */
static bool is_right(const struct search *search, const struct elf_file *found)
{
    const struct elf_file *file = search->file;
    if (file != NULL && found->status.st_dev == file->status.st_dev &&
        found->status.st_ino == file->status.st_ino)
        return false;
    struct text build_id = elf_file_build_id(found);
    uint32_t crc = 0;
    if (search->build_id.length != 0 && build_id.length != 0)
        return text_equal(search->build_id, build_id);
    return search->link != NULL && file_crc(found, &crc) && crc == search->link_crc;
}

static struct elf_file *open_quietly(const char *path)
{
    struct err err = ERR_INIT;
    struct elf_file *file = NULL;
    return elf_file_open(path, &file, &err) ? file : NULL;
}

/* True when the search is over. */
__attribute__((format(printf, 2, 3))) static bool try_file(struct search *search,
                                                           const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(path, sizeof path, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof path)
        return false;
    struct elf_file *found = open_quietly(path);
    if (found == NULL)
        return false;
    bool has_dwarf = elf_file_has_dwarf(found);
    bool is_better = has_dwarf || (search->best == NULL && elf_file_has_symtab(found));
    if (!is_better || !is_right(search, found)) {
        elf_file_close(found);
        return false;
    }
    elf_file_close(search->best);
    search->best = found;
    memcpy(search->best_path, path, (size_t)n + 1);
    return has_dwarf;
}

/* ROOT/.build-id/xx/yyyy.debug */
static bool try_build_id(struct search *search, struct root root)
{
    if (search->build_id.length < 2 || search->build_id.length > BUILD_ID_MAX_BYTES)
        return false;
    char hex[2 * BUILD_ID_MAX_BYTES + 1] = "";
    hex_digits(hex, search->build_id.bytes, search->build_id.length);
    return try_file(search, "%.*s%s/.build-id/%.2s/%s.debug", (int)root.dir.length, root.dir.bytes,
                    root.below, hex, hex + 2);
}

/* Length of the folder part of a path, without the last slash. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : (int)(slash - path);
}

/* `path`: of the module, from its root on. */
static bool try_user_root(struct search *search, struct root root, const char *path)
{
    int dir_length = (int)root.dir.length, folder = folder_length(path);
    const char *dir = root.dir.bytes, *below = root.below, *link = search->link;
    const char *name = text_base_name(text_make(path)).bytes;
    if (try_build_id(search, root))
        return true;
    if (path[0] == '/' && try_file(search, "%.*s%s%s", dir_length, dir, below, path))
        return true;
    if (link != NULL &&
        (try_file(search, "%.*s%s%.*s/%s", dir_length, dir, below, folder, path, link) ||
         try_file(search, "%.*s%s/%s", dir_length, dir, below, link)))
        return true;
    return name[0] != '\0' && (try_file(search, "%.*s%s/%s", dir_length, dir, below, name) ||
                               try_file(search, "%.*s%s/%s.debug", dir_length, dir, below, name));
}

static bool try_system(struct search *search, struct root root, const char *path)
{
    int folder = folder_length(path);
    const char *link = search->link;
    if (try_build_id(search, root))
        return true;
    return link != NULL && (try_file(search, "%.*s/%s", folder, path, link) ||
                            try_file(search, "%.*s/.debug/%s", folder, path, link) ||
                            try_file(search, "%.*s%.*s/%s", (int)root.dir.length, root.dir.bytes,
                                     folder, path, link));
}

static void try_all(struct search *search, const struct debug_places *places, const char *path)
{
    for (struct roots roots = roots_of(places); roots_next(&roots);)
        if (try_user_root(search, roots.root, path))
            return;
    (void)try_system(search, system_root(places), path);
}

static void search_all(struct search *search, const struct debug_places *places, const char *path)
{
    char *real = realpath(path, NULL); /* /lib may be a link to /usr/lib */
    try_all(search, places, real == NULL ? path : real);
    free(real);
}

/* A name with a folder in it is none that objcopy writes. */
static void link_read(struct search *search)
{
    GElf_Word crc = 0;
    const char *name = dwelf_elf_gnu_debuglink(search->file->elf, &crc);
    if (name == NULL || name[0] == '\0' || strchr(name, '/') != NULL)
        return;
    search->link = name;
    search->link_crc = crc;
}

/* What the servers have is better than names only. */
static void servers_ask(struct search *search, const struct debug_places *places, const char *name)
{
    char path[PATH_MAX];
    if (places->servers == NULL || (search->best != NULL && elf_file_has_dwarf(search->best)))
        return;
    struct elf_file *found =
        debug_servers_find(places->servers, search->build_id, name, path, sizeof path);
    if (found == NULL)
        return;
    elf_file_close(search->best);
    search->best = found;
    snprintf(search->best_path, sizeof search->best_path, "%s", path);
}

struct elf_file *debug_file_find(const struct debug_places *places, struct text build_id,
                                 const struct elf_file *file, const char *path, char *found_path,
                                 size_t found_path_bytes)
{
    if (build_id.length == 0 && file != NULL)
        build_id = elf_file_build_id(file);
    struct search search = {.build_id = build_id, .file = file};
    if (file != NULL)
        link_read(&search);
    if (build_id.length != 0 || search.link != NULL) /* else nothing proves to be right */
        search_all(&search, places, path);
    servers_ask(&search, places, text_base_name(text_make(path)).bytes);
    if (search.best == NULL && file != NULL && !elf_file_has_symtab(file)) {
        search.best = mini_debug_open(file);
        snprintf(search.best_path, sizeof search.best_path, "%s", path);
    }
    snprintf(found_path, found_path_bytes, "%s", search.best_path);
    return search.best;
}

/* ---- what dwz moved out of it ---------------------------------------------------------------- */

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

/* `name` as the link has it. Below a folder of the user's its path from the root on is tried, and
 * from /usr/lib/debug on where that is its beginning. */
static void try_alt(struct search *search, const struct debug_places *places, const char *name,
                    const char *debug_path)
{
    const char *in_root = text_starts(text_make(name), DEBUG_FILE_ROOT "/")
                              ? name + sizeof DEBUG_FILE_ROOT - 1
                              : name;
    for (struct roots roots = roots_of(places); roots_next(&roots);)
        if (try_build_id(search, roots.root) ||
            (in_root[0] == '/' && try_file(search, "%.*s%s%s", (int)roots.root.dir.length,
                                           roots.root.dir.bytes, roots.root.below, in_root)))
            return;
    if (try_build_id(search, system_root(places)))
        return;
    if (name[0] == '/')
        (void)try_file(search, "%s", name);
    else
        (void)try_file(search, "%.*s/%s", folder_length(debug_path), debug_path, name);
}

struct elf_file *debug_file_find_alt(const struct debug_places *places,
                                     const struct elf_file *debug, const char *debug_path,
                                     bool *wanted)
{
    struct search search = {0};
    const char *name;
    *wanted = altlink_read(debug, &name, &search.build_id);
    if (*wanted) {
        try_alt(&search, places, name, debug_path);
        servers_ask(&search, places, text_base_name(text_make(name)).bytes);
    }
    return search.best;
}
