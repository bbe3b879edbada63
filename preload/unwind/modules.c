/* modules.c - see modules.h.
 *
 * _dl_find_object shows which module a pc belongs to: lock-free, and right while other threads load
 * and unload. It is bound directly, so the library needs glibc 2.35; an older one would need a
 * snapshot of dl_iterate_phdr, taken by the hooks and published here, for the same modules_find.
 *
 * The table: entries are handed out by a counter, filled, then entered in an open-addressed index
 * by one compare-and-swap; the loser of a race uses the winner's entry and leaves its own unused.
 * What is read of a module's memory (ELF header, program headers, note, path) is copied by
 * memory_copy, once per module: it cannot fault even if the module is unloaded in between. */
#include "unwind/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "capture.h"
#include "sys/os.h"
#include "unwind/memory.h"

#define INDEX_SLOTS 8192u /* power of two, twice MODULES_MAX: probing always ends */
#define INDEX_PROBES_MAX 64u
#define PATH_MAX_BYTES 1024u
#define PATHS_BYTES (1u << 19)
#define PROGRAM_HEADERS_MAX 32u
#define PROGRAM_HEADERS_AT_ONCE 8u /* on the handler's stack */
#define NOTE_MAX_BYTES 256u

/* What an entry was made from, and for which generation that is known to hold. */
struct module_origin {
    uint64_t link_map;
    uint64_t found_start; /* the range _dl_find_object gave, part of the module's or all of it */
    uint64_t found_end;
    _Atomic uint64_t generation; /* any thread, relaxed: a stale value only costs a comparison */
};

/* 1.9 MB of zeros at first, of which a program with twenty modules touches some 10 kB. Not in .bss,
 * where it would count against the memory limits of programs that are never sampled. */
struct tables {
    struct module modules[MODULES_MAX + 1]; /* [0] unused */
    struct module_origin origins[MODULES_MAX + 1];
    _Atomic uint32_t index[INDEX_SLOTS]; /* ids; written once, released when filled */
    char main_path[PATH_MAX_BYTES];      /* constant */
    char paths[PATHS_BYTES];
};

/* Mapped when first needed, by compare-and-swap, constant afterwards. NULL: not yet, or there was no
 * memory. */
static struct tables *tables;
static _Atomic uint32_t n_modules;
static _Atomic uint32_t paths_used;
static _Atomic uint64_t generation = 1;

/* Set in modules_init, constant afterwards. */
static uint64_t vdso_start;
static uint64_t main_link_map;
static uint64_t main_phdrs;
static uint32_t main_n_phdrs;

