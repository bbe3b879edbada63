/* waiting.c - see waiting.h. They are not our children: each has a descriptor that becomes readable at
 * its end. Signals come by one, too, being held (child.h). */
#include "run/waiting.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "append.h"
#include "options/messages.h"
#include "run/elapsed.h"

/* What ends soon is waited for without a word. */
#define SOON_MS 500u
/* A process that has just become another program has not loaded the library yet. */
#define JOINS_MS 20u
#define JOIN_ATTEMPTS 5u
/* Where the kernel has no descriptors for processes (before Linux 5.3), they are looked for again. */
#define LOOK_AGAIN_MS 250u
/* As many are waited for at a time: a process may have more descriptors than that. */
#define AT_A_TIME 256u
#define NAMES_MOST 3u

struct wait_state {
    int signals_fd;
    uint64_t begin_ns;
    bool is_told;
};

/* Whether a signal that has come ends the waiting. */
static bool is_asked_to_end(int signals_fd)
{
    struct signalfd_siginfo info;
    bool yes = false;
    while (read(signals_fd, &info, sizeof info) == (ssize_t)sizeof info) {
        yes |= info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT || info.ssi_signo == SIGTERM ||
               info.ssi_signo == SIGHUP;
        if (info.ssi_signo == SIGTSTP)
            kill(getpid(), SIGSTOP);
    }
    return yes;
}

/* Until one of them ends, a signal comes, or the time (UINT64_MAX: none) has come. */
static void wait_for_any(const struct pids *pids, int signals_fd, uint64_t until_ns)
{
    struct pollfd fds[1 + AT_A_TIME] = {{.fd = signals_fd, .events = POLLIN}};
    nfds_t n = 1;
    uint64_t now_ns = elapsed_now_ns();
    for (size_t i = 0; i < pids->n && n < sizeof fds / sizeof fds[0]; i++) {
        int fd = (int)syscall(SYS_pidfd_open, pids->items[i], 0);
        uint64_t again_ns = now_ns + (errno == ESRCH ? 0 : LOOK_AGAIN_MS * NS_PER_MS);
        if (fd >= 0)
            fds[n++] = (struct pollfd){.fd = fd, .events = POLLIN};
        else if (again_ns < until_ns)
            until_ns = again_ns;
    }
    uint64_t left_ms = until_ns > now_ns ? (until_ns - now_ns) / NS_PER_MS + 1 : 0;
    poll(fds, n, until_ns == UINT64_MAX ? -1 : left_ms > INT32_MAX ? INT32_MAX : (int)left_ms);
    while (n > 1)
        close(fds[--n].fd);
}

static void tell_waiting(const char *own_name, const struct pids *pids)
{
    char line[512], name[32];
    size_t used = 0;
    append(line, sizeof line, &used,
           "the command has ended; waiting for %zu process%s that it started:", pids->n,
           pids->n == 1 ? "" : "es");
    for (size_t i = 0; i < pids->n && i < NAMES_MOST; i++) {
        member_name(pids->items[i], name, sizeof name);
        append(line, sizeof line, &used, "%s %s (%d)", i > 0 ? "," : "", name, (int)pids->items[i]);
    }
    append(line, sizeof line, &used, "%s; Ctrl-C makes the profile now",
           pids->n > NAMES_MOST ? " and others" : "");
    tell(own_name, line);
}

/* Those that run now; where nobody does, not before those have come that are about to. */
static void find_settled(const struct members_run *run, int signals_fd, struct pids *out)
{
    for (unsigned i = 0; i <= JOIN_ATTEMPTS; i++) {
        if (members_find(run, out) == 0 || out->n > 0)
            return;
        wait_for_any(out, signals_fd, elapsed_now_ns() + JOINS_MS * NS_PER_MS);
    }
}

/* True when they have ended; else it waits until there is a reason to look again. */
static bool have_ended(const struct waiting *waiting, struct wait_state *state)
{
    struct pids pids = {0};
    uint64_t soon_ns = state->begin_ns + SOON_MS * NS_PER_MS;
    uint64_t until_ns = waiting->until_ns > 0 ? waiting->until_ns : UINT64_MAX;
    find_settled(&waiting->run, state->signals_fd, &pids);
    bool none = pids.n == 0;
    if (!none && !state->is_told && elapsed_now_ns() >= soon_ns) {
        tell_waiting(waiting->own_name, &pids);
        state->is_told = true;
    }
    if (!none)
        wait_for_any(&pids, state->signals_fd,
                     !state->is_told && soon_ns < until_ns ? soon_ns : until_ns);
    pids_deinit(&pids);
    return none;
}

bool wait_for_members(const struct waiting *waiting)
{
    struct wait_state state = {
        .signals_fd = signalfd(-1, &waiting->guard->held, SFD_CLOEXEC | SFD_NONBLOCK),
        .begin_ns = elapsed_now_ns(),
        .is_told = waiting->is_quiet,
    };
    bool ended = false;
    if (state.signals_fd < 0)
        return members_have_ended(waiting);
    while (!ended && !is_asked_to_end(state.signals_fd) &&
           (waiting->until_ns == 0 || elapsed_now_ns() < waiting->until_ns))
        ended = have_ended(waiting, &state);
    close(state.signals_fd);
    return ended;
}

bool members_have_ended(const struct waiting *waiting)
{
    struct pids pids = {0};
    find_settled(&waiting->run, -1, &pids);
    bool none = pids.n == 0;
    pids_deinit(&pids);
    return none;
}
