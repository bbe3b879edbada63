/* code_pieces.S - functions of known instructions, for tests of listings; never run. */
        .text

/* Everything is where tests/e2e/tools/test_list_code.py says. */
        .globl  code_outer
        .type   code_outer, @function
code_outer:
        .cfi_startproc
        push    %rbp            /* 0  */
        call    code_called     /* 1  */
        syscall                 /* 6  */
        imul    %rdx, %rax      /* 8  */
        .rept   40
        nop                     /* 12 to 51 */
        .endr
        jne     code_outer      /* 52 */
        ret                     /* 54 */
        .cfi_endproc
        .size   code_outer, . - code_outer

        .globl  code_called
        .type   code_called, @function
code_called:
        .cfi_startproc
        ret
        .cfi_endproc
        .size   code_called, . - code_called

        .globl  main
        .type   main, @function
main:
        .cfi_startproc
        xor     %eax, %eax
        ret
        .cfi_endproc
        .size   main, . - main
        .section .note.GNU-stack, "", @progbits
