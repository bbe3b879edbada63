/* closing.c - the first and the last of the closing lines; see closing.h. Every run ends with them,
 * so what is as usual takes few words. What the usual run does not have (a rate that was not
 * reached, pauses, several processes) is added where it occurs; what is missing has lines of its
 * own (missing.c). */
#include "account/closing.h"

#include <inttypes.h>
#include <stdio.h>

#include "account/commands.h"
#include "append.h"

/* Below this share of the rate requested, both are given. */
#define RATE_SHARE 0.8
/* A program that used less of its time than this was waiting. */
#define WAITING_SHARE 0.5
#define WAITING_NS 100000000u

/* Where more than this is lost, that is what there is to say of a run with few samples. */
#define LOST_SHARE 0.5

/* Processes without a sample are told of when they used that share of the run. */
#define SHORT_SHARE 0.05

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

/* Seconds of a run, so that a short one does not show as 0.00. */
static int n_decimals(double seconds)
{
    return seconds < 0.1 ? 4 : seconds < 1 ? 3 : 2;
}

/* Most of its time is missing, and that would have been samples enough. */
static bool is_mostly_lost(const struct account *account)
{
    double lost_ns = (double)account_lost_ns(&account->all);
    return lost_ns > LOST_SHARE * (double)account_whole_ns(account) &&
           lost_ns * account->frequency_hz / 1e9 >= ACCOUNT_FEW_SAMPLES;
}

enum account_result account_result(const struct account *account)
{
    const struct account_sums *sums = &account->all;
    if (sums->length_ns != 0 && sums->stopped_ns >= sums->length_ns && sums->n_samples == 0)
        return ACCOUNT_NEVER_BEGAN;
    if (sums->measure == MEASURE_CPU && sums->n_samples < ACCOUNT_FEW_SAMPLES &&
        !is_mostly_lost(account))
        return ACCOUNT_TOO_SHORT;
    /* Of elapsed time one sample stands for as long as a thread waited; of events a few may be all
     * there were. */
    double periods = (double)sums->weight_ns * account->frequency_hz / 1e9;
    if (sums->measure == MEASURE_WALL && periods < ACCOUNT_FEW_SAMPLES)
        return ACCOUNT_TOO_SHORT;
    return ACCOUNT_SAMPLED;
}

/* From the beginning of the first process to the end of the last, as far as ends are known. */
static double run_s(const struct account *account)
{
    uint64_t start_ns = UINT64_MAX, end_ns = 0;
    for (size_t i = 0; i < account->processes.n; i++) {
        const struct account_process *process = &account->processes.items[i];
        start_ns = process->start_time_ns < start_ns ? process->start_time_ns : start_ns;
        end_ns = process->end_time_ns > end_ns ? process->end_time_ns : end_ns;
    }
    return end_ns > start_ns ? (double)(end_ns - start_ns) / 1e9 : 0;
}

static void append_events(const struct account *account, char *out, size_t out_bytes, size_t *used)
{
    const struct account_sums *sums = &account->all;
    char weight[32], all[32], period[32];
    append(out, out_bytes, used, "accounts for %s",
           grouped(sums->weight_ns, weight, sizeof weight));
    if (sums->cpu_known)
        append(out, out_bytes, used, " of %s", grouped(sums->cpu_ns, all, sizeof all));
    append(out, out_bytes, used, " %s", account->event);
    if (sums->cpu_known && sums->cpu_ns != 0)
        append(out, out_bytes, used, " (%.1f %%)",
               100.0 * (double)sums->weight_ns / (double)sums->cpu_ns);
    if (account->event_period > 1)
        append(out, out_bytes, used, ", one sample in %s",
               grouped(account->event_period, period, sizeof period));
    if (!sums->cpu_known)
        append(out, out_bytes, used, "; how many there were is not known");
    if (sums->n_event_user != 0)
        append(out, out_bytes, used, "; those in the kernel are left out");
}

/* Where elapsed time is measured, threads that wait are not sampled at a rate: what was requested
 * is all there is to say. */
static void append_rate(const struct account *account, char *out, size_t out_bytes, size_t *used)
{
    double rate_hz = account_rate_hz(&account->all);
    if (account->all.measure == MEASURE_WALL)
        append(out, out_bytes, used, ", %" PRIu32 " Hz", account->frequency_hz);
    else
        append(out, out_bytes, used, ", %.0f Hz", rate_hz);
    if (account->all.measure == MEASURE_CPU && rate_hz < RATE_SHARE * account->frequency_hz)
        append(out, out_bytes, used, " of %" PRIu32 " requested", account->frequency_hz);
}

/* Weights are whole periods, so that their sum may exceed what there was by one for each thread: no
 * more than all can be accounted for. What is beyond that is not hidden. */
static uint64_t explained_ns(const struct account *account)
{
    const struct account_sums *sums = &account->all;
    uint64_t all_ns = account_whole_ns(account);
    uint64_t rounding_ns =
        account->frequency_hz == 0 ? 0 : 1000000000u / account->frequency_hz * sums->n_threads;
    bool is_rounding = sums->cpu_known && sums->measure == MEASURE_CPU &&
                       sums->weight_ns > all_ns && sums->weight_ns - all_ns <= rounding_ns;
    return is_rounding ? all_ns : sums->weight_ns;
}

