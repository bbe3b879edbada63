/* test_closing.c - the lines a run ends with, word by word. */
#include <stdio.h>
#include <string.h>

#include "account/closing.h"
#include "unit.h"

#define S UINT64_C(1000000000)

/* 1.88 s, sampled as it should be. */
static struct account usual(void)
{
    return (struct account){.frequency_hz = 999,
                            .all = {.measure = MEASURE_CPU,
                                    .n_samples = 1878,
                                    .weight_ns = 188 * S / 100,
                                    .cpu_ns = 188 * S / 100,
                                    .cpu_known = true,
                                    .length_ns = 2 * S,
                                    .n_by_clock = {[CAPTURE_CLOCK_PERF] = 1},
                                    .n_processes = 1,
                                    .n_threads = 1}};
}

static const char *first_line(const struct account *account)
{
    static char line[500];
    return account_format(account, NULL, line, sizeof line);
}

static const char *remedy(const struct account *account)
{
    static char line[500];
    return account_format_remedy(account, line, sizeof line);
}

static void take_line(void *context, const char *line)
{
    strcat(strcat((char *)context, line), "\n");
}

static const char *missing(const struct account *account)
{
    static char lines[4096];
    lines[0] = '\0';
    account_tell_missing(account, take_line, lines);
    return lines;
}

/* ---- the first line -------------------------------------------------------------------------- */

static void the_usual_run_takes_few_words(void **state)
{
    (void)state;
    char line[500];
    struct account account = usual();
    assert_int_equal(account_result(&account), ACCOUNT_SAMPLED);
    assert_string_equal(
        account_format(&account, "a.folded, a.sprofile", line, sizeof line),
        "accounts for 1.88 of 1.88 s CPU (100.0 %), 999 Hz; wrote a.folded, a.sprofile");
    assert_string_equal(account_format(&account, "", line, sizeof line),
                        "accounts for 1.88 of 1.88 s CPU (100.0 %), 999 Hz");
    assert_string_equal(account_format(&account, NULL, line, 12), "accounts fo");
    assert_string_equal(missing(&account), "");
    assert_string_equal(remedy(&account), "");
}

static void the_first_line_has_what_is_not_usual(void **state)
{
    (void)state;
    struct account account = usual();
    account.all.n_samples = 470;
    account.all.n_processes = 3;
    account.all.stopped_ns = S / 2;
    account.all.paused_ns = 8 * S / 100; /* used, but not asked for */
    account.all.weight_ns = 18 * S / 10;
    assert_string_equal(first_line(&account),
                        "accounts for 1.80 of 1.80 s CPU (100.0 %), 261 Hz of 999 requested; 3 "
                        "processes; sampling was on for 1.50 of 2.00 s");
    account = usual();
    account.all.cpu_known = false;
    account.all.n_samples = 1600; /* 851 Hz: near enough */
    assert_string_equal(first_line(&account),
                        "accounts for 1.88 s CPU, 851 Hz; how much there was is not known");
    account = usual();
    account.all.weight_ns = account.all.cpu_ns = 25 * S / 1000;
    account.all.n_samples = 25;
    assert_string_equal(first_line(&account),
                        "accounts for 0.0250 of 0.0250 s CPU (100.0 %), 1000 Hz");
    account.all.weight_ns += 1001001; /* a period more: no more than all is accounted for */
    assert_string_equal(first_line(&account),
                        "accounts for 0.0250 of 0.0250 s CPU (100.0 %), 1000 Hz");
    account.all.weight_ns += S / 1000; /* for one thread that is odd, and shows */
    assert_string_equal(first_line(&account),
                        "accounts for 0.0270 of 0.0250 s CPU (108.0 %), 1000 Hz");
    account.all.n_threads = 2;
    assert_string_equal(first_line(&account),
                        "accounts for 0.0250 of 0.0250 s CPU (100.0 %), 1000 Hz");
}

