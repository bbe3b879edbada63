/* missing.c - what is not in a profile, or is there without its names; see account_tell_missing in
 * closing.h.
 *
 * Each cause is a row: its share of the time there was, what it is, and what helps. Rows below
 * their threshold are no news and not made; of the others the heaviest are told. Modules are one
 * row for each problem, however many there are, so that ten libraries without debug information
 * leave room for what else there is. The account in full (text.c) has everything. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "account/closing.h"
#include "append.h"
#include "text.h"

/* Shares of the time from which on a cause is told. */
#define NAMES_SHARE 0.05 /* without lines, or names: all modules together      */
#define CUT_SHARE 0.01
#define LOST_SHARE 0.005
#define LEFT_SHARE 0.01
#define UNRECORDED_SHARE 0.01
#define UNRECORDED_NS 5000000u /* of a short run a few ends of processes are a share, and no news */

#define MAX_ROWS 16u
#define MAX_NAMED 2u /* modules, and programs that were not recorded */
#define LINE_BYTES 1024u

struct missing {
    double share; /* of the time there was; 1 for what makes all of it doubtful */
    char line[LINE_BYTES];
};

struct missing_rows {
    struct missing rows[MAX_ROWS];
    size_t n;
};

/* The next row, or NULL when there is room for no more. */
static struct missing *row_add(struct missing_rows *rows, double share)
{
    if (rows->n == MAX_ROWS)
        return NULL;
    struct missing *row = &rows->rows[rows->n++];
    row->share = share;
    row->line[0] = '\0';
    return row;
}

/* Says what helps, where something does. Takes NULL. */
static void row_add_remedy(struct missing *row, const struct account_word *word)
{
    size_t used = row != NULL ? strlen(row->line) : 0;
    if (row != NULL && word->remedy != NULL)
        append(row->line, LINE_BYTES, &used, "; %s", word->remedy);
}

