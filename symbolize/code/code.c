/* code.c - see code.h. Functions are found first, all of them, then disassembled, and then the lines of
 * all instructions are looked up at once, as each lookup reads the debug information anew. */
#include "code/code.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "code/bounds.h"
#include "code/disassembler.h"
#include "files/debug_file.h"
#include "files/module_file.h"
#include "names/module.h"
#include "names/names.h"
#include "number.h"
#include "vector.h"

VECTOR_DEFINE(code_functions, struct code_function)
VECTOR_DEFINE(code_instructions, struct code_instruction)

/* The result and what it lives in. */
struct owner {
    struct code code;
    struct arena *arena;
    struct module_symbols *lines; /* has the names of files */
    struct code_functions functions;
    struct code_instructions instructions;
};

/* What is open while it is made. */
struct reading {
    struct owner *owner;
    const struct recording_module *module;
    struct elf_file *file;
    struct elf_file *debug;
    struct bounds bounds;
    struct disassembler *disassembler;
    struct names_buffer names;
    bool no_memory;
};

/* ---- instructions ---------------------------------------------------------------------------- */

/* The name of a symbol as people write it, in the arena. */
static struct text name_keep(struct reading *reading, struct text symbol)
{
    char *raw = arena_text(reading->owner->arena, symbol.bytes, symbol.length);
    if (raw == NULL) {
        reading->no_memory = true;
        return (struct text){"", 0};
    }
    const char *name = demangle(raw, NAMES_SHORT, &reading->names);
    char *kept = name == raw ? raw : arena_text(reading->owner->arena, name, strlen(name));
    reading->no_memory = reading->no_memory || kept == NULL;
    return kept == NULL ? (struct text){"", 0} : text_make(kept);
}

/* "4a10 <std::sort+0x20>"; within the function the address says enough. */
static int target_format(struct reading *reading, const struct code_bounds *within, uint64_t target,
                         char *out, size_t out_bytes)
{
    const struct symbol *symbol = bounds_symbol(&reading->bounds, target);
    if (symbol == NULL || (target > within->start && target < within->end))
        return snprintf(out, out_bytes, "%" PRIx64, target);
    char raw[512];
    snprintf(raw, sizeof raw, "%.*s", (int)min_u64(symbol->length, sizeof raw - 1), symbol->name);
    const char *name = demangle(raw, NAMES_SHORT, &reading->names);
    if (target == symbol->vaddr)
        return snprintf(out, out_bytes, "%" PRIx64 " <%.400s>", target, name);
    return snprintf(out, out_bytes, "%" PRIx64 " <%.400s+0x%" PRIx64 ">", target, name,
                    target - symbol->vaddr);
}

static struct text instruction_text(struct reading *reading, const struct code_bounds *within,
                                    const struct disassembled *from)
{
    char target[512], text[sizeof target + sizeof from->mnemonic + 8];
    if (from->has_target)
        (void)target_format(reading, within, from->target, target, sizeof target);
    const char *operands = from->has_target ? target : from->operands;
    int n = operands[0] == '\0' ? snprintf(text, sizeof text, "%s", from->mnemonic)
                                : snprintf(text, sizeof text, "%-6s %s", from->mnemonic, operands);
    const char *kept = arena_text(reading->owner->arena, text, n < 0 ? 0 : (size_t)n);
    reading->no_memory = reading->no_memory || kept == NULL;
    return kept == NULL ? (struct text){"", 0} : (struct text){kept, (size_t)n};
}

static void function_disassemble(struct reading *reading, const struct code_bounds *bounds)
{
    struct owner *owner = reading->owner;
    struct code_function function = {.start = bounds->start,
                                     .name = name_keep(reading, bounds->symbol),
                                     .first = owner->instructions.n};
    uint64_t at = bounds->start;
    while (at < bounds->end && at - bounds->start < CODE_MOST_BYTES) {
        struct disassembled got;
        disassemble(reading->disassembler, bounds->bytes + (at - bounds->start), bounds->end - at,
                    at, &got);
        code_instructions_push(
            &owner->instructions,
            (struct code_instruction){.vaddr = at,
                                      .size_bytes = got.size_bytes,
                                      .calls = got.calls,
                                      .enters_kernel = got.enters_kernel,
                                      .file = {"", 0},
                                      .text = instruction_text(reading, bounds, &got)});
        at += got.size_bytes;
    }
    function.end = at;
    function.n = owner->instructions.n - function.first;
    code_functions_push(&owner->functions, function);
}

