/* unwaited.h - children that have ended and that the process leaves without having waited for them.
 * Their CPU time is in no figure of the kernel's about the process or its parents, and what tells how
 * much of a run is in no recording has to know that (symbolize/account/whole.c). */
#ifndef SAMPLER_UNWAITED_H
#define SAMPLER_UNWAITED_H

#include "record/stream.h"

/* Notes them in the recording (INFO "unwaited"), where there are any; takes nothing away from whoever
 * waits for them after us. Children that still run are not among them. EXIT */
void unwaited_note(struct stream *stream);

#endif