static void short_processes_are_told_of_when_they_weigh(void **state)
{
    (void)state;
    struct account account = usual();
    struct account_process processes[3] = {
        {.name = "a", .sums = account.all},
        {.name = "b", .sums = {.cpu_ns = S / 20, .cpu_known = true}},
        {.name = "b", .sums = {.cpu_ns = S / 20, .cpu_known = true}}};
    account.processes.items = processes;
    account.processes.n = 3;
    account.all.n_processes = 3;
    assert_string_equal(first_line(&account),
                        "accounts for 1.88 of 1.88 s CPU (100.0 %), 999 Hz; 3 "
                        "processes, 2 shorter than a sample: 0.100 s");
    processes[1].sums.cpu_ns = S / 25; /* 90 of 1970 ms */
    assert_string_equal(first_line(&account),
                        "accounts for 1.88 of 1.88 s CPU (100.0 %), 999 Hz; 3 processes");
}

static void elapsed_time_and_events_have_lines_of_their_own(void **state)
{
    (void)state;
    struct account account = usual();
    account.all.measure = MEASURE_WALL;
    account.all.n_samples = 2; /* one wait each */
    assert_int_equal(account_result(&account), ACCOUNT_SAMPLED);
    assert_string_equal(first_line(&account),
                        "accounts for 1.88 of 1.88 s elapsed in threads (100.0 %), 999 Hz");
    account.all.weight_ns = account.all.cpu_ns = 19 * S / 1000;
    assert_string_equal(first_line(&account),
                        "too short to sample: 2 samples in 0.0190 s elapsed in threads");
    account = usual();
    account.all.measure = MEASURE_EVENTS;
    account.event = "page-faults";
    account.event_period = 1;
    account.all.n_samples = 3;
    account.all.weight_ns = 1234;
    account.all.cpu_ns = 2468;
    assert_string_equal(first_line(&account), "accounts for 1 234 of 2 468 page-faults (50.0 %)");
    account.event_period = 1000003;
    account.all.n_event_user = 1;
    account.all.cpu_known = false;
    assert_string_equal(
        first_line(&account),
        "accounts for 1 234 page-faults, one sample in 1 000 003; how many there were "
        "is not known; those in the kernel are left out");
}

static void a_few_samples_give_no_shares(void **state)
{
    (void)state;
    struct account account = usual();
    account.all.weight_ns = account.all.cpu_ns = 2 * S / 100;
    account.all.length_ns = 3 * S / 100;
    account.all.n_samples = ACCOUNT_FEW_SAMPLES;
    assert_int_equal(account_result(&account), ACCOUNT_SAMPLED);
    account.all.n_samples--;
    assert_int_equal(account_result(&account), ACCOUNT_TOO_SHORT);
    assert_string_equal(first_line(&account), "too short to sample: 19 samples in 0.0200 s CPU");
    assert_non_null(strstr(remedy(&account), "-F 9999"));
    account.all.n_samples = 1;
    account.all.length_ns = 2 * S;
    account.all.n_processes = 2;
    assert_string_equal(first_line(&account),
                        "too short to sample: 1 sample in 0.0200 s CPU; 2 processes");
    assert_non_null(strstr(remedy(&account), "-e wall"));
    account.all.lost_ns[CAPTURE_LOST_TAIL] = account.all.cpu_ns / 2; /* no shares here either */
    assert_string_equal(missing(&account), "");
    account.all.cpu_ns = S / 25; /* most of it is lost: that is why they are few */
    account.all.lost_ns[CAPTURE_LOST_ALL_BLOCKED] = S / 40;
    assert_int_equal(account_result(&account), ACCOUNT_SAMPLED);
    account.all.lost_ns[CAPTURE_LOST_ALL_BLOCKED] = 0;
    account.all.cpu_ns = 2 * S / 100;
    account.all.stopped_ns = 19 * S / 10; /* it was on for 0.1 s: that is not waiting */
    assert_non_null(strstr(remedy(&account), "-F 9999"));
    account.unrecorded_ns = S; /* the time is elsewhere */
    assert_string_equal(first_line(&account),
                        "too short to sample: 1 sample in 1.02 s CPU; 2 processes; sampling was on "
                        "for 0.10 of 2.00 s");
    assert_string_equal(remedy(&account), "");
}