static void append_time(const struct account *account, char *out, size_t out_bytes, size_t *used)
{
    const struct account_sums *sums = &account->all;
    const char *time = sums->measure == MEASURE_WALL ? "elapsed in threads" : "CPU";
    uint64_t all_ns = account_whole_ns(account);
    double weight_s = (double)explained_ns(account) / 1e9;
    double all_s = (double)all_ns / 1e9;
    int digits = n_decimals(sums->cpu_known ? all_s : weight_s);
    append(out, out_bytes, used, "accounts for %.*f ", digits, weight_s);
    if (sums->cpu_known)
        append(out, out_bytes, used, "of %.*f ", digits, all_s);
    append(out, out_bytes, used, "s %s", time);
    if (sums->cpu_known && all_s > 0)
        append(out, out_bytes, used, " (%.1f %%)", 100.0 * weight_s / all_s);
    append_rate(account, out, out_bytes, used);
    if (!sums->cpu_known)
        append(out, out_bytes, used, "; how much there was is not known");
}

static void append_too_short(const struct account *account, char *out, size_t out_bytes,
                             size_t *used)
{
    const struct account_sums *sums = &account->all;
    uint64_t time_ns = sums->cpu_known ? account_whole_ns(account) : sums->weight_ns;
    double time_s = (double)time_ns / 1e9;
    append(out, out_bytes, used, "too short to sample: %" PRIu64 " sample%s in %.*f s %s",
           sums->n_samples, sums->n_samples == 1 ? "" : "s", n_decimals(time_s), time_s,
           sums->measure == MEASURE_WALL ? "elapsed in threads" : "CPU");
}

/* What processes shorter than a sample used, where that is a part of the run worth a word. */
static void append_without_sample(const struct account *account, char *out, size_t out_bytes,
                                  size_t *used)
{
    struct account_command sum = account_commands_sum(account);
    double seconds = (double)sum.without_sample_ns / 1e9;
    if (sum.n_without_sample > 0 && seconds >= SHORT_SHARE * (double)sum.used_ns / 1e9)
        append(out, out_bytes, used, ", %" PRIu64 " shorter than a sample: %.*f s",
               sum.n_without_sample, n_decimals(seconds), seconds);
}

static void append_processes_and_pauses(const struct account *account, char *out, size_t out_bytes,
                                        size_t *used)
{
    const struct account_sums *sums = &account->all;
    if (sums->n_processes > 1)
        append(out, out_bytes, used, "; %" PRIu64 " processes", sums->n_processes);
    if (sums->n_processes > 1 && sums->measure == MEASURE_CPU)
        append_without_sample(account, out, out_bytes, used);
    if (sums->stopped_ns != 0 && account_result(account) != ACCOUNT_NEVER_BEGAN)
        append(out, out_bytes, used, "; sampling was on for %.2f of %.2f s",
               (double)(sums->length_ns - sums->stopped_ns) / 1e9, (double)sums->length_ns / 1e9);
}

const char *account_format(const struct account *account, const char *wrote, char *out,
                           size_t out_bytes)
{
    const struct account_sums *sums = &account->all;
    size_t used = 0;
    switch (account_result(account)) {
    case ACCOUNT_NEVER_BEGAN:
        append(out, out_bytes, &used, "sampling never began: it was off all of the %.2f s",
               run_s(account));
        break;
    case ACCOUNT_TOO_SHORT:
        append_too_short(account, out, out_bytes, &used);
        break;
    case ACCOUNT_SAMPLED:
        if (sums->measure == MEASURE_EVENTS)
            append_events(account, out, out_bytes, &used);
        else
            append_time(account, out, out_bytes, &used);
        break;
    }
    append_processes_and_pauses(account, out, out_bytes, &used);
    if (wrote != NULL && wrote[0] != '\0')
        append(out, out_bytes, &used, "; wrote %s", wrote);
    return out;
}

const char *account_format_remedy(const struct account *account, char *out, size_t out_bytes)
{
    const struct account_sums *sums = &account->all;
    uint64_t on_ns = sums->length_ns - (sums->stopped_ns < sums->length_ns ? sums->stopped_ns : 0);
    out[0] = '\0';
    switch (account_result(account)) {
    case ACCOUNT_NEVER_BEGAN:
        snprintf(
            out, out_bytes,
            "--paused waits for the signal of --toggle or for sampler_start(), --delay for that "
            "time to pass");
        break;
    case ACCOUNT_TOO_SHORT:
        if (account_why_stopped(account)[0] != '\0')
            break; /* more of the same would not help */
        if (account->unrecorded_ns > account_whole_ns(account) / 2)
            break; /* nor would it here */
        if (sums->measure == MEASURE_CPU && on_ns > WAITING_NS &&
            (double)account_whole_ns(account) < WAITING_SHARE * (double)on_ns)
            snprintf(out, out_bytes, "it was waiting most of the time; -e wall shows where");
        else
            snprintf(out, out_bytes,
                     "for more samples: a higher rate (-F 9999), or several runs in one profile "
                     "(sampler-run sh -c 'COMMAND; COMMAND; ...')");
        break;
    case ACCOUNT_SAMPLED:
        break;
    }
    return out;
}
