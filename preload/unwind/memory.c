/* memory.c - see unwind/memory.h. */
#include "unwind/memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>

#include "sys/os.h"
#include "sys/tls.h"
#include "unwind/arch.h"

/* Pages probed by one call, and calls for one sample: how far a stack may have grown since the last
 * one and still be read by plain loads (16 MB; beyond it the walk uses copies, which is slower, not
 * wrong). */
#define PROBE_PAGES 64u
#define PROBE_CALLS_MAX 64u
#define STACK_MAX_BYTES (1ull << 30)

/* Where the kernel put argc: the outermost end of the main thread's stack. Set by ld.so. */
extern void
    *__libc_stack_end; // NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): glibc's

/* Set once process_vm_readv was refused. Written and read by any thread, relaxed: both ways
 * work. */
static _Atomic bool copy_refused;

/* Copies up to n pieces into one buffer by process_vm_readv; how many bytes were read, or -1. */
SIGNAL_SAFE static ssize_t pieces_copy(void *to, size_t to_bytes, const struct iovec *from,
                                       unsigned n)
{
    long n_copied = os_copy(to, to_bytes, from, n);
    if (n_copied < 0 && errno != EFAULT)
        atomic_store_explicit(&copy_refused, true, memory_order_relaxed);
    return n_copied;
}

/* Whether the 8 bytes at `address` can be read: the kernel copies the set before it looks at the
 * (invalid) first argument, so EINVAL means readable, EFAULT not, and nothing changes. */
SIGNAL_SAFE static bool word_probe(uint64_t address)
{
    return os_call(SYS_rt_sigprocmask, -1, address, NULL, sizeof(uint64_t)) != 0 && errno == EINVAL;
}

/* As memory_copy, where process_vm_readv is refused. */
SIGNAL_SAFE static bool probed_copy(uint8_t *to, uint64_t address, size_t n_bytes)
{
    for (size_t done = 0; done < n_bytes;) {
        uint64_t word_start = (address + done) & ~(uint64_t)7; /* never straddles a page */
        if (!word_probe(word_start))
            return false;
        uint64_t word = memory_load(word_start);
        do {
            to[done] = (uint8_t)(word >> (8 * ((address + done) & 7)));
            done++;
        } while (done < n_bytes && ((address + done) & 7) != 0);
    }
    return true;
}

bool memory_copy(void *to, uint64_t address, size_t n_bytes)
{
    const struct iovec from = {.iov_base = address_pointer(address), .iov_len = n_bytes};
    if (address + n_bytes < address)
        return false;
    if (!atomic_load_explicit(&copy_refused, memory_order_relaxed)) {
        ssize_t n_copied = pieces_copy(to, n_bytes, &from, 1);
        if (n_copied >= 0 || errno == EFAULT)
            return n_copied == (ssize_t)n_bytes;
    }
    return probed_copy(to, address, n_bytes);
}

bool memory_read_outside(struct unwind_memory *memory, uint64_t address, unsigned n_bytes,
                         uint64_t *value)
{
    uint64_t word = 0;
    uint64_t offset = address - memory->window_start;
    if (offset >= memory->window_bytes || memory->window_bytes - offset < n_bytes) {
        /* The rest of the page: what lies further out on the same stack comes next. */
        uint64_t left = MEMORY_PAGE_BYTES - address % MEMORY_PAGE_BYTES;
        memory->window_bytes = 0;
        if (left < n_bytes) {
            if (!memory_copy(&word, address, n_bytes))
                return false;
            *value = word;
            return true;
        }
        if (!memory_copy(memory->window, address, left))
            return false;
        memory->window_start = address;
        memory->window_bytes = left;
        offset = 0;
    }
    for (unsigned i = 0; i < n_bytes; i++)
        word |= (uint64_t)memory->window[offset + i] << (8 * i);
    *value = word;
    return true;
}

