/* test_build.c - from a recording to a profile, with this very program as the profiled one: its own
 * functions, inlined ones among them, are found again by their addresses. */
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "account/closing.h"
#include "account/process_exits.h"
#include "build/build.h"
#include "recording_builder.h"
#include "unit.h"

/* ---- code to be found ---- */

__attribute__((noinline)) static uint64_t pc_here(void)
{
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

enum { LINE_OF_LEAF = __LINE__ + 5 };

/* The address behind a call: as far as lines go, the call's. */
__attribute__((always_inline)) static inline uint64_t inlined_leaf(void)
{
    volatile uint64_t pc = pc_here();
    return pc;
}

/* Code of it lies in two files; it stands below all else. */
enum { LINE_ELSEWHERE = 1000 };
static uint64_t function_of_two_files(void);

enum { LINE_OF_CALL = __LINE__ + 4 };

__attribute__((noinline)) static uint64_t function_with_inlined_leaf(void)
{
    volatile uint64_t pc = inlined_leaf();
    return pc;
}

/* ---- recordings of it ---- */

struct self {
    char path[4096];
    struct builder_module module;
};

static int self_note(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct self *self = context;
    self->module.bias = info->dlpi_addr; /* the first one is the program */
    return 1;
}

static void self_describe(struct self *self)
{
    ssize_t length = readlink("/proc/self/exe", self->path, sizeof self->path - 1);
    assert_true(length > 0);
    self->path[length] = '\0';
    struct stat status;
    assert_int_equal(stat(self->path, &status), 0);
    self->module = (struct builder_module){
        .id = 1,
        .flags = CAPTURE_MODULE_MAIN,
        .dev = status.st_dev,
        .ino = status.st_ino,
        .size_bytes = (uint64_t)status.st_size,
        .mtime_s = (uint64_t)status.st_mtim.tv_sec,
        .build_id = "",
        .path = self->path,
    };
    dl_iterate_phdr(self_note, self);
}

/* A process with a thread whose only node, 1, is the return address in inlined_leaf. */
static void record_self(struct recording_builder *b, const struct self *self)
{
    builder_init(b);
    builder_chunk(b, 0, 0);
    builder_info(b, "exe", self->path, strlen(self->path));
    builder_thread_start(b, 10, 2, 100, "worker");
    builder_clock(b, CAPTURE_CLOCK_PERF, 0);
    builder_module(b, &self->module);
    builder_node(b, 0, 1, 0, function_with_inlined_leaf() - self->module.bias);
}

static struct profile *build_one(const struct recording_builder *b,
                                 const struct build_options *options, struct account *account)
{
    struct err err = ERR_INIT;
    struct recording *recording = NULL;
    struct profile *profile = NULL;
    assert_true(recording_read_memory(b->bytes, b->size_bytes, &recording, &err));
    assert_true(account_init(account));
    const struct recording *const recordings[] = {recording};
    assert_true(profile_build(recordings, 1, options, &profile, account, &err));
    recording_destroy(recording);
    return profile;
}

/* "root;...;leaf" of a stack. */
static const char *folded(const struct profile *profile, uint32_t stack)
{
    static char text[2000];
    char joined[2000];
    text[0] = '\0';
    for (; stack != 0; stack = profile->stacks[stack].parent) {
        uint32_t function = profile->frames[profile->stacks[stack].frame].function;
        snprintf(joined, sizeof joined, "%.900s%s%.900s",
                 profile_text(profile, profile->functions[function].name).bytes,
                 text[0] == '\0' ? "" : ";", text);
        memcpy(text, joined, sizeof text);
    }
    return text;
}

/* ---- tests ---- */

static void inlined_functions_become_frames(void **state)
{
    (void)state;
    struct self self;
    struct recording_builder b;
    struct account account;
    self_describe(&self);
    record_self(&b, &self);
    builder_sample(&b, 1, 1);
    struct profile *profile = build_one(&b, &(struct build_options){0}, &account);
    assert_int_equal(profile->n_samples, 1);
    uint32_t stack = profile->samples[0].stack;
    assert_string_equal(folded(profile, stack), "function_with_inlined_leaf;inlined_leaf");

    const struct profile_frame *leaf = &profile->frames[profile->stacks[stack].frame];
    uint32_t outer_stack = profile->stacks[stack].parent;
    const struct profile_frame *outer = &profile->frames[profile->stacks[outer_stack].frame];
    assert_int_equal(leaf->line, LINE_OF_LEAF);
    assert_int_equal(leaf->flags, PROFILE_FRAME_INLINED);
    assert_int_equal(outer->line, LINE_OF_CALL);
    assert_int_equal(outer->flags, 0);
    assert_int_equal(leaf->address, outer->address);
    const struct profile_function *function = &profile->functions[leaf->function];
    assert_non_null(strstr(profile_text(profile, function->file).bytes, "test_build.c"));
    assert_int_equal(function->line, LINE_OF_LEAF - 2);
    assert_string_equal(profile_text(profile, profile->modules[function->module].path).bytes,
                        self.path);
    const struct account_module *module = &account.modules.items[0];
    assert_int_equal(module->source, MODULE_DWARF);
    profile_destroy(profile);
    account_deinit(&account);

    profile = build_one(&b, &(struct build_options){.no_inlines = true}, &account);
    stack = profile->samples[0].stack;
    assert_string_equal(folded(profile, stack), "function_with_inlined_leaf");
    assert_int_equal(profile->frames[profile->stacks[stack].frame].line, LINE_OF_CALL);
    profile_destroy(profile);
    account_deinit(&account);
    builder_deinit(&b);
}

static void a_line_has_the_file_it_is_of(void **state)
{
    (void)state;
    struct self self;
    struct recording_builder b;
    struct account account;
    self_describe(&self);
    record_self(&b, &self);
    builder_node(&b, 0, 1, 0, function_of_two_files() - self.module.bias);
    builder_sample(&b, 1, 1);
    builder_sample(&b, 1, 2);
    struct profile *profile = build_one(&b, &(struct build_options){0}, &account);
    const uint32_t stacks[] = {profile->samples[0].stack, profile->samples[1].stack};
    const struct profile_frame *here = &profile->frames[profile->stacks[stacks[0]].frame];
    const struct profile_frame *elsewhere = &profile->frames[profile->stacks[stacks[1]].frame];
    assert_int_equal(here->file, 0);
    assert_int_equal(elsewhere->line, LINE_ELSEWHERE);
    assert_string_equal(text_base_name(profile_text(profile, elsewhere->file)).bytes,
                        "elsewhere.y");
    const struct profile_function *function = &profile->functions[elsewhere->function];
    assert_int_equal(function->file, profile->functions[here->function].file);
    profile_destroy(profile);
    account_deinit(&account);
    builder_deinit(&b);
}

/* A return address at the very start of a function lies behind a call at the end of the one before
 * it; an interrupted pc there is in the function. */
static void return_addresses_belong_to_the_call(void **state)
{
    (void)state;
    struct self self;
    struct recording_builder b;
    struct account account;
    self_describe(&self);
    record_self(&b, &self);
    uint64_t entry = (uint64_t)(uintptr_t)function_with_inlined_leaf - self.module.bias;
    builder_node(&b, 0, 1, 1, entry);
    builder_node(&b, 0, 1, 0, entry);
    builder_sample(&b, 1, 2);
    builder_sample(&b, 1, 3);
    struct profile *profile = build_one(&b, &(struct build_options){0}, &account);
    assert_string_equal(folded(profile, profile->samples[0].stack), "function_with_inlined_leaf");
    assert_string_not_equal(folded(profile, profile->samples[1].stack),
                            "function_with_inlined_leaf");
    profile_destroy(profile);
    account_deinit(&account);
    builder_deinit(&b);
}

static void another_file_gives_no_names(void **state)
{
    (void)state;
    struct self self;
    struct recording_builder b;
    struct account account;
    self_describe(&self);
    self.module.mtime_s++;
    record_self(&b, &self);
    builder_sample(&b, 1, 1);
    struct profile *profile = build_one(&b, &(struct build_options){0}, &account);
    char expected[500];
    snprintf(expected, sizeof expected, "[%.300s+0x%" PRIx64 "]", strrchr(self.path, '/') + 1,
             self.module.start - self.module.bias);
    assert_string_equal(folded(profile, profile->samples[0].stack), expected);
    const struct account_module *module = &account.modules.items[0];
    assert_int_equal(module->source, MODULE_NO_NAMES);
    assert_non_null(strstr(module->problem, "changed since the program ran"));
    profile_destroy(profile);
    account_deinit(&account);
    builder_deinit(&b);
}

/* Nodes without a function of a file: each has its words, none loses its weight. */
static void other_nodes_have_words(void **state)
{
    (void)state;
    struct self self;
    struct recording_builder b;
    struct account account;
    self_describe(&self);
    record_self(&b, &self);
    const struct builder_module own = {.id = 2, .build_id = "", .path = "/opt/lib/libsampler.so"};
    const struct builder_module numbered = {
        .id = 4, .build_id = "", .path = "/opt/lib/libsampler.so.0"};
    const struct builder_module gone = {
        .id = 3, .build_id = "\1\2\3\4", .build_id_length = 4, .path = "/nowhere/libgone.so"};
    builder_module(&b, &own);
    builder_module(&b, &numbered);
    builder_module(&b, &gone);
    builder_node(&b, 0, 2, 0, 0x10);           /* 2: only our own code        */
    builder_node(&b, 2, 3, 1, 0xabc);          /* 3: called by it             */
    builder_node_cut(&b, CAPTURE_CUT_NO_RULE); /* 4                           */
    builder_node(&b, 4, 0, 1, 0x5555);         /* 5: in no module             */
    builder_node(&b, 0, 77, 1, 0x5555);        /* 6: in one not recorded      */
    builder_node(&b, 0, 4, 0, 0x10);           /* 7: our own, by its number   */
    for (uint64_t node = 0; node <= 7; node++)
        builder_sample(&b, 1, node);
    struct profile *profile = build_one(&b, &(struct build_options){0}, &account);
    const char *const expected[] = {
        "[unknown stack]",
        "function_with_inlined_leaf;inlined_leaf",
        "[sampler]",
        "[libgone.so+0x0]",
        "[truncated: no unwind rule]",
        "[truncated: no unwind rule];[anon]",
        "[unknown module]",
        "[sampler]",
    };
    assert_int_equal(profile->n_samples, N_ELEMENTS(expected));
    for (size_t i = 0; i < N_ELEMENTS(expected); i++)
        assert_string_equal(folded(profile, profile->samples[i].stack), expected[i]);
    uint32_t cut = profile->stacks[profile->samples[4].stack].frame;
    assert_int_equal(profile->frames[cut].flags, PROFILE_FRAME_CUT);
    assert_int_equal(account_cut_ns(&account.all), 2000000);
    profile_destroy(profile);
    account_deinit(&account);
    builder_deinit(&b);
}

static const char *metadata_of(const struct profile *profile, const char *key)
{
    for (size_t i = 0; i < profile->n_metadata; i++)
        if (strcmp(profile_text(profile, profile->metadata[i].key).bytes, key) == 0)
            return profile_text(profile, profile->metadata[i].value).bytes;
    return "";
}

static void weights_times_and_threads(void **state)
{
    (void)state;
    struct self self;
    struct recording_builder b;
    struct account account;
    self_describe(&self);
    record_self(&b, &self);
    builder_sample(&b, 10, 1);
    builder_sample_weighted(&b, CAPTURE_SAMPLE_WEIGHTED, 5, 4, 1);
    builder_sample_weighted(&b, CAPTURE_SAMPLE_CREDIT, 0, 2, 1);
    builder_thread_end(&b, 3, 7100100);
    builder_header(&b)->end_time_ns = builder_header(&b)->start_time_ns + 20000000;
    builder_header(&b)->start_cpu_ns = 1000000;
    builder_header(&b)->end_cpu_ns = 9000000;
    builder_header(&b)->end = CAPTURE_EXITED;
    builder_header(&b)->lost[CAPTURE_LOST_NODES] = 3;
    builder_header(&b)->lost[CAPTURE_LOST_TAIL] = 1;
    struct profile *profile = build_one(&b, &(struct build_options){0}, &account);
    assert_int_equal(profile->n_kinds, 2);
    assert_string_equal(profile_text(profile, profile->kinds[0].name).bytes, "samples");
    assert_int_equal(profile->kinds[1].unit, PROFILE_UNIT_NS);
    assert_int_equal(profile->period, 1000000);
    assert_int_equal(profile->duration_ns, 21000000);
    /* The millisecond before the recording began comes first. */
    const uint64_t values[] = {0, 1000000, 1, 1000000, 1, 4000000, 0, 2000000};
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(profile_value(profile, i / 2, i % 2), values[i]);
    assert_int_equal(profile->samples[0].time_ns, 1000000);
    assert_int_equal(profile->samples[1].time_ns, 1012000);
    assert_int_equal(profile->samples[2].time_ns, 1017000);
    const struct profile_thread *thread = &profile->threads[profile->samples[0].thread];
    assert_int_equal(thread->tid, 10);
    assert_string_equal(profile_text(profile, thread->name).bytes, "worker");
    assert_int_equal(thread->cpu_ns, 7100000);
    assert_string_equal(metadata_of(profile, "clock"), "perf task-clock");
    assert_string_equal(metadata_of(profile, "frequency_hz"), "1000");
    assert_string_equal(metadata_of(profile, "cpu_ns"), "9000000");
    assert_string_equal(metadata_of(profile, "explained_ns"), "8000000");
    assert_string_equal(metadata_of(profile, "lost_ns"), "1000000");
    assert_int_equal(profile->processes[thread->process].pid, 4711);
    char line[500];
    assert_string_equal(account_format(&account, "a.folded", line, sizeof line),
                        "too short to sample: 2 samples in 0.0090 s CPU; wrote a.folded");
    profile_destroy(profile);
    account_deinit(&account);
    builder_deinit(&b);
}

/* The weight of a stack in the profile, of all threads. */
static uint64_t weight_of(const struct profile *profile, const char *stack)
{
    uint64_t weight_ns = 0;
    for (size_t i = 0; i < profile->n_samples; i++)
        if (strcmp(folded(profile, profile->samples[i].stack), stack) == 0)
            weight_ns += profile_value(profile, i, 1);
    return weight_ns;
}

/* A process that began a thread: what libc and the kernel took for that is in the profile, what we
 * took only where it is asked for. */
static void costs_of_threads(void **state)
{
    (void)state;
    for (unsigned own_cost = 0; own_cost < 2; own_cost++) {
        struct self self;
        struct recording_builder b;
        struct account account;
        self_describe(&self);
        record_self(&b, &self);
        builder_thread_cost(&b, 0, 300000);
        builder_sample_weighted(&b, CAPTURE_SAMPLE_WEIGHTED, 5, 4, 1);
        builder_thread_cost(&b, 0, 20000);
        builder_thread_end(&b, 3, 4320100);
        builder_chunk(&b, 1, 0);
        builder_thread_start(&b, 12, 9, 0, "second");
        builder_thread_cost(&b, 9000, 40000);
        builder_thread_end(&b, 3, 50000);
        builder_header(&b)->end_time_ns = builder_header(&b)->start_time_ns + 20000000;
        builder_header(&b)->start_cpu_ns = 1000000;
        builder_header(&b)->end_cpu_ns = 5370000;
        builder_header(&b)->end = CAPTURE_EXITED;
        struct profile *profile =
            build_one(&b, &(struct build_options){.own_cost = own_cost != 0}, &account);
        uint64_t total_ns = 0;
        for (size_t i = 0; i < profile->n_samples; i++)
            total_ns += profile_value(profile, i, 1);
        const struct account_sums *sums = &account.all;
        assert_int_equal(weight_of(profile, "clone3;[thread start]"), 9000);
        assert_int_equal(weight_of(profile, "[sampler]"), own_cost ? 360000 : 0);
        assert_int_equal(sums->thread_begin_ns, 9000);
        assert_int_equal(sums->own_ns, own_cost ? 0 : 360000);
        assert_int_equal(sums->cpu_ns, 5370000);
        assert_int_equal(account_wanted_ns(sums), own_cost ? 5370000 : 5010000);
        assert_int_equal(sums->weight_ns, own_cost ? 5369000 : 5009000);
        assert_int_equal(total_ns, sums->weight_ns);
        assert_int_equal(profile->threads[1].cpu_ns, 4000000);
        assert_int_equal(profile->threads[2].cpu_ns, 10000);
        profile_destroy(profile);
        account_deinit(&account);
        builder_deinit(&b);
    }
}

/* A process that used `ends_ns` more than the clocks of its three threads tell, of which two ended
 * before it did. */
static struct profile *with_ends_of_threads(uint64_t ends_ns, struct account *account)
{
    struct self self;
    struct recording_builder b;
    self_describe(&self);
    record_self(&b, &self);
    builder_thread_end(&b, 3, 1000100);
    for (unsigned i = 1; i < 3; i++) {
        builder_chunk(&b, i, 0);
        builder_thread_start(&b, 12 + i, 10, 0, "brief");
        builder_thread_end(&b, 100 * i, 500000);
    }
    struct capture_header *header = builder_header(&b);
    header->end_time_ns = header->start_time_ns + 20000000;
    header->start_cpu_ns = 1000000;
    header->end_cpu_ns = 3000000 + ends_ns;
    header->end = CAPTURE_EXITED;
    struct profile *profile = build_one(&b, &(struct build_options){0}, account);
    builder_deinit(&b);
    return profile;
}

/* The ends of threads are weights of their own, each when its thread ended. */
static void ends_of_threads(void **state)
{
    (void)state;
    struct account account;
    struct profile *profile = with_ends_of_threads(3000001, &account);
    assert_int_equal(account.all.thread_exit_ns, 3000001);
    assert_int_equal(weight_of(profile, "clone3;[thread exit]"), 3000001);
    uint64_t found = 0;
    for (size_t i = 0; i < profile->n_samples; i++) {
        const struct profile_sample *sample = &profile->samples[i];
        uint64_t tid = profile->threads[sample->thread].tid;
        if (strcmp(folded(profile, sample->stack), "clone3;[thread exit]") != 0)
            continue;
        found += tid;
        assert_int_equal(profile_value(profile, i, 1), tid == 13 ? 1500001 : 1500000);
        assert_int_equal(sample->time_ns - profile_value(profile, i, 1),
                         profile->threads[sample->thread].end_ns);
    }
    assert_int_equal(found, 13 + 14);
    profile_destroy(profile);
    account_deinit(&account);
    /* More than threads take to end is not theirs. */
    profile = with_ends_of_threads(4000001, &account);
    assert_int_equal(account.all.thread_exit_ns, 0);
    assert_int_equal(weight_of(profile, "clone3;[thread exit]"), 0);
    profile_destroy(profile);
    account_deinit(&account);
}

/* Two processes of one program: one module, one set of functions and stacks, two threads. */
static void processes_share_what_is_equal(void **state)
{
    (void)state;
    struct self self;
    struct recording_builder b[2];
    struct recording *recordings[2];
    struct err err = ERR_INIT;
    self_describe(&self);
    for (unsigned i = 0; i < 2; i++) {
        record_self(&b[i], &self);
        builder_header(&b[i])->pid = 100 + i;
        builder_header(&b[i])->start_time_ns += i * 1000000UL;
        builder_sample(&b[i], 1, 1);
        assert_true(recording_read_memory(b[i].bytes, b[i].size_bytes, &recordings[i], &err));
    }
    struct account account;
    struct profile *profile = NULL;
    assert_true(account_init(&account));
    const struct recording *const both[] = {recordings[1], recordings[0]};
    assert_true(profile_build(both, 2, &(struct build_options){0}, &profile, &account, &err));
    assert_int_equal(profile->n_processes, 3);
    assert_int_equal(profile->n_modules, 2);
    assert_int_equal(profile->samples[0].stack, profile->samples[1].stack);
    assert_int_equal(profile->processes[1].pid, 101);
    assert_int_equal(profile->samples[0].time_ns, 1000000 + 3000);
    assert_int_equal(profile->samples[1].time_ns, 3000);
    assert_int_equal(account.all.n_processes, 2);
    profile_destroy(profile);
    account_deinit(&account);
    for (unsigned i = 0; i < 2; i++) {
        recording_destroy(recordings[i]);
        builder_deinit(&b[i]);
    }
}

/* What the kernel used to remove a child is known from its parent's figure, which has its start-up too. */
static void the_end_of_a_process_has_a_weight(void **state)
{
    (void)state;
    struct self self;
    struct recording_builder b[2];
    struct recording *recordings[2];
    struct err err = ERR_INIT;
    struct account account;
    struct profile *profile = NULL;
    self_describe(&self);
    for (unsigned i = 0; i < 2; i++) {
        record_self(&b[i], &self);
        struct capture_header *header = builder_header(&b[i]);
        header->pid = 100 + i;
        header->ppid = 99 + i;
        header->start_time_ns += i * 1000000UL;
        header->start_cpu_ns = 2000000;
        header->end_cpu_ns = 5000000;
        header->end = CAPTURE_EXITED;
        header->end_ppid = header->ppid;
        header->end_time_ns = header->start_time_ns + 10000000;
        header->end_children_cpu_ns = i == 0 ? 5300000 : 0;
        assert_true(recording_read_memory(b[i].bytes, b[i].size_bytes, &recordings[i], &err));
    }
    assert_true(process_exits_find(recordings, 2, 100, 10400000));
    assert_int_equal(recordings[0]->facts.process_exit_ns, 100000);
    assert_int_equal(recordings[1]->facts.process_exit_ns, 300000);
    assert_true(account_init(&account));
    const struct recording *const both[] = {recordings[0], recordings[1]};
    assert_true(profile_build(both, 2, &(struct build_options){0}, &profile, &account, &err));
    assert_int_equal(profile->n_samples, 4);
    const struct profile_sample *last = &profile->samples[3];
    assert_string_equal(folded(profile, last->stack), "_start;[process exit]");
    assert_int_equal(profile_value(profile, 3, 0), 0);
    assert_int_equal(profile_value(profile, 3, 1), 300000);
    assert_int_equal(last->time_ns, 2000000 + 1000000 + 10000000 + 300000);
    assert_int_equal(profile->duration_ns, last->time_ns);
    assert_int_equal(profile->processes[profile->threads[last->thread].process].pid, 101);
    assert_int_equal(account.all.process_exit_ns, 400000);
    assert_int_equal(account.all.cpu_ns, 10400000);
    assert_int_equal(account.all.weight_ns, 4400000);
    profile_destroy(profile);
    account_deinit(&account);
    for (unsigned i = 0; i < 2; i++) {
        recording_destroy(recordings[i]);
        builder_deinit(&b[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inlined_functions_become_frames),
        cmocka_unit_test(a_line_has_the_file_it_is_of),
        cmocka_unit_test(return_addresses_belong_to_the_call),
        cmocka_unit_test(another_file_gives_no_names),
        cmocka_unit_test(other_nodes_have_words),
        cmocka_unit_test(weights_times_and_threads),
        cmocka_unit_test(costs_of_threads),
        cmocka_unit_test(ends_of_threads),
        cmocka_unit_test(processes_share_what_is_equal),
        cmocka_unit_test(the_end_of_a_process_has_a_weight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

__attribute__((noinline)) static uint64_t function_of_two_files(void)
{
    volatile uint64_t pc;
#line 1000 "elsewhere.y"
    pc = pc_here();
    return pc;
}
