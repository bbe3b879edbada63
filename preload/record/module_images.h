/* module_images.h - what the recording keeps of modules whose files its reader will not find.
 *
 *   the file where it can still be had   memfd_create with its descriptor open; as root any
 *                                        (/proc/self/map_files)
 *   else, of what is mapped              exported symbols, and the bounds of functions (.eh_frame),
 *                                        as an ELF file of its own: a few program headers, no
 *                                        sections
 *
 * Which      the file that was there at the first sample has gone or was replaced, or never had a
 *            path; and those in folders for temporary files, which often go right after the program
 *            (PyInstaller, AppImage).
 * Bounds     16 MiB a module, 64 MiB in all; beyond it names are lost.
 * Context    EXIT; only the first call in a process does anything. The thread's own stream
 *            (stream.h). */
#ifndef SAMPLER_MODULE_IMAGES_H
#define SAMPLER_MODULE_IMAGES_H

#include "record/stream.h"

/* Of all modules that have a record in this recording. What does not fit is left out. */
SIGNAL_SAFE void module_images_put(struct stream *stream);

#endif
