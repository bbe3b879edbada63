/* pace.c - a timer in place of the event, for as long as a thread switches often.
 *
 * The kernel starts the timer of a task-clock event each time the thread gets a processor and takes
 * it away when the thread gives it up. On a virtual machine, where each of these is an exit to the
 * host, a switch costs 5 us more with an event than without: two processes that pass a byte to and
 * fro use five times their CPU. A POSIX timer on the thread's CPU clock costs a switch nothing, as
 * the kernel looks at it at its own tick, but it ticks no faster than that (250 Hz on many
 * systems). Weights come from the CPU clock either way (grid.h), so nothing is lost but detail.
 *
 * Not done: one event inherited by all threads, which the kernel hands on from thread to thread for
 * next to nothing. It needs SIGTRAP for its signal, which stops a debugger and is deadly in a child
 * between vfork and exec; and it is of no use to a thread that switches to another program, or to
 * none, as servers do.
 *
 * The event is closed meanwhile: one that is only stopped still costs a switch 0.8 us. To open it
 * again takes some 50 us, and on a machine without another event it may wait for 10 ms; so a thread
 * that keeps changing between the two stays with the timer for longer each time.
 *
 * A thread may also run between the kernel's ticks only: one side of a pipe that is woken by the
 * other, which is taken off the processor at a tick. A timer hardly ever sees that thread. So when
 * many ticks are missing between two that came, the thread gets its event again, and keeps it for
 * longer each time. */
#include <time.h>

#include "clock/engine.h"
#include "sys/os.h"

/* CPU time until the switches of a thread are counted again: of one with the event, which pays for
 * them until then; of one with the timer, at first and at most; of one that the timer did not see,
 * likewise. */
#define WINDOW_NS UINT64_C(2000000)
#define STAY_NS UINT64_C(16000000)
#define STAY_MAX_NS UINT64_C(1000000000)
#define KEEP_NS UINT64_C(100000000)
#define KEEP_MAX_NS UINT64_C(10000000000)

/* Switches per millisecond of CPU beyond which the timer ticks, at 5 us each some 6 % of the
 * thread's time, and below which the event does again. */
#define OFTEN_PER_MS UINT64_C(12)
#define SELDOM_PER_MS UINT64_C(6)

/* A thread that runs at any time just as likely goes without this many ticks once in 20000. */
#define TICKS_MISSING 10u

#define NS_PER_MS UINT64_C(1000000)

static uint64_t tick_ns; /* from one tick of the kernel to the next; written in SETUP */

/* SETUP */
void clock_pace_setup(void)
{
    struct timespec tick = {0};
    if (os_call(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &tick) == 0)
        tick_ns = (uint64_t)tick.tv_sec * OS_NS_PER_S + (uint64_t)tick.tv_nsec;
}

/* any context */
void clock_pace_init(struct clock_pace *pace)
{
    *pace = (struct clock_pace){.window_ns = WINDOW_NS, .stay_ns = STAY_NS, .keep_ns = KEEP_NS};
}

/* Returns *ns, which is twice as long the next time. SIGNAL */
SIGNAL_SAFE static uint64_t longer_each_time(uint64_t *ns, uint64_t most_ns)
{
    uint64_t now_ns = *ns;
    *ns = 2 * now_ns < most_ns ? 2 * now_ns : most_ns;
    return now_ns;
}

/* SIGNAL */
SIGNAL_SAFE static bool go_to_timer(struct clock *clock, const struct clock_settings *settings)
{
    struct clock_pace *pace = &clock->pace;
    /* Without kernel time the event has a timer as a helper already. */
    if (clock->timer_id < 0 &&
        clock_timer_arm(clock, settings, 0, settings->period_ns, settings->period_ns) != 0)
        return false;
    clock_perf_stop(clock);
    clock_perf_disarm(clock);
    pace->is_by_timer = true;
    pace->window_ns = longer_each_time(&pace->stay_ns, STAY_MAX_NS);
    return true;
}

/* SIGNAL */
SIGNAL_SAFE static bool go_to_event(struct clock *clock, const struct clock_settings *settings)
{
    bool with_kernel = clock->kind == CAPTURE_CLOCK_PERF;
    if (clock_perf_arm(clock, settings, 0, settings->period_ns, with_kernel) != 0)
        return false; /* no descriptor left, say: the timer goes on */
    if (with_kernel)
        clock_timer_disarm(clock);
    clock->pace.is_by_timer = false;
    clock->pace.window_ns = WINDOW_NS;
    return true;
}

/* From one of the timer's ticks to the next, if the thread were never off its processor. SIGNAL */
SIGNAL_SAFE static uint64_t timer_period_ns(const struct clock *clock,
                                            const struct clock_settings *settings)
{
    uint64_t ns = settings->period_ns > tick_ns ? settings->period_ns : tick_ns;
    bool is_helper = clock->kind == CAPTURE_CLOCK_PERF_USER;
    return is_helper && ns < CLOCK_HELPER_PERIOD_NS ? CLOCK_HELPER_PERIOD_NS : ns;
}

/* Whether the timer saw the thread as often as it should since its last tick. SIGNAL */
SIGNAL_SAFE static bool is_seen(struct clock *clock, const struct clock_settings *settings,
                                uint64_t cpu_ns)
{
    uint64_t passed_ns = cpu_ns - clock->pace.ticked_ns;
    clock->pace.ticked_ns = cpu_ns;
    return passed_ns <= TICKS_MISSING * timer_period_ns(clock, settings);
}

/* SIGNAL */
bool clock_pace_look(struct clock *clock, const struct clock_settings *settings, uint64_t cpu_ns)
{
    struct clock_pace *pace = &clock->pace;
    if (pace->is_by_timer && !is_seen(clock, settings, cpu_ns)) {
        if (!go_to_event(clock, settings))
            return false;
        pace->window_ns = longer_each_time(&pace->keep_ns, KEEP_MAX_NS);
        pace->since_ns = cpu_ns;
        pace->n_switches = os_n_switches();
        return true;
    }
    if (cpu_ns - pace->since_ns < pace->window_ns)
        return false;
    uint64_t n_switches = os_n_switches();
    uint64_t n = n_switches - pace->n_switches, passed_ns = cpu_ns - pace->since_ns;
    pace->n_switches = n_switches;
    pace->since_ns = cpu_ns;
    if (pace->is_by_timer && pace->keep_ns > KEEP_NS)
        pace->keep_ns /= 2; /* seen all the while */
    if (pace->is_by_timer)
        return n * NS_PER_MS < SELDOM_PER_MS * passed_ns && go_to_event(clock, settings);
    pace->window_ns = WINDOW_NS;
    pace->ticked_ns = cpu_ns;
    return n * NS_PER_MS > OFTEN_PER_MS * passed_ns && go_to_timer(clock, settings);
}
