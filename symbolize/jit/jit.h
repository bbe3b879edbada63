/* jit.h - names of code that a program made at run time, by what its runtime has left of it.
 *
 *   recording -> addresses in no file, with when each was last seen
 *             -> /tmp/perf-PID.map, then jit-PID.dump, which knows times and lines
 *             -> what was said of each address
 *
 * Places    Both are looked for as the process named them: by its own number, in its own /tmp; the
 *           dump also in its working directory and in $JITDUMPDIR or ~/.debug/jit/x/, of the one who
 *           asks. They are its files only if code_file.h believes so. */
#ifndef SAMPLER_JIT_H
#define SAMPLER_JIT_H

#include "err.h"
#include "jit/code_said.h"
#include "recording/recording.h"

struct jit {
    struct codes_said codes; /* each address in no file, as recording_node_vaddr has it */
    char problem[256];       /* why a file was not used; "" if none was refused   */
    char *files[2];          /* what the texts are views of                       */
};

/* Zero bytes are a jit without addresses. False: out of memory; to be deinited all the same. */
MUST_CHECK bool jit_init(struct jit *jit, const struct recording *recording);
void jit_deinit(struct jit *jit);

/* What was said of the code at `vaddr`; NULL if nothing was. */
const struct code_said *jit_find(const struct jit *jit, uint64_t vaddr);

#endif
