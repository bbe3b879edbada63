/* clocks.c - the CPU clock of the process, as fine for the program as without us.
 *
 * While there is a timer on that clock, as ours is (threads/scan.h), a question for it is answered
 * by what was written down last, at a tick of the kernel's: it would stand still for 4 ms, then
 * jump. The clock of the calling thread is brought up to date by being asked, and that of the
 * process with it. So that one is asked first, and the answer is what it would have been: of other
 * threads that run, the kernel never says more than what their last tick wrote down.
 *
 * Elsewhere nothing changes: getrusage and times have sums of their own. Open: questions by a bare
 * system call. */
#include <time.h>

#include "hooks/hooks.h"
#include "sys/os.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

/* Of this process by name, or of any by number, clock_getcpuclockid(3): there the lowest bits say
 * what is counted, and for whom. any context */
SIGNAL_SAFE static inline bool is_cpu_of_process(clockid_t id)
{
    const unsigned kind_mask = 7, all_cpu_of_process = 2;
    return id == CLOCK_PROCESS_CPUTIME_ID ||
           (id < 0 && ((unsigned)id & kind_mask) == all_cpu_of_process);
}

/* HOOK */
HOOK_EXPORT int clock_gettime(clockid_t id, struct timespec *now)
{
    if (unlikely(is_cpu_of_process(id)) && hooks_active())
        os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return LIBC_REAL(clock_gettime)(id, now);
}

/* HOOK */
HOOK_EXPORT clock_t clock(void)
{
    if (hooks_active())
        os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    return LIBC_REAL(clock)();
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