/* `behind`: where the last function read ends. */
static void function_read(struct reading *reading, uint64_t vaddr, uint64_t behind)
{
    struct code_bounds bounds;
    if (!bounds_find(&reading->bounds, vaddr, &bounds))
        return;
    /* Entry points within a function, and functions too large to read whole. */
    uint64_t start = max_u64(bounds.start, behind);
    if (vaddr - start >= CODE_MOST_BYTES)
        start = vaddr;
    bounds.bytes += start - bounds.start;
    bounds.start = start;
    function_disassemble(reading, &bounds);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static bool lines_use(struct owner *owner, const struct recording_module *module,
                      const struct symbol_sources *sources, uint64_t *vaddrs, struct err *err)
{
    struct code_instructions *instructions = &owner->instructions;
    for (size_t i = 0; i < instructions->n; i++)
        vaddrs[i] = instructions->items[i].vaddr;
    if (!module_symbolize(module, sources, vaddrs, instructions->n, &owner->lines, err))
        return false;
    for (size_t i = 0; i < instructions->n; i++) {
        const struct chain *chain = &owner->lines->chains[i];
        if (chain->n == 0)
            continue;
        const struct chain_frame *frame = &owner->lines->frames[chain->first];
        instructions->items[i].line = frame->line;
        instructions->items[i].file = intern_text(owner->lines->texts, frame->file);
    }
    return true;
}

static bool lines_find(struct owner *owner, const struct recording_module *module,
                       const struct symbol_sources *sources, struct err *err)
{
    uint64_t *vaddrs = calloc(owner->instructions.n + 1, sizeof *vaddrs);
    if (vaddrs == NULL) {
        err_fail_memory(err);
        return false;
    }
    bool ok = lines_use(owner, module, sources, vaddrs, err);
    free(vaddrs);
    return ok;
}

/* ---- all together ---------------------------------------------------------------------------- */

static bool files_open(struct reading *reading, const struct code_options *options, struct err *err)
{
    const struct recording_module *module = reading->module;
    struct err instead = ERR_INIT;
    char path[PATH_MAX];
    if (!module_file_open(module, &reading->file, &instead, err))
        return false;
    if (reading->file == NULL)
        return err_fail(err, ERR_UNSUPPORTED, ERR_NO_OFFSET, "its code is in no file");
    reading->debug = debug_file_find(&options->sources.places, module->build_id, reading->file,
                                     module->path.bytes, path, sizeof path);
    return true;
}

static bool functions_read(struct reading *reading, const uint64_t *vaddrs, size_t n,
                           const struct code_options *options, struct err *err)
{
    struct owner *owner = reading->owner;
    uint64_t behind = 0;
    if (!files_open(reading, options, err) ||
        !disassembler_create(options->is_intel, &reading->disassembler, err))
        return false;
    if (!bounds_init(&reading->bounds, owner->arena, reading->file, reading->debug)) {
        err_fail_memory(err);
        return false;
    }
    for (size_t i = 0; i < n && !reading->no_memory; i++) {
        if (vaddrs[i] >= behind)
            function_read(reading, vaddrs[i], behind);
        if (owner->functions.n > 0)
            behind = owner->functions.items[owner->functions.n - 1].end;
    }
    if (reading->no_memory || owner->functions.no_memory || owner->instructions.no_memory) {
        err_fail_memory(err);
        return false;
    }
    return true;
}

static bool code_make(struct owner *owner, const struct recording_module *module,
                      const uint64_t *vaddrs, size_t n, const struct code_options *options,
                      struct err *err)
{
    struct reading *reading = calloc(1, sizeof *reading);
    if (reading == NULL) {
        err_fail_memory(err);
        return false;
    }
    reading->owner = owner;
    reading->module = module;
    bool ok = functions_read(reading, vaddrs, n, options, err);
    bounds_deinit(&reading->bounds);
    disassembler_destroy(reading->disassembler);
    elf_file_close(reading->debug);
    elf_file_close(reading->file);
    free(reading);
    return ok && lines_find(owner, module, &options->sources, err);
}

void code_destroy(struct code *code)
{
    if (code == NULL)
        return;
    struct owner *owner = (struct owner *)code;
    code_functions_deinit(&owner->functions);
    code_instructions_deinit(&owner->instructions);
    module_symbols_destroy(owner->lines);
    arena_destroy(owner->arena);
    free(owner);
}

bool code_read(const struct recording_module *module, const uint64_t *vaddrs, size_t n,
               const struct code_options *options, struct code **out, struct err *err)
{
    struct owner *owner = calloc(1, sizeof *owner);
    if (owner == NULL)
        return err_fail_memory(err);
    owner->arena = arena_create();
    if (owner->arena == NULL)
        err_fail_memory(err);
    else if (code_make(owner, module, vaddrs, n, options, err)) {
        owner->code = (struct code){.functions = owner->functions.items,
                                    .n_functions = owner->functions.n,
                                    .instructions = owner->instructions.items,
                                    .n_instructions = owner->instructions.n};
        *out = &owner->code;
        return true;
    }
    code_destroy(&owner->code);
    return false;
}

/* ---- lookups --------------------------------------------------------------------------------- */

const struct code_function *code_find(const struct code *code, uint64_t vaddr)
{
    size_t low = 0, high = code->n_functions;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code->functions[middle].start <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && vaddr < code->functions[low - 1].end ? &code->functions[low - 1] : NULL;
}

/* The last one of a function that begins at or before `vaddr`. */
static size_t instruction_before(const struct code *code, const struct code_function *function,
                                 uint64_t vaddr)
{
    size_t low = function->first, high = function->first + function->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (code->instructions[middle].vaddr <= vaddr)
            low = middle;
        else
            high = middle;
    }
    return low;
}

size_t code_instruction_at(const struct code *code, const struct code_function *function,
                           uint64_t vaddr, bool is_return)
{
    size_t at = instruction_before(code, function, vaddr);
    if (vaddr == function->start)
        return at;
    size_t before = instruction_before(code, function, vaddr - 1);
    const struct code_instruction *instruction = &code->instructions[before];
    bool is_behind = instruction->vaddr + instruction->size_bytes == vaddr;
    bool is_meant = is_return ? instruction->calls : instruction->enters_kernel;
    return is_behind && is_meant ? before : at;
}
