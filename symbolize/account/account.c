/* account.c - see account.h. */
#include "account/account.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "append.h"
#include "saturated.h"

/* Less than this share of the weight without debug information is not worth words. */
#define MISSING_SHARE 0.05
/* Nor is a single module with less than this. */
#define MODULE_SHARE 0.01
#define MAX_MODULE_LINES 8u

bool account_init(struct account *account)
{
    *account = (struct account){.arena = arena_create(), .event = "", .all.cpu_known = true};
    array_init(&account->modules, sizeof(struct account_module));
    array_init(&account->processes, sizeof(struct account_process));
    array_init(&account->children, sizeof(struct account_child));
    return account->arena != NULL;
}

void account_deinit(struct account *account)
{
    array_deinit(&account->modules);
    array_deinit(&account->processes);
    array_deinit(&account->children);
    arena_destroy(account->arena);
    *account = (struct account){0};
}

/* ---- adding up ------------------------------------------------------------------------------- */

static void add_to(uint64_t *sum, uint64_t value)
{
    *sum = add_saturated(*sum, value);
}

static void sums_add(struct account_sums *sums, const struct account_sums *other)
{
    sums->measure = other->measure; /* the same of all (build.h) */
    add_to(&sums->n_samples, other->n_samples);
    add_to(&sums->weight_ns, other->weight_ns);
    for (size_t i = 0; i < ACCOUNT_N_CUTS; i++)
        add_to(&sums->cut_ns[i], other->cut_ns[i]);
    add_to(&sums->cpu_ns, other->cpu_ns);
    add_to(&sums->start_up_ns, other->start_up_ns);
    add_to(&sums->thread_exit_ns, other->thread_exit_ns);
    add_to(&sums->paused_ns, other->paused_ns);
    add_to(&sums->length_ns, other->length_ns);
    add_to(&sums->stopped_ns, other->stopped_ns);
    sums->cpu_known = sums->cpu_known && other->cpu_known;
    for (size_t i = 0; i < CAPTURE_N_LOSSES; i++) {
        add_to(&sums->lost[i], other->lost[i]);
        add_to(&sums->lost_ns[i], other->lost_ns[i]);
    }
    add_to(&sums->n_ticks, other->n_ticks);
    add_to(&sums->handler_ns, other->handler_ns);
    sums->n_processes += other->n_processes;
    sums->n_threads += other->n_threads;
    sums->n_threads_missed += other->n_threads_missed;
    sums->n_threads_found += other->n_threads_found;
    for (size_t i = 0; i < ACCOUNT_N_CLOCKS; i++)
        sums->n_by_clock[i] += other->n_by_clock[i];
    sums->n_event_user += other->n_event_user;
    sums->n_forks += other->n_forks;
    sums->n_children_missed += other->n_children_missed;
    sums->n_unended += other->n_unended;
    sums->n_warnings += other->n_warnings;
}

/* ---- from a recording ------------------------------------------------------------------------ */

/* Why the outermost node of each node's stack stands for an unknown rest, 0 where it does not;
 * parents come before their children. Heap, NULL when out of memory. */
static uint8_t *cut_reasons_find(const struct recording *recording)
{
    uint8_t *cuts = calloc(recording->n_nodes + 1, sizeof *cuts);
    for (size_t i = 1; cuts != NULL && i < recording->n_nodes; i++) {
        uint32_t parent = recording->nodes[i].parent;
        cuts[i] = parent != 0 ? cuts[parent] : recording->nodes[i].cut;
    }
    return cuts;
}

static void sums_add_samples(struct account_sums *sums, const struct recording *recording,
                             const uint8_t *cuts)
{
    for (size_t i = 0; i < recording->n_samples; i++) {
        const struct recording_sample *sample = &recording->samples[i];
        uint64_t weight_ns = multiply_saturated(sample->steps, recording->header.period);
        uint8_t cut = cuts[sample->node];
        add_to(&sums->weight_ns, weight_ns);
        if (cut != 0)
            add_to(&sums->cut_ns[cut < ACCOUNT_N_CUTS ? cut : 0], weight_ns);
        if (sample->kind == RECORDING_TICK)
            sums->n_samples++;
    }
}

