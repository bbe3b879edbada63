/* abbrev.h - the abbreviations of one unit (DWARF 5, 7.5.3), with what the walk over the unit wants
 * to know of each at once: what such a DIE is to us, how long it is, where its DW_AT_sibling is. */
#ifndef SAMPLER_DWARF_ABBREV_H
#define SAMPLER_DWARF_ABBREV_H

#include "dwarf/form.h"
#include "dwarf/work.h"
#include "vector.h"

enum abbrev_role {
    ROLE_OTHER,    /* no code in it                                                */
    ROLE_BLOCK,    /* what may hold functions and has no name for us: a namespace, a block */
    ROLE_TYPE,     /* may hold functions                                           */
    ROLE_ABSTRACT, /* a function that was inlined, as written: types in it hold functions */
    ROLE_FUNCTION, /* with code                                                    */
    ROLE_INLINED,  /* a call that was inlined                                      */
};

struct abbrev {
    uint16_t tag;
    uint8_t role;
    bool has_children;
    uint32_t first; /* of its attributes                                           */
    uint32_t n;
    int32_t fixed_bytes;    /* of all its attributes, -1: they vary                  */
    int32_t sibling_before; /* DW_AT_sibling (ref4) is that far before their end, -1: none there */
};

VECTOR_DEFINE(abbrev_rows, struct abbrev)
VECTOR_DEFINE(attributes, struct attribute)

/* Zero bytes are an empty table. */
struct abbrevs {
    struct abbrev_rows rows; /* by code - 1 where `by_code` is empty                    */
    struct ids by_code;      /* code -> row + 1, where codes are not 1, 2, 3 ...        */
    struct attributes attributes;
    uint64_t offset; /* in .debug_abbrev                                        */
    unsigned version;
    bool filled;
};

enum abbrevs_outcome {
    ABBREVS_READ,
    ABBREVS_FOREIGN, /* forms we do not know, or that lead out of the file */
    ABBREVS_DAMAGED, /* or no work left                                    */
    ABBREVS_NO_MEMORY,
};

/* Reads the table at `offset` of the section, unless it is the one held. */
enum abbrevs_outcome abbrevs_read(struct abbrevs *abbrevs, const uint8_t *section,
                                  size_t section_bytes, uint64_t offset, unsigned version,
                                  struct work_account *work);
void abbrevs_deinit(struct abbrevs *abbrevs);

/* NULL: there is none of this code. */
static inline const struct abbrev *abbrevs_find(const struct abbrevs *abbrevs, uint64_t code)
{
    if (abbrevs->by_code.n == 0)
        return code - 1 < abbrevs->rows.n ? &abbrevs->rows.items[code - 1] : NULL;
    if (code >= abbrevs->by_code.n || abbrevs->by_code.items[code] == 0)
        return NULL;
    return &abbrevs->rows.items[abbrevs->by_code.items[code] - 1];
}

/* `n` of them; NULL if there are none. */
static inline const struct attribute *abbrev_attributes(const struct abbrevs *abbrevs,
                                                        const struct abbrev *abbrev)
{
    return abbrev->n == 0 ? NULL : &abbrevs->attributes.items[abbrev->first];
}

#endif
