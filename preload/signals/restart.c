/* restart.c - see restart.h.
 *
 * To make a call again is to put the thread back onto `syscall` with the number in rax: the kernel
 * has left all registers with arguments as they were. What differs from call to call is only where
 * the timeout is (shorten). */
#include "signals/restart.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <ucontext.h>

#include "signals/syscall_number.h"
#include "state/run.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "threads/find.h"
#include "threads/thread.h"

__thread struct restart_thread restart_thread;

/* Counts in the slot, not in thread-local storage: the program's handlers also run in threads that
 * have none. any context */
SIGNAL_SAFE static struct thread *count_handler(void)
{
    struct thread *thread = thread_of_tid(tls_gettid());
    if (thread != NULL)
        __atomic_store_n(&thread->n_handlers, thread->n_handlers + 1, __ATOMIC_RELAXED);
    return thread;
}

#if defined(__x86_64__)

/* How far below its hook's frame a wait may be: libc's own frames. */
#define WAIT_DEPTH_BYTES 1024u

/* The same for the rest of a transfer, whose hook may have an array of buffers in its frame. */
#define REST_DEPTH_BYTES 65536u
#define NS_PER_MS 1000000
#define NS_LIMIT_S (INT64_C(1) << 32) /* its nanoseconds fit into 63 bits */

/* The flags with which a call is made again, and which the kernel keeps over it: thus it is known
 * when it is interrupted once more. No result of a calculation is zero and negative at once, and
 * flags mean nothing to a program after `syscall`: compilers take them as lost in inline assembly. */
#define FLAGS_OF_RESULT UINT64_C(0x8d5) /* CF, PF, AF, ZF, SF, OF */
#define FLAGS_AGAIN UINT64_C(0x8c1)     /* CF, ZF, SF, OF */

/* Calls that may return EINTR in spite of SA_RESTART (signal(7)) and have done nothing when they
 * do. close is not one of them: the descriptor is gone. SIGNAL */
SIGNAL_SAFE static bool can_be_repeated(uint32_t number)
{
    switch (number) {
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_rt_sigtimedwait:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_futex:
    case SYS_read:
    case SYS_readv:
    case SYS_preadv:
    case SYS_pread64:
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_sendfile:
    case SYS_splice:
    case SYS_tee:
    case SYS_vmsplice:
    case SYS_copy_file_range:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_io_getevents:
    case SYS_io_pgetevents:
    case SYS_io_uring_enter:
    case SYS_mq_timedreceive:
    case SYS_mq_timedsend:
    case SYS_flock:
    case SYS_fcntl:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_openat:
    case SYS_open:
    case SYS_ioctl:
    case SYS_getrandom:
        return true;
    default:
        return false;
    }
}

/* Whether the program has a handler for a signal: one that is ignored, or that stops or ends the
 * program, is no reason for EINTR. The kernel is asked, as it knows of handlers set past our hooks.
 * SIGNAL */
SIGNAL_SAFE static bool has_handler(int signo)
{
    struct {
        uint64_t handler, flags, restorer, mask;
    } action = {0};
    if (os_call(SYS_rt_sigaction, signo, NULL, &action, OS_SIGSET_BYTES) != 0)
        return true;
    return action.handler > 1; /* SIG_DFL, SIG_IGN */
}

/* Whether a signal is pending that the program will take as soon as ours is done. Our handler has
 * all signals blocked, so every pending one is shown. One of our own number (*one_of_ours) is most
 * likely the next tick, which a sample that took long has behind it; if it is the program's,
 * repeat_pc shows its handler what it interrupted. SIGNAL */
SIGNAL_SAFE static bool other_signal_waits(const ucontext_t *context, bool *one_of_ours)
{
    uint64_t pending = 0, ours = os_signal_bit(session.settings.signo);
    os_sigpending(&pending);
    pending &= ~os_sigset_bits(&context->uc_sigmask);
    *one_of_ours = (pending & ours) != 0;
    pending &= ~ours;
    for (; pending != 0; pending &= pending - 1)
        if (has_handler(__builtin_ctzll(pending) + 1))
            return true;
    return false;
}

/* A call that has just returned from the kernel: `syscall` leaves its return address in rcx, and an
 * interrupted call has -EINTR as its result. any context */
SIGNAL_SAFE static bool is_broken_off(const greg_t *registers)
{
    return registers[REG_RAX] == -EINTR && registers[REG_RCX] == registers[REG_RIP];
}

/* SIGNAL */
SIGNAL_SAFE static struct timespec *timespec_at(greg_t address)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): an argument the kernel has just read */
    return (struct timespec *)(uintptr_t)address;
}

/* Whether an interrupted call is one that was made again. SIGNAL */
SIGNAL_SAFE static bool is_again(const greg_t *registers)
{
    return ((uint64_t)registers[REG_EFL] & FLAGS_OF_RESULT) == FLAGS_AGAIN;
}

/* SIGNAL */
SIGNAL_SAFE static sa_family_t family_at(greg_t address)
{
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): a register of the interrupted thread */
    return ((const struct sockaddr *)(uintptr_t)address)->sa_family;
}

