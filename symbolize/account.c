/* account.c - see account.h. */
#include "account.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "append.h"

/* Less than this share of the weight without debug information is not worth words. */
#define MISSING_SHARE 0.05
/* Nor is a single module with less than this. */
#define MODULE_SHARE 0.01
#define MAX_MODULE_LINES 8u

bool account_init(struct account *account)
{
    *account = (struct account){.arena = arena_create(), .cpu_known = true};
    array_init(&account->modules, sizeof(struct account_module));
    return account->arena != NULL;
}

void account_deinit(struct account *account)
{
    array_deinit(&account->modules);
    arena_destroy(account->arena);
    *account = (struct account){0};
}

static void add_threads(struct account *account, const struct recording *recording)
{
    account->n_threads += recording->n_threads;
    account->n_threads_missed += recording->header.n_threads_missed;
    for (size_t i = 0; i < recording->n_threads; i++) {
        switch (recording->threads[i].clock) {
        case CAPTURE_CLOCK_PERF:
            account->n_perf++;
            break;
        case CAPTURE_CLOCK_PERF_USER:
            account->n_perf_user++;
            break;
        case CAPTURE_CLOCK_TIMER:
            account->n_timer++;
            break;
        default:
            break;
        }
    }
}

/* Whether the outermost node of each node's stack stands for an unknown rest; parents come before
 * their children. Heap, NULL when out of memory. */
static bool *cut_nodes_find(const struct recording *recording)
{
    bool *is_cut = calloc(recording->n_nodes + 1, sizeof *is_cut);
    for (size_t i = 1; is_cut != NULL && i < recording->n_nodes; i++) {
        uint32_t parent = recording->nodes[i].parent;
        is_cut[i] = parent != 0 ? is_cut[parent] : recording->nodes[i].cut != 0;
    }
    return is_cut;
}

static void add_saturated(uint64_t *sum, uint64_t value)
{
    if (__builtin_add_overflow(*sum, value, sum))
        *sum = UINT64_MAX;
}

/* How long sampling was on, and how long it could have been. */
static void add_times(struct account *account, const struct recording *recording)
{
    const struct capture_header *header = &recording->header;
    uint64_t length_ns = header->end_time_ns > header->start_time_ns
                             ? header->end_time_ns - header->start_time_ns
                             : 0;
    for (size_t i = 0; i < recording->n_threads && header->end_time_ns == 0; i++) {
        if (recording->threads[i].end_ns > length_ns)
            length_ns = recording->threads[i].end_ns;
    }
    add_saturated(&account->length_ns, length_ns);
    add_saturated(&account->stopped_ns, recording_paused_ns(recording, length_ns));
}

bool account_add_recording(struct account *account, const struct recording *recording)
{
    const struct capture_header *header = &recording->header;
    bool *is_cut = cut_nodes_find(recording);
    if (is_cut == NULL)
        return false;
    for (size_t i = 0; i < recording->n_samples; i++) {
        const struct recording_sample *sample = &recording->samples[i];
        uint64_t weight_ns;
        if (__builtin_mul_overflow(sample->steps, header->period, &weight_ns))
            weight_ns = UINT64_MAX;
        add_saturated(&account->weight_ns, weight_ns);
        if (is_cut[sample->node])
            add_saturated(&account->cut_ns, weight_ns);
        if (sample->kind == RECORDING_TICK)
            account->n_samples++;
    }
    free(is_cut);
    for (size_t i = 0; i < CAPTURE_N_LOSSES; i++)
        account->lost += header->lost[i];
    account->n_processes++;
    add_threads(account, recording);
    if (account->frequency_hz == 0)
        account->frequency_hz = header->frequency_hz;
    account->n_warnings += recording->n_warnings + recording->n_warnings_dropped;
    add_times(account, recording);
    if (header->end_cpu_ns > header->start_cpu_ns) {
        uint64_t cpu_ns = header->end_cpu_ns - header->start_cpu_ns;
        account->cpu_ns += cpu_ns > header->paused_cpu_ns ? cpu_ns - header->paused_cpu_ns : 0;
    } else if (header->end_cpu_ns != header->start_cpu_ns || header->end_cpu_ns == 0)
        account->cpu_known = false;
    if (header->end == CAPTURE_RUNNING)
        account->n_unended++;
    return true;
}

void account_add_start_up(struct account *account, uint64_t cpu_ns)
{
    add_saturated(&account->weight_ns, cpu_ns);
    add_saturated(&account->cpu_ns, cpu_ns);
    add_saturated(&account->start_up_ns, cpu_ns);
}

void account_add_totals(struct account *account, const struct account *other)
{
    account->n_samples += other->n_samples;
    add_saturated(&account->weight_ns, other->weight_ns);
    add_saturated(&account->cut_ns, other->cut_ns);
    add_saturated(&account->cpu_ns, other->cpu_ns);
    add_saturated(&account->start_up_ns, other->start_up_ns);
    add_saturated(&account->length_ns, other->length_ns);
    add_saturated(&account->stopped_ns, other->stopped_ns);
    account->cpu_known = account->cpu_known && other->cpu_known;
    account->lost += other->lost;
    if (account->frequency_hz == 0)
        account->frequency_hz = other->frequency_hz;
    account->n_processes += other->n_processes;
    account->n_threads += other->n_threads;
    account->n_threads_missed += other->n_threads_missed;
    account->n_perf += other->n_perf;
    account->n_perf_user += other->n_perf_user;
    account->n_timer += other->n_timer;
    account->n_unended += other->n_unended;
    account->n_warnings += other->n_warnings;
}

