/* json.c - the account as JSON; see account/print.h. Numbers beyond 2^53 are texts, so that no
 * reader rounds them. Programs read this: keys stay, new ones may come (docs/account.md). */
#include "account/commands.h"
#include "account/counters.h"
#include "account/print.h"
#include "text/json_write.h"

/* Changes when a key goes or changes its meaning; keys may be added. */
#define SCHEMA "sampler-account-1"

static void put_u64(struct json *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_u64_exact(json, value);
}

static void put_text(struct json *json, const char *key, const char *text)
{
    json_key(json, key);
    json_cstring(json, text);
}

static void put_group(struct json *json, const struct account_sums *sums, enum counter_group group)
{
    for (size_t i = 0; i < account_n_counters; i++) {
        if (account_counters[i].group == group && account_counters[i].key != NULL)
            put_u64(json, account_counters[i].key, counter_value(&account_counters[i], sums));
    }
}

/* null where there is nothing to divide by. */
static void put_share(struct json *json, const char *key, uint64_t part, uint64_t all)
{
    json_key(json, key);
    if (all == 0)
        json_null(json);
    else
        json_f64(json, (double)part / (double)all);
}

static void put_losses(struct json *json, const struct account_sums *sums)
{
    json_key(json, "lost");
    json_object_begin(json);
    for (unsigned i = 0; i < CAPTURE_N_LOSSES; i++) {
        const struct account_word *word = account_loss_word(i);
        if (word->key[0] == '\0')
            continue;
        json_key(json, word->key);
        json_object_begin(json);
        put_u64(json, "ns", sums->lost_ns[i]);
        put_u64(json, "periods", sums->lost[i]);
        json_key(json, "is_weighed");
        json_bool(json, word->is_weighed);
        json_object_end(json);
    }
    json_object_end(json);
}

static void put_cuts(struct json *json, const struct account_sums *sums)
{
    put_u64(json, "nameless_ns", sums->nameless_ns);
    put_share(json, "nameless_share", sums->nameless_ns, sums->weight_ns);
    put_u64(json, "truncated_ns", account_cut_ns(sums));
    put_share(json, "truncated_share", account_cut_ns(sums), sums->weight_ns);
    json_key(json, "truncated");
    json_object_begin(json);
    for (unsigned i = 1; i < ACCOUNT_N_CUTS; i++) {
        const struct account_word *word = account_cut_word(i);
        if (word != account_cut_word(0))
            put_u64(json, word->key, sums->cut_ns[i]);
    }
    put_u64(json, account_cut_word(0)->key, sums->cut_ns[0]);
    json_object_end(json);
}

static void put_threads(struct json *json, const struct account_sums *sums)
{
    json_key(json, "threads");
    json_object_begin(json);
    put_group(json, sums, COUNTER_THREADS);
    json_key(json, "by_clock");
    json_object_begin(json);
    for (unsigned i = 0; i < ACCOUNT_N_CLOCKS; i++) {
        const struct account_word *word = account_clock_word(i);
        if (sums->n_by_clock[i] != 0)
            put_u64(json, word->key, sums->n_by_clock[i]);
    }
    json_object_end(json);
    json_object_end(json);
}

static void put_cpu(struct json *json, const struct account_sums *sums)
{
    json_key(json, "cpu_ns");
    if (sums->cpu_known)
        json_u64_exact(json, sums->cpu_ns);
    else
        json_null(json);
    put_u64(json, "explained_ns", sums->weight_ns);
    put_share(json, "explained_share", sums->weight_ns,
              sums->cpu_known ? account_wanted_ns(sums) : 0);
    put_group(json, sums, COUNTER_CPU);
    put_u64(json, "lost_ns", account_lost_ns(sums));
}

static void put_sums(struct json *json, const struct account_sums *sums)
{
    put_cpu(json, sums);
    put_losses(json, sums);
    put_cuts(json, sums);
    put_u64(json, "handler_ns", sums->handler_ns);
    put_share(json, "handler_share", sums->handler_ns,
              sums->cpu_known && sums->measure == MEASURE_CPU ? sums->cpu_ns : 0);
    put_group(json, sums, COUNTER_RUNS);
    json_key(json, "rate_hz");
    json_f64(json, account_rate_hz(sums));
    put_threads(json, sums);
    put_group(json, sums, COUNTER_PROCESSES);
}

