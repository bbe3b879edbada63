/* thread_end.c - threads go: the destructor of a thread-specific key reports it.
 *
 * It puts itself off to the last round, so that the program's own destructors are sampled too. A
 * thread that ends past libc (a raw clone's) is found missing by threads/scan.h. */
#include <limits.h>
#include <pthread.h>

#include "hooks/hooks.h"
#include "threads/life.h"
#include "threads/scan.h"
#include "threads/slots.h"

static pthread_key_t end_key;

/* HOOK: the thread is ending */
static void on_thread_end(void *value)
{
    struct thread *thread = value;
    if (thread != thread_self || !hooks_active() || !session_is_ours())
        return;
    if (++thread->destructor_rounds < PTHREAD_DESTRUCTOR_ITERATIONS &&
        pthread_setspecific(end_key, thread) == 0)
        return;
    scan_thread_ends();
    thread_end(thread);
    altstack_take_back();
}

/* HOOK, SETUP */
void thread_end_await(struct thread *thread)
{
    pthread_setspecific(end_key, thread);
}

/* SETUP */
bool thread_end_setup(void)
{
    return pthread_key_create(&end_key, on_thread_end) == 0;
}
