/* embed.h - --embed-source: the text of source files into the profile, while it is at hand.
 *
 * Whoever reads the profile later may sit at another machine, or have changed the files. All files
 * with lines in the profile are taken, those of the lines with most self time first, up to
 * EMBED_MOST_BYTES together. What was changed after the run began is left out: its lines may be
 * others. */
#ifndef SAMPLER_CLI_EMBED_H
#define SAMPLER_CLI_EMBED_H

#include "model/profile.h"
#include "options/options.h"

#define EMBED_MOST_BYTES ((size_t)32 << 20)

/* Replaces `*profile` by one with the texts, and says on stderr how many there are and what is
 * missing, unless --quiet. Files are looked for as --source-path says. On false `*profile` is as it
 * was. */
MUST_CHECK bool embed_sources(struct profile **profile, const struct options *options,
                              struct err *err);

/* The same, if --embed-source is given. */
MUST_CHECK bool embed_sources_if_asked(struct profile **profile, const struct options *options,
                                       struct err *err);

#endif
