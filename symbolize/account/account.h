/* account.h - what a profile does and does not account for: one struct, filled once, from which
 * come the closing lines (account/closing.h), `sampler report --account` as text and as JSON
 * (account/print.h), and the metadata of profiles.
 *
 *   recordings -> account_add_recording, one struct account_process each -> `all`, their sum
 *
 * Units     Fields in _ns are nanoseconds; where events are measured (measure == MEASURE_EVENTS)
 *           the weights among them are numbers of events.
 * Owner     Texts belong to the account; what is added is copied.
 * Failure   Out of memory only; functions say what is added then.
 *
 * Filled by profile_build (build.h); several recordings add up.
 *
 * Adding a number: 1. its field in struct account_sums and its row in counters.c; 2.
 * account_add_recording fills it; 3. docs/account.md names it. A new capture_loss, capture_cut,
 * capture_clock or capture_child needs its row in words.c only. */
#ifndef SAMPLER_ACCOUNT_H
#define SAMPLER_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "names/module.h"
#include "recording/recording.h"
#include "vector.h"

/* Of modules with less of the weight nothing is said. */
#define ACCOUNT_MODULE_SHARE 0.01

#define ACCOUNT_N_CLOCKS 8u /* room for enum capture_clock; unknown ones count as NONE       */
#define ACCOUNT_N_CUTS 8u   /* room for enum capture_cut; unknown ones count at 0            */

struct account_module {
    const char *path;
    const char *problem; /* "" if there is none                        */
    enum module_source source;
    bool is_vdso;         /* its exported names are all it has           */
    bool is_made;         /* no file, but what the program made as it ran   */
    bool is_partly;       /* it has debug information, and much of it is code without */
    uint64_t self_ns;     /* weight with this module's code as leaf      */
    uint64_t nameless_ns; /* of it, in functions without a name          */
    uint64_t lineless_ns; /* of it, in code without lines                */
    uint32_t n_together;  /* functions that share their short name       */
    const char *build_id; /* as hexadecimal digits, "" if it has none */
    const char *advice;   /* what helps against its problem, "" if nothing is known to */
};

/* The numbers of one process, or of several added up. */
struct account_sums {
    enum measure measure;
    uint64_t n_samples;   /* credits do not count                                  */
    uint64_t weight_ns;   /* of all samples and credits, start-up, and what begins and ends    */
    uint64_t nameless_ns; /* of it, in code without a name of its own           */
    uint64_t cut_ns[ACCOUNT_N_CUTS]; /* of it in stacks that are not complete, by reason      */
    uint64_t cpu_ns;                 /* the processes used, start-up included                 */
    uint64_t start_up_ns;            /* of it, before sampling began; also in weight_ns       */
    uint64_t thread_begin_ns; /* of it, at the beginnings of threads; also in weight_ns        */
    uint64_t thread_exit_ns;  /* of it, at the ends of threads; also in weight_ns              */
    uint64_t process_exit_ns; /* of it, at the ends of processes; also in weight_ns            */
    uint64_t own_ns;          /* of it, our own code where threads begin and end; in no weight  */
    uint64_t paused_ns;       /* of it, while sampling was stopped; in no weight                */
    uint64_t length_ns;       /* how long the processes were there                     */
    uint64_t stopped_ns;      /* of that, while sampling was stopped                   */
    bool cpu_known;           /* of every process                                      */
    uint64_t lost[CAPTURE_N_LOSSES];    /* grid steps                                         */
    uint64_t lost_ns[CAPTURE_N_LOSSES]; /* the same times the period                          */
    uint64_t n_ticks;                   /* handler runs                                       */
    uint64_t handler_ns;                /* time inside them                                   */
    uint64_t n_processes;
    uint64_t n_threads;
    uint64_t n_threads_missed; /* seen, but without a clock                                     */
    uint64_t n_threads_found;  /* of n_threads, those not made by pthread_create                */
    uint64_t n_by_clock[ACCOUNT_N_CLOCKS]; /* threads by the clock they got                     */
    uint64_t n_event_user; /* threads whose events in the kernel are left out                   */
    uint64_t n_forks;
    uint64_t n_children_missed; /* children that cannot be recorded                             */
    uint64_t n_unended;         /* recordings without an end: killed, running                   */
    uint64_t n_warnings;        /* about damaged recordings                                     */
};

/* One recording: a process, or what it was between two execs. */
struct account_process {
    struct account_sums sums;
    uint64_t pid;
    uint64_t ppid;
    uint64_t start_time_ns; /* CLOCK_MONOTONIC                                                */
    uint64_t end_time_ns;   /* 0: not known                                                   */
    uint64_t end_ppid;      /* the parent at the end; 0: not known                            */
    uint64_t peak_bytes;    /* the most memory it had resident; 0: not known                  */
    uint64_t children_ns;   /* CPU time of the children it waited for, with theirs; 0: not known */
    bool children_known;
    uint64_t period;       /* one grid step                                                  */
    uint32_t frequency_hz; /* as requested                                                   */
    uint32_t clock;        /* enum capture_clock requested                                   */
    uint32_t end;          /* enum capture_end                                               */
    uint32_t exit_status;
    bool is_running;     /* up to now: `end` is RUNNING of killed ones, too                     */
    bool ends_stopped;   /* sampling was stopped at its last word                               */
    const char *name;    /* of its command; "" if not recorded (process_name.h)        */
    const char *command; /* words joined by blanks; "" if not recorded                 */
    const char *exe;     /* "" if not recorded                                         */
    const char *clock_fallback; /* why a thread did not get the clock it should have, "" none */
    const char *unwaited;       /* children it left without waiting for them: "PID PID "      */
    const char *why_stopped;    /* why sampling ended before the process did, "" it did not   */
    uint64_t exit_ns; /* what removed it, by account_find_exits; in no sum                 */
};