static void put_process(struct json *json, const struct account_process *process)
{
    json_object_begin(json);
    put_u64(json, "pid", process->pid);
    put_u64(json, "ppid", process->ppid);
    put_text(json, "name", process->name);
    put_text(json, "command", process->command);
    put_text(json, "exe", process->exe);
    put_text(json, "end", account_end_word(process->end)->key);
    json_key(json, "is_running");
    json_bool(json, process->is_running);
    json_key(json, "exit_status");
    if (process->end == CAPTURE_EXITED)
        json_u64(json, process->exit_status);
    else
        json_null(json);
    put_u64(json, "start_time_ns", process->start_time_ns);
    json_key(json, "end_time_ns");
    if (process->end_time_ns != 0)
        json_u64_exact(json, process->end_time_ns);
    else
        json_null(json);
    json_key(json, "peak_bytes");
    if (process->peak_bytes != 0)
        json_u64_exact(json, process->peak_bytes);
    else
        json_null(json);
    put_u64(json, "frequency_hz", process->frequency_hz);
    put_u64(json, "period_ns", process->period);
    put_text(json, "clock", account_clock_word(process->clock)->key);
    put_text(json, "clock_fallback", process->clock_fallback);
    put_text(json, "why_stopped", process->why_stopped);
    put_sums(json, &process->sums);
    json_object_end(json);
}

static void put_command(struct json *json, const struct account_command *command)
{
    json_object_begin(json);
    put_text(json, "name", command->name);
    put_u64(json, "processes", command->n_processes);
    put_u64(json, "without_sample", command->n_without_sample);
    put_u64(json, "without_sample_ns", command->without_sample_ns);
    put_u64(json, "used_ns", command->used_ns);
    put_u64(json, "start_up_ns", command->start_up_ns);
    put_u64(json, "process_exit_ns", command->process_exit_ns);
    put_u64(json, "samples", command->n_samples);
    json_object_end(json);
}

/* null when out of memory. */
static void put_commands(struct json *json, const struct account *account)
{
    struct account_commands commands = {0};
    json_key(json, "commands");
    if (!account_commands_find(account, &commands)) {
        json_null(json);
        return;
    }
    json_array_begin(json);
    for (size_t i = 0; i < commands.n; i++)
        put_command(json, &commands.items[i]);
    json_array_end(json);
    account_commands_deinit(&commands);
}

static void put_child(struct json *json, const struct account_child *child)
{
    json_object_begin(json);
    put_u64(json, "ppid", child->ppid);
    put_text(json, "why", account_child_word(child->why)->key);
    put_text(json, "path", child->path);
    put_u64(json, "n", child->n);
    json_object_end(json);
}

static void put_module(struct json *json, const struct account_module *module, uint64_t all_ns)
{
    json_object_begin(json);
    put_text(json, "path", module->path);
    put_text(json, "build_id", module->build_id);
    put_u64(json, "self_ns", module->self_ns);
    put_share(json, "self_share", module->self_ns, all_ns);
    put_u64(json, "nameless_ns", module->nameless_ns);
    put_u64(json, "lineless_ns", module->lineless_ns);
    put_u64(json, "n_together", module->n_together);
    put_text(json, "names", account_source_word(module->source)->key);
    put_text(json, "problem", module->problem);
    put_text(json, "advice", module->advice);
    json_object_end(json);
}

void account_print_json(const struct account *account, struct sink *out)
{
    static const char *const measures[] = {
        [MEASURE_CPU] = "cpu", [MEASURE_WALL] = "wall", [MEASURE_EVENTS] = "events"};
    struct json json = json_make(out, 1);
    json_object_begin(&json);
    put_text(&json, "schema", SCHEMA);
    put_text(&json, "measure", measures[account->all.measure]);
    put_text(&json, "event", account->event);
    put_u64(&json, "event_period",
            account->all.measure == MEASURE_EVENTS ? account->event_period : 0);
    put_u64(&json, "processes_recorded", account->all.n_processes);
    put_u64(&json, "processes_without_end", account->all.n_unended);
    json_key(&json, "run_cpu_ns");
    if (account->run_cpu_ns != 0)
        json_u64_exact(&json, account->run_cpu_ns);
    else
        json_null(&json);
    put_u64(&json, "unrecorded_ns", account->unrecorded_ns);
    put_u64(&json, "processes_killed_at_birth", account->n_at_birth);
    put_u64(&json, "frequency_hz", account->frequency_hz);
    put_text(&json, "clock", account_clock_word(account_main_clock(&account->all))->key);
    json_key(&json, "total");
    json_object_begin(&json);
    put_sums(&json, &account->all);
    json_object_end(&json);
    json_key(&json, "processes");
    json_array_begin(&json);
    for (size_t i = 0; i < account->processes.n; i++)
        put_process(&json, &account->processes.items[i]);
    json_array_end(&json);
    put_commands(&json, account);
    json_key(&json, "children_missed");
    json_array_begin(&json);
    for (size_t i = 0; i < account->children.n; i++)
        put_child(&json, &account->children.items[i]);
    json_array_end(&json);
    json_key(&json, "modules");
    json_array_begin(&json);
    for (size_t i = 0; i < account->modules.n; i++)
        put_module(&json, &account->modules.items[i], account->all.weight_ns);
    json_array_end(&json);
    json_object_end(&json);
    sink_u8(out, '\n');
}
