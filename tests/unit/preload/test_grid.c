/* test_grid.c - the promises of grid.h. */
#include <signal.h>
#include <time.h>

#include "clock/engine.h"
#include "clock/grid.h"
#include "sys/os.h"
#include "unit.h"

static void points_are_counted_once(void **state)
{
    (void)state;
    struct grid grid;
    grid_init(&grid, 1000, 500, 299); /* points at 800, 1800, 2800 ... */
    assert_int_equal(grid_wait_ns(&grid, 500), 300);
    assert_int_equal(grid_advance(&grid, 799), 0);
    assert_int_equal(grid_advance(&grid, 800), 1);
    assert_int_equal(grid_advance(&grid, 800), 0);
    assert_int_equal(grid_advance(&grid, 1799), 0);
    assert_int_equal(grid_advance(&grid, 5799), 4);
    assert_int_equal(grid_advance(&grid, 5800), 1);
    assert_int_equal(grid_wait_ns(&grid, 5800), 1000);
    assert_int_equal(grid_wait_ns(&grid, 99999), 1);
}

static void clock_going_back_gives_nothing(void **state)
{
    (void)state;
    struct grid grid;
    grid_init(&grid, 1000, 0, 0);
    assert_int_equal(grid_advance(&grid, 10000), 10);
    assert_int_equal(grid_advance(&grid, 3000), 0);
    assert_int_equal(grid_advance(&grid, 10001), 1);
}

/* However the ticks fall, the sum is the number of points in the time that passed. */
static void sum_does_not_depend_on_ticks(void **state)
{
    (void)state;
    uint64_t random = 12345;
    for (int round = 0; round < 200; round++) {
        struct grid grid;
        uint64_t now = 0, sum = 0, period = 1 + random % 5000, phase = random >> 17;
        grid_init(&grid, period, 0, phase);
        for (int i = 0; i < 100; i++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            now += random >> 50;
            sum += grid_advance(&grid, now);
        }
        uint64_t first = 1 + phase % period;
        assert_int_equal(sum, now < first ? 0 : (now - first) / period + 1);
    }
}

/* A thread shorter than a period counts one period as often as its length is a part of it. */
static void short_threads_are_right_on_average(void **state)
{
    (void)state;
    uint64_t sum = 0;
    for (uint64_t phase = 0; phase < 1000; phase++) {
        struct grid grid;
        grid_init(&grid, 1000, 0, phase);
        sum += grid_advance(&grid, 250);
    }
    assert_int_equal(sum, 250);
}

/* A thousand threads of a tenth of a period, whatever was drawn: a hundred points, give or take a
 * few; also every third of them alone. Drawn apart, they would be off by ten (one sigma). */
static void many_short_threads_add_up(void **state)
{
    (void)state;
    const uint64_t period = 10000000, length = 1000000;
    for (uint64_t draw = 1; draw < 200; draw++) {
        uint64_t random = draw * UINT64_C(0xd1342543de82ef95), sum = 0, sum_of_third = 0;
        for (uint64_t n = 0; n < 1000; n++) {
            struct grid grid;
            grid_init(&grid, period, 0, grid_phase_ns(period, random, n));
            assert_in_range(grid_wait_ns(&grid, 0), 1, period);
            uint64_t points = grid_advance(&grid, length);
            sum += points;
            sum_of_third += n % 3 == 0 ? points : 0;
        }
        assert_in_range(sum, 97, 103);
        assert_in_range(sum_of_third, 30, 37);
    }
}

/* A thread whose ticks come faster than the machine handles interrupts never runs again. */
static void period_leaves_the_thread_time(void **state)
{
    (void)state;
    assert_int_equal(clock_perf_period_ns(25000, 50000), 150000);
    assert_int_equal(clock_perf_period_ns(150001, 50000), 150001);
    assert_int_equal(clock_perf_period_ns(25000, 1500), 25000);
    assert_int_equal(clock_perf_period_ns(5000, 1500), 10000);
    assert_int_equal(clock_perf_period_ns(25000, 0), 25000);
}

/* After a first tick that comes soon the event starts anew, or its ticks would stay apart from the points: also where its
 * period is the one it has meanwhile. */
static void event_follows_a_soon_first_tick(void **state)
{
    (void)state;
    const struct clock_settings settings = {.period_ns = 200000, .signo = SIGPROF};
    struct clock clock;
    sigset_t prof;
    sigemptyset(&prof);
    sigaddset(&prof, SIGPROF);
    sigprocmask(SIG_BLOCK, &prof, NULL);
    clock_perf_setup(&settings);
    clock_init(&clock);
    if (clock_perf_arm(&clock, &settings, 0, 50000, false) != 0)
        skip();
    assert_true(clock.first_id >= 0);
    assert_true(clock.first_period);
    clock_perf_disarm(&clock);
    assert_true(clock_timer_disarm(&clock));
    assert_int_equal(clock.first_id, -1);
}

static uint64_t cpu_ns(void)
{
    return os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static bool is_prof_pending(void)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, SIGPROF) == 1;
}

static void event_starts_anew_where_it_is_put_off(void **state)
{
    (void)state;
    const struct clock_settings settings = {.period_ns = 20000000, .signo = SIGPROF};
    struct clock clock;
    sigset_t prof;
    sigemptyset(&prof);
    sigaddset(&prof, SIGPROF);
    sigprocmask(SIG_BLOCK, &prof, NULL);
    clock_perf_setup(&settings);
    clock_init(&clock);
    if (clock_perf_arm(&clock, &settings, 0, settings.period_ns, false) != 0)
        skip();
    for (uint64_t start_ns = cpu_ns(); cpu_ns() - start_ns < 15000000;)
        continue;
    clock_put_off(&clock);
    const struct timespec at_once = {0};
    sigtimedwait(&prof, NULL, &at_once); /* one of an earlier test */
    uint64_t from_ns = cpu_ns();
    while (!is_prof_pending() && cpu_ns() - from_ns < 1000000000)
        continue;
    /* A host that takes time away lets it come early. */
    assert_in_range(cpu_ns() - from_ns, 10000000, 900000000);
    clock_perf_disarm(&clock);
    sigtimedwait(&prof, NULL, &at_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_are_counted_once),
        cmocka_unit_test(clock_going_back_gives_nothing),
        cmocka_unit_test(sum_does_not_depend_on_ticks),
        cmocka_unit_test(short_threads_are_right_on_average),
        cmocka_unit_test(many_short_threads_add_up),
        cmocka_unit_test(period_leaves_the_thread_time),
        cmocka_unit_test(event_follows_a_soon_first_tick),
        cmocka_unit_test(event_starts_anew_where_it_is_put_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
