/* wall_place.c - see wall_place.h.
 *
 * The kernel shows a blocked thread's pc after its `syscall`; our handler, which interrupts the
 * same call, finds the pc there or back on the instruction. Both are brought to the address after
 * it, and the handler's stack pointer is then what the kernel shows too. */
#include "threads/wall_place.h"

#include <errno.h>
#include <string.h>
#include <ucontext.h>

#include "sys/os.h"
#include "threads/thread.h"
#include "threads/wall_state.h"
#include "unwind/memory.h"

#define WORD_BYTES sizeof(uint64_t)

#if defined(__x86_64__)

/* The pc that the kernel shows for the system call the thread is in, 0 when it is in none.
 * `syscall` leaves the address after it in rcx; a call to be made again has the pc on the
 * instruction, an interrupted one has it after. SIGNAL */
SIGNAL_SAFE static uint64_t call_pc(const ucontext_t *context)
{
    const greg_t *registers = context->uc_mcontext.gregs;
    uint64_t pc = (uint64_t)registers[REG_RIP], behind = (uint64_t)registers[REG_RCX];
    bool again = behind == pc + 2;
    bool broken_off = behind == pc && registers[REG_RAX] == -EINTR;
    return again || broken_off ? behind : 0;
}

SIGNAL_SAFE static uint64_t stack_pointer(const ucontext_t *context)
{
    return (uint64_t)context->uc_mcontext.gregs[REG_RSP];
}

#else

SIGNAL_SAFE static uint64_t call_pc(const ucontext_t *context)
{
    (void)context;
    return 0;
}

SIGNAL_SAFE static uint64_t stack_pointer(const ucontext_t *context)
{
    (void)context;
    return 0;
}

#endif

/* Words from sp on, as many as can be read at once, at most n. SIGNAL */
SIGNAL_SAFE static uint32_t stack_copy(struct wall *wall, uint64_t sp, uint32_t n)
{
    for (; n > 0; n /= 2)
        if (memory_copy(wall->stack, sp, n * WORD_BYTES))
            return n;
    return 0;
}

/* Finds each return address in the stack; they lie in the order of the frames. SIGNAL */
SIGNAL_SAFE static bool place_fill(struct wall *wall, struct wall_place *place,
                                   const struct unwind_frame *frames, uint32_t n_frames)
{
    uint32_t n_words = stack_copy(wall, place->sp, WALL_STACK_WORDS);
    uint32_t at = 0;
    for (uint32_t i = 1; i < n_frames; i++) {
        while (at < n_words && wall->stack[at] != frames[i].pc)
            at++;
        if (at == n_words)
            return false;
        place->word[i - 1] = (uint16_t)at;
        place->address[i - 1] = frames[i].pc;
        at++;
    }
    place->n_addresses = n_frames - 1;
    return true;
}

/* SIGNAL */
void wall_note_place(struct thread *thread, const void *context, const struct unwind_frame *frames,
                     uint32_t n_frames)
{
    struct wall *wall = thread->wall;
    uint64_t pc = call_pc(context), sp = stack_pointer(context);
    wall->found_cpu_ns = os_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    wall->found_in_call = pc != 0;
    if (pc == 0 || n_frames - 1 > WALL_FRAMES_MAX || thread->last_node == 0)
        return;
    for (uint32_t i = 0; i < WALL_PLACES; i++)
        if (wall->places[i].node == thread->last_node && wall->places[i].sp == sp)
            wall->next_place = i; /* known, but it did not compare as the same: replace it */
    struct wall_place *place = &wall->places[wall->next_place % WALL_PLACES];
    wall->next_place = (wall->next_place + 1) % WALL_PLACES;
    place->sp = sp;
    place->pc = pc;
    place->node = place_fill(wall, place, frames, n_frames) ? thread->last_node : 0;
}

/* The watcher */
uint32_t wall_find_place(struct wall *wall, uint64_t sp, uint64_t pc)
{
    uint32_t n_words = 0;
    for (uint32_t i = 0; i < WALL_PLACES; i++) {
        const struct wall_place *place = &wall->places[i];
        if (place->node == 0 || place->sp != sp || place->pc != pc)
            continue;
        uint32_t n = place->n_addresses;
        uint32_t needed = n == 0 ? 0 : place->word[n - 1] + 1u;
        if (needed > n_words) {
            if (!memory_copy(wall->stack, sp, needed * WORD_BYTES))
                continue;
            n_words = needed;
        }
        uint32_t same = 0;
        while (same < n && wall->stack[place->word[same]] == place->address[same])
            same++;
        if (same == n)
            return place->node;
    }
    return 0;
}
