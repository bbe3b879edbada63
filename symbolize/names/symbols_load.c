/* symbols_load.c - all names of a module, from the tables that have most; see symbols.h. */
#include "files/mini_debug.h"
#include "names/symbols.h"

bool symbols_load(struct symbols *symbols, const struct elf_file *file,
                  const struct elf_file *debug)
{
    bool ok = true;
    if (debug != NULL)
        ok = symbols_add_file(symbols, debug);
    if (ok && file != NULL && !symbols->has_symtab)
        ok = symbols_add_file(symbols, file);
    else if (ok && file != NULL && debug != NULL && is_mini_debug(debug))
        ok = symbols_add_exported(symbols, file);
    symbols_finish(symbols);
    if (ok && file != NULL)
        ok = symbols_add_plt(symbols, file);
    symbols_finish(symbols);
    return ok;
}
