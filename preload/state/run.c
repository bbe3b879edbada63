/* run.c - see run.h. */
#include "state/run.h"

#include "sys/layout.h"
#include "sys/os.h"

LAYOUT_LARGE_BUT_HEAD struct session session;

/* any context */
bool session_is_ours(void)
{
    return os_getpid() == session.pid;
}

/* any context but SIGNAL */
uint64_t session_n_samples(void)
{
    return __atomic_load_n(&session.n_samples, __ATOMIC_RELAXED);
}