static void what_never_began_is_said_so(void **state)
{
    (void)state;
    struct account account = usual();
    const struct account_process process = {.start_time_ns = 5 * S, .end_time_ns = 7 * S};
    assert_true(account_processes_push(&account.processes, process));
    account.all.n_samples = 0;
    account.all.stopped_ns = account.all.length_ns;
    account.all.n_children_missed = 1;
    assert_int_equal(account_result(&account), ACCOUNT_NEVER_BEGAN);
    assert_string_equal(first_line(&account), "sampling never began: it was off all of the 2.00 s");
    assert_non_null(strstr(remedy(&account), "--delay"));
    assert_string_equal(missing(&account), "");
    account.all.stopped_ns--;
    assert_int_equal(account_result(&account), ACCOUNT_TOO_SHORT);
    account_processes_deinit(&account.processes);
}

/* ---- what is missing ------------------------------------------------------------------------- */

#define MODULE(its_path, its_problem, its_source)                                                  \
    {                                                                                              \
        .path = (its_path), .problem = (its_problem), .source = (its_source), .build_id = "",      \
        .advice = ""                                                                               \
    }

static void modules_without_names_are_told_of_when_they_weigh(void **state)
{
    (void)state;
    struct account account = usual();
    const struct account_module modules[] = {
        MODULE("/bin/whole", "", MODULE_DWARF),
        MODULE("/lib/a.so", MODULE_PROBLEM_NO_DEBUG, MODULE_DYNSYM),
        MODULE("/lib/b.so", "the file has changed", MODULE_NO_NAMES),
        MODULE("/lib/c.so", MODULE_PROBLEM_NO_DEBUG, MODULE_SYMTAB),
        MODULE("/lib/d.so", MODULE_PROBLEM_NO_DEBUG, MODULE_SYMTAB),
        MODULE("/lib/e.so", MODULE_PROBLEM_NO_DEBUG, MODULE_SYMTAB),
        MODULE("[vdso]", MODULE_PROBLEM_NO_DEBUG, MODULE_DYNSYM),
    };
    for (size_t i = 0; i < 7; i++)
        assert_true(account_modules_push(&account.modules, modules[i]));
    struct account_module *items = account.modules.items;
    account.all.weight_ns = account.all.cpu_ns = 1000;
    items[0].self_ns = 500;
    items[6].is_vdso = true; /* has all it can have */
    items[6].self_ns = items[6].lineless_ns = 451;
    items[1].self_ns = items[1].lineless_ns = 49;
    assert_string_equal(missing(&account), ""); /* 4.9 % */
    items[1].self_ns = items[1].lineless_ns = 50;
    assert_string_equal(missing(&account), "5.0 % is in a.so (exported names only)\n");
    items[1].advice = "apt install a-dbg";
    assert_string_equal(missing(&account),
                        "5.0 % is in a.so (exported names only); for lines and inlined functions: "
                        "apt install a-dbg\n");
    items[1].problem = MODULE_PROBLEM_NO_DEBUG ": the servers are slow";
    assert_string_equal(
        missing(&account),
        "5.0 % is in a.so (exported names only): the servers are slow; for lines and "
        "inlined functions: apt install a-dbg\n");
    items[1].problem = MODULE_PROBLEM_NO_DEBUG;
    items[2].self_ns = items[2].lineless_ns =
        60; /* another problem: a line of its own, the heavier first */
    assert_string_equal(missing(&account),
                        "6.0 % is in b.so (no names): the file has changed\n"
                        "5.0 % is in a.so (exported names only); for lines and inlined functions: "
                        "apt install a-dbg\n");
    items[2].self_ns = items[2].lineless_ns = 0;
    for (size_t i = 3; i < 6; i++) {
        items[i].self_ns = items[i].lineless_ns = 40;
        items[i].advice = "apt install a-dbg";
    }
    items[5].self_ns = items[5].lineless_ns =
        9; /* too little to be named, and counted all the same */
    assert_string_equal(missing(&account),
                        "13.9 % is in a.so (exported names only), c.so (names, no lines) and 1 "
                        "more; for lines and inlined functions: apt install a-dbg\n");
    items[4].advice = "apt install d-dbg"; /* what helps is another thing */
    assert_string_equal(missing(&account),
                        "9.9 % is in a.so (exported names only), c.so (names, no lines); for lines "
                        "and inlined functions: apt install a-dbg\n"
                        "4.0 % is in d.so (names, no lines); for lines and inlined functions: apt "
                        "install d-dbg\n");
    for (size_t i = 1; i < 6; i++)
        items[i].lineless_ns = 0;
    items[0].lineless_ns = 200; /* of 500: only what was linked into it has debug information */
    assert_string_equal(missing(&account), "");
    items[0].is_partly = true;
    assert_string_equal(missing(&account), "20.0 % is in whole (names, no lines)\n");
    account_modules_deinit(&account.modules);
}

