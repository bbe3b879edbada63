/* dwarf_search.c - see dwarf_search.h: what all parts of the search need. */
#include "names/dwarf_search.h"

#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "number.h"

size_t search_lower(const struct search *search, uint64_t vaddr)
{
    return lower_bound_u64(search->vaddrs, search->n, vaddr);
}

uint32_t search_text(struct search *search, const char *text)
{
    uint32_t id = 0;
    if (text != NULL && !intern_add(search->texts, text, strlen(text), &id))
        search->no_memory = true;
    return id;
}

uint32_t search_path(struct search *search, Dwarf_CU *unit, const char *path)
{
    Dwarf_Die unit_die;
    Dwarf_Attribute attribute;
    if (path == NULL || path[0] == '/' ||
        dwarf_cu_die(unit, &unit_die, NULL, NULL, NULL, NULL, NULL, NULL) == NULL)
        return search_text(search, path);
    const char *folder = dwarf_formstring(dwarf_attr(&unit_die, DW_AT_comp_dir, &attribute));
    size_t length = folder == NULL ? 0 : strlen(folder);
    /* A path of folder 0 begins with the compilation folder, be it relative or not. */
    if (length == 0 || (strncmp(path, folder, length) == 0 && path[length] == '/'))
        return search_text(search, path);
    char joined[PATH_MAX];
    int n = snprintf(joined, sizeof joined, "%s/%s", folder, path);
    return search_text(search, n > 0 && (size_t)n < sizeof joined ? joined : path);
}
