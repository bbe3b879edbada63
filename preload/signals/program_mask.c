/* program_mask.c - see program_mask.h. */
#include "signals/program_mask.h"

#include "state/run.h"
#include "threads/slots.h"

/* For threads without a slot (not yet found, or without memory for one): their belief alone. */
static __thread bool believed_without_slot;

/* HOOK */
bool mask_believed(void)
{
    return thread_self != NULL ? thread_self->mask_blocked : believed_without_slot;
}

/* HOOK */
void mask_believe(bool blocked)
{
    if (blocked == mask_believed() || !session_is_ours())
        return;
    if (thread_self != NULL)
        __atomic_store_n(&thread_self->mask_blocked, blocked, __ATOMIC_SEQ_CST);
    else
        believed_without_slot = blocked;
}
