/* api.c - the functions of include/sampler.h. sampler_flush: HOOK; the others may be called from
 * handlers of the program, so they are written for any context. */
#define SAMPLER_LINKED
#include <errno.h>
#include <string.h>

#include "hooks/hooks.h"
#include "process/report.h"
#include "sampler.h"
#include "state/run.h"
#include "sys/tls.h"
#include "threads/control.h"
#include "threads/find.h"
#include "threads/thread.h"

/* any context */
static int switch_to(bool on)
{
    int saved_errno = errno;
    bool done = control_switch(on);
    errno = saved_errno;
    return done ? 0 : -1;
}

/* any context */
HOOK_EXPORT int sampler_start(void)
{
    return switch_to(true);
}

/* any context */
HOOK_EXPORT int sampler_stop(void)
{
    return switch_to(false);
}

/* any context */
HOOK_EXPORT int sampler_is_active(void)
{
    int saved_errno = errno;
    bool is_active = session_phase() == SESSION_RUNNING && session_is_ours() && control_is_on();
    errno = saved_errno;
    return is_active ? 1 : 0;
}

/* The handler of this very thread takes the text while is_new, and must not see half of one. any
 * context */
HOOK_EXPORT int sampler_label(const char *label)
{
    struct thread *thread = thread_of_tid(tls_gettid());
    if (thread == NULL || session_phase() != SESSION_RUNNING)
        return -1;
    const char *text = label != NULL ? label : "";
    size_t length = strnlen(text, sizeof thread->label.text - 1);
    __atomic_store_n(&thread->label.is_new, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memcpy(thread->label.text, text, length);
    thread->label.text[length] = '\0';
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&thread->label.is_new, 1, __ATOMIC_RELEASE);
    return 0;
}

/* HOOK */
HOOK_EXPORT int sampler_flush(const char *path)
{
    int error = path != NULL && path[0] != '\0' ? report_so_far(path) : EINVAL;
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

HOOK_EXPORT const struct sampler_functions sampler_functions_1 = {
    .size_bytes = sizeof(struct sampler_functions),
    .start = sampler_start,
    .stop = sampler_stop,
    .flush = sampler_flush,
    .label = sampler_label,
    .is_active = sampler_is_active,
};
