/* debug_file.h - where the debug information of a module is.
 *
 * Folders the user names come first, each ROOT and ROOT/usr/lib/debug, as a package unpacks:
 *   build id           ROOT/.build-id/xx/yyyy.debug
 *   path               ROOT/path-of-the-file: a copy of the system the program ran on
 *   .gnu_debuglink     ROOT/folder-of-the-file, ROOT
 *   name               ROOT/name-of-the-file, ROOT/name-of-the-file.debug
 * Then the places of the system, with /usr/lib/debug as ROOT:
 *   build id           ROOT/.build-id/xx/yyyy.debug
 *   .gnu_debuglink     next to the file, in .debug/ next to it, ROOT/folder-of-the-file
 * What dwz moved out of several debug files (.gnu_debugaltlink): by build id, then by its name.
 *
 * The places of the system and their order are gdb's (its manual: "Debugging Information in Separate
 * Files"). A file is only taken when it proves to be the right one: by build id, where there is none
 * by the CRC of the link. The first one with DWARF is taken, else the first with a symbol table,
 * else what the module itself carries along (mini_debug.h). Where no file here has DWARF, servers are
 * asked by the build id, if there are any (debug_servers.h). */
#ifndef SAMPLER_DEBUG_FILE_H
#define SAMPLER_DEBUG_FILE_H

#include <stdbool.h>

#include "files/debug_servers.h"
#include "files/elf_file.h"
#include "intern.h"

#define DEBUG_FILE_ROOT "/usr/lib/debug"

struct debug_places {
    const char *path;              /* the user's folders, as DIR:DIR; NULL: none    */
    const char *root;              /* the system's folder; NULL: DEBUG_FILE_ROOT    */
    struct debug_servers *servers; /* NULL: none */
};

/* The debug file of a module, NULL if none is found. `build_id` is that of the module in memory
 * (may be empty); `file` the module's own file, NULL if it is not available; `path` where it lies.
 * Where the file found lies is written to found_path, of the module's own part the module's path.
 * Borrows all. */
struct elf_file *debug_file_find(const struct debug_places *places, struct text build_id,
                                 const struct elf_file *file, const char *path, char *found_path,
                                 size_t found_path_bytes);

/* The file `debug` at `debug_path` refers to by .gnu_debugaltlink. NULL: it refers to none
 * (*wanted = false) or it is not there (*wanted = true). */
struct elf_file *debug_file_find_alt(const struct debug_places *places,
                                     const struct elf_file *debug, const char *debug_path,
                                     bool *wanted);

#endif
