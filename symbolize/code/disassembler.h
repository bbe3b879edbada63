/* disassembler.h - x86-64 instructions as text, by capstone.
 *
 * libcapstone is loaded when the first instruction is asked for, not linked: its tables cost each start
 * of a program 0.8 ms of relocation (77 375 of them in 4.0.2), and `sampler report` starts at the end of
 * every profiled program.
 *
 * Context: one thread at a time per disassembler. */
#ifndef SAMPLER_DISASSEMBLER_H
#define SAMPLER_DISASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "err.h"

struct disassembler;

struct disassembled {
    uint32_t size_bytes;
    bool calls;         /* returns to the address behind it: call, system call, interrupt      */
    bool enters_kernel; /* system call, interrupt                                              */
    bool has_target;    /* a jump or call to an address that stands in the instruction         */
    uint64_t target;    /* vaddr                                                               */
    char mnemonic[32];  /* "jne"                                                               */
    char operands[192]; /* "(%rax), %rbx"; "" for one with a target                            */
};

/* ERR_UNSUPPORTED: libcapstone is not there. `is_intel`: that syntax, not AT&T's. */
MUST_CHECK bool disassembler_create(bool is_intel, struct disassembler **out, struct err *err);
void disassembler_destroy(struct disassembler *disassembler); /* takes NULL */

/* The first instruction of `n` > 0 bytes. Bytes that are none become one ".byte". */
void disassemble(const struct disassembler *disassembler, const uint8_t *bytes, size_t n,
                 uint64_t vaddr, struct disassembled *out);

#endif
