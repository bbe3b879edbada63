/* What -e may name, and what becomes of it. */
#include <linux/perf_event.h>
#include <string.h>

#include "state/event.h"
#include "unit.h"

static struct event parse(const char *text)
{
    struct event event;
    const char *why = NULL;
    if (!event_parse(text, &event, &why))
        fail_msg("%s: %s", text, why);
    assert_string_equal(event.name, text);
    assert_true(event.default_period > 0);
    return event;
}

static void names_are_known(void **state)
{
    (void)state;
    struct event event = parse("page-faults");
    assert_int_equal(event.type, PERF_TYPE_SOFTWARE);
    assert_int_equal(event.config, PERF_COUNT_SW_PAGE_FAULTS);
    assert_int_equal(event.default_period, 1);
    assert_false(event.at_return);
    event = parse("instructions");
    assert_int_equal(event.type, PERF_TYPE_HARDWARE);
    assert_int_equal(event.config, PERF_COUNT_HW_INSTRUCTIONS);
    event = parse("L1-dcache-load-misses");
    assert_int_equal(event.type, PERF_TYPE_HW_CACHE);
    assert_int_equal(event.config, 0x10000);
    event = parse("LLC-stores");
    assert_int_equal(event.config, PERF_COUNT_HW_CACHE_LL | PERF_COUNT_HW_CACHE_OP_WRITE << 8);
    event = parse("dTLB-prefetches");
    assert_int_equal(event.config, PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_PREFETCH << 8);
    event = parse("r1a2");
    assert_int_equal(event.type, PERF_TYPE_RAW);
    assert_int_equal(event.config, 0x1a2);
}

/* Their ticks must not break off the call in which they happen. */
static void events_inside_calls_wait(void **state)
{
    (void)state;
    assert_true(parse("context-switches").at_return);
    assert_true(parse("cs").at_return);
    assert_true(parse("cpu-migrations").at_return);
    assert_false(parse("task-clock").at_return);
}

static void user_mode_alone(void **state)
{
    (void)state;
    struct event event = parse("cycles:u");
    assert_true(event.user_only);
    assert_int_equal(event.config, PERF_COUNT_HW_CPU_CYCLES);
    assert_false(parse("cycles").user_only);
}

static void what_is_no_event(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "cycle",
        "",
        ":u",
        "r",
        "rxyz",
        "r12345678901234567",
        "L1-dcache",
        "L1-dcache-loadx",
        "L1-dcache-load",
        "sched:../../../etc",
        "no_group:no_point",
        "pagefaults",
        "Cycles",
        "a-name-that-is-longer-than-any-event-could-ever-be-and-does-not-fit-the-field"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct event event;
        const char *why = NULL;
        assert_false(event_parse(texts[i], &event, &why));
        assert_non_null(why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_known),
        cmocka_unit_test(events_inside_calls_wait),
        cmocka_unit_test(user_mode_alone),
        cmocka_unit_test(what_is_no_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
