/* module.c - see module.h. The steps, in the order in which they may still help: DWARF names most,
 * the symbol tables name what is left, then what is left goes by where it begins, and what is exported
 * under another name goes by that one. */
#include "names/module.h"

#include <elfutils/libdw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "cache/module_index.h"
#include "dwarf/index.h"
#include "files/debug_file.h"
#include "files/debug_servers.h"
#include "files/elf_file.h"
#include "files/module_file.h"
#include "names/code_ranges.h"
#include "names/dwarf_names.h"
#include "names/mangled_names.h"
#include "names/symbols.h"
#include "text.h"

/* The result and what it lives in. */
struct owner {
    struct module_symbols symbols;
    struct arena *arena;
    struct intern *texts;
    struct chain_frames frames;
};

/* Everything that is open while one module is read. */
struct work {
    struct owner *owner;
    const struct recording_module *module;
    const struct symbol_sources *sources;
    const uint64_t *vaddrs;
    struct chain *chains;
    size_t n;
    /* The module itself, NULL if it is not available or not the one that ran. */
    struct elf_file *file;
    struct err instead;     /* why it is what the recording kept */
    struct elf_file *debug; /* its debug file, NULL if there is none */
    struct elf_file *alt;   /* what dwz moved out of it   */
    struct code_ranges ranges;
    bool ranges_loaded; /* they are asked for where names are missing, so not always */
    char debug_path[PATH_MAX];
    bool no_memory;
};

/* The first problem is kept: later ones follow from it. */
__attribute__((format(printf, 2, 3))) static void problem_set(struct work *work, const char *format,
                                                              ...)
{
    if (work->owner->symbols.problem[0] != '\0')
        return;
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    size_t length = n < 0 ? 0 : (size_t)n;
    const char *copy =
        arena_text(work->owner->arena, text, length < sizeof text ? length : sizeof text - 1);
    if (copy == NULL)
        work->no_memory = true;
    else
        work->owner->symbols.problem = copy;
}

/* ---- the files ---- */

static void file_open(struct work *work)
{
    struct err err = ERR_INIT;
    char text[400];
    if (!module_file_open(work->module, &work->file, &work->instead, &err))
        problem_set(work, "%s", err_describe(&err, text, sizeof text));
}

/* The file DWARF is read from, NULL if there is none. */
static struct elf_file *dwarf_file(struct work *work)
{
    if (work->file != NULL && elf_file_has_dwarf(work->file))
        return work->file;
    work->debug =
        debug_file_find(&work->sources->places, work->module->build_id, work->file,
                        work->module->path.bytes, work->debug_path, sizeof work->debug_path);
    return work->debug != NULL && elf_file_has_dwarf(work->debug) ? work->debug : NULL;
}

/* ---- DWARF ---- */

/* Joins the dwz file to `dwarf`; the handle it adds is returned, NULL if there is none. */
static Dwarf *alt_join(struct work *work, Dwarf *dwarf, const struct elf_file *from,
                       const char *from_path)
{
    bool wanted;
    work->alt = debug_file_find_alt(&work->sources->places, from, from_path, &wanted);
    Dwarf *alt = work->alt == NULL ? NULL : dwarf_begin_elf(work->alt->elf, DWARF_C_READ, NULL);
    if (alt != NULL)
        dwarf_setalt(dwarf, alt);
    else if (wanted)
        problem_set(work, "the file that dwz split off from %s is missing; some names are too",
                    from_path);
    return alt;
}

/* What libdw makes of it: slowly, but of every kind there is. */
static bool libdw_read(struct work *work, const struct elf_file *file, const char *path,
                       const struct dwarf_names_result *result)
{
    Dwarf *dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
    if (dwarf == NULL) {
        problem_set(work, "%s: %s", path, dwarf_errmsg(-1));
        return false;
    }
    Dwarf *alt = alt_join(work, dwarf, file, path);
    if (!dwarf_names_find(dwarf, work->vaddrs, work->n, result))
        work->no_memory = true;
    dwarf_end(dwarf);
    dwarf_end(alt);
    return true;
}

/* The usual kinds of DWARF by an index of our own, all others by libdw. */
static bool names_read(struct work *work, const struct elf_file *file, const char *path)
{
    const struct dwarf_names_result result = {work->chains, &work->owner->frames,
                                              work->owner->texts};
    struct module_index opened;
    enum index_outcome outcome = module_index_open(work->sources->cache, file, &opened);
    if (outcome == INDEX_NOT_FOR_US)
        return libdw_read(work, file, path, &result);
    if (outcome == INDEX_TOO_LARGE) {
        problem_set(
            work, "%s: its debug information is larger than a file of its size can be worth", path);
        return false;
    }
    work->no_memory |= outcome == INDEX_NO_MEMORY;
    if (outcome != INDEX_DONE)
        return true;
    uint32_t n_damaged = dwarf_index_n_damaged(&opened.index);
    if (n_damaged != 0)
        problem_set(
            work,
            "%s: damaged debug information in %u places; names of functions are missing there",
            path, n_damaged);
    if (!dwarf_index_find(&opened.index, work->vaddrs, work->n, &result))
        work->no_memory = true;
    module_index_close(work->sources->cache, work->module->path, &opened);
    return true;
}

