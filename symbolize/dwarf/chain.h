/* chain.h - what symbolizing an address gives: the functions at it, inlined ones first.
 *
 *   address -> { inlined leaf, the function it was inlined into, ..., the real function }
 *
 * The last one is what a symbol table has at the address. Texts are ids of the module's own intern
 * table. Plain data, no functions. */
#ifndef SAMPLER_CHAIN_H
#define SAMPLER_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "vector.h"

struct chain_frame {
    uint32_t name; /* mangled where the debug information or the symbol table has it so; 0 = none */
    uint32_t file; /* being executed: of `line`                                      */
    uint32_t line; /* of the address, or of the call of the inlined frame before; 0 = none */
    uint32_t column;    /* from 1; 0 = none                                               */
    uint32_t decl_file; /* of the function's definition                                   */
    uint32_t decl_line;
    uint64_t entry; /* vaddr where the function is entered; 0 = unknown, or inlined */
    bool inlined;   /* into the next frame of the chain                              */
    bool unmangled; /* no mangled name, though the language has them: a::b in C++ */
    bool nameless;  /* `name` says where the code is: names/code_ranges.h            */
};

VECTOR_DEFINE(chain_frames, struct chain_frame)

/* The frames of one address, leaf first: frames[first .. first + n) of the module; n = 0: no DWARF
 * (module_symbolize leaves none so). */
struct chain {
    uint32_t first;
    uint32_t n;
};

#endif
