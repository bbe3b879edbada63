/* held_back.c - see held_back.h. */
#include "threads/held_back.h"

#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>

#include "process/session.h"
#include "sys/line.h"
#include "sys/os.h"

#define LINE_BYTES 32u /* "\nSigBlk:\t" with its 16 digits, and some */

#if defined(__x86_64__)
#define SYSCALL_INSTRUCTION                                                                        \
    {                                                                                              \
        0x0f, 0x05                                                                                 \
    }
#define SYSCALL_BYTES 2u
/* rt_sigprocmask(how, set, old, 8) has come back with 0; the call's arguments are still there. */
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

/* SIGNAL */
bool held_back_tick(const void *context, bool is_exact)
{
    static const uint8_t instruction[SYSCALL_BYTES] = SYSCALL_INSTRUCTION;
    const mcontext_t *registers = &((const ucontext_t *)context)->uc_mcontext;
    uint8_t before_pc[SYSCALL_BYTES];
    struct iovec to = {.iov_base = before_pc, .iov_len = SYSCALL_BYTES};
    /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address of the program's code */
    struct iovec from = {.iov_base = (void *)(uintptr_t)(pc_of(registers) - SYSCALL_BYTES),
                         .iov_len = SYSCALL_BYTES};
    if (process_vm_readv(os_getpid(), &to, 1, &from, 1, 0) != SYSCALL_BYTES)
        return false;
    if (memcmp(before_pc, instruction, SYSCALL_BYTES) != 0)
        return is_exact;
    return looks_like_mask_call(registers);
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
bool held_back_now(pid_t tid)
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
        return false;
    /* The last bytes of a piece are looked at again with the next: the line may be in both. */
    while ((n = syscall(SYS_read, fd, bytes + n_kept, sizeof bytes - 1 - n_kept)) > 0) {
        size_t n_bytes = n_kept + (size_t)n;
        bytes[n_bytes] = '\0';
        const char *found = strstr(bytes, key);
        if (found != NULL)
            blocked = hexadecimal(found + sizeof key - 1);
        n_kept = n_bytes < LINE_BYTES ? n_bytes : LINE_BYTES;
        memmove(bytes, bytes + n_bytes - n_kept, n_kept);
    }
    os_close(fd);
    return (blocked & os_signal_bit(session.options.signo)) != 0;
}
