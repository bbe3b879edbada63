/* cfi.h - call frame information: from a pc to the row of rules valid there.
 *
 *   .eh_frame_hdr --binary search--> fde --its cie--> program --run to the pc--> row
 *
 * Lookup only: what a row does to registers is unwind/step.h. DWARF 5, 6.4; .eh_frame differs from
 * .debug_frame as LSB Core 5.0, 10.6 states (relative cie pointers, augmentations z R P L S B).
 *
 * Input is hostile: every read is bounded by the segment the bytes lie in, programs end with their
 * bytes, remembered states are limited, nothing recurses.
 *
 * Context    SIGNAL; no state of its own, no allocation. Results point into the module's memory,
 *            and are valid as long as it stays loaded. */
#ifndef SAMPLER_CFI_H
#define SAMPLER_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "cfi/bytes.h"
#include "cfi/registers.h"
#include "sys/context.h"
#include "sys/segment.h"

enum cfi_rule_kind {
    CFI_SAME = 0,       /* the register keeps its value (also: nothing was said)   */
    CFI_UNDEFINED,      /* its value is lost; for the pc: outermost frame          */
    CFI_OFFSET,         /* saved at cfa + offset                                   */
    CFI_VAL_OFFSET,     /* its value is cfa + offset                               */
    CFI_REGISTER,       /* its value is that of register `reg`                     */
    CFI_EXPRESSION,     /* saved at the address the expression gives               */
    CFI_VAL_EXPRESSION, /* its value is what the expression gives                  */
};

struct cfi_rule {
    uint8_t kind; /* enum cfi_rule_kind                     */
    uint8_t reg;  /* < ARCH_N_REGISTERS                     */
    uint32_t expression_bytes;
    union {
        int64_t offset;
        const uint8_t *expression; /* in the module's memory */
    };
};

struct cfi_row {
    struct cfi_rule cfa; /* VAL_OFFSET: value of `reg` + offset; or VAL_EXPRESSION; SAME: not set */
    struct cfi_rule rules[ARCH_N_REGISTERS];
};

struct cfi_fde {
    uint64_t pc_start; /* half-open */
    uint64_t pc_end;
    struct cfi_bytes cie_program;
    struct cfi_bytes program;
    uint64_t code_align;
    int64_t data_align;
    uint8_t encoding;  /* of pointers within the program            */
    uint8_t ra_column; /* < ARCH_N_REGISTERS                        */
    bool signal_frame; /* augmentation S: the caller was interrupted, its pc is exact */
};

#define CFI_STATES_MAX 8u

/* Scratch memory of a run; about 3 kB, too much for the handler's stack. */
struct cfi_workspace {
    struct cfi_row initial;
    struct cfi_row remembered[CFI_STATES_MAX];
};

/* The fde for `pc` by the table at `eh_frame_hdr`; without a table (or with one in an encoding no
 * linker writes) by walking .eh_frame. False: there is none, or what was read on the way is
 * malformed. */
SIGNAL_SAFE bool cfi_fde_find(const struct segments *segments, uint64_t eh_frame_hdr, uint64_t pc,
                              struct cfi_fde *fde);

/* Parses the fde at `address`. False: malformed, or a cie, or the terminator. */
SIGNAL_SAFE bool cfi_fde_read(const struct segments *segments, uint64_t address,
                              struct cfi_fde *fde);

/* The row valid at `pc`, pc_start <= pc < pc_end. False: malformed. */
SIGNAL_SAFE bool cfi_row_find(const struct cfi_fde *fde, uint64_t pc,
                              struct cfi_workspace *workspace, struct cfi_row *row);

#endif
