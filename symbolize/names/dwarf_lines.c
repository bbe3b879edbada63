/* dwarf_lines.c - the lines of one unit's wanted addresses; see dwarf_search.h.
 *
 * libdw gives the rows of all sequences sorted by address, those of one address in the order of the
 * program, so that the last row at or before an address is the one in force. */
#include "names/dwarf_search.h"

/* Index of the last row at or before vaddr, n if there is none. */
static size_t row_find(Dwarf_Lines *lines, size_t n, uint64_t vaddr)
{
    size_t low = 0;
    size_t high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        Dwarf_Addr row_vaddr;
        if (dwarf_lineaddr(dwarf_onesrcline(lines, middle), &row_vaddr) != 0)
            return n;
        if (row_vaddr <= vaddr)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? n : low - 1;
}

static void place_set(struct search *search, Dwarf_CU *unit, struct place *place, Dwarf_Line *row)
{
    bool end = false;
    int line = 0;
    int column = 0;
    if (dwarf_lineendsequence(row, &end) != 0 || end || dwarf_lineno(row, &line) != 0)
        return;
    place->file = search_path(search, unit, dwarf_linesrc(row, NULL, NULL));
    place->line = line > 0 ? (uint32_t)line : 0;
    if (dwarf_linecol(row, &column) == 0 && column > 0)
        place->column = (uint32_t)column;
}

void dwarf_lines_find(struct search *search, uint32_t unit, Dwarf_Die *unit_die)
{
    Dwarf_Lines *lines;
    size_t n_rows;
    if (dwarf_getsrclines(unit_die, &lines, &n_rows) != 0)
        return;
    for (size_t i = search->unit_first; i < search->unit_end && !search->no_memory; i++) {
        struct place *place = &search->places[i];
        if (place->unit != unit)
            continue;
        size_t row = row_find(lines, n_rows, search->vaddrs[i]);
        if (row < n_rows)
            place_set(search, unit_die->cu, place, dwarf_onesrcline(lines, row));
    }
}
