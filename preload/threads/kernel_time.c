/* kernel_time.c - see kernel_time.h. */
#include "threads/kernel_time.h"

#include "sys/os.h"
#include "threads/held_back.h"

/* What a page fault takes, about: 1.4 to 1.9 us on a virtual machine, measured; less without a
 * host below. */
#define FAULT_NS 1000u

/* No call is coming any more that could have used this much: it is given to whatever runs. */
#define ASIDE_MAX_NS UINT64_C(100000000)

/* What the page faults since the last question took, in steps. SIGNAL */
SIGNAL_SAFE static uint64_t fault_steps(struct kernel_time *kernel, uint64_t period_ns)
{
    uint64_t n_faults = os_n_faults(), n_new = n_faults - kernel->n_faults;
    kernel->n_faults = n_faults;
    return (n_new * FAULT_NS + period_ns / 2) / period_ns;
}

/* Of a tick of the event. SIGNAL */
SIGNAL_SAFE static uint64_t steps_in_user_mode(struct thread *thread, uint64_t all)
{
    struct kernel_time *kernel = &thread->kernel_time;
    uint64_t own = 1 + kernel->n_left_out;
    kernel->n_left_out = 0;
    kernel->aside = 0;
    if (all <= own)
        return all;
    uint64_t rest = all - own, in_faults = fault_steps(kernel, thread->grid.period_ns);
    if (in_faults > rest)
        in_faults = rest;
    rest -= in_faults;
    if (rest * thread->grid.period_ns > ASIDE_MAX_NS)
        return all;
    kernel->aside = rest;
    return own + in_faults;
}

/* SIGNAL */
uint64_t kernel_time_steps(struct thread *thread, enum clock_tick tick, const void *context,
                           uint64_t steps)
{
    struct kernel_time *kernel = &thread->kernel_time;
    if (likely(thread->clock.kind != CAPTURE_CLOCK_PERF_USER) || thread->wall != NULL)
        return steps;
    uint64_t all = kernel->aside + steps;
    if (tick == CLOCK_TICK_MAIN)
        return steps_in_user_mode(thread, all);
    /* Where the timer ticks alone it sees user code as well (clock/pace.c). */
    bool is_its_own = thread->clock.pace.is_by_timer || held_back_at_call(context);
    kernel->aside = is_its_own ? 0 : all;
    return is_its_own ? all : 0;
}

/* SIGNAL */
void kernel_time_left_out(struct thread *thread)
{
    thread->kernel_time.n_left_out++;
}

/* any context */
uint64_t kernel_time_rest(struct thread *thread)
{
    uint64_t rest = thread->kernel_time.aside;
    thread->kernel_time.aside = 0;
    return rest;
}
