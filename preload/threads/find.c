/* find.c - see threads/find.h. */
#include "threads/find.h"

#include <stddef.h>

#include "sys/os.h"

#define POINTER_BITS 10u
#define PAGE_BITS 10u
#define N_PAGES 4096u /* times 1024: PID_MAX_LIMIT of a 64-bit kernel */

struct entry {
    struct thread *thread; /* atomic */
    uint64_t gone_cpu_ns;  /* atomic */
};

/* Written by each thread that begins, read by handlers. Two pointers may share a place: what is
 * found is checked against the slot, which never goes away. */
static struct thread *by_pointer[1u << POINTER_BITS];

/* Set once each, by compare-and-swap; never removed. */
static struct entry *pages[N_PAGES];

/* any context */
SIGNAL_SAFE static inline struct thread **pointer_place(uint64_t pointer)
{
    return &by_pointer[pointer * UINT64_C(0x9e3779b97f4a7c15) >> (64 - POINTER_BITS)];
}

/* any context */
struct thread *thread_of_pointer(uint64_t pointer)
{
    return __atomic_load_n(pointer_place(pointer), __ATOMIC_ACQUIRE);
}

/* any context */
void thread_note_pointer(uint64_t pointer, struct thread *thread)
{
    __atomic_store_n(pointer_place(pointer), thread, __ATOMIC_RELEASE);
}

/* any context */
SIGNAL_SAFE static struct entry *entry_of(pid_t tid)
{
    uint32_t page = (uint32_t)tid >> PAGE_BITS;
    if (page >= N_PAGES)
        return NULL;
    struct entry *entries = __atomic_load_n(&pages[page], __ATOMIC_ACQUIRE);
    return entries != NULL ? &entries[(uint32_t)tid % (1u << PAGE_BITS)] : NULL;
}

/* any context */
struct thread *thread_of_tid(pid_t tid)
{
    struct entry *entry = entry_of(tid);
    return entry != NULL ? __atomic_load_n(&entry->thread, __ATOMIC_SEQ_CST) : NULL;
}

/* any context */
uint64_t thread_gone_cpu_ns(pid_t tid)
{
    struct entry *entry = entry_of(tid);
    return entry != NULL ? __atomic_load_n(&entry->gone_cpu_ns, __ATOMIC_RELAXED) : THREAD_NOT_GONE;
}

/* any context */
SIGNAL_SAFE static bool page_make(pid_t tid)
{
    const size_t n_bytes = sizeof(struct entry) << PAGE_BITS;
    uint32_t page = (uint32_t)tid >> PAGE_BITS;
    struct entry *none = NULL;
    struct entry *made = page < N_PAGES ? os_map(n_bytes) : NULL;
    if (made == NULL)
        return false;
    if (!__atomic_compare_exchange_n(&pages[page], &none, made, false, __ATOMIC_RELEASE,
                                     __ATOMIC_RELAXED))
        os_unmap(made, n_bytes);
    return true;
}

/* any context */
bool thread_note_tid(pid_t tid, struct thread *thread, uint64_t gone_cpu_ns)
{
    bool is_nothing = thread == NULL && gone_cpu_ns == THREAD_NOT_GONE;
    if (entry_of(tid) == NULL && (is_nothing || !page_make(tid)))
        return thread == NULL;
    struct entry *entry = entry_of(tid);
    __atomic_store_n(&entry->gone_cpu_ns, gone_cpu_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->thread, thread, __ATOMIC_SEQ_CST);
    return true;
}