/* Programs that were started and cannot be recorded: equal ones of one parent are one. */
struct account_child {
    uint64_t ppid; /* who started it          */
    uint32_t why;  /* enum capture_child      */
    const char *path;
    size_t n;
};

VECTOR_DEFINE(account_modules, struct account_module)
VECTOR_DEFINE(account_processes, struct account_process)
VECTOR_DEFINE(account_children, struct account_child)

struct account {
    struct arena *arena;
    struct account_modules modules;     /* the heaviest first */
    struct account_processes processes; /* as they were added */
    struct account_children children;   /* as they were added */
    struct account_sums all;
    const char *event;     /* its name; "" unless events are measured                         */
    uint64_t event_period; /* events from one sample to the next                              */
    uint32_t frequency_hz; /* as requested of the first one                                   */
    uint64_t run_cpu_ns;   /* of the command and all it waited for, recorded or not; 0: not known */
    uint64_t unrecorded_ns; /* of it, in no recording; in no sum                               */
    size_t n_at_birth;      /* processes that were killed while they made their recording      */
};

bool account_init(struct account *account); /* false: out of memory */
void account_deinit(struct account *account);

/* Adds a recording's header, threads and samples. False: out of memory, nothing was added. */
bool account_add_recording(struct account *account, const struct recording *recording);

/* Adds CPU time used before the recording that was added as number `index` began, which is
 * accounted for as start-up (build.h). */
void account_add_start_up(struct account *account, size_t index, uint64_t cpu_ns);

/* Adds CPU time of recording `index` that libc and the kernel used where its threads began, and
 * where they ended (known as the difference of the process's and theirs), which weights of their
 * own stand for (build.h). It is in the CPU time already. */
void account_add_thread_begin(struct account *account, size_t index, uint64_t cpu_ns);
void account_add_thread_exit(struct account *account, size_t index, uint64_t cpu_ns);

/* Adds CPU time that the kernel used to remove the process of recording `index`, after the last word
 * that its CPU time is of, which a weight of its own stands for (build.h). */
void account_add_process_exit(struct account *account, size_t index, uint64_t cpu_ns);

/* Why sampling ended before the first of the processes of which that is true did; "" none. Valid as
 * long as the account. */
const char *account_why_stopped(const struct account *account);

/* Of the weights of recording `index`, `weight_ns` is in code without a name of its own. */
void account_add_nameless(struct account *account, size_t index, uint64_t weight_ns);

/* Our own cost in recording `index` is in the profile: it moves into the weights. */
void account_own_is_weighed(struct account *account, size_t index);

/* Adds another account, which may be let go afterwards. False: out of memory, and only a part was
 * added. */
bool account_add(struct account *account, const struct account *other);

/* Finds out what would get the modules that weigh the names or lines they lack. `sources`: where
 * they were looked for. False: out of memory, and some have no advice. */
bool account_advise(struct account *account, const struct symbol_sources *sources);

/* Puts the heaviest modules first, as they are to stand. */
void account_sort_modules(struct account *account);

/* What getrusage tells of the command, process `pid`, with all it waited for; 0 = nothing known. Once,
 * after all recordings: what is in none of them is told from it, and the CPU time of processes that
 * were killed, as far as that is possible (whole.c). False: out of memory, and it is not. */
bool account_set_run(struct account *account, uint64_t pid, uint64_t cpu_ns);

/* Fills exit_ns of the processes with what the kernel took to remove them after their last word, as far
 * as it is known from the figures of those that waited for them; arguments as for account_set_run.
 * False: out of memory. */
bool account_find_exits(struct account *account, uint64_t pid, uint64_t cpu_ns);

/* ---- numbers that follow from others --------------------------------------------------------- */

/* Grid steps of all kinds of loss. */
uint64_t account_lost(const struct account_sums *sums);

/* Of the CPU time used, what was lost for reasons that are known and is in no weight. */
uint64_t account_lost_ns(const struct account_sums *sums);

/* The CPU time that the program used while sampling was on: what there is to account for. */
uint64_t account_wanted_ns(const struct account_sums *sums);

/* The same of the whole run: with what is in no recording. */
uint64_t account_whole_ns(const struct account *account);

/* Weight in stacks that are not complete. */
uint64_t account_cut_ns(const struct account_sums *sums);

/* Samples per second of CPU time that could be sampled; 0 where that is not known. */
double account_rate_hz(const struct account_sums *sums);

/* The clock most threads had; NONE where no thread had one. */
enum capture_clock account_main_clock(const struct account_sums *sums);

/* Whether there could be more names or lines of it than there are. */
bool account_module_lacks(const struct account_module *module);

/* ---- words ----------------------------------------------------------------------------------- */

/* A row of one of the tables in account/words.c. */
struct account_word {
    const char *key;    /* in JSON: lasting                                               */
    const char *words;  /* for people                                                     */
    bool is_weighed;    /* of a loss: the steps are in the weights all the same           */
    const char *remedy; /* what helps, for people; NULL if nothing does */
};

/* Never NULL; one that says "unknown" for values this program does not know. */
const struct account_word *account_loss_word(unsigned loss); /* key "" if there is none such */
const struct account_word *account_cut_word(unsigned cut);
const struct account_word *account_clock_word(unsigned clock);
const struct account_word *account_child_word(unsigned child);
const struct account_word *account_end_word(unsigned end);
const struct account_word *account_source_word(enum module_source source);
const char *account_module_words(const struct account_module *module); /* what it lacks */

#endif
