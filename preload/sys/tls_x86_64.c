/* tls_x86_64.c - see tls.h. The thread pointer is the base of %fs; variables lie below it (ELF TLS
 * variant II), libc's struct pthread above, with its own address in its first and third word. */
#include <errno.h>
#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "sys/segment.h"
#include "sys/syscall_x86_64.h"
#include "sys/tls.h"

#define ARCH_SET_FS_CODE 0x1002 /* asm/prctl.h */
#define ARCH_GET_FS_CODE 0x1003
#define HWCAP2_FSGSBASE_BIT 2u /* the kernel lets programs read and write the base of %fs */

#define PAGE_BYTES 4096u
#define ABOVE_BYTES PAGE_BYTES /* more than struct pthread has */
#define SLACK_BYTES PAGE_BYTES /* below the variables we know: the rest of libc's and ours */

/* Written in SETUP, constant afterwards. */
static bool has_fsgsbase;
static uint64_t below_bytes;

/* Any thread-local variable of ours: its address shows how far down our variables lie. */
static __thread char here;

/* any context */
uint64_t tls_pointer(void)
{
    uint64_t pointer = 0;
    if (likely(has_fsgsbase))
        __asm__ volatile("rdfsbase %0" : "=r"(pointer));
    else
        syscall_raw(SYS_arch_prctl, ARCH_GET_FS_CODE, (long)&pointer, 0, 0, 0, 0);
    return pointer;
}

/* any context */
void tls_pointer_set(uint64_t pointer)
{
    if (likely(has_fsgsbase))
        __asm__ volatile("wrfsbase %0" : : "r"(pointer) : "memory");
    else
        syscall_raw(SYS_arch_prctl, ARCH_SET_FS_CODE, (long)pointer, 0, 0, 0, 0);
}

/* any context */
pid_t tls_gettid(void)
{
    return (pid_t)syscall_raw(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

/* The third word behind the thread pointer (glibc's tcbhead_t). any context */
uint64_t tls_descriptor(void)
{
    uint64_t descriptor;
    __asm__("movq %%fs:16, %0" : "=r"(descriptor));
    return descriptor;
}

/* SETUP */
void tls_setup(void)
{
    has_fsgsbase = (getauxval(AT_HWCAP2) & HWCAP2_FSGSBASE_BIT) != 0;
    uint64_t pointer = tls_pointer();
    uint64_t ours = pointer - (uint64_t)&here, of_libc = pointer - (uint64_t)&errno;
    uint64_t farthest = ours > of_libc ? ours : of_libc;
    below_bytes = (farthest + SLACK_BYTES + PAGE_BYTES - 1) & ~(uint64_t)(PAGE_BYTES - 1);
}

/* any context */
uint64_t tls_block_make(void)
{
    long at = syscall_raw(SYS_mmap, 0, (long)(below_bytes + ABOVE_BYTES), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at < 0 && at > -(long)PAGE_BYTES)
        return 0;
    uint64_t pointer = (uint64_t)at + below_bytes;
    uint64_t *words = address_pointer(pointer);
    words[0] = pointer;
    words[2] = pointer;
    return pointer;
}

/* any context */
void tls_block_free(uint64_t pointer)
{
    syscall_raw(SYS_munmap, (long)(pointer - below_bytes), (long)(below_bytes + ABOVE_BYTES), 0, 0,
                0, 0);
}
