/* account.c - see account.h. How the numbers of a recording come about, how accounts add up, and
 * the numbers that follow from others.
 *
 * What is simply added is in counters.c. What is not: `measure` (one for all), `cpu_known` (of
 * all or of none), the modules (the same file in two processes is one), the children (equal ones
 * are counted). */
#include "account/account.h"

#include <stdlib.h>
#include <string.h>

#include "account/counters.h"
#include "recording/process_name.h"
#include "saturated.h"

bool account_init(struct account *account)
{
    *account = (struct account){.arena = arena_create(), .event = "", .all.cpu_known = true};
    return account->arena != NULL;
}

void account_deinit(struct account *account)
{
    account_modules_deinit(&account->modules);
    account_processes_deinit(&account->processes);
    account_children_deinit(&account->children);
    arena_destroy(account->arena);
    *account = (struct account){0};
}

/* ---- adding up ------------------------------------------------------------------------------- */

static void sums_add(struct account_sums *sums, const struct account_sums *other)
{
    sums->measure = other->measure; /* the same of all (build.h) */
    sums->cpu_known = sums->cpu_known && other->cpu_known;
    counters_add(sums, other);
}

/* ---- from a recording ------------------------------------------------------------------------ */

static void sums_add_samples(struct account_sums *sums, const struct recording *recording)
{
    for (size_t i = 0; i < recording->n_samples; i++) {
        const struct recording_sample *sample = &recording->samples[i];
        uint64_t weight_ns = recording_weight(recording, sample);
        uint8_t cut = recording->nodes[sample->node].stack_cut;
        add_to(&sums->weight_ns, weight_ns);
        if (cut != 0)
            add_to(&sums->cut_ns[cut < ACCOUNT_N_CUTS ? cut : 0], weight_ns);
        if (sample->kind == RECORDING_TICK)
            sums->n_samples++;
    }
}

/* How much there was to account for. */
static void sums_add_whole(struct account_sums *sums, const struct recording *recording)
{
    const struct capture_header *header = &recording->header;
    sums->cpu_known = true;
    if (sums->measure == MEASURE_WALL) { /* of each thread, from its beginning to its end */
        sums->paused_ns = 0;
        for (size_t i = 0; i < recording->n_threads; i++) {
            const struct recording_thread *thread = &recording->threads[i];
            add_to(&sums->cpu_ns, thread->end_ns - thread->start_ns);
            add_to(&sums->paused_ns, recording_paused_ns(recording, thread->end_ns) -
                                         recording_paused_ns(recording, thread->start_ns));
        }
    } else if (sums->measure == MEASURE_EVENTS) {
        sums->paused_ns = 0; /* what happens while sampling is stopped is not counted */
        sums->cpu_ns = header->n_events;
        sums->cpu_known = header->end != CAPTURE_RUNNING;
    } else {
        sums->cpu_known = recording->facts.cpu_known;
        sums->cpu_ns = recording->facts.cpu_ns;
        sums->own_ns = recording->facts.own_ns;
    }
}

/* What the library counted itself; it lost whole steps, so their weight is the period times
 * them. */
