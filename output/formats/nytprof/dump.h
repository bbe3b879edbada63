/* dump.h - what the parts of the dump of a real NYTProf stream share. */
#ifndef SAMPLER_OUTPUT_FORMATS_NYTPROF_DUMP_H
#define SAMPLER_OUTPUT_FORMATS_NYTPROF_DUMP_H

#include "formats/nytprof/content.h"
#include "formats/nytprof/json.h"

struct nytprof_dump {
    struct nytprof_json out;
    struct nytprof_content content;
};

/* The name of a kind of record, in the order in which their counts are shown; NULL behind the last.
 */
const char *nytprof_tag_name(size_t index, enum nytprof_tag *tag);

/* One record as an object. */
void nytprof_dump_event(struct nytprof_dump *dump, const struct nytprof_record *record);

/* The member "subs". False when out of memory. */
MUST_CHECK bool nytprof_dump_subs(struct nytprof_dump *dump);

#endif