/* What a call waits at most; 0 = for ever, or for so long that nobody will see its end. SIGNAL */
SIGNAL_SAFE static uint64_t wait_ns(int64_t seconds, int64_t ns)
{
    return seconds < NS_LIMIT_S ? (uint64_t)seconds * OS_NS_PER_S + (uint64_t)ns : 0;
}

/* A wait of `first_ns` that is interrupted for the first time, or once more: what is left of it is
 * in again->left. False when nothing is. SIGNAL */
SIGNAL_SAFE static bool is_time_left(struct thread_again *again, const greg_t *registers,
                                     uint64_t first_ns)
{
    uint64_t now_ns = os_clock_ns(CLOCK_MONOTONIC);
    if (!is_again(registers))
        again->until_ns = now_ns + first_ns;
    uint64_t left_ns = again->until_ns > now_ns ? again->until_ns - now_ns : 0;
    again->left = (struct timespec){.tv_sec = (time_t)(left_ns / OS_NS_PER_S),
                                    .tv_nsec = (long)(left_ns % OS_NS_PER_S)};
    return left_ns != 0;
}

/* Which register has a call's timeout in milliseconds; -1 = it has none. any context */
SIGNAL_SAFE static int milliseconds_of(uint32_t number)
{
    if (number == SYS_poll)
        return REG_RDX;
    return number == SYS_epoll_wait || number == SYS_epoll_pwait ? REG_R10 : -1;
}

/* For a wait whose hook noted when it began; false when it is none of those. SIGNAL */
SIGNAL_SAFE static bool shorten_noted(uint32_t number, greg_t *registers)
{
    const struct restart_thread *wait = &restart_thread;
    int milliseconds = milliseconds_of(number);
    uint64_t depth = wait->wait_frame - (uint64_t)registers[REG_RSP];
    if (milliseconds < 0 || wait->wait_start_ns == 0 || depth > WAIT_DEPTH_BYTES)
        return false;
    int64_t passed_ns = (int64_t)(os_clock_ns(CLOCK_MONOTONIC) - wait->wait_start_ns);
    int64_t left_ns = (int64_t)wait->wait_ms * NS_PER_MS - passed_ns;
    int64_t left_ms = left_ns <= 0 ? 0 : (left_ns + NS_PER_MS - 1) / NS_PER_MS;
    if (left_ms < (int32_t)registers[milliseconds])
        registers[milliseconds] = (greg_t)left_ms;
    return true;
}

/* For any other wait: of a runtime's own, or of libc's. SIGNAL */
SIGNAL_SAFE static bool shorten_ms(struct thread_again *again, greg_t *milliseconds,
                                   const greg_t *registers)
{
    int32_t given_ms = (int32_t)*milliseconds;
    if (given_ms <= 0)
        return true;
    if (!is_time_left(again, registers, (uint64_t)given_ms * NS_PER_MS))
        return false;
    *milliseconds = again->left.tv_sec * 1000 + (again->left.tv_nsec + NS_PER_MS - 1) / NS_PER_MS;
    return true;
}

/* A timeout in memory of the program, which stays as it is. SIGNAL */
SIGNAL_SAFE static bool shorten_timespec(struct thread_again *again, greg_t *timeout,
                                         const greg_t *registers)
{
    if (*timeout == 0)
        return true;
    const struct timespec *given = timespec_at(*timeout);
    uint64_t first_ns = wait_ns(given->tv_sec, given->tv_nsec);
    if (first_ns == 0 && given != &again->left)
        return true;
    *timeout = (greg_t)(uintptr_t)&again->left;
    return is_time_left(again, registers, first_ns);
}

/* The kernel has written what is left of a sleep to *left; where there is no place for it, the
 * repeated call gets one. SIGNAL */
SIGNAL_SAFE static void shorten_sleep(struct thread_again *again, greg_t *wanted, greg_t *left)
{
    if (*left != 0)
        *wanted = *left;
    else
        *left = (greg_t)(uintptr_t)&again->left;
}

/* A call with a timeout of its socket is made again as it was, until that time has passed. A file
 * that is no socket has none. SIGNAL */
SIGNAL_SAFE static bool is_in_socket_time(struct thread_again *again, int option,
                                          const greg_t *registers)
{
    struct timeval most = {0};
    socklen_t n_bytes = sizeof most;
    os_call(SYS_getsockopt, (int)registers[REG_RDI], SOL_SOCKET, option, &most, &n_bytes);
    uint64_t most_ns = wait_ns(most.tv_sec, (int64_t)most.tv_usec * 1000);
    return most_ns == 0 || is_time_left(again, registers, most_ns);
}

/* Puts the time that is left into the registers of a call that is about to be made again. Returns
 * false when none is: *result is what the call returns then. SIGNAL */
