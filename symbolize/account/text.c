/* text.c - the account for people; see account/print.h. Lines that would say nothing (no loss,
 * no pause) are left out, but for the CPU time, what is lost and what it cost. Names come from
 * recordings: none of their bytes steers a terminal. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "account/commands.h"
#include "account/counters.h"
#include "account/print.h"

/* Processes and modules beyond these are counted, not shown; JSON has all of them. */
#define MAX_PROCESSES 20u
#define MAX_MODULES 12u
#define MAX_NAME_BYTES 1000u
#define MAX_COMMAND_BYTES 60u

static double percent(uint64_t part, uint64_t all)
{
    return all == 0 ? 0 : 100.0 * (double)part / (double)all;
}

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* A name out of a recording: whatever stands in it, it stays on its line and steers no terminal. */
static void put_name(struct sink *out, const char *name, size_t most_bytes)
{
    for (size_t i = 0; name[i] != '\0' && i < most_bytes; i++) {
        sink_u8(out, char_is_control(name[i]) ? '?' : (unsigned char)name[i]);
    }
}

static void put_share(struct sink *out, uint64_t all, uint64_t part, const char *words)
{
    if (all != 0)
        sink_format(out, "  %6.2f %%", percent(part, all));
    sink_format(out, "%s%s\n", words[0] != '\0' ? "  " : "", words);
}

/* A row of seconds with its share of `all_ns`. */
static void put_row(struct sink *out, const char *label, uint64_t ns, uint64_t all_ns,
                    const char *words)
{
    sink_format(out, "%-24s %11.3f s", label, seconds(ns));
    put_share(out, all_ns, ns, words);
}

/* The same of what weighs: seconds or events. */
static void put_weight(struct sink *out, const struct account_sums *sums, const char *label,
                       uint64_t weight, uint64_t all, const char *words)
{
    if (sums->measure != MEASURE_EVENTS) {
        put_row(out, label, weight, all, words);
        return;
    }
    sink_format(out, "%-24s %13" PRIu64, label, weight);
    put_share(out, all, weight, words);
}

static void put_cpu(struct sink *out, const struct account_sums *sums)
{
    uint64_t all_ns = sums->cpu_known ? sums->cpu_ns : 0;
    uint64_t known_ns = sums->weight_ns + account_lost_ns(sums) + sums->own_ns + sums->paused_ns;
    static const char *const labels[] = {[MEASURE_CPU] = "CPU time used",
                                         [MEASURE_WALL] = "Elapsed in threads",
                                         [MEASURE_EVENTS] = "Events counted"};
    static const char *const words[] = {[MEASURE_CPU] = "user + system, by getrusage",
                                        [MEASURE_WALL] = "from each one's beginning to its end",
                                        [MEASURE_EVENTS] = "by the threads' counters"};
    if (sums->cpu_known)
        put_weight(out, sums, labels[sums->measure], sums->cpu_ns, 0, words[sums->measure]);
    else
        sink_format(out, "%-28s not known: a recording without an end\n", labels[sums->measure]);
    put_weight(out, sums, "  accounted for", sums->weight_ns, all_ns, "");
    for (size_t i = 0; i < account_n_counters; i++) {
        const struct account_counter *counter = &account_counters[i];
        if (counter->label != NULL && counter_value(counter, sums) != 0)
            put_row(out, counter->label, counter_value(counter, sums), all_ns, counter->words);
    }
    put_weight(out, sums, "  lost", account_lost_ns(sums), all_ns, "");
    for (unsigned i = 0; i < CAPTURE_N_LOSSES; i++) {
        const struct account_word *word = account_loss_word(i);
        char label[40] = "    ";
        if (sums->lost[i] == 0 || word->is_weighed)
            continue;
        strncat(label, word->key, sizeof label - 5);
        put_weight(out, sums, label, sums->lost_ns[i], all_ns, word->words);
    }
    if (sums->cpu_known && sums->cpu_ns > known_ns)
        put_weight(out, sums, "  left", sums->cpu_ns - known_ns, all_ns,
                   "less than a period of each thread");
    if (sums->cpu_known && sums->cpu_ns < known_ns)
        put_weight(out, sums, "  rounding", known_ns - sums->cpu_ns, all_ns,
                   "less than a period of each thread");
}

