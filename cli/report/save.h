/* save.h - one profile to one output: a file, or a file for each thread where the format holds but
 * one thread; and what the format could not carry, reported in one line.
 *
 *   -o app.cpuprofile, threads 7 and 9 have samples -> app.7.cpuprofile, app.9.cpuprofile */
#ifndef SAMPLER_CLI_SAVE_H
#define SAMPLER_CLI_SAVE_H

#include "err.h"
#include "formats/format.h"
#include "model/profile.h"
#include "options/options.h"

struct save_request {
    const struct profile *profile;
    const struct format *format;
    const struct options *options; /* --threads, --count, --quiet                        */
    const char *path;              /* "-" is stdout                                      */
    void (*wrote)(void *context, const char *path); /* for each file; may be NULL        */
    void *context;
};

/* Nothing stands under a final name unless it is whole. Threads come to files of their own when the
 * format wants that, more than one has samples, --threads merge is not given and `path` is no pipe
 * or device. Their names get the thread's id; the process's too where two have the same. */
MUST_CHECK bool profile_save(const struct save_request *request, struct err *err);

#endif