void account_set_cpu(struct account *account, uint64_t cpu_ns)
{
    if (account->cpu_known || cpu_ns == 0)
        return;
    account->cpu_ns = cpu_ns;
    account->cpu_known = true;
}

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
static void append_clocks(const struct account *account, char *out, size_t out_bytes, size_t *used)
{
    const struct {
        const char *name;
        size_t n;
    } clocks[] = {{"perf task-clock", account->n_perf},
                  {"perf task-clock without kernel", account->n_perf_user},
                  {"timer", account->n_timer}};
    size_t most = 0;
    for (size_t i = 1; i < sizeof clocks / sizeof clocks[0]; i++) {
        if (clocks[i].n > clocks[most].n)
            most = i;
    }
    append(out, out_bytes, used, " (%s", clocks[most].n == 0 ? "no clock" : clocks[most].name);
    for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
        if (i != most && clocks[i].n != 0)
            append(out, out_bytes, used, ", %zu by %s", clocks[i].n, clocks[i].name);
    }
    append(out, out_bytes, used, ")");
}

static void append_cpu(const struct account *account, char *out, size_t out_bytes, size_t *used)
{
    double explained_s = (double)account->weight_ns / 1e9;
    double cpu_s = (double)account->cpu_ns / 1e9;
    if (!account->cpu_known)
        append(out, out_bytes, used, "; %.2f s CPU explained, of how much is not recorded",
               explained_s);
    else if (account->cpu_ns == 0)
        append(out, out_bytes, used, "; %.2f of %.2f s CPU explained", explained_s, cpu_s);
    else
        append(out, out_bytes, used, "; %.2f of %.2f s CPU explained (%.1f %%)", explained_s, cpu_s,
               100.0 * explained_s / cpu_s);
}

const char *account_format(const struct account *account, const char *wrote, char *out,
                           size_t out_bytes)
{
    size_t used = 0;
    char samples[32];
    char lost[32];
    uint64_t cpu_ns = account->cpu_known ? account->cpu_ns : account->weight_ns;
    cpu_ns = cpu_ns > account->start_up_ns ? cpu_ns - account->start_up_ns : 0;
    double rate = cpu_ns == 0 ? 0 : (double)account->n_samples * 1e9 / (double)cpu_ns;
    append(out, out_bytes, &used, "%s sample%s, %.0f/s of %" PRIu32 "/s asked",
           grouped(account->n_samples, samples, sizeof samples), plural(account->n_samples), rate,
           account->frequency_hz);
    append_clocks(account, out, out_bytes, &used);
    append_cpu(account, out, out_bytes, &used);
    if (account->stopped_ns != 0)
        append(out, out_bytes, &used, "; sampling was on for %.2f of %.2f s",
               (double)(account->length_ns - account->stopped_ns) / 1e9,
               (double)account->length_ns / 1e9);
    append(out, out_bytes, &used, "; lost %s", grouped(account->lost, lost, sizeof lost));
    if (account->cut_ns != 0 && account->weight_ns != 0)
        append(out, out_bytes, &used, "; %.1f %% in truncated stacks",
               100.0 * (double)account->cut_ns / (double)account->weight_ns);
    if (account->n_processes > 1)
        append(out, out_bytes, &used, "; %zu processes", account->n_processes);
    if (account->n_threads_missed != 0)
        append(out, out_bytes, &used, "; %zu thread%s without a clock", account->n_threads_missed,
               plural(account->n_threads_missed));
    if (account->n_warnings != 0)
        append(out, out_bytes, &used, "; %zu damaged place%s in the recording", account->n_warnings,
               plural(account->n_warnings));
    if (wrote != NULL)
        append(out, out_bytes, &used, "; wrote %s", wrote);
    return out;
}

static const char *source_words(enum module_source source)
{
    switch (source) {
    case MODULE_NO_NAMES:
        return "no names";
    case MODULE_DYNSYM:
        return "exported names only";
    case MODULE_SYMTAB:
        return "names, no lines";
    case MODULE_DWARF:
        break;
    }
    return "complete";
}

/* Whether there could be more names or lines of it than there are. */
static bool is_missing(const struct account_module *module)
{
    return module->source < (module->is_image ? MODULE_DYNSYM : MODULE_DWARF);
}

void account_tell_missing(const struct account *account,
                          void (*tell)(void *context, const char *line), void *context)
{
    uint64_t missing_ns = 0;
    double all_ns = (double)account->weight_ns;
    for (size_t i = 0; i < account->modules.n; i++) {
        const struct account_module *module = array_at(&account->modules, i);
        if (is_missing(module))
            missing_ns += module->self_ns;
    }
    if (missing_ns == 0 || (double)missing_ns < MISSING_SHARE * all_ns)
        return;
    unsigned n_lines = 0;
    for (size_t i = 0; i < account->modules.n && n_lines < MAX_MODULE_LINES; i++) {
        const struct account_module *module = array_at(&account->modules, i);
        if (!is_missing(module) || (double)module->self_ns < MODULE_SHARE * all_ns)
            continue;
        char line[1024];
        snprintf(line, sizeof line, "%.1f %% of the weight is in %s: %s (%s)",
                 100.0 * (double)module->self_ns / all_ns, module->path,
                 source_words(module->source), module->problem);
        tell(context, line);
        n_lines++;
    }
}