static void put_names(struct sink *out, const struct account *account)
{
    const struct account_sums *sums = &account->all;
    uint64_t n_together = 0;
    for (size_t i = 0; i < account->modules.n; i++)
        n_together += account->modules.items[i].n_together;
    if (sums->nameless_ns != 0)
        put_weight(out, sums, "Code without names", sums->nameless_ns, sums->weight_ns,
                   "of it: by where it begins, [libz.so.1+0xab10], or [anon]");
    if (n_together != 0)
        sink_format(out,
                    "%-24s %11" PRIu64 " functions go by the name of another one of their module; "
                    "--names full tells them apart\n",
                    "Short names", n_together);
}

static void put_stacks(struct sink *out, const struct account_sums *sums)
{
    put_weight(out, sums, "Truncated stacks", account_cut_ns(sums), sums->weight_ns,
               "of what is accounted for");
    for (unsigned i = 0; i < ACCOUNT_N_CUTS; i++) {
        char label[40] = "    ";
        if (sums->cut_ns[i] == 0)
            continue;
        strncat(label, account_cut_word(i)->key, sizeof label - 5);
        put_weight(out, sums, label, sums->cut_ns[i], sums->weight_ns, account_cut_word(i)->words);
    }
    for (unsigned i = 0; i < CAPTURE_N_LOSSES; i++) {
        const struct account_word *word = account_loss_word(i);
        if (word->is_weighed && sums->lost[i] != 0)
            sink_format(out, "  %s: %" PRIu64 " times (%s)\n", word->key, sums->lost[i],
                        word->words);
    }
}

/* How often was to be sampled, and how often was. */
static void put_requested(struct sink *out, const struct account *account)
{
    const struct account_sums *sums = &account->all;
    sink_format(out, "%-24s ", "Rate");
    if (sums->measure == MEASURE_EVENTS)
        sink_format(out, "one in %" PRIu64 " %s%s", account->event_period, account->event,
                    sums->n_event_user != 0 ? ", those in the kernel left out" : "");
    else if (sums->measure == MEASURE_WALL)
        sink_format(out, "%11" PRIu32 " Hz requested", account->frequency_hz);
    else
        sink_format(out, "%11.0f Hz (%" PRIu32 " Hz requested)", account_rate_hz(sums),
                    account->frequency_hz);
    sink_format(out, "; %" PRIu64 " samples, %" PRIu64 " ticks\n", sums->n_samples, sums->n_ticks);
}

static void put_rate(struct sink *out, const struct account *account)
{
    const struct account_sums *sums = &account->all;
    put_row(out, "Own cost", sums->handler_ns,
            sums->cpu_known && sums->measure == MEASURE_CPU ? sums->cpu_ns : 0,
            "elapsed inside the handler");
    put_requested(out, account);
    const char *between = "";
    sink_format(out, "%-24s ", "Clock");
    for (unsigned i = 0; i < ACCOUNT_N_CLOCKS; i++) {
        if (sums->n_by_clock[i] == 0)
            continue;
        sink_format(out, "%s%s: %" PRIu64 " thread%s", between, account_clock_word(i)->words,
                    sums->n_by_clock[i], sums->n_by_clock[i] == 1 ? "" : "s");
        between = ", ";
    }
    sink_text(out, between[0] != '\0' ? "\n" : "none\n");
    for (size_t i = 0; i < account->processes.n; i++) {
        const struct account_process *process = &account->processes.items[i];
        if (process->clock_fallback[0] == '\0')
            continue;
        sink_text(out, "  fallback: ");
        put_name(out, process->clock_fallback, MAX_NAME_BYTES);
        sink_text(out, "\n");
        break; /* the others' reason is the same in all but the oddest cases; JSON has them */
    }
}

