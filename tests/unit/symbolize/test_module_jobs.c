/* test_module_jobs.c - the promise of symbolize/build/module_jobs.h: each job has the result it has by
 * itself, with one processor and with all of them. */
#include <link.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "build/module_jobs.h"
#include "unit.h"

#define N_VADDRS 400u
#define MOST_JOBS 24u

/* The addresses are some of each file's code. */
struct asked {
    char paths[MOST_JOBS][256];
    struct recording_module modules[MOST_JOBS];
    uint64_t vaddrs[MOST_JOBS][N_VADDRS];
    struct module_job jobs[MOST_JOBS];
    struct module_job *in_order[MOST_JOBS];
    size_t n;
};

static uint64_t code_start(const struct dl_phdr_info *info)
{
    for (size_t i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X) != 0)
            return info->dlpi_phdr[i].p_vaddr;
    return 0;
}

/* Each file that is loaded here twice, at other addresses the second time. */
static int file_ask(struct dl_phdr_info *info, size_t size, void *context)
{
    struct asked *asked = context;
    const char *path = info->dlpi_name[0] == '\0' ? "/proc/self/exe" : info->dlpi_name;
    (void)size;
    for (unsigned k = 0; k < 2 && path[0] == '/' && asked->n < MOST_JOBS; k++) {
        size_t at = asked->n++;
        snprintf(asked->paths[at], sizeof asked->paths[at], "%s", path);
        for (unsigned i = 0; i < N_VADDRS; i++)
            asked->vaddrs[at][i] = code_start(info) + (uint64_t)i * 37 + (uint64_t)k * 17;
        asked->modules[at] = (struct recording_module){
            .path = text_make(asked->paths[at]), .build_id = {"", 0}, .image = {"", 0}};
        asked->jobs[at] = (struct module_job){
            .module = &asked->modules[at], .vaddrs = asked->vaddrs[at], .n_vaddrs = N_VADDRS};
        asked->in_order[at] = &asked->jobs[at];
    }
    return 0;
}

static bool same_text(const struct module_symbols *a, uint32_t of_a, const struct module_symbols *b,
                      uint32_t of_b)
{
    return text_equal(intern_text(a->texts, of_a), intern_text(b->texts, of_b));
}

static void same_symbols(const struct module_symbols *a, const struct module_symbols *b)
{
    assert_non_null(a);
    assert_int_equal(a->source, b->source);
    assert_string_equal(a->problem, b->problem);
    assert_int_equal(a->n_chains, b->n_chains);
    for (size_t i = 0; i < a->n_chains; i++) {
        assert_int_equal(a->chains[i].n, b->chains[i].n);
        for (uint32_t k = 0; k < a->chains[i].n; k++) {
            const struct chain_frame *x = &a->frames[a->chains[i].first + k];
            const struct chain_frame *y = &b->frames[b->chains[i].first + k];
            assert_true(same_text(a, x->name, b, y->name) && same_text(a, x->file, b, y->file));
            assert_int_equal(x->line, y->line);
        }
    }
}

static void jobs_check(struct asked *asked)
{
    const struct symbol_sources sources = {.cache = NULL};
    struct err err = ERR_INIT;
    assert_true(module_jobs_run(asked->in_order, asked->n, &sources, &err));
    for (size_t i = 0; i < asked->n; i++) {
        struct module_symbols *alone = NULL;
        const struct module_job *job = &asked->jobs[i];
        assert_true(
            module_symbolize(job->module, &sources, job->vaddrs, job->n_vaddrs, &alone, &err));
        same_symbols(job->symbols, alone);
        module_symbols_destroy(alone);
        module_symbols_destroy(job->symbols);
        asked->jobs[i].symbols = NULL;
    }
}

static void each_has_its_own_result(void **state)
{
    (void)state;
    struct asked *asked = calloc(1, sizeof *asked);
    assert_non_null(asked);
    (void)dl_iterate_phdr(file_ask, asked);
    assert_in_range(asked->n, 6, MOST_JOBS);
    for (unsigned i = 0; i < 5; i++)
        jobs_check(asked);
    free(asked);
}

static void one_processor_will_do(void **state)
{
    cpu_set_t all, one;
    CPU_ZERO(&one);
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    each_has_its_own_result(state);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

static void no_job_is_done_at_once(void **state)
{
    (void)state;
    const struct symbol_sources sources = {.cache = NULL};
    struct err err = ERR_INIT;
    assert_true(module_jobs_run(NULL, 0, &sources, &err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_its_own_result),
        cmocka_unit_test(one_processor_will_do),
        cmocka_unit_test(no_job_is_done_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