static enum account_measure measure_of(const struct capture_header *header)
{
    return header->clock == CAPTURE_CLOCK_EVENT  ? ACCOUNT_EVENTS
           : header->clock == CAPTURE_CLOCK_WALL ? ACCOUNT_WALL
                                                 : ACCOUNT_CPU;
}

/* How much there was to explain. */
static void sums_add_whole(struct account_sums *sums, const struct recording *recording)
{
    const struct capture_header *header = &recording->header;
    sums->cpu_known = true;
    if (sums->measure == ACCOUNT_WALL) { /* of each thread, from its beginning to its end */
        sums->paused_ns = 0;
        for (size_t i = 0; i < recording->n_threads; i++) {
            const struct recording_thread *thread = &recording->threads[i];
            add_to(&sums->cpu_ns, thread->end_ns - thread->start_ns);
            add_to(&sums->paused_ns, recording_paused_ns(recording, thread->end_ns) -
                                         recording_paused_ns(recording, thread->start_ns));
        }
    } else if (sums->measure == ACCOUNT_EVENTS) {
        sums->paused_ns = 0; /* what happens while sampling is stopped is not counted */
        sums->cpu_ns = header->n_events;
        sums->cpu_known = header->end != CAPTURE_RUNNING;
    } else {
        sums->cpu_known = header->end_cpu_ns != 0 && header->end_cpu_ns >= header->start_cpu_ns;
        sums->cpu_ns = sums->cpu_known ? header->end_cpu_ns - header->start_cpu_ns : 0;
    }
}

static void sums_add_header(struct account_sums *sums, const struct capture_header *header)
{
    sums->measure = measure_of(header);
    for (size_t i = 0; i < CAPTURE_N_LOSSES; i++) {
        sums->lost[i] = header->lost[i];
        sums->lost_ns[i] = multiply_saturated(header->lost[i], header->period);
    }
    sums->n_ticks = header->n_ticks;
    sums->handler_ns = header->handler_ns;
    sums->n_threads_missed = header->n_threads_missed;
    sums->n_threads_found = header->n_threads_found;
    sums->n_forks = header->n_forks;
    sums->n_children_missed = header->n_children_missed;
    sums->paused_ns = header->paused_cpu_ns;
    if (header->end == CAPTURE_RUNNING)
        sums->n_unended = 1;
}

/* How long sampling was on, and how long it could have been. */
static void sums_add_times(struct account_sums *sums, const struct recording *recording)
{
    const struct capture_header *header = &recording->header;
    uint64_t length_ns = header->end_time_ns > header->start_time_ns
                             ? header->end_time_ns - header->start_time_ns
                             : 0;
    for (size_t i = 0; i < recording->n_threads && header->end_time_ns == 0; i++) {
        if (recording->threads[i].end_ns > length_ns)
            length_ns = recording->threads[i].end_ns;
    }
    sums->length_ns = length_ns;
    sums->stopped_ns = recording_paused_ns(recording, length_ns);
}

/* A value of the recording as one line: words joined by NUL become words joined by blanks. */
static const char *info_keep(struct account *account, const struct recording *recording,
                             const char *key)
{
    struct text text = recording_info_get(recording, key);
    char *copy = arena_text(account->arena, text.bytes, text.length);
    if (copy == NULL)
        return NULL;
    while (text.length > 0 && copy[text.length - 1] == '\0')
        text.length--;
    for (size_t i = 0; i < text.length; i++) {
        if (copy[i] == '\0')
            copy[i] = ' ';
    }
    return copy;
}

/* Counts a child among equal ones of the same parent. */
static bool child_add(struct account *account, const struct account_child *child)
{
    for (size_t i = 0; i < account->children.n; i++) {
        struct account_child *known = array_at(&account->children, i);
        if (known->ppid == child->ppid && known->why == child->why &&
            strcmp(known->path, child->path) == 0) {
            known->n += child->n;
            return true;
        }
    }
    struct account_child *added = array_push(&account->children);
    const char *path = arena_text(account->arena, child->path, strlen(child->path));
    if (added == NULL || path == NULL)
        return false;
    *added = *child;
    added->path = path;
    return true;
}