SIGNAL_SAFE static bool shorten(struct thread_again *again, uint32_t number, greg_t *registers,
                                greg_t *result)
{
    *result = -EAGAIN;
    switch (number) {
    case SYS_poll:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
        *result = 0;
        return shorten_ms(again, &registers[milliseconds_of(number)], registers);
    case SYS_epoll_pwait2:
        *result = 0;
        return shorten_timespec(again, &registers[REG_R10], registers);
    case SYS_semtimedop:
        return shorten_timespec(again, &registers[REG_R10], registers);
    case SYS_rt_sigtimedwait:
        return shorten_timespec(again, &registers[REG_RDX], registers);
    case SYS_io_getevents:
    case SYS_io_pgetevents:
        *result = 0;
        return shorten_timespec(again, &registers[REG_R8], registers);
    case SYS_futex:
        *result = -ETIMEDOUT;
        return (registers[REG_RSI] & FUTEX_CMD_MASK) != FUTEX_WAIT ||
               shorten_timespec(again, &registers[REG_R10], registers);
    case SYS_nanosleep:
        shorten_sleep(again, &registers[REG_RDI], &registers[REG_RSI]);
        return true;
    case SYS_clock_nanosleep:
        if ((registers[REG_RSI] & TIMER_ABSTIME) == 0)
            shorten_sleep(again, &registers[REG_RDX], &registers[REG_R10]);
        return true;
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_accept:
    case SYS_accept4:
        return is_in_socket_time(again, SO_RCVTIMEO, registers);
    case SYS_connect:
        *result = family_at(registers[REG_RSI]) == AF_UNIX ? -EAGAIN : -EINPROGRESS;
        return is_in_socket_time(again, SO_SNDTIMEO, registers);
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
        return is_in_socket_time(again, SO_SNDTIMEO, registers);
    default:
        return true;
    }
}

/* Whether the thread stands before the call for the rest of a transfer, which the kernel would make
 * again (or which had not been made yet). any context */
SIGNAL_SAFE static bool is_before_rest(const struct thread *thread, const greg_t *registers)
{
    uint64_t frame = thread != NULL ? __atomic_load_n(&thread->rest_frame, __ATOMIC_RELAXED) : 0,
             sp = (uint64_t)registers[REG_RSP];
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): a register of the interrupted thread */
    const uint8_t *code = (const uint8_t *)(uintptr_t)registers[REG_RIP];
    return frame != 0 && sp < frame && frame - sp < REST_DEPTH_BYTES && code[0] == 0x0f &&
           code[1] == 0x05;
}

/* Whether the thread stands where our handler just left it to make its call again, with this signal
 * pending: it came during the call, not before it. any context */
SIGNAL_SAFE static bool is_before_repeat(const struct thread *thread, const greg_t *registers)
{
    return thread != NULL && registers[REG_RIP] != 0 &&
           __atomic_load_n(&thread->repeat_pc, __ATOMIC_RELAXED) == (uint64_t)registers[REG_RIP];
}

/* rcx is dead after `syscall`, so the mark means nothing to the program; the kernel restores it
 * with the other registers when the program's handler returns. any context */
void restart_note_handler(void *context)
{
    ucontext_t *interrupted = context;
    greg_t *registers = interrupted->uc_mcontext.gregs;
    struct thread *thread = count_handler();
    bool is_rest = is_before_rest(thread, registers) || is_before_repeat(thread, registers);
    if (thread != NULL) { /* whatever the handler itself calls is neither */
        __atomic_store_n(&thread->rest_frame, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&thread->repeat_pc, 0, __ATOMIC_RELAXED);
    }
    if (unlikely(is_rest)) {
        registers[REG_RIP] += 2; /* the length of syscall */
        registers[REG_RAX] = -EINTR;
        registers[REG_RCX] = 0;
    } else if (unlikely(is_broken_off(registers))) {
        registers[REG_RCX] = 0;
    }
}

/* SIGNAL */
void restart_interrupted_call(void *context, bool has_storage)
{
    ucontext_t *interrupted = context;
    greg_t *registers = interrupted->uc_mcontext.gregs;
    uint32_t number;
    bool one_of_ours;
    if (likely(!is_broken_off(registers)))
        return;
    if (!syscall_number(registers, &number) || !can_be_repeated(number) ||
        other_signal_waits(interrupted, &one_of_ours))
        return;
    struct thread *thread = thread_of_tid(tls_gettid());
    greg_t result;
    bool is_noted = has_storage && shorten_noted(number, registers);
    if (!is_noted && thread != NULL && !shorten(&thread->again, number, registers, &result)) {
        registers[REG_RAX] = result;
        return;
    }
    registers[REG_RIP] -= 2; /* the length of syscall */
    registers[REG_RAX] = (greg_t)number;
    registers[REG_EFL] = (greg_t)(((uint64_t)registers[REG_EFL] & ~FLAGS_OF_RESULT) | FLAGS_AGAIN);
    if (unlikely(one_of_ours) && thread != NULL)
        __atomic_store_n(&thread->repeat_pc, (uint64_t)registers[REG_RIP], __ATOMIC_RELAXED);
}

#else

/* any context */
void restart_note_handler(void *context)
{
    (void)context;
    count_handler();
}

/* SIGNAL */
void restart_interrupted_call(void *context, bool has_storage)
{
    (void)context;
    (void)has_storage;
}

#endif
