/* graph.h - samples as both NYTProf formats want them: functions with their files, the tree of calls, and who called
 * whom from where.
 *
 * Shape     `node_of_stack` leads from a stack to its node of the call tree, in which frames of one function are one
 *           whatever their line. Files are numbered from 1, the one of `main` first. Only what has samples is in
 *           `edges` and `lines`.
 * Weights   Of one kind, `kind`. Sums stop at 2^64 - 1.
 * Memory    In proportion to stacks and functions, not to samples. Keeps the profile. */
#ifndef SAMPLER_NYTPROF_GRAPH_H
#define SAMPLER_NYTPROF_GRAPH_H

#include "arena.h"
#include "map.h"
#include "model/profile.h"
#include "saturated.h"
#include "vector.h"

/* A node of the call tree; 0 is the root. parent < node. */
struct nytprof_node {
    uint32_t parent;
    uint32_t function;
    uint32_t depth; /* 1 = called by nobody                        */
    uint32_t rank;  /* children come before parents by this number */
    uint32_t child; /* the last made                               */
    uint32_t next;  /* sibling: the one made before                */
};

/* What functions without a file have in its place is their module. */
struct nytprof_place {
    uint32_t file;   /* text, 0 = none  */
    uint32_t module; /* if file is none */
};

struct nytprof_graph_edge {
    bool is_outermost; /* called by nobody: no caller, no line                    */
    uint32_t caller;   /* function                                                */
    uint32_t line;     /* in the caller                                              */
    uint32_t called;
    uint32_t depth;     /* most activations of `called` around one of this edge    */
    uint64_t n_samples; /* samples it is in                                        */
    uint64_t inclusive; /* where it is the outermost activation of `called`        */
    uint64_t exclusive; /* where `called` is the leaf                              */
    uint64_t recursive; /* where it is not outermost                               */
    uint64_t n_active;  /* only while the graph is made                            */
};

struct nytprof_graph_line {
    uint32_t fid;
    uint32_t line;
    uint64_t n_samples; /* with it as the leaf's line                    */
    uint64_t inclusive; /* with it in the stack                          */
    uint64_t exclusive; /* with it as the leaf's line                    */
    uint64_t n_active;  /* only while the graph is made                  */
};

VECTOR_DEFINE(nytprof_places, struct nytprof_place)
VECTOR_DEFINE(nytprof_nodes, struct nytprof_node)
VECTOR_DEFINE(nytprof_graph_edges, struct nytprof_graph_edge)
VECTOR_DEFINE(nytprof_graph_lines, struct nytprof_graph_line)

struct nytprof_graph {
    const struct profile *profile;
    struct arena *arena;
    uint32_t kind;             /* of weights                              */
    uint32_t program;          /* module of `main`, 0 if unknown          */
    uint32_t *fid_of_function; /* 0: the function is in no sample         */
    uint32_t *node_of_stack;
    struct nytprof_places files; /* fid 1 is row 0                          */
    struct nytprof_nodes nodes;
    struct nytprof_graph_edges edges;
    struct nytprof_graph_lines lines;
    uint64_t n_idle; /* samples left out                               */
};

/* False: out of memory. nytprof_graph_deinit is due in every case. */
MUST_CHECK bool nytprof_graph_init(struct nytprof_graph *graph, const struct profile *profile,
                                   struct err *err);
void nytprof_graph_deinit(struct nytprof_graph *graph);

/* Whether a sample is left out: its thread did not run, so it has no CPU time. */
static inline bool nytprof_is_idle(const struct nytprof_graph *graph, size_t sample)
{
    return profile_stack_is_idle(graph->profile, graph->profile->samples[sample].stack);
}

/* The weight of a sample in the graph's kind. */
static inline uint64_t nytprof_weight(const struct nytprof_graph *graph, size_t sample)
{
    const struct profile *profile = graph->profile;
    if (nytprof_is_idle(graph, sample))
        return 0;
    return profile->n_kinds == 0 ? 1 : profile_value(profile, sample, graph->kind);
}

#endif
