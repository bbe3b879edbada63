/* code.h - machine code as instructions to read: the functions around addresses of one module.
 *
 *   addresses -> the module's file, if it is the one that ran -> where the functions at them begin and
 *   end -> their instructions, with the source line of each
 *
 * Bounds   A function is what its symbol covers; where there is none, what its call frame information
 *          covers. Of one that states more than CODE_MOST_BYTES that much is read.
 * Lines    Of the debug information that is here; without, instructions have none.
 * Owner    The result owns all it shows.
 * Context  One thread at a time per result. */
#ifndef SAMPLER_CODE_H
#define SAMPLER_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"
#include "intern.h"
#include "names/module.h"
#include "recording/recording.h"

#define CODE_MOST_BYTES ((uint64_t)4 << 20)

struct code_instruction {
    uint64_t vaddr;
    uint32_t size_bytes;
    uint32_t line;      /* 0: unknown                                                      */
    bool calls;         /* a return address can be the one behind it                       */
    bool enters_kernel; /* what is interrupted behind it was in the kernel for it          */
    struct text file;   /* of `line`                                                       */
    struct text text;   /* "callq  4a10 <std::sort>"                                       */
};

struct code_function {
    uint64_t start; /* half-open */
    uint64_t end;
    struct text name; /* of its symbol, as people write it; "": it has none */
    size_t first;     /* its instructions: instructions[first .. first + n) */
    size_t n;
};

struct code {
    struct code_function *functions; /* by start; they do not overlap */
    size_t n_functions;
    struct code_instruction *instructions; /* by vaddr */
    size_t n_instructions;
};

struct code_options {
    bool is_intel;                 /* as Intel writes instructions, not AT&T */
    struct symbol_sources sources; /* of the lines                           */
};

/* The functions around `vaddrs`, which are sorted. Addresses with no code in the file are left out. Of the
 * module path, build_id and image count. ERR_IO, ERR_FORMAT, ERR_UNSUPPORTED: the file is not here, is
 * another one, or cannot be read. */
MUST_CHECK bool code_read(const struct recording_module *module, const uint64_t *vaddrs, size_t n,
                          const struct code_options *options, struct code **out, struct err *err);
void code_destroy(struct code *code); /* takes NULL */

/* The function that covers `vaddr`; NULL: none. */
const struct code_function *code_find(const struct code *code, uint64_t vaddr);

/* Index of the instruction that a pc of a stack is about: of a return address the call, of the
 * address behind a system call that call, else the one at it. The function covers `vaddr`, or ends
 * there. */
size_t code_instruction_at(const struct code *code, const struct code_function *function,
                           uint64_t vaddr, bool is_return);

#endif
