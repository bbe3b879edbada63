/* test_lock.c - locks of our own: who waits sleeps, and nobody is forgotten: sys/lock.h. */
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "sys/lock.h"
#include "sys/os.h"
#include "unit.h"

#define N_THREADS 8
#define N_ROUNDS 20000

static struct lock lock;
static unsigned n_inside, n_done;
static uint64_t waited_cpu_ns; /* atomic */

static void *count_run(void *argument)
{
    for (unsigned i = 0; i < N_ROUNDS; i++) {
        uint64_t mask = lock_take_masked(&lock);
        n_inside++;
        n_done += n_inside == 1;
        n_inside--;
        lock_give_masked(&lock, mask);
    }
    return argument;
}

/* What one thread does with the lock is done before the next has it; the last is woken like the first. */
static void one_at_a_time(void **state)
{
    pthread_t threads[N_THREADS];
    (void)state;
    n_done = 0;
    for (unsigned i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_run, NULL), 0);
    for (unsigned i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(n_done, N_THREADS * N_ROUNDS);
    assert_true(lock_try(&lock));
    lock_give(&lock);
}

static void *wait_run(void *argument)
{
    uint64_t before_ns = os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    lock_take(&lock);
    lock_give(&lock);
    __atomic_add_fetch(&waited_cpu_ns, os_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns,
                       __ATOMIC_SEQ_CST);
    return argument;
}

/* Its holder may have lost the processor: those that wait leave it to others. */
static void waiting_costs_nothing(void **state)
{
    const struct timespec held = {.tv_nsec = 200000000};
    pthread_t threads[N_THREADS];
    (void)state;
    waited_cpu_ns = 0;
    lock_take(&lock);
    for (unsigned i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_run, NULL), 0);
    os_call(SYS_nanosleep, &held, NULL);
    lock_give(&lock);
    for (unsigned i = 0; i < N_THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_in_range(waited_cpu_ns, 1, 50000000); /* yielding took all of two processors: 400 ms */
}

static uint32_t word; /* atomic */

static void *word_run(void *argument)
{
    uint64_t before_ns = os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned n = 1; __atomic_load_n(&word, __ATOMIC_SEQ_CST) == 0; n++)
        wait_a_moment(n);
    __atomic_add_fetch(&waited_cpu_ns, os_clock_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns,
                       __ATOMIC_SEQ_CST);
    return argument;
}

/* The same for a word that another thread is about to change. */
static void moments_are_slept(void **state)
{
    const struct timespec changed = {.tv_nsec = 200000000};
    pthread_t thread;
    (void)state;
    waited_cpu_ns = 0;
    assert_int_equal(pthread_create(&thread, NULL, word_run, NULL), 0);
    os_call(SYS_nanosleep, &changed, NULL);
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_in_range(waited_cpu_ns, 1, 100000000); /* yielding took all of the 200 ms */
}

/* No handler can want it on top of its holder, whose mask is as it was afterwards. */
static void signals_wait_meanwhile(void **state)
{
    uint64_t usr1 = os_signal_bit(SIGUSR1), before, inside, after;
    (void)state;
    os_sigmask(SIG_BLOCK, &usr1, NULL);
    os_sigmask(SIG_BLOCK, NULL, &before);
    uint64_t mask = lock_take_masked(&lock);
    os_sigmask(SIG_BLOCK, NULL, &inside);
    assert_false(lock_try(&lock));
    lock_give_masked(&lock, mask);
    os_sigmask(SIG_BLOCK, NULL, &after);
    os_sigmask(SIG_UNBLOCK, &usr1, NULL);
    assert_true(before == after && before == mask);
    assert_true(inside == ~(os_signal_bit(SIGKILL) | os_signal_bit(SIGSTOP)));
}

/* As in a forked child whose parent's other thread held it. */
static void reset_is_free(void **state)
{
    (void)state;
    assert_true(lock_try(&lock));
    lock_reset(&lock);
    assert_true(lock_try(&lock));
    lock_give(&lock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_at_a_time),     cmocka_unit_test(waiting_costs_nothing),
        cmocka_unit_test(moments_are_slept), cmocka_unit_test(signals_wait_meanwhile),
        cmocka_unit_test(reset_is_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
