/* registers.h - the registers of a processor by their DWARF numbers (its psABI). No code.
 *
 * Only these take part in unwinding: rules for others (vector registers) are skipped. */
#ifndef SAMPLER_CFI_REGISTERS_H
#define SAMPLER_CFI_REGISTERS_H

#if defined(__x86_64__)
#define ARCH_N_REGISTERS 17u /* rax rdx rcx rbx rsi rdi rbp rsp r8..r15, return address */
#define ARCH_FP 6u           /* rbp                                                     */
#define ARCH_SP 7u           /* rsp                                                     */
#define ARCH_PC 16u          /* the return address column                               */
#else
#error "registers.h: this architecture has no column yet"
#endif

#endif
