/* hooks_syscall.c - syscall(), so that a call made through it and broken off by a tick can be told
 * by its number (syscall_number.h): libc's own leaves no trace of that.
 *
 * In assembly, since nothing may lie on the stack between the caller and the call: programs make
 * threads this way, which come back on another stack. */
#include <errno.h>

#include "hooks.h"
#include "syscall_number.h"

#if defined(__x86_64__)

extern const uint8_t hooks_syscall_return[];

/* HOOK */
__attribute__((used)) static long hooks_syscall_failed(long result)
{
    errno = (int)-result;
    return -1;
}

/* The number stays in the red zone, which no signal handler overwrites. */
__asm__(".text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        ".p2align 4\n"
        "syscall:\n"
        "	.cfi_startproc\n"
        "	endbr64\n"
        "	movq %rdi, -8(%rsp)\n"
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
