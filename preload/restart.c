/* restart.c - see restart.h. */
#include "restart.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "os.h"

#if defined(__x86_64__)

/* Calls that may return EINTR in spite of SA_RESTART (signal(7)) and have done nothing when they
 * do. close is not one of them. SIGNAL */
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
    case SYS_write:
    case SYS_writev:
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

/* Whether a signal waits that the program would take as soon as ours is done. Ours has all signals
 * blocked, so all that wait are shown. SIGNAL */
SIGNAL_SAFE static bool other_signal_waits(const ucontext_t *context)
{
    uint64_t pending = 0;
    os_sigpending(&pending);
    return (pending & ~os_sigset_bits(&context->uc_sigmask)) != 0;
}

/* mov $number, %eax; syscall - libc's own sequence. SIGNAL */
SIGNAL_SAFE static bool number_before(uint64_t pc, uint32_t *number)
{
    const uint64_t page = 4095;
    if ((pc - 1) % (page + 1) < 6)
        return false; /* the page before need not be there */
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address from a register */
    const uint8_t *code = (const uint8_t *)(uintptr_t)(pc - 7);
    if (code[0] != 0xb8 || code[5] != 0x0f || code[6] != 0x05)
        return false;
    *number = (uint32_t)code[1] | (uint32_t)code[2] << 8 | (uint32_t)code[3] << 16 |
              (uint32_t)code[4] << 24;
    return true;
}

/* SIGNAL */
void restart_interrupted_call(void *context)
{
    ucontext_t *interrupted = context;
    greg_t *registers = interrupted->uc_mcontext.gregs;
    uint32_t number;
    if (likely(registers[REG_RAX] != -EINTR))
        return;
    if (!number_before((uint64_t)registers[REG_RIP], &number) || !can_be_repeated(number) ||
        other_signal_waits(interrupted))
        return;
    registers[REG_RIP] -= 2;
    registers[REG_RAX] = (greg_t)number;
}

#else

/* SIGNAL */
void restart_interrupted_call(void *context)
{
    (void)context;
}

#endif