static void dwarf_read(struct work *work)
{
    const struct elf_file *file = dwarf_file(work);
    if (file == NULL)
        return;
    const char *path = file == work->debug ? work->debug_path : work->module->path.bytes;
    if (!names_read(work, file, path))
        return;
    work->owner->symbols.source = MODULE_DWARF;
    const char *kept = arena_text(work->owner->arena, path, strlen(path));
    if (kept == NULL)
        work->no_memory = true;
    else
        work->owner->symbols.debug_path = kept;
}

/* ---- symbol tables ---- */

static struct chain_frame *frame_at(const struct work *work, size_t index)
{
    return &work->owner->frames.items[index];
}

/* The function in the symbol table sense: the last of a chain. */
static struct chain_frame *outermost(const struct work *work, const struct chain *chain)
{
    return chain->n == 0 ? NULL : frame_at(work, (size_t)chain->first + chain->n - 1);
}

static void frame_name(struct work *work, struct chain_frame *frame, const struct symbol *symbol)
{
    if (!intern_add(work->owner->texts, symbol->name, symbol->length, &frame->name))
        work->no_memory = true;
}

/* Gives an address for which there is no DWARF a chain of one frame. */
static struct chain_frame *frame_add(struct work *work, struct chain *chain)
{
    chain->first = (uint32_t)work->owner->frames.n;
    if (!chain_frames_extend(&work->owner->frames, work->owner->frames.n + 1)) {
        work->no_memory = true;
        return NULL;
    }
    chain->n = 1;
    return outermost(work, chain);
}

/* Functions of C that are exported under another name than they were written with are known by that
 * one: malloc, not __libc_malloc. */
static void exported_names_use(struct work *work)
{
    struct symbols symbols;
    if (work->file == NULL || work->owner->symbols.source != MODULE_DWARF)
        return;
    symbols_init(&symbols, work->owner->arena);
    if (!symbols_add_exported(&symbols, work->file))
        work->no_memory = true;
    symbols_finish(&symbols);
    for (size_t i = 0; i < work->n && !work->no_memory; i++) {
        struct chain_frame *frame = outermost(work, &work->chains[i]);
        if (frame == NULL || frame->name == 0 || frame->entry == 0)
            continue;
        struct text name = intern_text(work->owner->texts, frame->name);
        const struct symbol *symbol = symbols_find(&symbols, frame->entry);
        if (symbol != NULL && symbol->vaddr == frame->entry && !symbol->sizeless &&
            !is_mangled_name(name.bytes, name.length))
            frame_name(work, frame, symbol);
    }
    symbols_deinit(&symbols);
}

/* ---- names of what has none ---- */

/* The code around `vaddr` that is one thing: by the file, else all that was mapped of it. */
static struct code_range range_around(struct work *work, uint64_t vaddr)
{
    struct code_range range;
    if (work->file != NULL && !work->ranges_loaded) {
        work->ranges_loaded = true;
        if (!code_ranges_load(&work->ranges, work->file))
            work->no_memory = true;
    }
    if (code_ranges_find(&work->ranges, vaddr, &range))
        return range;
    const struct recording_module *module = work->module;
    return (struct code_range){module->start - module->bias, module->end - module->bias};
}

/* [libz.so.1+0xab10] */
static void range_name_use(struct work *work, struct chain_frame *frame, struct code_range range)
{
    struct text file = text_base_name(text_make(work->module->path.bytes));
    char name[512];
    int n = snprintf(name, sizeof name, "[%.400s+0x%" PRIx64 "]", file.bytes, range.start);
    if (!intern_add(work->owner->texts, name, n < 0 ? 0 : (size_t)n, &frame->name))
        work->no_memory = true;
    frame->entry = range.start;
    frame->nameless = true;
}

/* A label without a size, of a table that leaves functions out, does not reach into the next one. */
static bool is_behind_symbol(const struct symbols *symbols, const struct symbol *symbol,
                             struct code_range range)
{
    return symbol->sizeless && !symbols->has_symtab && symbol->vaddr < range.start;
}

/* For an address whose function the DWARF does not name: the symbol's name, else where it begins. */
static void name_without_dwarf(struct work *work, size_t index, const struct symbols *symbols)
{
    struct chain *chain = &work->chains[index];
    const struct symbol *symbol = symbols_find(symbols, work->vaddrs[index]);
    struct chain_frame *frame = chain->n == 0 ? frame_add(work, chain) : outermost(work, chain);
    if (frame == NULL)
        return;
    struct code_range range = {0, 0};
    if (symbol == NULL || symbol->sizeless)
        range = range_around(work, work->vaddrs[index]);
    if (symbol == NULL || is_behind_symbol(symbols, symbol, range))
        range_name_use(work, frame, range);
    else
        frame_name(work, frame, symbol);
}

