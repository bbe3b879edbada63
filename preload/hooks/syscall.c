/* syscall.c - our own syscall(), so that the number of a call made through it and interrupted by a
 * tick is known (syscall_number.h): libc's own leaves no trace of it. And since programs bypass
 * libc's functions this way, those calls that matter to us go to our hooks.
 *
 * In assembly, since nothing may lie on the stack between the caller and the call: programs make
 * threads this way, which return on another stack. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include "hooks/hooks.h"
#include "signals/syscall_number.h"

#if defined(__x86_64__)

extern const uint8_t hooks_syscall_return[];

/* HOOK */
__attribute__((used)) static long hooks_syscall_failed(long result)
{
    errno = (int)-result;
    return -1;
}

/* So that our files are spared. HOOK */
__attribute__((used)) static long hooks_syscall_close_range(unsigned first, unsigned last,
                                                            int flags)
{
    return close_range(first, last, flags);
}

/* HOOK */
__attribute__((used)) static long hooks_syscall_unshare(int flags)
{
    return unshare(flags);
}

/* HOOK */
__attribute__((used)) static long hooks_syscall_setns(int fd, int kind)
{
    return setns(fd, kind);
}

/* SYS_fork has no flags but the signal at the end; a stack of its own is for nobody here. HOOK */
__attribute__((used)) static long hooks_syscall_fork(void)
{
    return hooks_fork_by_clone(SIGCHLD, NULL, NULL);
}

/* The other calls that must not pass us by. HOOK */
__attribute__((used)) static long hooks_syscall_execve(const char *path, char *const *argv,
                                                       char *const *envp)
{
    return execve(path, argv, envp);
}

/* HOOK */
__attribute__((used)) static long
hooks_syscall_execveat(int fd, const char *path, char *const *argv, char *const *envp, int flags)
{
    return execveat(fd, path, argv, envp, flags);
}

/* EXIT */
__attribute__((used)) static void hooks_syscall_exit(int status)
{
    _exit(status);
}

/* The number stays in the red zone, which no signal handler overwrites. */
__asm__(".text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        ".p2align 4\n"
        "syscall:\n"
        "	.cfi_startproc\n"
        "	endbr64\n"
        "	cmpl $157, %edi\n" /* prctl */
        "	je 2f\n"
        "	cmpl $317, %edi\n" /* seccomp */
        "	je 2f\n"
        "	cmpl $105, %edi\n" /* setuid */
        "	je 2f\n"
        "	cmpl $106, %edi\n" /* setgid */
        "	je 2f\n"
        "	cmpl $113, %edi\n" /* setreuid */
        "	je 2f\n"
        "	cmpl $114, %edi\n" /* setregid */
        "	je 2f\n"
        "	cmpl $117, %edi\n" /* setresuid */
        "	je 2f\n"
        "	cmpl $119, %edi\n" /* setresgid */
        "	je 2f\n"
        "	cmpl $155, %edi\n" /* pivot_root */
        "	je 2f\n"
        "	cmpl $161, %edi\n" /* chroot */
        "	je 2f\n"
        "	cmpl $446, %edi\n" /* landlock_restrict_self */
        "	je 2f\n"
        "	cmpl $272, %edi\n" /* unshare */
        "	je 8f\n"
        "	cmpl $308, %edi\n" /* setns */
        "	je 9f\n"
        "	cmpl $56, %edi\n" /* clone */
        "	je 10f\n"
        "	cmpl $57, %edi\n" /* fork */
        "	je hooks_syscall_fork\n"
        "	cmpl $436, %edi\n" /* close_range */
        "	je 4f\n"
        "	cmpl $59, %edi\n" /* execve */
        "	je 5f\n"
        "	cmpl $322, %edi\n" /* execveat */
        "	je 6f\n"
        "	cmpl $231, %edi\n" /* exit_group */
        "	je 7f\n"
        "3:	movq %rdi, -8(%rsp)\n"
        "	movq %rdi, %rax\n"
        "	movq %rsi, %rdi\n"
        "	movq %rdx, %rsi\n"
        "	movq %rcx, %rdx\n"
        "	movq %r8, %r10\n"
        "	movq %r9, %r8\n"
        "	movq 8(%rsp), %r9\n"
        "	syscall\n"
        ".globl hooks_syscall_return\n"
        ".hidden hooks_syscall_return\n"
        "hooks_syscall_return:\n"
        "	cmpq $-4095, %rax\n"
        "	jae 1f\n"
        "	ret\n"
        "1:	movq %rax, %rdi\n"
        "	jmp hooks_syscall_failed\n"
        "2:	pushq %rdi\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	pushq %rsi\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	pushq %rdx\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	pushq %rcx\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	pushq %r8\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	pushq %r9\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	subq $8, %rsp\n"
        "	.cfi_adjust_cfa_offset 8\n"
        "	call hooks_fence_check\n"
        "	addq $8, %rsp\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	popq %r9\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	popq %r8\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	popq %rcx\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	popq %rdx\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	popq %rsi\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	popq %rdi\n"
        "	.cfi_adjust_cfa_offset -8\n"
        "	jmp 3b\n"
        "4:	movl %esi, %edi\n"
        "	movl %edx, %esi\n"
        "	movl %ecx, %edx\n"
        "	jmp hooks_syscall_close_range\n"
        "5:	movq %rsi, %rdi\n"
        "	movq %rdx, %rsi\n"
        "	movq %rcx, %rdx\n"
        "	jmp hooks_syscall_execve\n"
        "6:	movl %esi, %edi\n"
        "	movq %rdx, %rsi\n"
        "	movq %rcx, %rdx\n"
        "	movq %r8, %rcx\n"
        "	movl %r9d, %r8d\n"
        "	jmp hooks_syscall_execveat\n"
        "7:	movl %esi, %edi\n"
        "	jmp hooks_syscall_exit\n"
        "8:	movl %esi, %edi\n"
        "	jmp hooks_syscall_unshare\n"
        "9:	movl %esi, %edi\n"
        "	movl %edx, %esi\n"
        "	jmp hooks_syscall_setns\n"
        /* With a stack of its own, memory or descriptors in common, it is no fork (process.c). */
        "10:	testq %rdx, %rdx\n"
        "	jne 3b\n"
        "	testl $0x80500, %esi\n" /* CLONE_SETTLS, CLONE_FILES, CLONE_VM */
        "	jne 3b\n"
        "	movq %rsi, %rdi\n"
        "	movq %rcx, %rsi\n"
        "	movq %r8, %rdx\n"
        "	jmp hooks_fork_by_clone\n"
        "	.cfi_endproc\n"
        ".size syscall, .-syscall\n");

/* SETUP */
void hooks_syscall_setup(void)
{
    syscall_stub_return = hooks_syscall_return;
}

#else

/* SETUP */
void hooks_syscall_setup(void)
{
}

#endif