static bool children_add(struct account *account, const struct recording *recording)
{
    for (size_t i = 0; i < recording->n_children; i++) {
        const struct recording_child *from = &recording->children[i];
        const char *path = arena_text(account->arena, from->path.bytes, from->path.length);
        const struct account_child child = {
            .ppid = recording->header.pid, .why = from->why, .path = path, .n = 1};
        if (path == NULL || !child_add(account, &child))
            return false;
    }
    return true;
}

static bool process_fill(struct account *account, struct account_process *process,
                         const struct recording *recording)
{
    const struct capture_header *header = &recording->header;
    uint8_t *cuts = cut_reasons_find(recording);
    *process = (struct account_process){
        .pid = header->pid,
        .ppid = header->ppid,
        .start_time_ns = header->start_time_ns,
        .end_time_ns = header->end_time_ns,
        .period = header->period,
        .frequency_hz = header->frequency_hz,
        .clock = header->clock,
        .end = header->end,
        .exit_status = header->exit_status,
        .command = info_keep(account, recording, "command"),
        .exe = info_keep(account, recording, "exe"),
        .clock_fallback = info_keep(account, recording, "clock-fallback"),
        .sums = {.n_processes = 1,
                 .n_threads = recording->n_threads,
                 .n_warnings = recording->n_warnings + recording->n_warnings_dropped},
    };
    if (cuts == NULL || process->command == NULL || process->exe == NULL ||
        process->clock_fallback == NULL) {
        free(cuts);
        return false;
    }
    sums_add_header(&process->sums, header);
    sums_add_whole(&process->sums, recording);
    sums_add_samples(&process->sums, recording, cuts);
    sums_add_times(&process->sums, recording);
    free(cuts);
    for (size_t i = 0; i < recording->n_threads; i++) {
        uint32_t clock = recording->threads[i].clock;
        process->sums.n_by_clock[clock < ACCOUNT_N_CLOCKS ? clock : CAPTURE_CLOCK_NONE]++;
        process->sums.n_event_user +=
            clock == CAPTURE_CLOCK_EVENT && recording->threads[i].clock_errno != 0;
    }
    return true;
}

bool account_add_recording(struct account *account, const struct recording *recording)
{
    struct account_process process;
    const char *event = info_keep(account, recording, "event");
    if (event == NULL || !process_fill(account, &process, recording) ||
        !children_add(account, recording))
        return false;
    struct account_process *added = array_push(&account->processes);
    if (added == NULL)
        return false;
    *added = process;
    if (account->processes.n == 1) {
        account->frequency_hz = process.frequency_hz;
        account->event = event;
        account->event_period = process.period;
    }
    sums_add(&account->all, &process.sums);
    return true;
}

void account_add_start_up(struct account *account, size_t index, uint64_t cpu_ns)
{
    struct account_process *process = array_at(&account->processes, index);
    struct account_sums *const both[] = {&process->sums, &account->all};
    for (size_t i = 0; i < 2; i++) {
        add_to(&both[i]->weight_ns, cpu_ns);
        add_to(&both[i]->cpu_ns, cpu_ns);
        add_to(&both[i]->start_up_ns, cpu_ns);
    }
}

void account_add_thread_exit(struct account *account, size_t index, uint64_t cpu_ns)
{
    struct account_process *process = array_at(&account->processes, index);
    struct account_sums *const both[] = {&process->sums, &account->all};
    for (size_t i = 0; i < 2; i++) {
        add_to(&both[i]->weight_ns, cpu_ns);
        add_to(&both[i]->thread_exit_ns, cpu_ns);
    }
}

/* ---- from another account -------------------------------------------------------------------- */

static const char *text_keep(struct account *account, const char *text)
{
    return arena_text(account->arena, text, strlen(text));
}

