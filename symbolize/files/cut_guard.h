/* cut_guard.h - files that are cut short while we read them.
 *
 * Programs and libraries are read where they are mapped, and somebody may install or link them anew in
 * the meantime: what lies behind the new end raises SIGBUS, and a profile would be lost. With the
 * guard it is zeros, and elf_file_changed tells that the file is no longer what it was.
 *
 * Context: once, at the start of a process that has no handler of SIGBUS of its own. */
#ifndef SAMPLER_FILES_CUT_GUARD_H
#define SAMPLER_FILES_CUT_GUARD_H

void cut_guard_install(void);

#endif
