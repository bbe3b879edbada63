/* threads.c - threads come: pthread_create, thrd_create, clone. Their end is thread_end.c's.
 *
 * The creator reserves the slot and passes it on as the argument: so the new thread allocates
 * nothing before it is sampled, and a scan that sees it before it gets to run knows that one is on
 * its way (threads/scan.c). The new thread begins itself, before the program's function. */
#include <errno.h>
#include <sched.h>
#include <stdarg.h>

#include "hooks/hooks.h"
#include "process/session.h"
#include "signals/program_mask.h"
#include "sys/os.h"
#include "threads/life.h"
#include "threads/scan.h"
#include "threads/slots.h"

/* What we need of a small stack at most, of which the kernel's frame of a signal is the most (12 kB
 * with AMX). */
#define OUR_STACK_BYTES 32768u

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are reserved */

/* The first thing in a new thread; our signal may be blocked, by the creator's mask or
 * attributes. HOOK */
static void begin_created(struct thread *thread)
{
    const uint64_t all = ~UINT64_C(0);
    uint64_t entered_cpu_ns = os_clock_ns(CLOCK_THREAD_CPUTIME_ID), mask = 0;
    os_sigmask(SIG_BLOCK, &all, &mask);
    if (session_phase() == SESSION_RUNNING) {
        thread_end_await(thread);
        if (unlikely(thread->has_small_stack))
            altstack_lend();
        thread_begin(thread, entered_cpu_ns, true);
    } else {
        thread_unreserve(thread);
    }
    mask &= ~os_signal_bit(session.settings.signo);
    os_sigmask(SIG_SETMASK, &mask, NULL);
}

/* HOOK: a new thread. The last call is a jump in optimised builds, so we leave no frame. */
static void *run_posix(void *argument)
{
    struct thread *thread = argument;
    void *(*start)(void *) = thread->start;
    void *its_argument = thread->argument;
    begin_created(thread);
    return start(its_argument);
}

/* HOOK: a new thread */
static int run_c11(void *argument)
{
    struct thread *thread = argument;
    int (*start)(void *) = thread->start_c11;
    void *its_argument = thread->argument;
    begin_created(thread);
    return start(its_argument);
}

/* A slot for the thread about to be created, NULL when it is not to be sampled. HOOK */
static struct thread *reserve(void *argument)
{
    start_once(); /* another library's constructor may make threads before ours has run */
    if (session_phase() != SESSION_RUNNING || !session_is_ours())
        return NULL;
    int saved_errno = errno;
    hooks_place();
    struct thread *thread = thread_reserve();
    errno = saved_errno;
    if (thread == NULL)
        return NULL;
    thread->argument = argument;
    thread->has_small_stack = false;
    thread->mask_blocked = mask_believed();
    return thread;
}

/* Whether the stack of a thread with these attributes has no room for us; then *larger becomes a
 * copy of them that asks for more, or the thread is marked where the memory is the program's own.
 * Returns the attributes to create it with. HOOK */
static const pthread_attr_t *attributes_for(struct thread *thread, const pthread_attr_t *attributes,
                                            pthread_attr_t *larger)
{
    void *at;
    size_t n_bytes;
    if (attributes == NULL || pthread_attr_getstack(attributes, &at, &n_bytes) != 0 ||
        n_bytes >= HOOKS_SMALL_STACK_BYTES)
        return attributes;
    if ((uintptr_t)at + n_bytes !=
        0) { /* glibc counts from the end, which is 0 where none is set */
        thread->has_small_stack = true;
        return attributes;
    }
    *larger = *attributes;
    return pthread_attr_setstacksize(larger, n_bytes + OUR_STACK_BYTES) == 0 ? larger : attributes;
}