static void time_that_is_missing_has_its_reason(void **state)
{
    (void)state;
    struct account account = usual();
    account.all.cpu_ns = 1000;
    account.all.weight_ns = 991;
    assert_string_equal(missing(&account), ""); /* 0.9 % between samples */
    account.all.weight_ns = 980;
    assert_string_equal(missing(&account), "2.0 % passed between samples: at the beginnings and "
                                           "ends of 1 process and 1 thread\n");
    account.all.own_ns = 11; /* the profiler's, not the program's */
    assert_string_equal(missing(&account), "");
    account.all.own_ns = 0;
    account.all.weight_ns = 990;
    account.all.lost_ns[CAPTURE_LOST_NESTED] = 500; /* the next sample had it */
    account.all.lost_ns[CAPTURE_LOST_NO_STREAM] = 4;
    assert_string_equal(missing(&account), ""); /* 0.4 %, and 0.6 % left */
    account.all.lost_ns[CAPTURE_LOST_DISK] = 16;
    assert_string_equal(missing(&account),
                        "1.6 % is lost: no room to write: disk full, file size limit; make room, "
                        "or write to another disk (-o)\n");
    account.all.cut_ns[0] = 20;
    account.all.cut_ns[CAPTURE_CUT_NO_RULE] = 40;
    assert_string_equal(missing(&account),
                        "6.1 % is in truncated stacks, whose outer frames are not known: code "
                        "without unwind information; --unwinder fp follows code that keeps frame "
                        "pointers\n"
                        "1.6 % is lost: no room to write: disk full, file size limit; make room, "
                        "or write to another disk (-o)\n");
}

static void processes_that_are_missing_are_named(void **state)
{
    (void)state;
    struct account account = usual();
    account.unrecorded_ns = 18 * S / 1000;
    assert_string_equal(missing(&account), ""); /* less than 1 % */
    account.all.weight_ns = account.all.cpu_ns = S / 100;
    account.unrecorded_ns = 4 * S / 1000;
    assert_string_equal(missing(&account), ""); /* 29 %, of next to nothing */
    account = usual();
    account.unrecorded_ns = 47 * S / 100;
    assert_string_equal(
        missing(&account),
        "20.0 % (0.47 s CPU) was used by processes that were not recorded, or by the "
        "kernel to remove those that were\n");
    assert_string_equal(first_line(&account), "accounts for 1.88 of 2.35 s CPU (80.0 %), 999 Hz");
    account.n_at_birth = 1;
    assert_string_equal(missing(&account),
                        "20.0 % (0.47 s CPU) was used by processes that were not "
                        "recorded: 1 killed as it began\n");
    account.n_at_birth = 0;
    const struct account_child children[] = {{1, CAPTURE_CHILD_STATIC, "/bin/busybox", 3},
                                             {1, CAPTURE_CHILD_SETUID, "/bin/su", 1},
                                             {1, CAPTURE_CHILD_ARCH, "/bin/arm", 1}};
    for (size_t i = 0; i < 3; i++)
        assert_true(account_children_push(&account.children, children[i]));
    account.all.n_children_missed = 5;
    assert_string_equal(missing(&account),
                        "20.0 % (0.47 s CPU) was used by 5 processes that were not recorded: "
                        "/bin/busybox (statically linked), /bin/su (runs with more rights "
                        "(set-user-id, capabilities)); a static program loads no library: link it "
                        "dynamically\n");
    account.n_at_birth = 2;
    account.children.n = 1;
    assert_string_equal(
        missing(&account),
        "20.0 % (0.47 s CPU) was used by 5 processes that were not recorded: "
        "/bin/busybox (statically linked), 2 killed as they began; a static program "
        "loads no library: link it dynamically\n");
    account.n_at_birth = 0;
    account.unrecorded_ns = 0; /* without the launcher: how much is not known */
    account.all.n_children_missed = 1;
    account.children.n = 1;
    assert_string_equal(
        missing(&account),
        "1 process that was not recorded: /bin/busybox (statically linked); a static "
        "program loads no library: link it dynamically\n");
    account_children_deinit(&account.children);
}

