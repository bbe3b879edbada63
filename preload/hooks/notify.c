/* notify.c - threads that libc makes by itself to call a function of the program: what SIGEV_THREAD
 * means. No pthread_create of ours sees them, and they are gone before a look finds them
 * (threads/scan.h). So libc is given a function of ours, by which the thread begins itself, and that
 * jumps to the program's.
 *
 * The value it is called with is the program's, and libc may call it any number of times, also when
 * the timer is gone. So nothing is made for each timer, to be freed when nobody knows: there is one
 * function of ours for each of the program's, which are few; when all are taken, the next is called
 * directly, as without us.
 *
 * Not for aio and lio_listio: the event is read from the program's memory, when all is done. */
#include <errno.h>
#include <mqueue.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "hooks/hooks.h"
#include "sys/os.h"
#include "threads/scan.h"
#include "threads/slots.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

typedef void notified_function(union sigval);

/* One line for each. */
#define FUNCTIONS_4(X, n) X(n##0) X(n##1) X(n##2) X(n##3)
#define FUNCTIONS(X) FUNCTIONS_4(X, 0) FUNCTIONS_4(X, 1) FUNCTIONS_4(X, 2) FUNCTIONS_4(X, 3)

enum {
#define NAME_NUMBER(n) NUMBER_##n,
    FUNCTIONS(NAME_NUMBER)
#undef NAME_NUMBER
        N_FUNCTIONS
};

/* Of the program; filled from the front, and never changed: atomic. */
static notified_function *functions[N_FUNCTIONS];

/* HOOK: a new thread */
static void begin(void)
{
    const uint64_t all = ~UINT64_C(0), ours = os_signal_bit(session.settings.signo);
    uint64_t entered_cpu_ns = os_clock_ns(CLOCK_THREAD_CPUTIME_ID), mask = 0;
    os_sigmask(SIG_BLOCK, &all, &mask);
    struct thread *thread =
        session_phase() == SESSION_RUNNING && session_is_ours() ? thread_reserve() : NULL;
    if (thread != NULL) {
        thread->has_small_stack = false;
        thread->mask_blocked = (mask & ours) != 0;
        thread_end_await(thread);
        scan_begin_here(thread, entered_cpu_ns);
        mask &= ~ours;
    }
    os_sigmask(SIG_SETMASK, &mask, NULL);
}

#define DEFINE_FUNCTION(n)                                                                         \
    static void notified_##n(union sigval value)                                                   \
    {                                                                                              \
        begin();                                                                                   \
        functions[NUMBER_##n](value);                                                              \
    }
FUNCTIONS(DEFINE_FUNCTION)
#undef DEFINE_FUNCTION

/* Without a table, which the loader would have to relocate in each process. HOOK */
static notified_function *function_of_ours(unsigned number)
{
    switch (number) {
#define RETURN_FUNCTION(n)                                                                         \
    case NUMBER_##n:                                                                               \
        return notified_##n;
        FUNCTIONS(RETURN_FUNCTION)
#undef RETURN_FUNCTION
    default:
        return NULL;
    }
}

/* The one of ours that calls `function`; `function` itself if there is none left. HOOK */
static notified_function *stand_in(notified_function *function)
{
    for (unsigned i = 0; i < N_FUNCTIONS; i++) {
        notified_function *taken_by = NULL;
        if (__atomic_compare_exchange_n(&functions[i], &taken_by, function, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE) ||
            taken_by == function)
            return function_of_ours(i);
    }
    return function;
}

/* Its stack has room for our handler, too. HOOK */
static bool has_room(const pthread_attr_t *attributes)
{
    size_t n_bytes;
    return attributes == NULL || pthread_attr_getstacksize(attributes, &n_bytes) != 0 ||
           n_bytes >= HOOKS_SMALL_STACK_BYTES;
}

/* `event`, or `*ours` instead, which is that with a function of ours. HOOK */
static const struct sigevent *event_of_ours(const struct sigevent *event, struct sigevent *ours)
{
    if (event == NULL || event->sigev_notify != SIGEV_THREAD ||
        event->sigev_notify_function == NULL || !has_room(event->sigev_notify_attributes) ||
        session_phase() != SESSION_RUNNING || !session_is_ours())
        return event;
    int saved_errno = errno;
    hooks_place();
    errno = saved_errno;
    *ours = *event;
    ours->sigev_notify_function = stand_in(event->sigev_notify_function);
    return ours;
}

/* HOOK */
HOOK_EXPORT int timer_create(clockid_t id, struct sigevent *event, timer_t *timer)
{
    struct sigevent ours;
    return LIBC_REAL(timer_create)(id, event_of_ours(event, &ours), timer);
}

/* HOOK */
HOOK_EXPORT int mq_notify(mqd_t queue, const struct sigevent *event)
{
    struct sigevent ours;
    return LIBC_REAL(mq_notify)(queue, event_of_ours(event, &ours));
}

/* HOOK */
HOOK_EXPORT int getaddrinfo_a(int mode, struct gaicb *list[], int n, struct sigevent *event)
{
    struct sigevent ours;
    return LIBC_REAL(getaddrinfo_a)(mode, list, n, event_of_ours(event, &ours));
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
