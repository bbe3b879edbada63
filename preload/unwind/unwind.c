/* unwind.c - the engines behind unwind.h. */
#include "unwind/unwind.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "unwind/modules.h"
#include "unwind/thread.h"

/* Set in unwind_init, constant afterwards. */
static enum unwind_engine engine_in_force = UNWIND_TABLE;

/* One walk of our own stack, so that whatever initialises itself on first use has done so. */
static void engine_warm_up(void)
{
    struct unwind_thread *thread = unwind_thread_create();
    const struct unwind_frame *frames = NULL;
    ucontext_t context;
    if (thread == NULL || getcontext(&context) != 0)
        return;
    unwind_thread_bind(thread);
    (void)unwind_stack(thread, &context, &frames);
    munmap(thread, sizeof *thread);
}

bool unwind_init(enum unwind_engine engine, const char **why)
{
    bool ok = true;
    memory_init();
    modules_init();
    engine_in_force = engine;
    if (engine == UNWIND_LIBUNWIND && !unwind_libunwind_init(why)) {
        engine_in_force = UNWIND_TABLE;
        ok = false;
    }
    engine_warm_up();
    return ok;
}

struct unwind_thread *unwind_thread_create(void)
{
    long at = syscall(SYS_mmap, NULL, sizeof(struct unwind_thread), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    return at == -1 ? NULL : address_pointer((uint64_t)at);
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

void unwind_thread_forget(struct unwind_thread *thread)
{
    thread->kept_start = UNWIND_MAX_FRAMES;
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
