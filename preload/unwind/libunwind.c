/* libunwind.c - libunwind as an engine: an oracle for ours, and a choice.
 *
 * Loaded with dlopen(RTLD_LOCAL), never linked: its _Unwind_* in the global scope would shadow
 * libgcc's for the whole program. It cannot be made fully signal-safe: unw_step calls
 * dl_iterate_phdr, which takes the loader's lock, so a sample during dlopen, dlclose or the first
 * throw of a thread can wait for ever; and it is called through pointers. The walk is therefore
 * SIGNAL_UNSAFE_BY_CHOICE, and runs only when the user chose this engine by name. */
#define UNW_LOCAL_ONLY
#include <dlfcn.h>
#include <libunwind.h>
#include <stdatomic.h>
#include <string.h>

#include "capture.h"
#include "sys/libc_real.h"
#include "unwind/modules.h"
#include "unwind/thread.h"

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

static int (*cursor_init)(unw_cursor_t *, unw_context_t *, int);
static int (*cursor_step)(unw_cursor_t *);
static int (*cursor_get)(unw_cursor_t *, unw_regnum_t, unw_word_t *);
static int (*cursor_is_signal)(unw_cursor_t *);

_Static_assert(sizeof(unw_cursor_t) <= UNWIND_CURSOR_WORDS * sizeof(uint64_t),
               "UNWIND_CURSOR_WORDS is too small for libunwind's cursor");

/* Looks `name` up; the cast between object and function pointer is POSIX's, not C's. */
static bool symbol_find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool unwind_libunwind_init(const char **why)
{
    void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        *why = "libunwind.so.8 cannot be loaded";
        return false;
    }
    bool found = symbol_find(library, TEXT(UNW_OBJ(init_local2)), &cursor_init) &&
                 symbol_find(library, TEXT(UNW_OBJ(step)), &cursor_step) &&
                 symbol_find(library, TEXT(UNW_OBJ(get_reg)), &cursor_get) &&
                 symbol_find(library, TEXT(UNW_OBJ(is_signal_frame)), &cursor_is_signal);
    if (!found) {
        LIBC_REAL(dlclose)(library);
        *why = "libunwind.so.8 lacks a function we need (1.3 or newer)";
    }
    return found;
}

SIGNAL_UNSAFE_BY_CHOICE struct unwind_result
unwind_libunwind_walk(struct unwind_thread *thread, const void *context,
                      const struct unwind_frame **frames)
{
    unw_cursor_t *cursor = (unw_cursor_t *)thread->cursor;
    uint32_t generation = (uint32_t)modules_generation();
    struct unwind_result result = {.n_frames = 0};
    bool exact = true;
    *frames = thread->found.frames;
    if (cursor_init(cursor, address_pointer((uint64_t)context), UNW_INIT_SIGNAL_FRAME) != 0) {
        result.cut = CAPTURE_CUT_NO_RULE;
        return result;
    }
    for (;;) {
        struct rule_entry spare;
        unw_word_t pc = 0;
        if (cursor_get(cursor, UNW_REG_IP, &pc) != 0 || (pc == 0 && result.n_frames > 0))
            break;
        if (result.n_frames == UNWIND_MAX_FRAMES) {
            result.cut = CAPTURE_CUT_TOO_DEEP;
            break;
        }
        const struct rule_entry *entry = unwind_rule_find(thread, pc, exact, generation, &spare);
        thread->found.frames[result.n_frames++] =
            (struct unwind_frame){.pc = pc, .module = entry->module, .exact = entry->exact};
        int step = cursor_step(cursor);
        exact = cursor_is_signal(cursor) > 0; /* it answers for the frame just left */
        if (step < 0)
            result.cut = CAPTURE_CUT_NO_RULE;
        if (step <= 0)
            break;
    }
    return result;
}
