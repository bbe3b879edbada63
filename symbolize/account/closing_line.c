/* closing_line.c - the account in one line; see account.h. Every run ends with it, so what is as
 * usual takes few words, and what is not (cut stacks, threads without a clock, damage) is at the
 * end. */
#include <inttypes.h>
#include <stdio.h>

#include "account/account.h"
#include "append.h"

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
    append(out, out_bytes, used, ", %s", account_clock_word(most)->words);
    for (unsigned i = CAPTURE_CLOCK_NONE + 1; i < ACCOUNT_N_CLOCKS; i++) {
        if (i != most && sums->n_by_clock[i] != 0)
            append(out, out_bytes, used, ", %" PRIu64 " by %s", sums->n_by_clock[i],
                   account_clock_word(i)->words);
    }
}

static void append_events(const struct account_sums *sums, char *out, size_t out_bytes,
                          size_t *used)
{
    char weight[32], all[32];
    append(out, out_bytes, used, "; accounts for %s",
           grouped(sums->weight_ns, weight, sizeof weight));
    if (sums->cpu_known)
        append(out, out_bytes, used, " of %s", grouped(sums->cpu_ns, all, sizeof all));
    append(out, out_bytes, used, " events");
    if (!sums->cpu_known)
        append(out, out_bytes, used, ", of how many is not recorded");
    else if (sums->cpu_ns != 0)
        append(out, out_bytes, used, " (%.1f %%)",
               100.0 * (double)sums->weight_ns / (double)sums->cpu_ns);
}

static void append_cpu(const struct account_sums *sums, char *out, size_t out_bytes, size_t *used)
{
    const char *time = sums->measure == MEASURE_WALL ? "elapsed in threads" : "CPU";
    double weight_s = (double)sums->weight_ns / 1e9;
    double all_s = (double)account_wanted_ns(sums) / 1e9;
    append(out, out_bytes, used, "; accounts for %.2f ", weight_s);
    if (!sums->cpu_known) {
        append(out, out_bytes, used, "s %s, of how much is not recorded", time);
        return;
    }
    append(out, out_bytes, used, "of %.2f s %s", all_s, time);
    if (account_wanted_ns(sums) != 0)
        append(out, out_bytes, used, " (%.1f %%)", 100.0 * weight_s / all_s);
}

/* How often was sampled, by what, and what came of it. */
static void append_measure(const struct account *account, char *out, size_t out_bytes, size_t *used)
{
    const struct account_sums *sums = &account->all;
    if (sums->measure == MEASURE_EVENTS) {
        char period[32];
        append(out, out_bytes, used, ", one in %s %s (perf%s)",
               grouped(account->event_period, period, sizeof period), account->event,
               sums->n_event_user != 0 ? ", those in the kernel left out" : "");
        append_events(sums, out, out_bytes, used);
        return;
    }
    /* Where elapsed time is measured, threads that block are not sampled at a rate. */
    if (sums->measure == MEASURE_CPU)
        append(out, out_bytes, used, ", %.0f Hz (%" PRIu32 " Hz requested)", account_rate_hz(sums),
               account->frequency_hz);
    else
        append(out, out_bytes, used, ", %" PRIu32 " Hz requested", account->frequency_hz);
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
        append(out, out_bytes, used, "; %" PRIu64 " processes", sums->n_processes);
    if (sums->n_children_missed != 0)
        append(out, out_bytes, used, "; %" PRIu64 " process%s not recorded",
               sums->n_children_missed, sums->n_children_missed == 1 ? "" : "es");
    if (sums->n_threads_missed != 0)
        append(out, out_bytes, used, "; %" PRIu64 " thread%s without a clock",
               sums->n_threads_missed, plural(sums->n_threads_missed));
    if (sums->n_warnings != 0)
        append(out, out_bytes, used, "; %" PRIu64 " damaged place%s in the recording",
               sums->n_warnings, plural(sums->n_warnings));
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