/* The same file resolved in two processes is one module; the better names of the two count. */
static bool module_add(struct account *account, const struct account_module *module)
{
    for (size_t i = 0; i < account->modules.n; i++) {
        struct account_module *known = array_at(&account->modules, i);
        if (strcmp(known->path, module->path) == 0 &&
            strcmp(known->build_id, module->build_id) == 0) {
            add_to(&known->self_ns, module->self_ns);
            if (module->source > known->source)
                known->source = module->source;
            return true;
        }
    }
    struct account_module copy = *module;
    copy.path = text_keep(account, module->path);
    copy.problem = text_keep(account, module->problem);
    copy.build_id = text_keep(account, module->build_id);
    struct account_module *added = array_push(&account->modules);
    if (added == NULL || copy.path == NULL || copy.problem == NULL || copy.build_id == NULL)
        return false;
    *added = copy;
    return true;
}

bool account_add(struct account *account, const struct account *other)
{
    sums_add(&account->all, &other->all);
    if (account->processes.n == 0) {
        account->frequency_hz = other->frequency_hz;
        account->event = text_keep(account, other->event);
        account->event_period = other->event_period;
    }
    if (account->event == NULL)
        return false;
    for (size_t i = 0; i < other->processes.n; i++) {
        struct account_process copy =
            *(const struct account_process *)array_at(&other->processes, i);
        copy.command = text_keep(account, copy.command);
        copy.exe = text_keep(account, copy.exe);
        copy.clock_fallback = text_keep(account, copy.clock_fallback);
        struct account_process *added = array_push(&account->processes);
        if (added == NULL || copy.command == NULL || copy.exe == NULL ||
            copy.clock_fallback == NULL)
            return false;
        *added = copy;
    }
    for (size_t i = 0; i < other->children.n; i++)
        if (!child_add(account, array_at(&other->children, i)))
            return false;
    for (size_t i = 0; i < other->modules.n; i++)
        if (!module_add(account, array_at(&other->modules, i)))
            return false;
    account_sort_modules(account);
    return true;
}

static int module_compare(const void *left, const void *right)
{
    const struct account_module *a = left;
    const struct account_module *b = right;
    if (a->self_ns != b->self_ns)
        return a->self_ns > b->self_ns ? -1 : 1;
    return strcmp(a->path, b->path);
}

void account_sort_modules(struct account *account)
{
    if (account->modules.n > 1)
        qsort(account->modules.items, account->modules.n, sizeof(struct account_module),
              module_compare);
}

void account_set_cpu(struct account *account, uint64_t cpu_ns)
{
    if (cpu_ns == 0)
        return;
    account->run_cpu_ns = cpu_ns;
    if (account->all.cpu_known || account->all.measure != ACCOUNT_CPU)
        return;
    account->all.cpu_ns = cpu_ns;
    account->all.cpu_known = true;
}

/* ---- numbers that follow from others --------------------------------------------------------- */

uint64_t account_lost(const struct account_sums *sums)
{
    uint64_t lost = 0;
    for (unsigned i = 0; i < CAPTURE_N_LOSSES; i++)
        add_to(&lost, sums->lost[i]);
    return lost;
}

uint64_t account_lost_ns(const struct account_sums *sums)
{
    uint64_t lost_ns = 0;
    for (unsigned i = 0; i < CAPTURE_N_LOSSES; i++)
        if (!account_loss_word(i)->is_weighed)
            add_to(&lost_ns, sums->lost_ns[i]);
    return lost_ns;
}

uint64_t account_cut_ns(const struct account_sums *sums)
{
    uint64_t cut_ns = 0;
    for (unsigned i = 0; i < ACCOUNT_N_CUTS; i++)
        add_to(&cut_ns, sums->cut_ns[i]);
    return cut_ns;
}

double account_rate_hz(const struct account_sums *sums)
{
    uint64_t cpu_ns = sums->cpu_known ? sums->cpu_ns : sums->weight_ns;
    uint64_t not_sampled_ns = sums->start_up_ns;
    add_to(&not_sampled_ns, sums->thread_exit_ns);
    add_to(&not_sampled_ns, sums->paused_ns);
    if (cpu_ns <= not_sampled_ns)
        return 0;
    return (double)sums->n_samples * 1e9 / (double)(cpu_ns - not_sampled_ns);
}