static void sums_add_header(struct account_sums *sums, const struct capture_header *header)
{
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

static const char *text_keep(struct account *account, const char *text)
{
    return arena_text(account->arena, text, strlen(text));
}

static const char *info_keep(struct account *account, const struct recording *recording,
                             const char *key)
{
    struct text text = recording_info_get(recording, key);
    return arena_text(account->arena, text.bytes, text.length);
}

/* Why a thread did not get the clock it should have, "" if each has. Of several reasons the first. */
static const char *fallback_keep(struct account *account, const struct recording *recording)
{
    char why[200] = "";
    for (size_t i = 0; why[0] == '\0' && i < recording->n_threads; i++) {
        const struct recording_thread *thread = &recording->threads[i];
        const char *words = strerrordesc_np((int)thread->clock_errno);
        const char *what = thread->clock == CAPTURE_CLOCK_TIMER ? "perf_event_open"
                           : thread->clock == CAPTURE_CLOCK_NONE
                               ? "no clock"
                               : "perf_event_open with kernel time";
        if (thread->clock_errno != 0)
            snprintf(why, sizeof why, "%s: %s", what, words != NULL ? words : "unknown error");
    }
    return text_keep(account, why);
}

/* Counts a child among equal ones of the same parent. */
static bool child_add(struct account *account, const struct account_child *child)
{
    for (size_t i = 0; i < account->children.n; i++) {
        struct account_child *known = &account->children.items[i];
        if (known->ppid == child->ppid && known->why == child->why &&
            strcmp(known->path, child->path) == 0) {
            known->n += child->n;
            return true;
        }
    }
    struct account_child added = *child;
    added.path = text_keep(account, child->path);
    return added.path != NULL && account_children_push(&account->children, added);
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

static const char *name_keep(struct account *account, const struct recording *recording)
{
    struct text name = process_name_of(recording);
    return arena_text(account->arena, name.bytes, name.length);
}

static bool process_fill(struct account *account, struct account_process *process,
                         const struct recording *recording)
{
    const struct capture_header *header = &recording->header;
    *process = (struct account_process){
        .pid = header->pid,
        .ppid = header->ppid,
        .start_time_ns = header->start_time_ns,
        .end_time_ns = header->end_time_ns,
        .end_ppid = header->end_ppid,
        .peak_bytes = header->end_peak_bytes,
        .children_ns = recording->facts.children_ns,
        .children_known = recording->facts.children_known,
        .unwaited = info_keep(account, recording, "unwaited"),
        .period = header->period,
        .frequency_hz = header->frequency_hz,
        .clock = header->clock,
        .end = header->end,
        .exit_status = header->exit_status,
        .is_running = recording->facts.is_running,
        .ends_stopped = recording->facts.ends_stopped,
        .name = name_keep(account, recording),
        .command = text_keep(account, recording->facts.command),
        .exe = info_keep(account, recording, "exe"),
        .clock_fallback = fallback_keep(account, recording),
        .why_stopped = info_keep(account, recording, "stopped"),
        .sums = {.measure = recording->facts.measure,
                 .length_ns = recording->facts.length_ns,
                 .stopped_ns = recording->facts.stopped_ns,
                 .n_processes = 1,
                 .n_threads = recording->n_threads,
                 .n_warnings = recording->n_warnings + recording->n_warnings_dropped},
    };
    if (process->name == NULL || process->command == NULL || process->exe == NULL ||
        process->clock_fallback == NULL || process->unwaited == NULL ||
        process->why_stopped == NULL)
        return false;
    sums_add_header(&process->sums, header);
    sums_add_whole(&process->sums, recording);
    sums_add_samples(&process->sums, recording);
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
    if (!account_processes_push(&account->processes, process))
        return false;
    if (account->processes.n == 1) {
        account->frequency_hz = process.frequency_hz;
        account->event = event;
        account->event_period = process.period;
    }
    sums_add(&account->all, &process.sums);
    return true;
}
/* `part`: the field's place in struct account_sums. */
static void add_weighed(struct account *account, size_t index, size_t part, uint64_t cpu_ns)
{
    struct account_sums *const both[] = {&account->processes.items[index].sums, &account->all};
    for (size_t i = 0; i < 2; i++) {
        add_to(&both[i]->weight_ns, cpu_ns);
        add_to((uint64_t *)(void *)((char *)both[i] + part), cpu_ns);
    }
}

/* The same of what the CPU time of the recording itself does not have. */
static void add_around(struct account *account, size_t index, size_t part, uint64_t cpu_ns)
{
    add_weighed(account, index, part, cpu_ns);
    add_to(&account->processes.items[index].sums.cpu_ns, cpu_ns);
    add_to(&account->all.cpu_ns, cpu_ns);
}

void account_add_start_up(struct account *account, size_t index, uint64_t cpu_ns)
{
    add_around(account, index, offsetof(struct account_sums, start_up_ns), cpu_ns);
}

void account_add_process_exit(struct account *account, size_t index, uint64_t cpu_ns)
{
    add_around(account, index, offsetof(struct account_sums, process_exit_ns), cpu_ns);
}

void account_add_thread_begin(struct account *account, size_t index, uint64_t cpu_ns)
{
    add_weighed(account, index, offsetof(struct account_sums, thread_begin_ns), cpu_ns);
}

void account_add_thread_exit(struct account *account, size_t index, uint64_t cpu_ns)
{
    add_weighed(account, index, offsetof(struct account_sums, thread_exit_ns), cpu_ns);
}

const char *account_why_stopped(const struct account *account)
{
    for (size_t i = 0; i < account->processes.n; i++)
        if (account->processes.items[i].why_stopped[0] != '\0')
            return account->processes.items[i].why_stopped;
    return "";
}

void account_add_nameless(struct account *account, size_t index, uint64_t weight_ns)
{
    add_to(&account->processes.items[index].sums.nameless_ns, weight_ns);
    add_to(&account->all.nameless_ns, weight_ns);
}

void account_own_is_weighed(struct account *account, size_t index)
{
    struct account_sums *one = &account->processes.items[index].sums;
    add_to(&one->weight_ns, one->own_ns);
    add_to(&account->all.weight_ns, one->own_ns);
    account->all.own_ns -= one->own_ns;
    one->own_ns = 0;
}

/* ---- from another account -------------------------------------------------------------------- */

/* The same file resolved in two processes is one module; the better names of the two count. */
static bool module_add(struct account *account, const struct account_module *module)
{
    for (size_t i = 0; i < account->modules.n; i++) {
        struct account_module *known = &account->modules.items[i];
        if (strcmp(known->path, module->path) == 0 &&
            strcmp(known->build_id, module->build_id) == 0) {
            add_to(&known->self_ns, module->self_ns);
            add_to(&known->nameless_ns, module->nameless_ns);
            add_to(&known->lineless_ns, module->lineless_ns);
            known->is_partly |= module->is_partly;
            if (module->n_together > known->n_together)
                known->n_together = module->n_together; /* they are the same, mostly */
            if (module->source > known->source)
                known->source = module->source;
            return true;
        }
    }
    struct account_module copy = *module;
    copy.path = text_keep(account, module->path);
    copy.problem = text_keep(account, module->problem);
    copy.build_id = text_keep(account, module->build_id);
    copy.advice = text_keep(account, module->advice);
    return copy.path != NULL && copy.problem != NULL && copy.build_id != NULL &&
           copy.advice != NULL && account_modules_push(&account->modules, copy);
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
        struct account_process copy = other->processes.items[i];
        copy.name = text_keep(account, copy.name);
        copy.command = text_keep(account, copy.command);
        copy.exe = text_keep(account, copy.exe);
        copy.clock_fallback = text_keep(account, copy.clock_fallback);
        copy.unwaited = text_keep(account, copy.unwaited);
        copy.why_stopped = text_keep(account, copy.why_stopped);
        if (copy.name == NULL || copy.command == NULL || copy.exe == NULL ||
            copy.clock_fallback == NULL || copy.unwaited == NULL || copy.why_stopped == NULL ||
            !account_processes_push(&account->processes, copy))
            return false;
    }
    for (size_t i = 0; i < other->children.n; i++)
        if (!child_add(account, &other->children.items[i]))
            return false;
    for (size_t i = 0; i < other->modules.n; i++)
        if (!module_add(account, &other->modules.items[i]))
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
    add_to(&not_sampled_ns, sums->thread_begin_ns);
    add_to(&not_sampled_ns, sums->thread_exit_ns);
    add_to(&not_sampled_ns, sums->process_exit_ns);
    if (sums->cpu_known) {
        add_to(&not_sampled_ns, sums->own_ns);
        add_to(&not_sampled_ns, sums->paused_ns);
    }
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

uint64_t account_wanted_ns(const struct account_sums *sums)
{
    uint64_t not_wanted_ns = add_saturated(sums->paused_ns, sums->own_ns);
    return sums->cpu_ns > not_wanted_ns ? sums->cpu_ns - not_wanted_ns : 0;
}
