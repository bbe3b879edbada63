/* words.c - the words of the account: one table for each enum of capture.h that shows in
 * it. The keys are part of docs/account.md and do not change. */
#include "account/account.h"

#define N_WORDS(table) (sizeof(table) / sizeof((table)[0]))

static const struct account_word unknown = {"unknown", "for an unknown reason", false, NULL};

static const struct account_word *word_at(const struct account_word *table, size_t n, size_t index)
{
    return index < n && table[index].key != NULL ? &table[index] : &unknown;
}

const struct account_word *account_loss_word(unsigned loss)
{
    static const struct account_word words[] = {
        [CAPTURE_LOST_NESTED] = {"nested",
                                 "ticks while a tick was handled; the next sample has their weight",
                                 true, NULL},
        [CAPTURE_LOST_DISK] = {"disk_full", "no room to write: disk full, file size limit", false,
                               "make room, or write to another disk (-o)"},
        [CAPTURE_LOST_NODES] = {"stacks_full",
                                "stack table full; weighed at the part that was known", true, NULL},
        [CAPTURE_LOST_NO_STREAM] = {"no_stream", "threads without a place in the recording", false,
                                    NULL},
        [CAPTURE_LOST_TAIL] = {"tail", "ends of threads that no sample stands for", false,
                               "the perf clock misses less than the timer"},
        [CAPTURE_LOST_BLOCKED] = {"blocked", "signal blocked by system calls of the program's own",
                                  false, "another signal may not be blocked (SAMPLER_SIGNAL=26)"},
        [CAPTURE_LOST_ALL_BLOCKED] = {"all_blocked",
                                      "in threads that block all signals, as libc's own do (aio, "
                                      "timers with SIGEV_THREAD)",
                                      false, NULL},
    };
    static const struct account_word none = {"", "", false, NULL};
    return loss < N_WORDS(words) ? &words[loss] : &none;
}

const struct account_word *account_cut_word(unsigned cut)
{
    static const struct account_word words[] = {
        [CAPTURE_CUT_NO_RULE] = {"no_rule", "code without unwind information", true,
                                 "--unwinder fp follows code that keeps frame pointers"},
        [CAPTURE_CUT_BAD_MEMORY] = {"bad_memory", "memory that cannot be read", true, NULL},
        [CAPTURE_CUT_NO_PROGRESS] = {"no_progress", "a rule that did not lead outward", true, NULL},
        [CAPTURE_CUT_TOO_DEEP] = {"too_deep", "deeper than the limit", true, NULL},
        [CAPTURE_CUT_NODES_FULL] = {"stacks_full", "stack table full", true, NULL},
    };
    return word_at(words, N_WORDS(words), cut);
}

const struct account_word *account_clock_word(unsigned clock)
{
    static const struct account_word words[] = {
        [CAPTURE_CLOCK_NONE] = {"none", "no clock", false, NULL},
        [CAPTURE_CLOCK_PERF] = {"perf", "perf task-clock", false, NULL},
        [CAPTURE_CLOCK_PERF_USER] = {"perf_user", "perf task-clock without kernel", false, NULL},
        [CAPTURE_CLOCK_TIMER] = {"timer", "timer", false, NULL},
        [CAPTURE_CLOCK_EVENT] = {"event", "perf event", false, NULL},
        [CAPTURE_CLOCK_WALL] = {"wall", "wall", false, NULL},
        [CAPTURE_CLOCK_STAND_IN] = {"perf_or_timer", "perf task-clock or timer", false, NULL},
    };
    return word_at(words, N_WORDS(words), clock);
}

const struct account_word *account_child_word(unsigned child)
{
    static const struct account_word words[] = {
        [CAPTURE_CHILD_STATIC] = {"static", "statically linked", false,
                                  "a static program loads no library: link it dynamically"},
        [CAPTURE_CHILD_SETUID] = {"setuid", "runs with more rights (set-user-id, capabilities)",
                                  false, "start it as the user it runs as"},
        [CAPTURE_CHILD_ARCH] = {"other_architecture", "of another architecture", false, NULL},
        [CAPTURE_CHILD_ENV] = {"environment", "started without our environment", false,
                               "LD_PRELOAD and SAMPLER_* have to be passed on to it"},
        [CAPTURE_CHILD_LIBC] = {"other_libc", "of another C library (musl)", false, NULL},
    };
    return word_at(words, N_WORDS(words), child);
}

const struct account_word *account_end_word(unsigned end)
{
    static const struct account_word words[] = {
        [CAPTURE_RUNNING] = {"none", "killed or still running", false, NULL},
        [CAPTURE_EXITED] = {"exit", "ended", false, NULL},
        [CAPTURE_EXEC] = {"exec", "became another program", false, NULL},
    };
    return word_at(words, N_WORDS(words), end);
}

const struct account_word *account_source_word(enum module_source source)
{
    static const struct account_word words[] = {
        [MODULE_NO_NAMES] = {"none", "no names", false, NULL},
        [MODULE_DYNSYM] = {"dynsym", "exported names only", false, NULL},
        [MODULE_SYMTAB] = {"symtab", "names, no lines", false, NULL},
        [MODULE_DWARF] = {"dwarf", "complete", false, NULL},
    };
    return word_at(words, N_WORDS(words), source);
}

const char *account_module_words(const struct account_module *module)
{
    return account_source_word(module->is_partly ? MODULE_SYMTAB : module->source)->words;
}
