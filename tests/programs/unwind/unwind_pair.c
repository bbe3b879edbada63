/* unwind_pair.c - see unwind_pair.h.
 *
 * libunwind trusts what expressions compute and dereferences it; where a compiler's rows are wrong
 * it crashes. That (and a wait for ever, below) is caught here and counted as its failure. */
#include "unwind_pair.h"

#include <dlfcn.h>
#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>

#include "unwind/thread.h"

struct unwind_pair unwind_pair;
static struct unwind_thread *our_thread;
static struct unwind_thread *their_thread;
static struct unwind_thread *fresh_thread; /* table engine that never keeps a stack */
static struct unwind_frame previous[UNWIND_MAX_FRAMES];
static uint32_t n_previous;
static uint64_t root_pc;
static sigjmp_buf behind_crash;
static sigjmp_buf behind_wait;
static volatile sig_atomic_t in_libunwind;
static volatile sig_atomic_t may_wait;
static volatile sig_atomic_t gave_up;

/* A sample in the midst of dlopen can leave libunwind waiting for the loader's lock for ever (the
 * interrupted code is just taking it): seen here. Called every 200 ms; the second time in the same
 * walk the wait is given up. Only the wait: whoever jumps out of libunwind leaves the lock of its
 * cache locked, and the next walk waits for that, with all signals blocked. */
static void on_watch(int number)
{
    static unsigned n_samples_before;
    (void)number;
    if (may_wait && n_samples_before == unwind_pair.n_samples)
        siglongjmp(behind_wait, 1);
    n_samples_before = in_libunwind ? unwind_pair.n_samples : UINT32_MAX;
}

typedef int iterate_callback(struct dl_phdr_info *info, size_t size, void *data);
static int (*iterate_real)(iterate_callback *callback, void *data);

static void iterate_find(void)
{
    void *real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    memcpy(&iterate_real, &real, sizeof real); /* the cast is POSIX's, not C's */
}

/* The one libunwind calls, too. It blocks all signals meanwhile, the watch's as well. Given up, it
 * has found nothing. */
__attribute__((visibility("default"))) int dl_iterate_phdr(iterate_callback *callback, void *data)
{
    sigset_t watched;
    sigset_t before;
    volatile int result = 0;
    if (iterate_real == NULL) /* a caller earlier than init */
        iterate_find();
    if (!in_libunwind)
        return iterate_real(callback, data);
    sigemptyset(&watched);
    sigaddset(&watched, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &watched, &before);
    if (sigsetjmp(behind_wait, 1) == 0) {
        may_wait = 1;
        result = iterate_real(callback, data);
    } else {
        gave_up = 1;
    }
    may_wait = 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return result;
}

static void on_crash(int number)
{
    if (in_libunwind)
        siglongjmp(behind_crash, 1);
    signal(number, SIG_DFL); /* not ours: comes again and ends the program */
}

int unwind_pair_init(const char **why)
{
    struct sigaction action = {.sa_handler = on_crash};
    iterate_find();
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    action.sa_handler = on_watch;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval watch = {.it_interval.tv_usec = 200000, .it_value.tv_usec = 200000};
    setitimer(ITIMER_REAL, &watch, NULL);
    if (!unwind_init(UNWIND_LIBUNWIND, why))
        return 0;
    our_thread = unwind_thread_create();
    their_thread = unwind_thread_create();
    fresh_thread = unwind_thread_create();
    if (our_thread == NULL || fresh_thread == NULL || their_thread == NULL) {
        *why = "no memory";
        return 0;
    }
    unwind_thread_bind(our_thread);
    unwind_thread_bind(their_thread);
    unwind_thread_bind(fresh_thread);
    return 1;
}

void unwind_pair_reset(void)
{
    unwind_pair.n_samples = 0;
    unwind_pair.n_equal = 0;
    memset(unwind_pair.n_cut, 0, sizeof unwind_pair.n_cut);
    unwind_pair.n_frames = 0;
    unwind_pair.n_same = 0;
}

/* What reuse brought must be what a walk from scratch brings, and n_same outermost frames must be
 * those of the previous result. */
static int reuse_is_right(struct unwind_result result, const struct unwind_frame *frames,
                          const void *context)
{
    const struct unwind_frame *fresh = NULL;
    unwind_thread_forget(fresh_thread);
    struct unwind_result fresh_result = unwind_table_walk(fresh_thread, context, &fresh);
    int right = result.n_frames == fresh_result.n_frames && result.cut == fresh_result.cut &&
                memcmp(frames, fresh, result.n_frames * sizeof *frames) == 0 &&
                result.n_same <= result.n_frames && result.n_same <= n_previous &&
                memcmp(&frames[result.n_frames - result.n_same],
                       &previous[n_previous - result.n_same], result.n_same * sizeof *frames) == 0;
    n_previous = result.n_frames;
    memcpy(previous, frames, result.n_frames * sizeof *frames);
    return right;
}

void unwind_pair_sample(const void *context)
{
    const struct unwind_frame *ours = NULL;
    const struct unwind_frame *theirs = NULL;
    struct unwind_result our_result = unwind_table_walk(our_thread, context, &ours);
    unwind_pair.n_reuse_wrong += !reuse_is_right(our_result, ours, context);
    volatile struct unwind_result their_result = {.n_frames = 0};
    volatile int crashed = 1;
    theirs = their_thread->found.frames;
    if (sigsetjmp(behind_crash, 1) == 0) {
        in_libunwind = 1;
        gave_up = 0;
        their_result = unwind_libunwind_walk(their_thread, context, &theirs);
        crashed = gave_up;
    }
    in_libunwind = 0;
    may_wait = 0;

    struct unwind_pair *pair = &unwind_pair;
    uint32_t at = 0;
    while (at < our_result.n_frames && at < their_result.n_frames && ours[at].pc == theirs[at].pc)
        at++;
    pair->n_samples++;
    pair->n_frames += our_result.n_frames;
    pair->n_same += our_result.n_same;
    pair->n_cut[our_result.cut % 8]++;
    pair->pc_cut[our_result.cut % 8] = ours[our_result.n_frames - 1].pc;
    int they_are_rooted = their_result.cut == 0 && !crashed && their_result.n_frames > 0 &&
                          theirs[their_result.n_frames - 1].pc == root_pc;
    if (our_result.cut == 0 && root_pc == 0)
        root_pc = ours[our_result.n_frames - 1].pc; /* _start: the first sample is a plain one */
    pair->n_worse += they_are_rooted && ours[our_result.n_frames - 1].pc != root_pc;
    pair->n_further += at == their_result.n_frames && at < our_result.n_frames && !crashed &&
                       ours[our_result.n_frames - 1].pc == root_pc;
    if (at == our_result.n_frames && at == their_result.n_frames && !crashed) {
        pair->n_equal++;
    } else if (pair->n_differences < UNWIND_DIFFERENCES_MAX) {
        pair->differences[pair->n_differences++] =
            (struct unwind_difference){.at = at,
                                       .pc_leaf = ours[0].pc,
                                       .pc_before = at > 0 ? ours[at - 1].pc : 0,
                                       .exact = at > 0 && ours[at - 1].exact != 0,
                                       .pc_ours = at < our_result.n_frames ? ours[at].pc : 0,
                                       .pc_theirs = at < their_result.n_frames ? theirs[at].pc : 0,
                                       .n_ours = our_result.n_frames,
                                       .n_theirs = their_result.n_frames,
                                       .cut_ours = our_result.cut,
                                       .crashed = crashed};
    }
}
