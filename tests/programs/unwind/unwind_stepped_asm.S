/* unwind_stepped_asm.S - hand-written code that says nothing about its frames (no CFI). */
        .text

/* uint64_t asm_pushes(uint64_t n): saves registers, rbp among them, and computes in all of them. */
        .globl  asm_pushes
        .type   asm_pushes, @function
asm_pushes:
        push    %rbx
        push    %rbp
        push    %r12
        push    %r13
        mov     %rdi, %rbp
        mov     $7, %ebx
        mov     $3, %r12d
1:      imul    %rbx, %rbp
        add     %r12, %rbp
        xor     %rbp, %r13
        dec     %rdi
        jnz     1b
        mov     %rbp, %rax
        pop     %r13
        pop     %r12
        pop     %rbp
        pop     %rbx
        ret
        .size   asm_pushes, . - asm_pushes

/* The same without touching any register that has to be kept, nor the stack. */
        .globl  asm_leaf
        .type   asm_leaf, @function
asm_leaf:
        mov     %rdi, %rax
1:      imul    $13, %rax, %rax
        dec     %rdi
        jnz     1b
        ret
        .size   asm_leaf, . - asm_leaf

/* uint64_t asm_large(uint64_t n): a large frame, subroutines that work in it, and no frame pointer:
 * rbp is 0 most of the time, and that means nothing. */
        .globl  asm_large
        .type   asm_large, @function
asm_large:
        push    %rbx
        push    %rbp
        push    %r12
        sub     $4520, %rsp
        mov     %rdi, 4512(%rsp)
        xor     %ebp, %ebp
        lea     asm_large(%rip), %r12
        mov     %r12, 8(%rsp)
1:      call    large_first
        cmpq    $0, 4512(%rsp)
        je      3f
        call    large_second
        decq    4512(%rsp)
        jmp     1b
3:      xor     %ebp, %ebp
        lea     4520(%rsp), %rsp
        pop     %r12
        pop     %rbp
        pop     %rbx
        ret
        .size   asm_large, . - asm_large

/* 8(%rsp) and on is the caller's frame. */
        .type   large_first, @function
large_first:
        mov     4520(%rsp), %rbx
        imul    $7, %rbx, %rax
        test    $1, %al
        jz      1f
        add     %rax, 24(%rsp)
        xor     %ebp, %ebp
        ret
1:      xor     %ebp, %ebp
        add     %rbx, 32(%rsp)
        ret
        .size   large_first, . - large_first

        .type   large_second, @function
large_second:
        push    %rbx
        mov     $5, %ebp
2:      dec     %ebp
        jnz     2b
        call    large_first
        pop     %rbx
        ret
        .size   large_second, . - large_second

/* uint64_t asm_realigned(uint64_t n): the caller's sp is in a register that subroutines leave
 * alone, as vector code does that needs more alignment than it is given. */
        .globl  asm_realigned
        .type   asm_realigned, @function
asm_realigned:
        mov     %rsp, %rcx
        and     $-64, %rsp
        sub     $192, %rsp
        mov     %rdi, %rax
        call    realigned_part
        add     %rdi, %rax
        sub     $64, %rsp
        call    realigned_part
        mov     %rcx, %rsp
        ret
        .size   asm_realigned, . - asm_realigned

        .type   realigned_part, @function
realigned_part:
        imul    $13, %rax, %rax
        mov     %rax, 16(%rsp)
        ret
        .size   realigned_part, . - realigned_part

/* uint64_t asm_calls(uint64_t n, uint64_t (*f)(uint64_t)): keeps a frame pointer, calls. */
        .globl  asm_calls
        .type   asm_calls, @function
asm_calls:
        push    %rbp
        mov     %rsp, %rbp
        push    %rbx
        sub     $24, %rsp
        mov     %rdi, %rbx
        call    *%rsi
        add     %rbx, %rax
        add     $24, %rsp
        pop     %rbx
        pop     %rbp
        ret
        .size   asm_calls, . - asm_calls

/* uint64_t asm_asm(uint64_t n): keeps a frame pointer, calls those above. */
        .globl  asm_asm
        .type   asm_asm, @function
asm_asm:
        push    %rbp
        mov     %rsp, %rbp
        push    %rdi
        push    %rdi
        call    asm_pushes
        pop     %rdi
        call    asm_leaf
        leave
        ret
        .size   asm_asm, . - asm_asm

/* uint64_t asm_jump(void **save_sp, void *to_sp, uint64_t value): leaves this stack, its state saved
 * on it, for another one left the same way; the value comes out there. */
        .globl  asm_jump
        .type   asm_jump, @function
asm_jump:
        push    %rbp
        push    %rbx
        push    %r12
        push    %r13
        push    %r14
        push    %r15
        mov     %rsp, (%rdi)
        mov     %rsi, %rsp
        pop     %r15
        pop     %r14
        pop     %r13
        pop     %r12
        pop     %rbx
        pop     %rbp
        mov     %rdx, %rax
        ret
        .size   asm_jump, . - asm_jump

/* Where a new stack begins: rbx holds the function. Frame pointer 0 marks the outermost frame. */
        .globl  asm_begin
        .type   asm_begin, @function
asm_begin:
        xor     %ebp, %ebp
        mov     %rax, %rdi
        call    *%rbx
        hlt
        .size   asm_begin, . - asm_begin

        .section .note.GNU-stack, "", @progbits