/* HOOK */
HOOK_EXPORT int pthread_create(pthread_t *created, const pthread_attr_t *attributes,
                               void *(*start)(void *), void *argument)
{
    struct thread *thread = reserve(argument);
    sigset_t mask;
    pthread_attr_t larger;
    if (thread == NULL)
        return LIBC_REAL(pthread_create)(created, attributes, start, argument);
    thread->start = start;
    if (attributes != NULL && pthread_attr_getsigmask_np(attributes, &mask) == 0)
        thread->mask_blocked = sigismember(&mask, session.settings.signo) == 1;
    const pthread_attr_t *given = attributes_for(thread, attributes, &larger);
    int error = LIBC_REAL(pthread_create)(created, given, run_posix, thread);
    if (error != 0)
        thread_unreserve(thread);
    return error;
}

/* HOOK */
HOOK_EXPORT int thrd_create(thrd_t *created, thrd_start_t start, void *argument)
{
    struct thread *thread = reserve(argument);
    if (thread == NULL)
        return LIBC_REAL(thrd_create)(created, start, argument);
    thread->start_c11 = start;
    int error = LIBC_REAL(thrd_create)(created, run_c11, thread);
    if (error != thrd_success)
        thread_unreserve(thread);
    return error;
}

/* libc's clone ends the thread when its function returns, and with it the process that has no other. Ours
 * may have one more of our own (-e wall). EXIT, in the child */
__attribute__((noreturn)) static void clone_returned(int status)
{
    if (session_phase() == SESSION_RUNNING && session_is_ours() && session_has_one_thread())
        _exit(status);
    for (;;)
        os_call(SYS_exit, status);
}

/* Calls the function on the stack that the program gave for it; what follows is on the one it was called
 * on. HOOK, in the child */
__attribute__((noreturn)) static void run_on(void *stack, int (*function)(void *), void *argument)
{
    register void (*returned)(int) __asm__("r12") = clone_returned;
    __asm__ volatile(".cfi_remember_state\n\t"
                     ".cfi_undefined rip\n\t" /* no frame lies outside */
                     "movq %%rsp, %%rbx\n\t"
                     "movq %0, %%rsp\n\t"
                     "xorl %%ebp, %%ebp\n\t"
                     "callq *%1\n\t"
                     "leaq -256(%%rbx), %%rsp\n\t" /* below the red zone */
                     "andq $-16, %%rsp\n\t"
                     "movl %%eax, %%edi\n\t"
                     "callq *%3\n\t"
                     "hlt\n\t"
                     ".cfi_restore_state"
                     :
                     : "a"((uintptr_t)stack & ~UINT64_C(15)), "d"(function), "D"(argument),
                       "r"(returned)
                     : "rbx", "memory");
    __builtin_unreachable();
}

/* The process copied: the child's first steps are on the copy of our own stack, as the other may be too
 * small for them. HOOK */
static int clone_process(int (*function)(void *), void *stack, int flags, void *argument,
                         pid_t *parent_tid, pid_t *child_tid)
{
    long result = hooks_fork_by_clone((unsigned)flags, parent_tid, child_tid);
    if (result == 0)
        run_on(stack, function, argument);
    return (int)result;
}

/* A thread that libc knows nothing of: nothing of ours may run in it, as it may share its creator's
 * thread-local storage, or have none. It gets its clock from here. HOOK */
HOOK_EXPORT int clone(int (*function)(void *), void *stack, int flags, void *argument, ...)
{
    va_list rest;
    va_start(rest, argument);
    pid_t *parent_tid = va_arg(rest, pid_t *); /* libc's reads all three, given or not */
    void *tls = va_arg(rest, void *);
    pid_t *child_tid = va_arg(rest, pid_t *);
    va_end(rest);
    if (function != NULL && stack != NULL && hooks_clone_is_fork((unsigned)flags))
        return clone_process(function, stack, flags, argument, parent_tid, child_tid);
    int tid = LIBC_REAL(clone)(function, stack, flags, argument, parent_tid, tls, child_tid);
    if (tid > 0 && ((unsigned)flags & CLONE_THREAD) != 0 && session_phase() == SESSION_RUNNING) {
        int saved_errno = errno;
        scan_cover_new(tid);
        errno = saved_errno;
    }
    return tid;
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
