/* test_pace.c - clock/pace.c: when a timer takes the event's place, and when it gives it back. The
 * engines and the number of switches are wrapped. */
#include "clock/engine.h"
#include "sys/os.h"
#include "unit.h"

#define MS UINT64_C(1000000)

static uint64_t n_switches;
static bool timer_is_refused, event_is_refused;
static int n_timers, n_events; /* armed now */

uint64_t __wrap_os_n_switches(void);
uint64_t __wrap_os_n_switches(void)
{
    return n_switches;
}

int __wrap_clock_timer_arm(struct clock *clock, const struct clock_settings *settings, pid_t tid,
                           uint64_t first_ns, uint64_t period_ns);
int __wrap_clock_timer_arm(struct clock *clock, const struct clock_settings *settings, pid_t tid,
                           uint64_t first_ns, uint64_t period_ns)
{
    assert_int_equal(tid, 0);
    assert_int_equal(first_ns, settings->period_ns);
    assert_int_equal(period_ns, settings->period_ns);
    if (timer_is_refused)
        return 11;
    n_timers++;
    clock->timer_id = 3;
    return 0;
}

bool __wrap_clock_timer_disarm(struct clock *clock);
bool __wrap_clock_timer_disarm(struct clock *clock)
{
    n_timers--;
    clock->timer_id = -1;
    return true;
}

int __wrap_clock_perf_arm(struct clock *clock, const struct clock_settings *settings, pid_t tid,
                          uint64_t first, bool with_kernel);
int __wrap_clock_perf_arm(struct clock *clock, const struct clock_settings *settings, pid_t tid,
                          uint64_t first, bool with_kernel)
{
    assert_int_equal(tid, 0);
    assert_int_equal(first, settings->period_ns);
    assert_int_equal(with_kernel, clock->kind == CAPTURE_CLOCK_PERF);
    if (event_is_refused)
        return 24;
    n_events++;
    return 0;
}

void __wrap_clock_perf_stop(const struct clock *clock);
void __wrap_clock_perf_stop(const struct clock *clock)
{
    (void)clock;
}

void __wrap_clock_perf_disarm(struct clock *clock);
void __wrap_clock_perf_disarm(struct clock *clock)
{
    (void)clock;
    n_events--;
}

/* Longer than the tick of any kernel, so that the timer is expected once in this time. */
static const struct clock_settings settings = {.period_ns = 10 * MS};
static struct clock clock_of_thread;
static uint64_t cpu_ns;

static int make(void **state)
{
    (void)state;
    clock_of_thread = (struct clock){.kind = CAPTURE_CLOCK_PERF, .timer_id = -1};
    clock_pace_setup();
    clock_pace_init(&clock_of_thread.pace);
    n_switches = 100;
    clock_of_thread.pace.n_switches = 100;
    cpu_ns = 0;
    n_timers = 0;
    n_events = 1;
    timer_is_refused = event_is_refused = false;
    return 0;
}

/* So much CPU time, and so many switches in each millisecond of it; then a tick. */
static bool run(uint64_t ms, uint64_t switches_per_ms)
{
    cpu_ns += ms * MS;
    n_switches += ms * switches_per_ms;
    return clock_pace_look(&clock_of_thread, &settings, cpu_ns);
}

static void assert_by_timer(bool is_by_timer)
{
    assert_int_equal(clock_of_thread.pace.is_by_timer, is_by_timer);
    assert_int_equal(n_timers, is_by_timer);
    assert_int_equal(n_events, !is_by_timer);
}

static void who_seldom_switches_keeps_the_event(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++)
        assert_false(run(3, 11));
    assert_by_timer(false);
}

static void who_often_switches_gets_the_timer(void **state)
{
    (void)state;
    assert_false(run(1, 100)); /* too short to tell */
    assert_true(run(1, 100));
    assert_by_timer(true);
}

/* Not by the first calm stretch, and for longer each time. */
static void and_the_event_again_when_calm(void **state)
{
    (void)state;
    assert_true(run(2, 100));
    assert_false(run(15, 0));
    assert_true(run(1, 0));
    assert_by_timer(false);
    assert_true(run(2, 100));
    assert_false(run(31, 5));
    assert_true(run(1, 5));
    assert_by_timer(false);
}

static void between_the_two_limits_nothing_changes(void **state)
{
    (void)state;
    assert_true(run(2, 100));
    for (int i = 0; i < 20; i++)
        assert_false(run(16, 7));
    assert_by_timer(true);
}

/* More than ten ticks missing: the event, and the switches do not count for a while. */
static void whom_the_timer_does_not_see_keeps_the_event(void **state)
{
    (void)state;
    assert_true(run(2, 100));
    assert_false(run(100, 100)); /* ten periods: may happen */
    assert_true(run(101, 100));
    assert_by_timer(false);
    assert_false(run(99, 100));
    assert_true(run(1, 100));
    assert_by_timer(true);
    assert_true(run(101, 100));
    assert_false(run(199, 100));
    assert_by_timer(false);
}

/* An ordinary user's event has a timer next to it, which stays. */
static void a_helper_is_there_already(void **state)
{
    (void)state;
    clock_of_thread.kind = CAPTURE_CLOCK_PERF_USER;
    clock_of_thread.timer_id = 7;
    n_timers = 1;
    assert_true(run(2, 100));
    assert_int_equal(clock_of_thread.timer_id, 7);
    assert_by_timer(true);
    assert_true(run(16, 0));
    assert_int_equal(clock_of_thread.timer_id, 7);
    assert_int_equal(n_timers, 1);
    assert_int_equal(n_events, 1);
}

static void what_is_refused_changes_nothing(void **state)
{
    (void)state;
    timer_is_refused = true;
    assert_false(run(2, 100));
    assert_by_timer(false);
    timer_is_refused = false;
    event_is_refused = true;
    assert_true(run(2, 100));
    assert_false(run(16, 0));
    assert_false(run(101, 0));
    assert_by_timer(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(who_seldom_switches_keeps_the_event, make),
        cmocka_unit_test_setup(who_often_switches_gets_the_timer, make),
        cmocka_unit_test_setup(and_the_event_again_when_calm, make),
        cmocka_unit_test_setup(between_the_two_limits_nothing_changes, make),
        cmocka_unit_test_setup(whom_the_timer_does_not_see_keeps_the_event, make),
        cmocka_unit_test_setup(a_helper_is_there_already, make),
        cmocka_unit_test_setup(what_is_refused_changes_nothing, make),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