static void put_stopped(struct sink *out, const struct account *account)
{
    const char *why = account_why_stopped(account);
    if (why[0] == '\0')
        return;
    sink_format(out, "%-24s ", "Ended early");
    put_name(out, why, MAX_NAME_BYTES);
    sink_text(out, "\n");
}

/* Short ones: each is sampled as often as its length is a part of a period, so that the samples of a few
 * stand for all of them. */
static void put_without_sample(struct sink *out, const struct account *account)
{
    struct account_command sum = account_commands_sum(account);
    char words[64];
    if (sum.n_without_sample == 0 || account->all.measure == MEASURE_EVENTS)
        return;
    snprintf(words, sizeof words, "%" PRIu64 " ended before their first", sum.n_without_sample);
    put_row(out, "  without a sample", sum.without_sample_ns, sum.used_ns, words);
}

static void put_seen(struct sink *out, const struct account *account)
{
    const struct account_sums *sums = &account->all;
    sink_format(out, "%-24s %" PRIu64 " sampled", "Threads", sums->n_threads);
    if (sums->n_threads_found != 0)
        sink_format(out, ", %" PRIu64 " of them found later", sums->n_threads_found);
    sink_format(out, "; %" PRIu64 " without a clock\n", sums->n_threads_missed);
    sink_format(out, "%-24s %" PRIu64 " recorded", "Processes", sums->n_processes);
    if (sums->n_unended != 0)
        sink_format(out, " (%" PRIu64 " without an end: killed or still running)", sums->n_unended);
    sink_format(out, "; %" PRIu64 " that cannot be recorded\n", sums->n_children_missed);
    put_without_sample(out, account);
    for (size_t i = 0; i < account->children.n; i++) {
        const struct account_child *child = &account->children.items[i];
        sink_text(out, "  ");
        put_name(out, child->path, MAX_NAME_BYTES);
        sink_format(out, ": %s", account_child_word(child->why)->words);
        if (child->n > 1)
            sink_format(out, " (%zu times)", child->n);
        sink_text(out, "\n");
    }
    if (account->n_at_birth != 0)
        sink_format(out, "%-24s %zu killed as they began\n", "", account->n_at_birth);
    if (account->unrecorded_ns != 0)
        put_row(out, "  CPU in no recording", account->unrecorded_ns, account_whole_ns(account),
                "of what the command and its children used");
    if (sums->n_warnings != 0)
        sink_format(out, "%-24s %" PRIu64 "\n", "Damaged places", sums->n_warnings);
}

/* The process with the most CPU time among those less than `below` in that order; the earlier one
 * of equals. NULL when there is none. */
static const struct account_process *heaviest_below(const struct account *account,
                                                    const struct account_process *below)
{
    const struct account_process *most = NULL;
    for (size_t i = 0; i < account->processes.n; i++) {
        const struct account_process *process = &account->processes.items[i];
        bool is_below = below == NULL || process->sums.cpu_ns < below->sums.cpu_ns ||
                        (process->sums.cpu_ns == below->sums.cpu_ns && process > below);
        if (is_below && (most == NULL || process->sums.cpu_ns > most->sums.cpu_ns))
            most = process;
    }
    return most;
}

/* A column of the table of processes: seconds or events. */
static void put_column(struct sink *out, const struct account_sums *sums, uint64_t weight)
{
    if (sums->measure == MEASURE_EVENTS)
        sink_format(out, "%10" PRIu64 " ", weight);
    else
        sink_format(out, "%8.3f s ", seconds(weight));
}

static void put_process(struct sink *out, const struct account_process *process)
{
    const struct account_sums *sums = &process->sums;
    sink_format(out, "%9" PRIu64 " ", process->pid);
    if (sums->cpu_known) {
        put_column(out, sums, sums->cpu_ns);
        sink_format(out, "%8.2f %% ", percent(sums->weight_ns, sums->cpu_ns));
    } else {
        sink_format(out, "%10s ", "?");
        put_column(out, sums, sums->weight_ns);
    }
    put_column(out, sums, account_lost_ns(sums));
    sink_format(out, "%9" PRIu64 " %8.0f  %-5s ", sums->n_samples,
                sums->measure == MEASURE_EVENTS ? 0 : account_rate_hz(sums),
                account_end_word(process->end)->key);
    put_name(out, process->command, MAX_COMMAND_BYTES);
    sink_text(out, "\n");
}