/* What came after it is the program's, not another process's; and a longer run would not help. */
static void an_early_end_has_its_reason(void **state)
{
    (void)state;
    struct account account = usual();
    const struct account_process process = {.clock_fallback = "", .why_stopped = "seccomp"};
    assert_true(account_processes_push(&account.processes, process));
    assert_string_equal(missing(&account), "sampling ended before the program did: seccomp\n");
    account.unrecorded_ns = S;
    assert_string_equal(
        missing(&account),
        "sampling ended before the program did: seccomp; it used 1.00 s CPU after that\n");
    account.all.n_samples = 3;
    assert_string_equal(remedy(&account), "");
    account.all.n_children_missed = 1;
    assert_string_equal(missing(&account),
                        "sampling ended before the program did: seccomp\n"
                        "34.7 % (1.00 s CPU) was used by 1 process that was not recorded\n");
    account_processes_deinit(&account.processes);
}

static void three_lines_at_most_the_worst_first(void **state)
{
    (void)state;
    struct account account = usual();
    const struct account_process process = {
        .clock_fallback = "perf_event_open: Too many open files", .why_stopped = ""};
    assert_true(account_processes_push(&account.processes, process));
    account.all.n_by_clock[CAPTURE_CLOCK_TIMER] = 2;
    assert_string_equal(missing(&account),
                        "sampled by a timer, no faster than the kernel's tick, for want of perf "
                        "events: perf_event_open: Too many open files; a higher limit helps "
                        "(ulimit -n)\n");
    account.all.n_warnings = 2;
    account.all.n_threads_missed = 4;
    account.all.cut_ns[CAPTURE_CUT_TOO_DEEP] = account.all.weight_ns / 2;
    account.all.lost_ns[CAPTURE_LOST_BLOCKED] = account.all.cpu_ns / 4;
    assert_string_equal(
        missing(&account),
        "4 threads without a clock, so not sampled: perf_event_open: Too many open files\n"
        "the recording is damaged in 2 places; what is left of it is in the profile\n"
        "50.0 % is in truncated stacks, whose outer frames are not known: deeper than the limit\n");
    account_processes_deinit(&account.processes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_run_takes_few_words),
        cmocka_unit_test(the_first_line_has_what_is_not_usual),
        cmocka_unit_test(short_processes_are_told_of_when_they_weigh),
        cmocka_unit_test(elapsed_time_and_events_have_lines_of_their_own),
        cmocka_unit_test(a_few_samples_give_no_shares),
        cmocka_unit_test(what_never_began_is_said_so),
        cmocka_unit_test(modules_without_names_are_told_of_when_they_weigh),
        cmocka_unit_test(time_that_is_missing_has_its_reason),
        cmocka_unit_test(processes_that_are_missing_are_named),
        cmocka_unit_test(an_early_end_has_its_reason),
        cmocka_unit_test(three_lines_at_most_the_worst_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