/* ---- symbol tables and ranges together ---- */

static bool names_wanted(const struct work *work)
{
    for (size_t i = 0; i < work->n; i++) {
        const struct chain_frame *frame = outermost(work, &work->chains[i]);
        if (frame == NULL || frame->name == 0 || frame->unmangled)
            return true;
    }
    return false;
}

static void symbols_read(struct work *work)
{
    if (!names_wanted(work))
        return;
    struct symbols symbols;
    symbols_init(&symbols, work->owner->arena);
    if (!symbols_load(&symbols, work->file, work->debug))
        work->no_memory = true;
    for (size_t i = 0; i < work->n && !work->no_memory; i++) {
        const struct chain_frame *frame = outermost(work, &work->chains[i]);
        if (frame == NULL || frame->name == 0)
            name_without_dwarf(work, i, &symbols);
    }
    const struct named_chains named = {.chains = work->chains,
                                       .n = work->n,
                                       .frames = work->owner->frames.items,
                                       .n_frames = work->owner->frames.n,
                                       .texts = work->owner->texts};
    if (!work->no_memory && !mangled_names_use(&named, &symbols))
        work->no_memory = true;
    if (work->owner->symbols.source == MODULE_NO_NAMES && symbols.n_sorted != 0)
        work->owner->symbols.source = symbols.has_symtab ? MODULE_SYMTAB : MODULE_DYNSYM;
    symbols_deinit(&symbols);
}

/* ---- all together ---- */

static void change_tell(struct work *work)
{
    const struct elf_file *const files[] = {work->file, work->debug};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (files[i] != NULL && elf_file_changed(files[i]))
            problem_set(work, "%s was changed while it was read; names of it may be wrong",
                        i == 0 ? work->module->path.bytes : work->debug_path);
}

static void missing_tell(struct work *work)
{
    char text[400];
    if (work->owner->symbols.source == MODULE_DWARF)
        return;
    if (work->instead.code != ERR_NONE)
        problem_set(work, "%s; the recording kept the names that it exports",
                    err_describe(&work->instead, text, sizeof text));
    struct debug_servers *servers = work->sources->places.servers;
    if (servers != NULL && debug_servers_problem(servers, text, sizeof text)[0] != '\0')
        problem_set(work, "%s: %s", MODULE_PROBLEM_NO_DEBUG, text);
    problem_set(work, "%s", MODULE_PROBLEM_NO_DEBUG);
}

static struct owner *owner_create(void)
{
    struct owner *owner = calloc(1, sizeof *owner);
    if (owner == NULL)
        return NULL;
    owner->symbols.debug_path = "";
    owner->symbols.problem = "";
    owner->arena = arena_create();
    owner->texts = owner->arena == NULL ? NULL : intern_create(owner->arena);
    if (owner->texts == NULL) {
        module_symbols_destroy(&owner->symbols);
        return NULL;
    }
    return owner;
}

void module_symbols_destroy(struct module_symbols *symbols)
{
    if (symbols == NULL)
        return;
    struct owner *owner = (struct owner *)symbols;
    chain_frames_deinit(&owner->frames);
    intern_destroy(owner->texts);
    arena_destroy(owner->arena);
    free(owner);
}

bool module_symbolize(const struct recording_module *module, const struct symbol_sources *sources,
                      const uint64_t *vaddrs, size_t n, struct module_symbols **out,
                      struct err *err)
{
    struct owner *owner = owner_create();
    if (owner == NULL)
        return err_fail_memory(err);
    struct work work = {
        .owner = owner,
        .module = module,
        .sources = sources,
        .vaddrs = vaddrs,
        .n = n,
        .chains = arena_array(owner->arena, n, sizeof(struct chain)),
    };
    if (work.chains == NULL) {
        module_symbols_destroy(&owner->symbols);
        return err_fail_memory(err);
    }
    file_open(&work);
    dwarf_read(&work);
    symbols_read(&work);
    exported_names_use(&work);
    change_tell(&work);
    missing_tell(&work);
    code_ranges_deinit(&work.ranges);
    elf_file_close(work.alt);
    elf_file_close(work.debug);
    elf_file_close(work.file);
    if (work.no_memory) {
        module_symbols_destroy(&owner->symbols);
        return err_fail_memory(err);
    }
    owner->symbols.texts = owner->texts;
    owner->symbols.chains = work.chains;
    owner->symbols.n_chains = n;
    owner->symbols.frames = owner->frames.items;
    owner->symbols.n_frames = owner->frames.n;
    *out = &owner->symbols;
    return true;
}
