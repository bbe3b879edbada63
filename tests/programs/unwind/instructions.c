/* instructions.c - what arch_instruction_read makes of instructions, as text that compares with
 * objdump's.
 *
 *   instructions <BYTES        each line the bytes of one instruction, hexadecimal, with spaces
 *
 * Prints per line: how many bytes of it are the instruction, and its effect. What follows an
 * instruction must not matter, so each is read with other bytes behind it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/arch.h"

static const char *const effects[] = {
    [ARCH_NO_EFFECT] = "-",     [ARCH_PUSHES] = "push",  [ARCH_POPS] = "pop",
    [ARCH_ADDS] = "set",        [ARCH_ALIGNS] = "align", [ARCH_LOADS] = "set",
    [ARCH_LEAVES] = "leave",    [ARCH_BRANCHES] = "j",   [ARCH_JUMPS] = "jmp",
    [ARCH_JUMPS_BY] = "jmp*",   [ARCH_RETURNS] = "ret",  [ARCH_STOPS] = "stop",
    [ARCH_UNKNOWN] = "unknown",
};

int main(void)
{
    char line[256];
    while (fgets(line, sizeof line, stdin) != NULL) {
        uint8_t code[2 * ARCH_INSTRUCTION_BYTES_MAX + 2];
        size_t n_bytes = 0;
        char *at = line, *end = NULL;
        for (unsigned long byte = strtoul(at, &end, 16); end != at && n_bytes < 16;
             byte = strtoul(at, &end, 16)) {
            code[n_bytes++] = (uint8_t)byte;
            at = end;
        }
        memset(code + n_bytes, 0xc3, sizeof code - n_bytes);
        struct arch_instruction instruction = arch_instruction_read(code, sizeof code);
        /* A value that goes to another register than sp and fp is of no interest there. */
        bool is_set = instruction.effect == ARCH_ADDS || instruction.effect == ARCH_LOADS;
        bool is_pointer = instruction.to == ARCH_SP || instruction.to == ARCH_FP;
        printf("%u %s\n", instruction.n_bytes,
               is_set && !is_pointer ? "-" : effects[instruction.effect]);
    }
    return 0;
}
