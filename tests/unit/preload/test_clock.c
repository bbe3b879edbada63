/* test_clock.c - clock/clock.h: a clock that is awaited. On the kernel's own timers; what a machine
 * allows of events does not matter. */
#include <signal.h>
#include <sys/resource.h>
#include <time.h>

#include "clock/clock.h"
#include "sys/os.h"
#include "unit.h"

#define MS UINT64_C(1000000)

static struct clock clock_of_thread;
static volatile sig_atomic_t n_main, n_other; /* ticks */

static void on_tick(int signo, siginfo_t *info, void *context)
{
    (void)signo;
    (void)context;
    if (clock_tick_of(&clock_of_thread, info) == CLOCK_TICK_MAIN)
        n_main++;
    else
        n_other++;
}

static void set_up(enum settings_measure measure, uint64_t period_ns)
{
    static struct settings settings; /* of which the clock keeps the event */
    settings = (struct settings){.period_ns = period_ns,
                                 .step = period_ns,
                                 .measure = measure,
                                 .event = {.type = 1, .config = 2, .user_only = true},
                                 .signo = SIGPROF};
    struct sigaction action = {.sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART};
    assert_int_equal(sigaction(SIGPROF, &action, NULL), 0);
    clock_setup(&settings);
    clock_init(&clock_of_thread);
    n_main = n_other = 0;
}

static void work(uint64_t ns)
{
    uint64_t end_ns = os_clock_ns(CLOCK_MONOTONIC) + ns;
    while (os_clock_ns(CLOCK_MONOTONIC) < end_ns)
        continue;
}

static void it_ticks_until_it_is_disarmed(void **state)
{
    (void)state;
    set_up(SETTINGS_CPU, MS);
    assert_true(clock_await(&clock_of_thread, 2 * MS));
    assert_true(clock_is_awaited(&clock_of_thread));
    assert_int_equal(clock_of_thread.perf_fd, -1);
    assert_int_equal(clock_of_thread.timer_id, -1);
    assert_int_not_equal(clock_of_thread.kind, CAPTURE_CLOCK_NONE);
    for (unsigned i = 0; i < 5000 && n_main < 3; i++)
        work(MS);
    assert_true(n_main >= 3);
    assert_int_equal(n_other, 0);
    assert_true(clock_disarm(&clock_of_thread));
    assert_false(clock_is_awaited(&clock_of_thread));
    int n = n_main;
    work(5 * MS);
    assert_int_equal(n_main + n_other, n);
}

/* Again after what is left, if the thread ran a quarter of the time at least. */
static void a_rest_is_awaited_by_one_that_runs(void **state)
{
    (void)state;
    set_up(SETTINGS_CPU, MS);
    assert_true(clock_await(&clock_of_thread, 1000000 * MS));
    assert_false(clock_await_rest(&clock_of_thread, 750001 * MS));
    assert_int_equal(clock_of_thread.await_ns, 1000000 * MS);
    assert_true(clock_await_rest(&clock_of_thread, 750000 * MS));
    assert_int_equal(clock_of_thread.await_ns, 750000 * MS);
    work(5 * MS);
    assert_int_equal(n_main, 0);
    assert_true(clock_await_rest(&clock_of_thread, 1));
    for (unsigned i = 0; i < 5000 && n_main == 0; i++)
        work(MS);
    assert_true(n_main >= 1);
    assert_true(clock_is_awaited(&clock_of_thread));
    assert_true(clock_disarm(&clock_of_thread));
}

static void without_a_timer_it_is_armed_at_once(void **state)
{
    (void)state;
    struct rlimit before, none;
    set_up(SETTINGS_CPU, MS);
    assert_int_equal(getrlimit(RLIMIT_SIGPENDING, &before), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &none), 0);
    bool is_armed = clock_await(&clock_of_thread, 2 * MS);
    assert_int_equal(setrlimit(RLIMIT_SIGPENDING, &before), 0);
    assert_false(clock_is_awaited(&clock_of_thread));
    /* By an event, which needs no timer, or not at all where events are forbidden. */
    assert_int_equal(is_armed, clock_of_thread.perf_fd >= 0);
    clock_disarm(&clock_of_thread);
}

/* What is counted is counted from the start, the watcher needs its files, and periods that are too short
 * for an event have a timer anyway. */
static void what_is_not_awaited(void **state)
{
    static const struct {
        enum settings_measure measure;
        uint64_t period_ns;
    } cases[] = {{SETTINGS_EVENT, MS}, {SETTINGS_WALL, MS}, {SETTINGS_CPU, MS / 10}};
    (void)state;
    for (size_t i = 0; i < N_ELEMENTS(cases); i++) {
        set_up(cases[i].measure, cases[i].period_ns);
        bool is_armed = clock_await(&clock_of_thread, cases[i].period_ns);
        assert_false(clock_is_awaited(&clock_of_thread));
        assert_true(!is_armed || clock_of_thread.perf_fd >= 0 || clock_of_thread.timer_id >= 0);
        clock_disarm(&clock_of_thread);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_ticks_until_it_is_disarmed),
        cmocka_unit_test(a_rest_is_awaited_by_one_that_runs),
        cmocka_unit_test(without_a_timer_it_is_armed_at_once),
        cmocka_unit_test(what_is_not_awaited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
