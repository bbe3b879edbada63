/* held_back.c - see held_back.h. */
#include "threads/held_back.h"

#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "state/run.h"
#include "sys/line.h"
#include "sys/os.h"

#define LIBC_CANCEL 32 /* SIGCANCEL and SIGSETXID of glibc's nptl */
#define LIBC_SET_ID 33
#define LINE_BYTES 32u /* "\nSigBlk:\t" with its 16 digits, and some */

#if defined(__x86_64__)
#define SYSCALL_INSTRUCTION                                                                        \
    {                                                                                              \
        0x0f, 0x05                                                                                 \
    }
#define SYSCALL_BYTES ((size_t)2)
/* rt_sigprocmask(how, set, old, 8) has returned 0; its arguments are still in the registers. */
SIGNAL_SAFE static bool looks_like_mask_call(const mcontext_t *registers)
{
    const greg_t *gregs = registers->gregs;
    return gregs[REG_RAX] == 0 && gregs[REG_R10] == OS_SIGSET_BYTES &&
           gregs[REG_RDI] >= SIG_BLOCK && gregs[REG_RDI] <= SIG_SETMASK;
}
SIGNAL_SAFE static uint64_t pc_of(const mcontext_t *registers)
{
    return (uint64_t)registers->gregs[REG_RIP];
}
#else
#error "held_back.c: this architecture has no description yet"
#endif

static const uint8_t instruction[SYSCALL_BYTES] = SYSCALL_INSTRUCTION;

/* The code around the pc: room for an instruction that makes a call before it, and one at it.
 * SIGNAL */
SIGNAL_SAFE static long code_read(const void *context, uint8_t code[2 * SYSCALL_BYTES])
{
    const mcontext_t *registers = &((const ucontext_t *)context)->uc_mcontext;
    uint64_t pc = pc_of(registers);
    /* NOLINTBEGIN(performance-no-int-to-ptr): addresses of the program's code */
    const struct iovec from[] = {
        {.iov_base = (void *)(uintptr_t)(pc - SYSCALL_BYTES), .iov_len = SYSCALL_BYTES},
        {.iov_base = (void *)(uintptr_t)pc, .iov_len = SYSCALL_BYTES}};
    /* NOLINTEND(performance-no-int-to-ptr) */
    return os_copy(code, 2 * SYSCALL_BYTES, from, 2);
}

/* SIGNAL */
bool held_back_tick(const void *context, bool is_exact)
{
    uint8_t code[2 * SYSCALL_BYTES];
    if (code_read(context, code) < (long)SYSCALL_BYTES)
        return false;
    if (memcmp(code, instruction, SYSCALL_BYTES) != 0)
        return is_exact;
    return looks_like_mask_call(&((const ucontext_t *)context)->uc_mcontext);
}

/* SIGNAL */
bool held_back_at_call(const void *context)
{
    uint8_t code[2 * SYSCALL_BYTES];
    long n = code_read(context, code);
    return (n >= (long)SYSCALL_BYTES && memcmp(code, instruction, SYSCALL_BYTES) == 0) ||
           (n == 2 * (long)SYSCALL_BYTES &&
            memcmp(code + SYSCALL_BYTES, instruction, SYSCALL_BYTES) == 0);
}

/* any context */
SIGNAL_SAFE static uint64_t hexadecimal(const char *text)
{
    uint64_t value = 0;
    for (; (*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'f'); text++)
        value = value << 4 | (uint64_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
    return value;
}

/* any context */
enum held_back held_back_by(uint64_t mask)
{
    /* What cannot be blocked, and what libc's sigfillset leaves out. */
    const uint64_t others = os_signal_bit(SIGKILL) | os_signal_bit(SIGSTOP) |
                            os_signal_bit(LIBC_CANCEL) | os_signal_bit(LIBC_SET_ID);
    if ((mask & os_signal_bit(session.settings.signo)) == 0)
        return HELD_BACK_NOT;
    return (mask | others) == ~UINT64_C(0) ? HELD_BACK_ALL : HELD_BACK_OURS;
}

/* any context */
enum held_back held_back_now(pid_t tid)
{
    static const char key[] = "\nSigBlk:\t";
    char bytes[512];
    char path[64];
    struct line line;
    size_t n_kept = 0;
    uint64_t blocked = 0;
    long n;
    line_init(&line, path, sizeof path);
    line_add(&line, "/proc/self/task/");
    line_add_number(&line, (uint64_t)tid);
    line_add(&line, "/status");
    int fd = os_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return HELD_BACK_NOT;
    /* The last bytes of a piece are searched again with the next one: the line may lie across
     * both. */
    while ((n = os_call(SYS_read, fd, bytes + n_kept, sizeof bytes - 1 - n_kept)) > 0) {
        size_t n_bytes = n_kept + (size_t)n;
        bytes[n_bytes] = '\0';
        const char *found = strstr(bytes, key);
        if (found != NULL)
            blocked = hexadecimal(found + sizeof key - 1);
        n_kept = n_bytes < LINE_BYTES ? n_bytes : LINE_BYTES;
        memmove(bytes, bytes + n_bytes - n_kept, n_kept);
    }
    os_close(fd);
    return held_back_by(blocked);
}
