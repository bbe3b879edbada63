/* find.c - see threads/find.h. */
#include "threads/find.h"

#include <stddef.h>

#include "sys/layout.h"
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
static LAYOUT_LARGE struct thread *by_pointer[1u << POINTER_BITS];

/* Set once each, by compare-and-swap; never removed. */
static LAYOUT_LARGE struct entry *pages[N_PAGES];

static struct entry first;
static pid_t first_tid; /* atomic; 0 = none yet */

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
    struct thread **place = pointer_place(pointer);
    if (__atomic_load_n(place, __ATOMIC_RELAXED) != thread) /* in a child of fork it is there */
        __atomic_store_n(place, thread, __ATOMIC_RELEASE);
}

/* any context */
SIGNAL_SAFE static struct entry *entry_of(pid_t tid)
{
    uint32_t page = (uint32_t)tid >> PAGE_BITS;
    pid_t of_first = __atomic_load_n(&first_tid, __ATOMIC_ACQUIRE);
    if (tid == of_first)
        return &first;
    if (of_first == 0 || page >= N_PAGES)
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

/* NULL without memory for its page. any context */
SIGNAL_SAFE static struct entry *entry_make(pid_t tid)
{
    pid_t nobody = 0;
    if (__atomic_load_n(&first_tid, __ATOMIC_RELAXED) == 0)
        __atomic_compare_exchange_n(&first_tid, &nobody, tid, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED);
    struct entry *entry = entry_of(tid);
    return entry != NULL || !page_make(tid) ? entry : entry_of(tid);
}

/* any context */
bool thread_note_tid(pid_t tid, struct thread *thread, uint64_t gone_cpu_ns)
{
    bool is_nothing = thread == NULL && gone_cpu_ns == THREAD_NOT_GONE;
    struct entry *entry = is_nothing ? entry_of(tid) : entry_make(tid);
    if (entry == NULL)
        return thread == NULL;
    __atomic_store_n(&entry->gone_cpu_ns, gone_cpu_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&entry->thread, thread, __ATOMIC_SEQ_CST);
    return true;
}

/* HOOK: a forked child, alone */
void thread_note_none(void)
{
    first = (struct entry){NULL, THREAD_NOT_GONE};
    first_tid = 0;
}