enum capture_clock account_main_clock(const struct account_sums *sums)
{
    unsigned most = CAPTURE_CLOCK_NONE;
    for (unsigned i = CAPTURE_CLOCK_NONE + 1; i < ACCOUNT_N_CLOCKS; i++) {
        if (sums->n_by_clock[i] > (most == CAPTURE_CLOCK_NONE ? 0 : sums->n_by_clock[most]))
            most = i;
    }
    return most;
}

bool account_module_lacks(const struct account_module *module)
{
    return module->source < (module->is_image ? MODULE_DYNSYM : MODULE_DWARF);
}

uint64_t account_wanted_ns(const struct account_sums *sums)
{
    return sums->cpu_ns > sums->paused_ns ? sums->cpu_ns - sums->paused_ns : 0;
}

/* ---- the closing line ------------------------------------------------------------------------ */

/* 5991 -> "5 991". */
static const char *grouped(uint64_t value, char *out, size_t out_bytes)
{
    char digits[24];
    int n = snprintf(digits, sizeof digits, "%" PRIu64, value);
    size_t used = 0;
    for (int i = 0; i < n && used + 2 < out_bytes; i++) {
        if (i > 0 && (n - i) % 3 == 0)
            out[used++] = ' ';
        out[used++] = digits[i];
    }
    out[used] = '\0';
    return out;
}

/* "s" where there are more or fewer than one. */
static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* The clocks in words: the one most threads had, then how many had another. */
static void append_clocks(const struct account_sums *sums, char *out, size_t out_bytes,
                          size_t *used)
{
    enum capture_clock most = account_main_clock(sums);
    append(out, out_bytes, used, " (%s", account_clock_word(most)->words);
    for (unsigned i = CAPTURE_CLOCK_NONE + 1; i < ACCOUNT_N_CLOCKS; i++) {
        if (i != most && sums->n_by_clock[i] != 0)
            append(out, out_bytes, used, ", %zu by %s", sums->n_by_clock[i],
                   account_clock_word(i)->words);
    }
    append(out, out_bytes, used, ")");
}

static void append_events(const struct account_sums *sums, char *out, size_t out_bytes,
                          size_t *used)
{
    char explained[32], all[32];
    append(out, out_bytes, used, "; %s", grouped(sums->weight_ns, explained, sizeof explained));
    if (sums->cpu_known)
        append(out, out_bytes, used, " of %s", grouped(sums->cpu_ns, all, sizeof all));
    append(out, out_bytes, used, " explained");
    if (!sums->cpu_known)
        append(out, out_bytes, used, ", of how many is not recorded");
    else if (sums->cpu_ns != 0)
        append(out, out_bytes, used, " (%.1f %%)",
               100.0 * (double)sums->weight_ns / (double)sums->cpu_ns);
}

static void append_cpu(const struct account_sums *sums, char *out, size_t out_bytes, size_t *used)
{
    const char *time = sums->measure == ACCOUNT_WALL ? "elapsed in threads" : "CPU";
    double explained_s = (double)sums->weight_ns / 1e9;
    uint64_t cpu_ns = account_wanted_ns(sums);
    double cpu_s = (double)cpu_ns / 1e9;
    if (!sums->cpu_known)
        append(out, out_bytes, used, "; %.2f s %s explained, of how much is not recorded",
               explained_s, time);
    else if (cpu_ns == 0)
        append(out, out_bytes, used, "; %.2f of %.2f s %s explained", explained_s, cpu_s, time);
    else
        append(out, out_bytes, used, "; %.2f of %.2f s %s explained (%.1f %%)", explained_s, cpu_s,
               time, 100.0 * explained_s / cpu_s);
}