/* What shares are of: the CPU time of the run where it is known, else what was found of it. */
static double there_was_ns(const struct account *account)
{
    const struct account_sums *sums = &account->all;
    uint64_t all_ns = sums->cpu_known ? account_whole_ns(account) : sums->weight_ns;
    return all_ns > 0 ? (double)all_ns : 1;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != '\0' ? slash + 1 : path;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* What helps the one helps the other. */
static bool is_equal_problem(const struct account_module *a, const struct account_module *b)
{
    return strcmp(a->problem, b->problem) == 0 && strcmp(a->advice, b->advice) == 0;
}

/* The problem in words, after what the modules are; that there is no debug information is told by
 * what they lack already. */
static void append_problem(char *line, size_t *used, const struct account_module *module)
{
    struct text problem = text_make(module->problem);
    if (text_starts(problem, MODULE_PROBLEM_NO_DEBUG))
        problem = text_from(problem, sizeof MODULE_PROBLEM_NO_DEBUG - 1);
    if (text_starts(problem, ": "))
        problem = text_from(problem, 2);
    if (problem.length > 0)
        append(line, LINE_BYTES, used, ": %s", problem.bytes);
    if (module->advice[0] != '\0')
        append(line, LINE_BYTES, used, "; for lines and inlined functions: %s", module->advice);
}

/* "31.4 % is in libz.so.1 (exported names only), libm.so.6 (names, no lines) and 3 more: ..." of
 * all modules with the problem of number `first`. */
static void add_problem(struct missing_rows *rows, const struct account *account, size_t first)
{
    const struct account_modules *modules = &account->modules;
    double all_ns = (double)account->all.weight_ns;
    uint64_t lineless_ns = 0, nameless_ns = 0;
    size_t n_named = 0, n_more = 0, used = 0;
    char names[512] = "";
    for (size_t i = first; i < modules->n; i++) {
        const struct account_module *module = &modules->items[i];
        if (!account_module_lacks(module) || !is_equal_problem(module, &modules->items[first]))
            continue;
        lineless_ns += module->lineless_ns;
        nameless_ns += module->nameless_ns;
        if ((double)module->lineless_ns < ACCOUNT_MODULE_SHARE * all_ns)
            continue;
        if (n_named == MAX_NAMED) {
            n_more++;
            continue;
        }
        append(names, sizeof names, &used, "%s%s (%s)", n_named > 0 ? ", " : "",
               base_name(module->path), account_module_words(module));
        n_named++;
    }
    if (n_named == 0)
        return;
    struct missing *row = row_add(rows, (double)lineless_ns / all_ns);
    if (row == NULL)
        return;
    used = 0;
    append(row->line, LINE_BYTES, &used, "%.1f %% is in %s", 100.0 * row->share, names);
    if (n_more > 0)
        append(row->line, LINE_BYTES, &used, " and %zu more", n_more);
    if ((double)nameless_ns >= ACCOUNT_MODULE_SHARE * all_ns)
        append(row->line, LINE_BYTES, &used, ", %.1f %% in functions without a name",
               100.0 * (double)nameless_ns / all_ns);
    append_problem(row->line, &used, &modules->items[first]);
}

static void add_modules(struct missing_rows *rows, const struct account *account)
{
    const struct account_modules *modules = &account->modules;
    uint64_t lacking_ns = 0;
    for (size_t i = 0; i < modules->n; i++)
        if (account_module_lacks(&modules->items[i]))
            lacking_ns += modules->items[i].lineless_ns;
    if (lacking_ns == 0 || (double)lacking_ns < NAMES_SHARE * (double)account->all.weight_ns)
        return;
    for (size_t i = 0; i < modules->n; i++) {
        bool is_first = account_module_lacks(&modules->items[i]);
        for (size_t j = 0; j < i && is_first; j++)
            is_first = !account_module_lacks(&modules->items[j]) ||
                       !is_equal_problem(&modules->items[j], &modules->items[i]);
        if (is_first)
            add_problem(rows, account, i);
    }
}

/* Code in no file that nothing names. */
static void add_made(struct missing_rows *rows, const struct account *account)
{
    for (size_t i = 0; i < account->modules.n; i++) {
        const struct account_module *module = &account->modules.items[i];
        double share = (double)module->self_ns / (double)(account->all.weight_ns + 1);
        if (!module->is_made || module->source != MODULE_NO_NAMES || share < ACCOUNT_MODULE_SHARE)
            continue;
        struct missing *row = row_add(rows, share);
        if (row == NULL)
            return;
        snprintf(row->line, LINE_BYTES,
                 "%.1f %% is in code that the program made at run time, without names; %s",
                 100.0 * share, module->problem[0] != '\0' ? module->problem : module->advice);
    }
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static void add_cuts(struct missing_rows *rows, const struct account *account)
{
    const struct account_sums *sums = &account->all;
    double share = (double)account_cut_ns(sums) / (double)(sums->weight_ns + 1);
    unsigned most = 0;
    for (unsigned i = 1; i < ACCOUNT_N_CUTS; i++)
        most = sums->cut_ns[i] > sums->cut_ns[most] ? i : most;
    struct missing *row = share >= CUT_SHARE ? row_add(rows, share) : NULL;
    if (row != NULL)
        snprintf(row->line, LINE_BYTES,
                 "%.1f %% is in truncated stacks, whose outer frames are not known: %s",
                 100.0 * share, account_cut_word(most)->words);
    row_add_remedy(row, account_cut_word(most));
}

/* ---- time ------------------------------------------------------------------------------------ */

static void add_losses(struct missing_rows *rows, const struct account *account)
{
    const struct account_sums *sums = &account->all;
    for (unsigned i = 0; i < CAPTURE_N_LOSSES; i++) {
        const struct account_word *word = account_loss_word(i);
        double share = (double)sums->lost_ns[i] / there_was_ns(account);
        struct missing *row =
            !word->is_weighed && share >= LOST_SHARE ? row_add(rows, share) : NULL;
        if (row != NULL)
            snprintf(row->line, LINE_BYTES, "%.1f %% is lost: %s", 100.0 * share, word->words);
        row_add_remedy(row, word);
    }
}

/* What is in no weight and has no reason. */
static void add_left(struct missing_rows *rows, const struct account *account)
{
    const struct account_sums *sums = &account->all;
    uint64_t known_ns = sums->weight_ns + account_lost_ns(sums);
    uint64_t wanted_ns = account_wanted_ns(sums);
    if (!sums->cpu_known || sums->measure != MEASURE_CPU || wanted_ns <= known_ns)
        return;
    double share = (double)(wanted_ns - known_ns) / there_was_ns(account);
    struct missing *row = share >= LEFT_SHARE ? row_add(rows, share) : NULL;
    if (row != NULL)
        snprintf(row->line, LINE_BYTES,
                 "%.1f %% passed between samples: at the beginnings and ends of %" PRIu64
                 " process%s and %" PRIu64 " thread%s",
                 100.0 * share, sums->n_processes, sums->n_processes == 1 ? "" : "es",
                 sums->n_threads, sums->n_threads == 1 ? "" : "s");
}

static void add_stopped(struct missing_rows *rows, const struct account *account)
{
    const char *why = account_why_stopped(account);
    uint64_t unrecorded_ns = account->all.n_children_missed == 0 ? account->unrecorded_ns : 0;
    struct missing *row = why[0] != '\0' ? row_add(rows, 1) : NULL;
    if (row == NULL)
        return;
    size_t used = 0;
    append(row->line, LINE_BYTES, &used, "sampling ended before the program did: %s", why);
    if (unrecorded_ns > 0)
        append(row->line, LINE_BYTES, &used, "; it used %.2f s CPU after that",
               (double)unrecorded_ns / 1e9);
}

/* What is known of the processes that are in no recording, after ":". */
static void append_unrecorded(char *line, size_t *used, const struct account *account)
{
    const char *between = ": ";
    for (size_t i = 0, n_named = 0; i < account->children.n && n_named < MAX_NAMED; i++) {
        const struct account_child *child = &account->children.items[i];
        if (i > 0 && child->why == child[-1].why && strcmp(child->path, child[-1].path) == 0)
            continue; /* of another parent */
        append(line, LINE_BYTES, used, "%s%s (%s)", between, child->path,
               account_child_word(child->why)->words);
        between = ", ";
        n_named++;
    }
    if (account->n_at_birth > 0)
        append(line, LINE_BYTES, used, "%s%zu killed as %s began", between, account->n_at_birth,
               account->n_at_birth == 1 ? "it" : "they");
}

/* How much that is can only be known under sampler-run; without it the row stands behind others. */
static void add_unrecorded(struct missing_rows *rows, const struct account *account)
{
    const struct account_sums *sums = &account->all;
    uint64_t n = sums->n_children_missed;
    double share = (double)account->unrecorded_ns / there_was_ns(account);
    bool is_told = account_why_stopped(account)[0] != '\0'; /* with that row */
    bool is_little = share < UNRECORDED_SHARE || account->unrecorded_ns < UNRECORDED_NS;
    if (n == 0 && (is_little || is_told))
        return;
    struct missing *row = row_add(rows, share);
    if (row == NULL)
        return;
    size_t used = 0;
    if (account->unrecorded_ns > 0)
        append(row->line, LINE_BYTES, &used, "%.1f %% (%.2f s CPU) was used by ", 100.0 * share,
               (double)account->unrecorded_ns / 1e9);
    if (n > 0)
        append(row->line, LINE_BYTES, &used, "%" PRIu64 " process%s", n, n == 1 ? "" : "es");
    else
        append(row->line, LINE_BYTES, &used, "processes");
    append(row->line, LINE_BYTES, &used, " that %s not recorded", n == 1 ? "was" : "were");
    if (n == 0 && account->n_at_birth == 0)
        append(row->line, LINE_BYTES, &used, ", or by the kernel to remove those that were");
    append_unrecorded(row->line, &used, account);
    if (account->children.n > 0)
        row_add_remedy(row, account_child_word(account->children.items[0].why));
}

/* ---- what makes all of it doubtful ----------------------------------------------------------- */

static const char *why_fallback(const struct account *account)
{
    for (size_t i = 0; i < account->processes.n; i++)
        if (account->processes.items[i].clock_fallback[0] != '\0')
            return account->processes.items[i].clock_fallback;
    return "";
}

/* The recording has libc's words for the error. */
static const char *fallback_remedy(const char *why)
{
    if (strstr(why, "Too many open files") != NULL)
        return "; a higher limit helps (ulimit -n)";
    if (strstr(why, "Permission denied") != NULL || strstr(why, "not permitted") != NULL)
        return "; kernel.perf_event_paranoid at 2 or below allows them, unless a container forbids "
               "them";
    return "";
}

static void add_doubts(struct missing_rows *rows, const struct account *account)
{
    const struct account_sums *sums = &account->all;
    const char *fallback = why_fallback(account);
    if (sums->n_threads_missed != 0) {
        struct missing *row = row_add(rows, 1);
        if (row != NULL)
            snprintf(row->line, LINE_BYTES,
                     "%" PRIu64 " thread%s without a clock, so not sampled%s%s",
                     sums->n_threads_missed, sums->n_threads_missed == 1 ? "" : "s",
                     fallback[0] != '\0' ? ": " : "", fallback);
    }
    if (sums->n_warnings != 0) {
        struct missing *row = row_add(rows, 1);
        if (row != NULL)
            snprintf(row->line, LINE_BYTES,
                     "the recording is damaged in %" PRIu64 " place%s; what is left of it is in "
                     "the profile",
                     sums->n_warnings, sums->n_warnings == 1 ? "" : "s");
    }
    if (sums->measure == MEASURE_CPU && account_main_clock(sums) == CAPTURE_CLOCK_TIMER &&
        fallback[0] != '\0') {
        struct missing *row = row_add(rows, 0);
        if (row != NULL)
            snprintf(row->line, LINE_BYTES,
                     "sampled by a timer, no faster than the kernel's tick, for want of perf "
                     "events: %s%s",
                     fallback, fallback_remedy(fallback));
    }
}

void account_tell_missing(const struct account *account,
                          void (*tell)(void *context, const char *line), void *context)
{
    struct missing_rows rows;
    rows.n = 0;
    if (account_result(account) == ACCOUNT_NEVER_BEGAN)
        return;
    add_doubts(&rows, account);
    add_stopped(&rows, account);
    add_unrecorded(&rows, account);
    if (account_result(account) == ACCOUNT_SAMPLED) {
        add_losses(&rows, account);
        add_left(&rows, account);
        add_cuts(&rows, account);
        add_modules(&rows, account);
        add_made(&rows, account);
    }
    bool is_told[MAX_ROWS] = {false};
    for (size_t n = 0; n < ACCOUNT_MISSING_LINES && n < rows.n; n++) {
        size_t heaviest = MAX_ROWS;
        for (size_t i = 0; i < rows.n; i++)
            if (!is_told[i] &&
                (heaviest == MAX_ROWS || rows.rows[i].share > rows.rows[heaviest].share))
                heaviest = i;
        is_told[heaviest] = true;
        tell(context, rows.rows[heaviest].line);
    }
}
