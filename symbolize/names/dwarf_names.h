/* dwarf_names.h - functions, lines and inlined frames of many addresses of one module, from DWARF.
 *
 *   addresses (sorted) -> units that hold some -> one walk over the DIEs of each -> scopes \
 *                                              -> its line table                -> lines  } chains
 *
 * Takes     DWARF 2 to 5, partial and imported units, references across units and into a dwz file.
 * Cost      Never a query per address: each touched unit is walked once, and functions without a
 *           wanted address are stepped over by DW_AT_sibling. libdw's way for one address
 *           (dwarf_getscopes) walks the unit anew each time.
 * Bounds    What the file claims wrongly costs names, not more: DIEs must lead forward (DWARF 5,
 *           2.3), nesting and the number of ranges are bounded. */
#ifndef SAMPLER_DWARF_NAMES_H
#define SAMPLER_DWARF_NAMES_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#include "dwarf/index.h"
#include "err.h"
#include "intern.h"

/* `vaddrs` sorted and distinct. An address no function covers but that has a line gets one frame
 * without name. Returns false only when out of memory. */
MUST_CHECK bool dwarf_names_find(Dwarf *dwarf, const uint64_t *vaddrs, size_t n,
                                 const struct dwarf_names_result *result);

#endif
