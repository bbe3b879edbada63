/* module_jobs.c - see module_jobs.h. The largest files come first, so that none of them is what all others
 * have been waiting for at the end. */
#include "build/module_jobs.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "number.h"

/* Each may have a few hundred MB of debug information in work. */
#define MOST_AT_A_TIME 8u

struct crew {
    struct module_job **jobs; /* in the order in which they are begun */
    size_t n;
    const struct symbol_sources *sources;
    atomic_size_t n_begun;
    atomic_bool no_memory;
};

static int larger_first(const void *left, const void *right)
{
    const struct module_job *a = *(struct module_job *const *)left;
    const struct module_job *b = *(struct module_job *const *)right;
    return compare_u64(b->module->size_bytes, a->module->size_bytes);
}

static void *work(void *context)
{
    struct crew *crew = context;
    size_t at;
    while (!crew->no_memory && (at = crew->n_begun++) < crew->n) {
        struct module_job *job = crew->jobs[at];
        struct err err = ERR_INIT; /* out of memory is all it can be */
        struct symbol_sources sources = *crew->sources;
        if (job->is_light)
            sources.places.servers = NULL;
        if (!module_symbolize(job->module, &sources, job->vaddrs, job->n_vaddrs, &job->symbols,
                              &err))
            crew->no_memory = true;
    }
    return NULL;
}

static size_t n_processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n < 1 ? 1 : (size_t)n;
}

/* This thread, and others as far as they can be had. */
static void crew_work(struct crew *crew)
{
    pthread_t others[MOST_AT_A_TIME];
    size_t most = min_u64(min_u64(MOST_AT_A_TIME, n_processors()), crew->n);
    size_t n_others = 0;
    while (n_others + 1 < most && pthread_create(&others[n_others], NULL, work, crew) == 0)
        n_others++;
    work(crew);
    for (size_t i = 0; i < n_others; i++)
        (void)pthread_join(others[i], NULL);
}

bool module_jobs_run(struct module_job *const *jobs, size_t n, const struct symbol_sources *sources,
                     struct err *err)
{
    struct crew crew = {.n = n, .sources = sources};
    crew.jobs = calloc(n + 1, sizeof(struct module_job *));
    if (crew.jobs == NULL)
        return err_fail_memory(err);
    for (size_t i = 0; i < n; i++)
        crew.jobs[i] = jobs[i];
    if (n > 1)
        qsort(crew.jobs, n, sizeof(struct module_job *), larger_first);
    crew_work(&crew);
    free(crew.jobs);
    return !crew.no_memory || err_fail_memory(err);
}
