/* storage.c - see storage.h. */
#include "signals/storage.h"

#include "sys/tls.h"

/* SIGNAL */
uint64_t storage_enter(const struct thread *thread, uint64_t pointer, bool *ok)
{
    *ok = true;
    if (storage_is_own(thread, pointer))
        return 0;
    uint64_t block = thread != NULL && thread->tls != 0 ? thread->tls : tls_block_make();
    *ok = block != 0;
    if (block != 0)
        tls_pointer_set(block);
    return block;
}

/* SIGNAL */
void storage_leave(struct thread *thread, uint64_t pointer, uint64_t block)
{
    if (block == 0)
        return;
    tls_pointer_set(pointer);
    if (thread != NULL)
        thread->tls = block;
    else
        tls_block_free(block);
}