/* Whether all pages of [start, end) can be read; start and end on page bounds. */
SIGNAL_SAFE static bool pages_probe(uint64_t start, uint64_t end)
{
    struct iovec pages[PROBE_PAGES / 2];
    uint8_t bytes[PROBE_PAGES / 2];
    for (unsigned n_calls = 0; start < end; n_calls++) {
        unsigned n = 0;
        if (n_calls == PROBE_CALLS_MAX)
            return false;
        for (; n < PROBE_PAGES / 2 && start < end; n++, start += MEMORY_PAGE_BYTES)
            pages[n] = (struct iovec){.iov_base = address_pointer(start), .iov_len = 1};
        if (!atomic_load_explicit(&copy_refused, memory_order_relaxed)) {
            ssize_t n_copied = pieces_copy(bytes, n, pages, n);
            if (n_copied == (ssize_t)n)
                continue;
            if (n_copied >= 0 || errno == EFAULT)
                return false;
        }
        for (unsigned i = 0; i < n; i++) {
            if (!word_probe((uint64_t)pages[i].iov_base))
                return false;
        }
    }
    return true;
}

void memory_enter(struct unwind_memory *memory, uint64_t sp)
{
    uint64_t low = sp - ARCH_RED_ZONE_BYTES;
    memory->window_bytes = 0;
    memory_set_plain(memory, 0, 0); /* unless sp turns out to be on this stack */
    if (sp >= memory->stack_end || memory->stack_end - low > STACK_MAX_BYTES)
        return;
    if (low < memory->stack_low) {
        uint64_t page = low & ~(uint64_t)(MEMORY_PAGE_BYTES - 1);
        if (!pages_probe(page, memory->stack_low))
            return;
        memory->stack_low = page;
    }
    memory_set_plain(memory, low, memory->stack_end);
}

/* Whether `sp` is on the stack the process started on. After fork in a thread the only thread has
 * the process's id, but still its own stack: so ask the address, not the id. */
static bool sp_is_on_main_stack(uint64_t sp, uint64_t main_end)
{
    struct rlimit limit;
    uint64_t size_bytes = STACK_MAX_BYTES;
    /* A thread's descriptor lies above its stack, the first one's below: the limit alone may reach
     * down to stacks of threads, if the program raised it while running. */
    uint64_t descriptor = tls_descriptor();
    if (sp >= main_end || (descriptor > sp && descriptor < main_end))
        return false;
    if (os_limit_get(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < size_bytes)
        size_bytes = limit.rlim_cur;
    return main_end - sp < size_bytes;
}

void memory_bind(struct unwind_memory *memory)
{
    uint64_t sp = (uint64_t)__builtin_frame_address(0);
    uint64_t page = sp & ~(uint64_t)(MEMORY_PAGE_BYTES - 1);
    uint64_t end = (uint64_t)__libc_stack_end;
    memory->stack_origin = 0;
    if (sp_is_on_main_stack(sp, end)) {
        /* argc, argv, environment and auxiliary vector lie above: some of it is safe to read. */
        memory->stack_origin = end;
        end += 64;
    } else {
        /* glibc keeps a thread's descriptor at the top of its stack, also of one the program gave
         * it. A thread made by a raw clone may have neither: then nothing is known. */
        end = tls_descriptor();
        bool ours = sp < end && end - sp < STACK_MAX_BYTES &&
                    pages_probe(page, end & ~(uint64_t)(MEMORY_PAGE_BYTES - 1));
        if (!ours)
            end = 0;
    }
    memory->stack_end = end & ~(uint64_t)7;
    memory->stack_low = end == 0 ? 0 : page;
    memory_set_plain(memory, 0, 0);
    memory->window_bytes = 0;
}

void memory_bind_other(struct unwind_memory *memory)
{
    memory->stack_origin = 0;
    memory->stack_end = 0;
    memory->stack_low = 0;
    memory_set_plain(memory, 0, 0);
    memory->window_bytes = 0;
}
