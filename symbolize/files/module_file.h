/* module_file.h - the file a module of a recording was mapped from, if it still is that one.
 *
 * A program may have been built again since it ran. A file that is not the one that was mapped is
 * not used at all: wrong names and wrong code are worse than none. */
#ifndef SAMPLER_MODULE_FILE_H
#define SAMPLER_MODULE_FILE_H

#include "err.h"
#include "files/elf_file.h"
#include "recording/recording.h"

/* Proven by the build id, by what the system says of the file where there is none, and taken as it
 * is where nothing is known. The image in the recording stands for the vdso, and for a file that
 * cannot be had any more: what the program exports, at least; `instead` says why then, and nothing
 * otherwise. *out is NULL, without an error, where the path is none. */
MUST_CHECK bool module_file_open(const struct recording_module *module, struct elf_file **out,
                                 struct err *instead, struct err *err);

#endif
