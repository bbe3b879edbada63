/* fuzz_elf.c - any bytes as a module: it gets a name for each address that is asked for, whatever its
 * ELF, symbol tables, debug information and call frame information claim.
 *
 * The corpus: sample-N.elf is dwarf_sample_image of tests/lib/dwarf of DWARF N; the others are twenty
 * lines of C without libc (gcc, clang -O2 -shared -nostdlib -Wl,-Ttext=0x1000), each with other options:
 * -gdwarf-4, -gsplit-dwarf, -gz=zlib, -gz=zlib-gnu, with a symbol table only, stripped, with MiniDebugInfo. */
#include <stdint.h>
#include <stdlib.h>

#include "names/module.h"

#define FUZZ_FIRST_VADDR 0x0ff8u /* before the code of the samples and of what ld links */
#define FUZZ_STEP_BYTES 17u
#define FUZZ_N_ADDRESSES 256u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void frame_check(const struct module_symbols *symbols, const struct chain_frame *frame,
                        bool is_last)
{
    uint32_t n_texts = intern_count(symbols->texts);
    if (frame->name >= n_texts || frame->file >= n_texts || frame->decl_file >= n_texts)
        abort();
    if (frame->inlined == is_last)
        abort();
    if (is_last && frame->name == 0)
        abort();
}

/* What module.h promises: a chain for each address, whose outermost function has a name. */
static void chain_check(const struct module_symbols *symbols, const struct chain *chain)
{
    if (chain->n == 0 || chain->first > symbols->n_frames ||
        chain->n > symbols->n_frames - chain->first)
        abort();
    for (uint32_t i = 0; i < chain->n; i++)
        frame_check(symbols, &symbols->frames[chain->first + i], i + 1 == chain->n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t vaddrs[FUZZ_N_ADDRESSES];
    for (unsigned i = 0; i < FUZZ_N_ADDRESSES; i++)
        vaddrs[i] = FUZZ_FIRST_VADDR + (uint64_t)FUZZ_STEP_BYTES * i;
    const struct recording_module module = {
        .end = UINT64_C(0x10000),
        .path = text_make("/nowhere/module"),
        .image = {.bytes = (const char *)data, .length = size},
    };
    const struct symbol_sources sources = {.places.root = "/nowhere"};
    struct module_symbols *symbols = NULL;
    struct err err = ERR_INIT;
    if (!module_symbolize(&module, &sources, vaddrs, FUZZ_N_ADDRESSES, &symbols, &err))
        return 0; /* out of memory */
    if (symbols->n_chains != FUZZ_N_ADDRESSES)
        abort();
    for (size_t i = 0; i < symbols->n_chains; i++)
        chain_check(symbols, &symbols->chains[i]);
    module_symbols_destroy(symbols);
    return 0;
}
