/* labels.h - the names a real NYTProf stream gives to files and functions: each once, as Perl keys everything by name.
 *
 * Two static functions of one name are two functions here but would be one sub there, so the second gets its place after
 * its name (` [file.c:12]`, ` [object+0x34]`), and where that is taken as well a number. nytprof_name_bare undoes it.
 * Labels follow from the profile alone: the same program gives the same ones in each run, and nytprofmerge joins them. */
#ifndef SAMPLER_NYTPROF_LABELS_H
#define SAMPLER_NYTPROF_LABELS_H

#include "formats/nytprof/graph.h"

struct nytprof_labels {
    struct arena *arena;
    struct intern *texts;
    uint32_t *files;    /* by fid; id in texts                                    */
    uint32_t *subs;     /* by function; id in texts, of functions with a fid only */
    struct map used;    /* (text, 0)                                              */
    struct map repeats; /* (text, 0) -> number of the last repeat                 */
};

/* The sub that called the outermost functions, by Perl's custom. */
#define NYTPROF_ROOT_SUB "main::RUNTIME"

/* False: out of memory. nytprof_labels_deinit is due in every case. */
MUST_CHECK bool nytprof_labels_init(struct nytprof_labels *labels,
                                    const struct nytprof_graph *graph, struct err *err);
void nytprof_labels_deinit(struct nytprof_labels *labels);

struct text nytprof_file_label(const struct nytprof_labels *labels, uint32_t fid);
struct text nytprof_sub_label(const struct nytprof_labels *labels, uint32_t function);

/* The place of functions without a file nor a module. */
#define NYTPROF_NO_FILE "[no file]"

#endif
