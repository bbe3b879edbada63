/* unwind.c - which engine walks a stack: see unwind.h. */
#include "unwind/unwind.h"

#include <ucontext.h>

#include "sys/layout.h"
#include "sys/os.h"
#include "unwind/modules.h"
#include "unwind/thread.h"

/* Set in unwind_init, constant afterwards. */
static enum unwind_engine engine_in_force = UNWIND_TABLE;

/* One walk of our own stack, so that whatever of a library initialises itself on first use has done
 * so. Our own engine has no such thing: there the walk would cost every process its time in vain. */
static void engine_warm_up(void)
{
    struct unwind_thread *thread = unwind_thread_create();
    const struct unwind_frame *frames = NULL;
    static LAYOUT_LARGE ucontext_t context; /* large, and one caller */
    if (thread == NULL || getcontext(&context) != 0)
        return;
    unwind_thread_bind(thread);
    (void)unwind_stack(thread, &context, &frames);
    os_unmap(thread, sizeof *thread);
}

bool unwind_init(enum unwind_engine engine, const char **why)
{
    modules_init();
    engine_in_force = engine;
    if (engine != UNWIND_LIBUNWIND)
        return true;
    if (!unwind_libunwind_init(why)) {
        engine_in_force = UNWIND_TABLE;
        return false;
    }
    engine_warm_up();
    return true;
}

struct unwind_thread *unwind_thread_create(void)
{
    return os_map(sizeof(struct unwind_thread));
}

void unwind_thread_bind(struct unwind_thread *thread)
{
    thread->is_other = false;
    memory_bind(&thread->memory);
    unwind_thread_forget(thread);
}

void unwind_thread_bind_other(struct unwind_thread *thread)
{
    thread->is_other = true;
    memory_bind_other(&thread->memory);
    unwind_thread_forget(thread);
}

struct unwind_result unwind_stack(struct unwind_thread *thread, const void *context,
                                  const struct unwind_frame **frames)
{
    if (likely(engine_in_force == UNWIND_TABLE))
        return unwind_table_walk(thread, context, frames);
    if (engine_in_force == UNWIND_FP)
        return unwind_fp_walk(thread, context, frames);
    if (thread->is_other)
        return unwind_table_walk(thread, context, frames);
    return unwind_libunwind_walk(thread, context, frames);
}