/* Looking up the program's path costs as much as a clock: so not before it is needed. */
SIGNAL_SAFE static bool tables_make(void)
{
    struct tables *made = os_map(sizeof *made), *none = NULL;
    if (made == NULL)
        return false;
    long length = os_call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", made->main_path,
                          sizeof made->main_path - 1);
    made->main_path[length < 0 ? 0 : length] = '\0';
    if (!__atomic_compare_exchange_n(&tables, &none, made, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        os_unmap(made, sizeof *made);
    return true;
}

/* False when there is no memory for them. */
SIGNAL_SAFE static bool tables_are_there(void)
{
    return likely(__atomic_load_n(&tables, __ATOMIC_ACQUIRE) != NULL) || tables_make();
}

const char *modules_main_path(void)
{
    return tables_are_there() ? tables->main_path : "";
}

uint64_t modules_generation(void)
{
    return atomic_load_explicit(&generation, memory_order_acquire);
}

void modules_unloaded(void)
{
    atomic_fetch_add_explicit(&generation, 1, memory_order_acq_rel);
}

struct module *modules_get(uint32_t id)
{
    return &tables->modules[id];
}

uint32_t modules_count(void)
{
    uint32_t n = atomic_load_explicit(&n_modules, memory_order_acquire);
    return n < MODULES_MAX ? n : MODULES_MAX;
}

void modules_init(void)
{
    vdso_start = getauxval(AT_SYSINFO_EHDR);
    main_phdrs = getauxval(AT_PHDR);
    main_n_phdrs = (uint32_t)getauxval(AT_PHNUM);
    struct dl_find_object found;
    if (_dl_find_object(address_pointer(getauxval(AT_ENTRY)), &found) == 0)
        main_link_map = (uint64_t)found.dlfo_link_map;
}

/* The note NT_GNU_BUILD_ID among the notes at `address`. */
SIGNAL_SAFE static bool build_id_read(struct module *module, uint64_t address, uint64_t n_bytes)
{
    uint8_t notes[NOTE_MAX_BYTES];
    Elf64_Nhdr header;
    if (n_bytes > sizeof notes)
        n_bytes = sizeof notes;
    if (!memory_copy(notes, address, n_bytes))
        return false;
    for (uint64_t at = 0; at + sizeof header <= n_bytes;) {
        memcpy(&header, notes + at, sizeof header);
        uint64_t name = at + sizeof header;
        uint64_t id = name + ((header.n_namesz + 3ull) & ~3ull);
        bool is_build_id = header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
                           header.n_descsz <= MODULE_BUILD_ID_MAX &&
                           id + header.n_descsz <= n_bytes &&
                           memcmp(notes + name, ELF_NOTE_GNU, 4) == 0;
        if (is_build_id) {
            memcpy(module->build_id, notes + id, header.n_descsz);
            module->build_id_bytes = header.n_descsz;
            return true;
        }
        at = id + ((header.n_descsz + 3ull) & ~3ull);
    }
    return false;
}

/* Whether an ELF header is at `address`; then *n program headers are at the address returned. */
SIGNAL_SAFE static uint64_t phdrs_of_header(uint64_t address, uint32_t *n)
{
    Elf64_Ehdr header;
    *n = 0;
    if (!memory_copy(&header, address, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr))
        return 0;
    *n = header.e_phnum;
    return address + header.e_phoff;
}

/* Where the program headers are in memory; *n = 0 if they cannot be found. Those of the program
 * itself come from the kernel (AT_PHDR), as it may have been linked so that its ELF header is not
 * loaded. Where a module has holes between its segments, _dl_find_object shows the one segment the
 * pc lies in: then the header is where the first segment's file offset and address are both 0. */
SIGNAL_SAFE static uint64_t phdrs_find(const struct module *module, uint32_t *n)
{
    if ((module->flags & CAPTURE_MODULE_MAIN) != 0) {
        *n = main_n_phdrs;
        return main_phdrs;
    }
    uint64_t address = phdrs_of_header(module->start, n);
    return *n > 0 ? address : phdrs_of_header(module->bias, n);
}

/* Adds a loaded segment; the module's range grows to hold it. */
SIGNAL_SAFE static void segment_add(struct module *module, struct segment segment)
{
    struct segments *segments = &module->segments;
    if (segments->n == SEGMENTS_MAX)
        return;
    segments->segment[segments->n++] = segment;
    if (segment.start < module->start)
        module->start = segment.start;
    if (segment.end > module->end)
        module->end = segment.end;
}

SIGNAL_SAFE static void phdr_use(struct module *module, const Elf64_Phdr *phdr)
{
    uint64_t start = module->bias + phdr->p_vaddr;
    uint64_t end = start + phdr->p_memsz;
    if (end < start)
        return;
    if (phdr->p_type == PT_LOAD)
        segment_add(module, (struct segment){.start = start, .end = end, .flags = phdr->p_flags});
    else if (phdr->p_type == PT_NOTE && module->build_id_bytes == 0)
        (void)build_id_read(module, start, phdr->p_filesz);
}

/* Some at a time: each copy is a system call. */
SIGNAL_SAFE __attribute__((noinline)) static void phdrs_read(struct module *module)
{
    Elf64_Phdr phdrs[PROGRAM_HEADERS_AT_ONCE];
    uint32_t n = 0, n_read;
    uint64_t address = phdrs_find(module, &n);
    if (n > PROGRAM_HEADERS_MAX)
        n = PROGRAM_HEADERS_MAX;
    for (uint32_t at = 0; at < n; at += n_read) {
        n_read = n - at < PROGRAM_HEADERS_AT_ONCE ? n - at : PROGRAM_HEADERS_AT_ONCE;
        if (!memory_copy(phdrs, address + at * sizeof *phdrs, n_read * sizeof *phdrs))
            return;
        for (uint32_t i = 0; i < n_read; i++)
            phdr_use(module, &phdrs[i]);
    }
}

/* Bytes of the next piece of a text read from `address`: to the end of a 64-byte line, which never
 * straddles a page into the unknown. */
#define LINE_BYTES 64u
SIGNAL_SAFE static uint32_t line_left(uint64_t address)
{
    return LINE_BYTES - (uint32_t)(address % LINE_BYTES);
}

/* Whether the text at `address` is `path`. */
SIGNAL_SAFE static bool path_equals(uint64_t address, const char *path)
{
    char line[LINE_BYTES];
    size_t left = strlen(path) + 1;
    while (left > 0) {
        size_t piece = line_left(address);
        if (piece > left)
            piece = left;
        if (!memory_copy(line, address, piece) || memcmp(line, path, piece) != 0)
            return false;
        address += piece;
        path += piece;
        left -= piece;
    }
    return true;
}

/* Length of the text at `address`, 0 when it cannot be read or is too long to be a path. */
SIGNAL_SAFE static uint32_t path_length(uint64_t address)
{
    char line[LINE_BYTES];
    for (uint32_t n = 0; n < PATH_MAX_BYTES;) {
        uint32_t piece = line_left(address + n);
        if (!memory_copy(line, address + n, piece))
            return 0;
        const char *nul = memchr(line, 0, piece);
        if (nul != NULL)
            return n + (uint32_t)(nul - line);
        n += piece;
    }
    return 0;
}

/* Keeps a copy for good; the program's own path for an empty text or one that cannot be read, ""
 * when the room is used up. */
SIGNAL_SAFE static const char *path_keep(uint64_t address)
{
    uint32_t length = path_length(address);
    if (length == 0)
        return tables->main_path;
    uint32_t at = atomic_fetch_add_explicit(&paths_used, length + 1, memory_order_relaxed);
    if (at > PATHS_BYTES - length - 1) {
        atomic_fetch_sub_explicit(&paths_used, length + 1, memory_order_relaxed);
        return "";
    }
    return memory_copy(tables->paths + at, address, length) ? tables->paths + at : "";
}

/* Fills `module` with all but its id and path. False when its link map cannot be read. */
SIGNAL_SAFE static bool module_fill(struct module *module, const struct dl_find_object *found,
                                    uint64_t *path_address)
{
    struct link_map map;
    memset(module, 0, sizeof *module);
    if (!memory_copy(&map, (uint64_t)found->dlfo_link_map, sizeof map))
        return false;
    *path_address = (uint64_t)map.l_name;
    module->start = (uint64_t)found->dlfo_map_start;
    module->end = (uint64_t)found->dlfo_map_end;
    module->bias = map.l_addr;
    module->eh_frame_hdr = (uint64_t)found->dlfo_eh_frame;
    if (module->start == vdso_start)
        module->flags |= CAPTURE_MODULE_VDSO;
    if ((uint64_t)found->dlfo_link_map == main_link_map)
        module->flags |= CAPTURE_MODULE_MAIN;
    phdrs_read(module);
    return true;
}

/* Whether what is loaded now is still what `old` was made from. */
SIGNAL_SAFE static bool module_is_same(const struct module *old, const struct module *now,
                                       uint64_t path_address)
{
    return old->bias == now->bias && old->build_id_bytes == now->build_id_bytes &&
           memcmp(old->build_id, now->build_id, sizeof old->build_id) == 0 &&
           memcmp(&old->segments, &now->segments, sizeof old->segments) == 0 &&
           (old->path == tables->main_path || path_equals(path_address, old->path));
}

SIGNAL_SAFE static uint32_t slot_of(const struct dl_find_object *found)
{
    uint64_t key = (uint64_t)found->dlfo_link_map; /* for each of its segments the same */
    return (uint32_t)((key >> 4) * 0x9e3779b97f4a7c15ull >> 40) % INDEX_SLOTS;
}

/* Whether `found` is what `module` was made from, or another segment of a module with holes. */
SIGNAL_SAFE static bool module_holds(const struct module *module,
                                     const struct module_origin *origin,
                                     const struct dl_find_object *found)
{
    uint64_t start = (uint64_t)found->dlfo_map_start;
    uint64_t end = (uint64_t)found->dlfo_map_end;
    bool has_holes = module->start != origin->found_start || module->end != origin->found_end;
    return origin->link_map == (uint64_t)found->dlfo_link_map &&
           ((start == origin->found_start && end == origin->found_end) ||
            (has_holes && start >= module->start && end <= module->end));
}

/* The entry for `found` among those already made; NULL: none, and *free_slot is where one belongs
 * (INDEX_SLOTS: no room). `now` NULL: only entries known to hold for `current`. */
SIGNAL_SAFE static struct module *index_find(const struct dl_find_object *found, uint64_t current,
                                             const struct module *now, uint64_t path_address,
                                             uint32_t *free_slot)
{
    uint32_t slot = slot_of(found);
    *free_slot = INDEX_SLOTS;
    for (uint32_t i = 0; i < INDEX_PROBES_MAX; i++, slot = (slot + 1) % INDEX_SLOTS) {
        uint32_t id = atomic_load_explicit(&tables->index[slot], memory_order_acquire);
        if (id == 0) {
            *free_slot = slot;
            return NULL;
        }
        struct module *module = &tables->modules[id];
        struct module_origin *origin = &tables->origins[id];
        if (!module_holds(module, origin, found))
            continue;
        if (atomic_load_explicit(&origin->generation, memory_order_relaxed) == current)
            return module;
        if (now != NULL && module_is_same(module, now, path_address)) {
            atomic_store_explicit(&origin->generation, current, memory_order_relaxed);
            return module;
        }
    }
    return NULL;
}

/* Makes the entry `now` and publishes it, unless another thread just did. */
SIGNAL_SAFE static struct module *module_add(const struct dl_find_object *found, uint64_t current,
                                             const struct module *now, uint64_t path_address)
{
    uint32_t id = atomic_fetch_add_explicit(&n_modules, 1, memory_order_relaxed) + 1;
    if (id > MODULES_MAX) {
        atomic_fetch_sub_explicit(&n_modules, 1, memory_order_relaxed);
        return NULL;
    }
    struct module *module = &tables->modules[id];
    struct module_origin *origin = &tables->origins[id];
    *module = *now;
    module->id = id;
    module->path = path_keep(path_address);
    origin->link_map = (uint64_t)found->dlfo_link_map;
    origin->found_start = (uint64_t)found->dlfo_map_start;
    origin->found_end = (uint64_t)found->dlfo_map_end;
    atomic_store_explicit(&origin->generation, current, memory_order_relaxed);
    for (uint32_t i = 0; i < INDEX_PROBES_MAX; i++) {
        uint32_t slot = 0;
        uint32_t empty = 0;
        struct module *other = index_find(found, current, now, path_address, &slot);
        if (other != NULL || slot == INDEX_SLOTS)
            return other;
        if (atomic_compare_exchange_strong_explicit(&tables->index[slot], &empty, id,
                                                    memory_order_release, memory_order_relaxed))
            return module;
    }
    return NULL;
}

struct module *modules_find(uint64_t pc)
{
    struct dl_find_object found;
    uint32_t slot = 0;
    if (unlikely(!tables_are_there()) || _dl_find_object(address_pointer(pc), &found) != 0)
        return NULL;
    uint64_t current = modules_generation();
    struct module *module = index_find(&found, current, NULL, 0, &slot);
    if (module != NULL)
        return module;
    struct module now;
    uint64_t path_address = 0;
    if (!module_fill(&now, &found, &path_address))
        return NULL;
    module = index_find(&found, current, &now, path_address, &slot);
    return module != NULL ? module : module_add(&found, current, &now, path_address);
}

uint64_t modules_dynamic(const struct module *module)
{
    struct dl_find_object found;
    struct link_map map;
    uint64_t code = 0;
    for (uint64_t i = 0; i < module->segments.n && code == 0; i++)
        if ((module->segments.segment[i].flags & SEGMENT_EXECUTE) != 0)
            code = module->segments.segment[i].start;
    if (code == 0 || modules_find(code) != module ||
        _dl_find_object(address_pointer(code), &found) != 0 ||
        !memory_copy(&map, (uint64_t)found.dlfo_link_map, sizeof map))
        return 0;
    return (uint64_t)map.l_ld;
}
