/* brief.h - files that hold a recording, or many of them.
 *
 * A process that ends before its first sample leaves no file of its own: what there is to say of it
 * is appended to one file for the whole run (CAPTURE_BRIEF_NAME in include/capture.h). Each part of
 * it becomes a recording like any other.
 *
 * Errors      as recording_read_file has them. A part that is damaged (a disk that was full) costs
 *             what there is up to the next part: the rest is read, and the error reported. */
#ifndef SAMPLER_RECORDING_BRIEF_H
#define SAMPLER_RECORDING_BRIEF_H

#include "recording/recording.h"
#include "vector.h"

VECTOR_DEFINE(recordings, struct recording *)

/* Appends the recording of a file to `own`, or those of a file of brief ones to `brief`; the caller
 * destroys them. On an error, those that could be read. */
MUST_CHECK bool recordings_read_file(const char *path, struct recordings *own,
                                     struct recordings *brief, struct err *err);

/* Destroys all and empties `all`. */
void recordings_destroy(struct recordings *all);

#endif