static void put_processes(struct sink *out, const struct account *account)
{
    if (account->processes.n < 2)
        return;
    sink_text(out,
              "\n      pid       used  accounted       lost   samples   Hz got  end   command\n");
    const struct account_process *process = NULL;
    for (size_t i = 0; i < account->processes.n && i < MAX_PROCESSES; i++) {
        process = heaviest_below(account, process);
        if (process != NULL)
            put_process(out, process);
    }
    if (account->processes.n > MAX_PROCESSES)
        sink_format(out, "          and %zu more\n", account->processes.n - MAX_PROCESSES);
}

static void put_command(struct sink *out, const struct account_sums *all,
                        const struct account_command *command)
{
    sink_format(out, "%9" PRIu64 " ", command->n_processes);
    put_column(out, all, command->used_ns);
    put_column(out, all, command->start_up_ns);
    put_column(out, all, command->process_exit_ns);
    sink_format(out, "%9" PRIu64 " %9" PRIu64 "  ", command->n_samples, command->n_without_sample);
    put_name(out, command->name, MAX_COMMAND_BYTES);
    sink_text(out, "\n");
}

/* Of a run with several processes of a kind; else the table of processes has all of it. */
static void put_commands(struct sink *out, const struct account *account)
{
    struct account_commands commands = {0};
    if (!account_commands_find(account, &commands)) {
        sink_text(out, "\nno memory for the table of commands\n");
        return;
    }
    if (commands.n < account->processes.n)
        sink_text(out,
                  "\nprocesses       used   start-up       ends   samples   without  command\n");
    for (size_t i = 0; i < commands.n && commands.n < account->processes.n && i < MAX_PROCESSES;
         i++)
        put_command(out, &account->all, &commands.items[i]);
    if (commands.n < account->processes.n && commands.n > MAX_PROCESSES)
        sink_format(out, "          and %zu more\n", commands.n - MAX_PROCESSES);
    account_commands_deinit(&commands);
}

static void put_modules(struct sink *out, const struct account *account)
{
    size_t n_shown = 0;
    for (size_t i = 0; i < account->modules.n && n_shown < MAX_MODULES; i++) {
        const struct account_module *module = &account->modules.items[i];
        double share = percent(module->lineless_ns, account->all.weight_ns);
        if (!account_module_lacks(module) || share < 100.0 * ACCOUNT_MODULE_SHARE)
            continue;
        if (n_shown++ == 0)
            sink_text(out, "\nModules that lack names or lines, with their share of the weight\n");
        sink_format(out, "%6.1f %%  ", share);
        put_name(out, module->path, MAX_NAME_BYTES);
        sink_format(out, ": %s", account_module_words(module));
        if (module->nameless_ns != 0)
            sink_format(out, ", %.1f %% without a name",
                        percent(module->nameless_ns, account->all.weight_ns));
        if (module->problem[0] != '\0') {
            sink_text(out, " (");
            put_name(out, module->problem, MAX_NAME_BYTES);
            sink_text(out, ")");
        }
        sink_text(out, "\n");
        if (module->advice[0] != '\0') {
            sink_text(out, "          ");
            put_name(out, module->advice, MAX_NAME_BYTES);
            sink_text(out, "\n");
        }
    }
}

void account_print_text(const struct account *account, struct sink *out)
{
    put_cpu(out, &account->all);
    put_names(out, account);
    put_stacks(out, &account->all);
    put_rate(out, account);
    put_stopped(out, account);
    put_seen(out, account);
    put_commands(out, account);
    put_processes(out, account);
    put_modules(out, account);
}
