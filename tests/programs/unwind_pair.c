/* unwind_pair.c - see unwind_pair.h.
 *
 * libunwind trusts what expressions compute and dereferences it; where a compiler's rows are wrong
 * it crashes. That is caught here and counted as its failure. */
#include "unwind_pair.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "unwind_thread.h"

struct unwind_pair unwind_pair;
static struct unwind_thread *our_thread;
static struct unwind_thread *their_thread;
static sigjmp_buf behind_crash;
static volatile sig_atomic_t in_libunwind;

static void on_crash(int number)
{
    if (in_libunwind)
        siglongjmp(behind_crash, 1);
    signal(number, SIG_DFL); /* not ours: comes again and ends the program */
}

int unwind_pair_init(const char **why)
{
    struct sigaction action = {.sa_handler = on_crash};
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    if (!unwind_init(UNWIND_LIBUNWIND, why))
        return 0;
    our_thread = unwind_thread_create();
    their_thread = unwind_thread_create();
    if (our_thread == NULL || their_thread == NULL) {
        *why = "no memory";
        return 0;
    }
    unwind_thread_bind(our_thread);
    unwind_thread_bind(their_thread);
    return 1;
}

void unwind_pair_reset(void)
{
    unwind_pair.n_samples = 0;
    unwind_pair.n_equal = 0;
    memset(unwind_pair.n_cut, 0, sizeof unwind_pair.n_cut);
    unwind_pair.n_frames = 0;
}

void unwind_pair_sample(const void *context)
{
    const struct unwind_frame *ours = NULL;
    const struct unwind_frame *theirs = NULL;
    struct unwind_result our_result = unwind_table_walk(our_thread, context, &ours);
    volatile struct unwind_result their_result = {.n_frames = 0};
    volatile int crashed = 1;
    theirs = their_thread->frames;
    if (sigsetjmp(behind_crash, 1) == 0) {
        in_libunwind = 1;
        their_result = unwind_libunwind_walk(their_thread, context, &theirs);
        crashed = 0;
    }
    in_libunwind = 0;

    struct unwind_pair *pair = &unwind_pair;
    uint32_t at = 0;
    while (at < our_result.n_frames && at < their_result.n_frames && ours[at].pc == theirs[at].pc)
        at++;
    pair->n_samples++;
    pair->n_frames += our_result.n_frames;
    pair->n_cut[our_result.cut % 8]++;
    pair->pc_cut[our_result.cut % 8] = ours[our_result.n_frames - 1].pc;
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
