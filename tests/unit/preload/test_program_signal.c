/* test_program_signal.c - signals of the program under the number we use: signals/program_signal.h. */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "signals/program_signal.h"
#include "sys/os.h"
#include "threads/thread.h"
#include "unit.h"

static int waiting; /* atomic */

/* Takes what is sent to it, as a thread in sigwait would. */
static void *waiter_run(void *info)
{
    sigset_t prof;
    sigemptyset(&prof);
    sigaddset(&prof, SIGPROF);
    program_signal_wait(true);
    __atomic_store_n(&waiting, 1, __ATOMIC_RELEASE);
    int signo = sigwaitinfo(&prof, info);
    program_signal_wait(false);
    return signo == SIGPROF ? info : NULL;
}

/* One for the process, which the thread it came to has blocked: kept, and the one that waits is poked. */
static void keep_one(siginfo_t *poke)
{
    struct thread blocked = {.mask_blocked = true};
    siginfo_t sent = {.si_signo = SIGPROF, .si_code = SI_USER, .si_pid = 4711};
    struct sigaction action;
    pthread_t waiter;
    void *result;
    waiting = 0;
    assert_int_equal(pthread_create(&waiter, NULL, waiter_run, poke), 0);
    while (__atomic_load_n(&waiting, __ATOMIC_ACQUIRE) == 0)
        continue;
    assert_false(program_signal_arrived(SIGPROF, &sent, &blocked, &action));
    assert_int_equal(pthread_join(waiter, &result), 0);
    assert_ptr_equal(result, poke);
    assert_int_equal(blocked.n_arrived, 1);
}

static void on_prof(int signo)
{
    (void)signo;
}

/* What is kept goes once to the thread that has it unblocked; a poke that finds it gone is nothing, and does not count
 * as a signal that arrived: whoever sends one to himself would take it for that one. */
static void pokes_do_not_count(void **state)
{
    (void)state;
    const struct sigaction wanted = {.sa_handler = on_prof};
    struct thread takes = {.mask_blocked = false};
    struct sigaction action;
    siginfo_t poke, taken;
    program_signal_set(&wanted);

    keep_one(&poke);
    assert_true(program_signal_is_poke(&poke));
    taken = poke;
    assert_true(program_signal_arrived(SIGPROF, &taken, &takes, &action));
    assert_int_equal(taken.si_pid, 4711);
    assert_ptr_equal(action.sa_handler, on_prof);
    assert_int_equal(takes.n_arrived, 0);

    keep_one(&poke);
    assert_true(program_signal_take(&taken));
    assert_int_equal(taken.si_pid, 4711);
    assert_false(program_signal_arrived(SIGPROF, &poke, &takes, &action));
    assert_int_equal(takes.n_arrived, 0);
    assert_false(program_signal_is_held());
}

int main(void)
{
    sigset_t prof;
    sigemptyset(&prof);
    sigaddset(&prof, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &prof, NULL);
    const struct CMUnitTest tests[] = {cmocka_unit_test(pokes_do_not_count)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
