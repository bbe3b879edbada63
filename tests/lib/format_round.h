/* format_round.h - profiles through formats: written, read again and compared in what the format's
 * `keeps` names; and written twice, which must give the same bytes. */
#ifndef SAMPLER_TESTS_FORMAT_ROUND_H
#define SAMPLER_TESTS_FORMAT_ROUND_H

#include "registry/registry.h"

#define N_KEEPS 15 /* flags of enum format_keeps */

/* What became of one format. */
struct format_round {
    unsigned n_taken;             /* profiles it was written from                         */
    unsigned n_compared[N_KEEPS]; /* of them, those that have anything of that kind       */
    unsigned n_lost[N_KEEPS];     /* of them, those of which that did not come back whole */
};

#define FORMAT_ROUND_MAX 16
struct format_rounds {
    struct format_round rounds[FORMAT_ROUND_MAX]; /* as in format_table */
    unsigned
        n_failures; /* what was promised and not kept, or bytes not the same; each is printed */
};

/* Through every format that is read and written; formats of one thread get each of them. */
void format_rounds_add(struct format_rounds *rounds, const char *name,
                       const struct profile *profile);

/* Writes; false when the format does not take such a profile. The caller frees out->bytes. */
struct bytes;
bool format_write_bytes(const struct format *format, const struct profile *profile, uint32_t thread,
                        const struct format_notes *notes, struct bytes *out);

#endif