/* How often was sampled, by what, and what came of it. */
static void append_measure(const struct account *account, char *out, size_t out_bytes, size_t *used)
{
    const struct account_sums *sums = &account->all;
    if (sums->measure == ACCOUNT_EVENTS) {
        char period[32];
        append(out, out_bytes, used, ", one in %s %s (perf%s)",
               grouped(account->event_period, period, sizeof period), account->event,
               sums->n_event_user != 0 ? ", those in the kernel left out" : "");
        append_events(sums, out, out_bytes, used);
        return;
    }
    /* Where elapsed time is measured, threads that block are not sampled at a rate. */
    if (sums->measure == ACCOUNT_CPU)
        append(out, out_bytes, used, ", %.0f/s of", account_rate_hz(sums));
    else
        append(out, out_bytes, used, ",");
    append(out, out_bytes, used, " %" PRIu32 "/s asked", account->frequency_hz);
    append_clocks(sums, out, out_bytes, used);
    append_cpu(sums, out, out_bytes, used);
}

/* What only some accounts have to tell. */
static void append_unusual(const struct account_sums *sums, char *out, size_t out_bytes,
                           size_t *used)
{
    uint64_t cut_ns = account_cut_ns(sums);
    if (cut_ns != 0 && sums->weight_ns != 0)
        append(out, out_bytes, used, "; %.1f %% in truncated stacks",
               100.0 * (double)cut_ns / (double)sums->weight_ns);
    if (sums->n_processes > 1)
        append(out, out_bytes, used, "; %zu processes", sums->n_processes);
    if (sums->n_children_missed != 0)
        append(out, out_bytes, used, "; %zu process%s not recorded", sums->n_children_missed,
               sums->n_children_missed == 1 ? "" : "es");
    if (sums->n_threads_missed != 0)
        append(out, out_bytes, used, "; %zu thread%s without a clock", sums->n_threads_missed,
               plural(sums->n_threads_missed));
    if (sums->n_warnings != 0)
        append(out, out_bytes, used, "; %zu damaged place%s in the recording", sums->n_warnings,
               plural(sums->n_warnings));
}

const char *account_format(const struct account *account, const char *wrote, char *out,
                           size_t out_bytes)
{
    const struct account_sums *sums = &account->all;
    size_t used = 0;
    char samples[32];
    char lost[32];
    append(out, out_bytes, &used, "%s sample%s", grouped(sums->n_samples, samples, sizeof samples),
           plural(sums->n_samples));
    append_measure(account, out, out_bytes, &used);
    if (sums->stopped_ns != 0)
        append(out, out_bytes, &used, "; sampling was on for %.2f of %.2f s",
               (double)(sums->length_ns - sums->stopped_ns) / 1e9, (double)sums->length_ns / 1e9);
    append(out, out_bytes, &used, "; lost %s", grouped(account_lost(sums), lost, sizeof lost));
    append_unusual(sums, out, out_bytes, &used);
    if (wrote != NULL)
        append(out, out_bytes, &used, "; wrote %s", wrote);
    return out;
}

void account_tell_missing(const struct account *account,
                          void (*tell)(void *context, const char *line), void *context)
{
    uint64_t missing_ns = 0;
    double all_ns = (double)account->all.weight_ns;
    for (size_t i = 0; i < account->modules.n; i++) {
        const struct account_module *module = array_at(&account->modules, i);
        if (account_module_lacks(module))
            missing_ns += module->self_ns;
    }
    if (missing_ns == 0 || (double)missing_ns < MISSING_SHARE * all_ns)
        return;
    unsigned n_lines = 0;
    bool is_to_install = false;
    for (size_t i = 0; i < account->modules.n && n_lines < MAX_MODULE_LINES; i++) {
        const struct account_module *module = array_at(&account->modules, i);
        if (!account_module_lacks(module) || (double)module->self_ns < MODULE_SHARE * all_ns)
            continue;
        char line[1024];
        snprintf(line, sizeof line, "%.1f %% of the weight is in %s: %s (%s)",
                 100.0 * (double)module->self_ns / all_ns, module->path,
                 account_source_word(module->source)->words, module->problem);
        tell(context, line);
        n_lines++;
        is_to_install = is_to_install || strcmp(module->problem, MODULE_PROBLEM_NO_DEBUG) == 0;
    }
    if (is_to_install)
        tell(context, "what they lack is in their packages' debug symbols (Debian: NAME-dbgsym or "
                      "NAME-dbg); `sampler report --account` says for each what to do");
}
