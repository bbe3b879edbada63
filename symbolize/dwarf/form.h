/* form.h - attribute forms (DWARF 5, 7.5.6): how long they are, and the numbers in them.
 *
 * What is known here is what compilers write into one file: forms that refer to another one (of
 * dwz, of split DWARF) and DW_FORM_indirect are not, and a unit that has them is not for us. */
#ifndef SAMPLER_DWARF_FORM_H
#define SAMPLER_DWARF_FORM_H

#include <stdbool.h>

#include "cursor.h"

/* What an attribute means and how it is written, as an abbreviation states it. */
struct attribute {
    uint16_t name; /* 0: none we could know        */
    uint16_t form;
    int64_t constant; /* of DW_FORM_implicit_const    */
};

#define FORM_VARIES (-1)
#define FORM_UNKNOWN (-2)

/* Bytes a value of this form takes in a unit of this version, FORM_VARIES or FORM_UNKNOWN. */
int form_bytes(uint64_t form, unsigned version);

/* Over one value; an unknown form fails the cursor. */
void form_skip(struct cursor *c, uint16_t form, unsigned version);

/* The value of a constant, a flag, an address, a reference, an offset or an index; other forms are
 * skipped and are 0. */
uint64_t form_number(struct cursor *c, const struct attribute *attribute, unsigned version);

/* References into the unit itself. */
bool form_is_unit_ref(uint16_t form);

/* Indexes into .debug_addr. */
bool form_is_addrx(uint16_t form);

#endif
