/* dump.h - what the parts of the dump of a real NYTProf stream share. */
#ifndef SAMPLER_NYTPROF_DUMP_H
#define SAMPLER_NYTPROF_DUMP_H

#include "formats/nytprof/content.h"
#include "formats/nytprof/dump/json.h"

struct nytprof_dump {
    struct nytprof_json out;
    struct nytprof_content content;
};

/* One record as an object. */
void nytprof_dump_event(struct nytprof_dump *dump, const struct nytprof_record *record);

/* The member "subs". False when out of memory. */
MUST_CHECK bool nytprof_dump_subs(struct nytprof_dump *dump);

#endif
