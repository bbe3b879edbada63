/* start.c - the library's constructor: settings, engines, hooks, then the first tick.
 *
 * Whatever goes wrong here is reported in one line, and the program runs unsampled. In a program
 * that runs with more rights than its caller (AT_SECURE) nothing happens at all.
 *
 * The order matters: what initialises itself on first use (the vDSO's clock, the
 * unwinder) before the handler that uses it; the handler before the clock; the settings before
 * everything that reads them. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "environment.h"
#include "hooks/hooks.h"
#include "process/exec_env.h"
#include "process/report.h"
#include "process/session.h"
#include "process/tree.h"
#include "signals/handler.h"
#include "signals/program_mask.h"
#include "state/infos.h"
#include "sys/line.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "threads/scan.h"
#include "threads/slots.h"

/* SETUP */
static void say(const char *text)
{
    char bytes[300];
    struct line line;
    line_init(&line, bytes, sizeof bytes);
    line_add(&line, text);
    line_say(&line);
}

/* SAMPLER_FOLLOW=none: children start without us. SETUP */
static void leave_environment(void)
{
    const char *slash = strrchr(report_library_path(), '/');
    const char *name = slash != NULL ? slash + 1 : "libsampler.so";
    for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
        if (strncmp(*variable, "LD_PRELOAD=", 11) != 0)
            continue;
        exec_env_remove(*variable + 11, name);
        if ((*variable)[11] != '\0')
            return;
        for (char **next = variable; *next != NULL; next++)
            next[0] = next[1];
        return;
    }
}

/* SETUP */
static void choose_unwinder(void)
{
    const char *why = "";
    if (unwind_init(session.settings.unwinder, &why))
        return;
    char bytes[300];
    struct line line;
    line_init(&line, bytes, sizeof bytes);
    line_add(&line, "unwinder ");
    line_add(&line, settings_unwinder_name(session.settings.unwinder));
    line_add(&line, " is not available (");
    line_add(&line, why);
    line_add(&line, "); using table");
    line_say(&line);
    session.settings.unwinder = UNWIND_TABLE;
}

/* Whether what was requested can be measured; reports why not. Ends a process that was started only
 * to ask (sampler-run does, before it starts the command). SETUP */
static bool can_measure(void)
{
    char bytes[400], reason_bytes[300];
    struct line line, reason;
    const struct settings *settings = &session.settings;
    line_init(&reason, reason_bytes, sizeof reason_bytes);
    bool can = settings->event_bad == NULL;
    if (!can)
        line_add(&reason, settings->event_bad);
    else
        can = clock_check(&reason);
    if (!can) {
        line_init(&line, bytes, sizeof bytes);
        line_add(&line, "cannot measure ");
        line_add(&line, settings->event.name[0] != '\0' ? settings->event.name : "this event");
        line_add(&line, ": ");
        line_add(&line, reason_bytes);
        if (!settings->check)
            line_add(&line, "; nothing is sampled");
        line_say(&line);
    }
    if (settings->check)
        os_exit(can ? ENVIRONMENT_CHECK_FINE : ENVIRONMENT_CHECK_REFUSED);
    return can;
}

/* SETUP */
static void start(void)
{
    uint64_t ours;
    uint64_t before = 0;
    struct session_entry entry = session_enter();
    line_remember_stderr();
    report_setup();
    tls_setup();
    os_setup();
    settings_read(&session.settings);
    clock_setup(&session.settings);
    ours = os_signal_bit(session.settings.signo);
    tree_enter();
    exec_env_setup(report_library_path());
    if (!session.settings.follow)
        leave_environment();
    hooks_syscall_setup();
    if (!can_measure())
        return;
    choose_unwinder();
    if (!thread_end_setup() || !hooks_process_setup()) {
        say("out of thread keys or exit handlers; nothing is sampled");
        return;
    }
    /* The handler before the clock: a tick without one would end the program. */
    os_sigmask(SIG_BLOCK, &ours, &before);
    bool begun = handler_install();
    if (begun) {
        thread_registry_lock();
        begun = session_begin(&entry);
        thread_registry_unlock();
        if (!begun)
            handler_remove();
    } else {
        say("the signal cannot be handled; nothing is sampled");
    }
    if (begun) {
        mask_believe((before & ours) != 0);
        scan_existing();
        thread_end_await(thread_self);
    }
    if (begun || (before & ours) == 0)
        os_sigmask(SIG_UNBLOCK, &ours, NULL);
}

/* SETUP */
void start_once(void)
{
    static bool started;
    if (likely(__atomic_load_n(&started, __ATOMIC_RELAXED)))
        return;
    __atomic_store_n(&started, true, __ATOMIC_RELAXED);
    int saved_errno = errno;
    if (getauxval(AT_SECURE) == 0)
        start();
    errno = saved_errno;
}

/* glibc passes a constructor what main gets. SETUP */
__attribute__((constructor)) static void on_load(int argc, char **argv)
{
    infos_set_arguments(argc, argv);
    start_once();
}
