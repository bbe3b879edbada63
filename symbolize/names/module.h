/* module.h - the names and lines of one module's addresses.
 *
 *   module of a recording -> its file, if it still is the one that ran
 *                         -> its debug file -> DWARF -> chains
 *                         -> symbol tables, PLT      -> names for the rest
 *                         -> .eh_frame, sections     -> where the code of what is left begins:
 *                                                       [libz.so.1+0xab10]
 *
 * Every address gets a name so: of a file that is not available, the start of what was mapped.
 *
 * Problems  Nothing that is wrong with the files is an error: it costs the module its names, and
 *           `problem` says so. Errors are out of memory only.
 * Owner     The result owns its texts, chains and frames; files are closed before it is
 *           returned. */
#ifndef SAMPLER_MODULE_H
#define SAMPLER_MODULE_H

#include <stdint.h>

#include "cache/cache.h"
#include "dwarf/chain.h"
#include "err.h"
#include "files/debug_file.h"
#include "intern.h"
#include "recording/recording.h"

/* The best source of names there was, the better the higher. */
enum module_source {
    MODULE_NO_NAMES, /* no file, or not the one that ran, or nothing in it       */
    MODULE_DYNSYM,   /* exported functions only                                  */
    MODULE_SYMTAB,   /* all functions, no lines                                  */
    MODULE_DWARF     /* lines and inlined frames                                 */
};

/* The one problem that installing debug information mends; if servers were asked for it and failed,
 * ": why" follows. */
#define MODULE_PROBLEM_NO_DEBUG "no debug information for it"

struct module_symbols {
    enum module_source source;
    const char *debug_path;     /* file the debug information is from, "" if none            */
    const char *problem;        /* why there is not more, "" if there is nothing to complain */
    const struct intern *texts; /* texts of the frames                                       */
    const struct chain *chains; /* of address i of those asked for                           */
    const struct chain_frame *frames;
    size_t n_chains;
    size_t n_frames;
};

/* Where to look besides the module's own file. */
struct symbol_sources {
    struct debug_places places; /* of debug information */
    struct symbol_cache *cache; /* NULL: none           */
};

/* `vaddrs` sorted and distinct. Borrows all. */
MUST_CHECK bool module_symbolize(const struct recording_module *module,
                                 const struct symbol_sources *sources, const uint64_t *vaddrs,
                                 size_t n, struct module_symbols **out, struct err *err);
void module_symbols_destroy(struct module_symbols *symbols); /* takes NULL */

#endif
