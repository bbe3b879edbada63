/* debug_file.h - where the debug information of a module is.
 *
 *   build id           ROOT/.build-id/xx/yyyy.debug
 *   .gnu_debuglink     next to the file, in .debug/ next to it, in ROOT/folder-of-the-file
 *   .gnu_debugaltlink  what dwz moved out of several debug files: by build id, then by its name
 *
 * ROOT is /usr/lib/debug. The places and their order are gdb's (its manual: "Debugging
 * Information in Separate Files"). A file is only taken when it proves to be the right one: by
 * build id, where there is none by the CRC of the link. Nothing is fetched over the network
 * (debuginfod). */
#ifndef SAMPLER_DEBUG_FILE_H
#define SAMPLER_DEBUG_FILE_H

#include <stdbool.h>

#include "files/elf_file.h"
#include "intern.h"

#define DEBUG_FILE_ROOT "/usr/lib/debug"

/* The debug file of a module, NULL if none is found. `build_id` is that of the module in memory
 * (may be empty); `file` the module's own file, NULL if it is not available; `path` where it lies.
 * `root` stands for DEBUG_FILE_ROOT, NULL for that itself. The path found is written to found_path. Borrows all. */
struct elf_file *debug_file_find(const char *root, struct text build_id,
                                 const struct elf_file *file, const char *path, char *found_path,
                                 size_t found_path_bytes);

/* The file `debug` at `debug_path` refers to by .gnu_debugaltlink; `root` as above. NULL: it refers to none
 * (*wanted = false) or it is not there (*wanted = true). */
struct elf_file *debug_file_find_alt(const char *root, const struct elf_file *debug,
                                     const char *debug_path, bool *wanted);

#endif
