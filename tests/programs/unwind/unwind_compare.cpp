/* unwind_compare.cpp - the table engine against libunwind, stack by stack, in one handler.
 *
 *   unwind_compare [-v] [SECONDS [FREQUENCY_HZ [WORK]]]
 *
 * Runs each kind of awkward code of unwind_work.cpp, takes samples of it at a high rate, walks each
 * with both engines and compares frame by frame. Prints a line per kind of work, and how the
 * differing stacks differ. Each sample is also walked by the table engine without reuse, which must
 * give the very same. Exit status 0 when at least UNWIND_COMPARE_MIN (default 99.8) percent are
 * equal, but for those where libunwind ends and we reach the start (2 percent at most), libunwind knows better in no more than one of 1000, and reuse is never wrong; 1 when not;
 * 77 when libunwind or a clock cannot be had.
 *
 * Known differences, with gcc 12, glibc 2.36 and libunwind 1.6.2:
 * - realigned functions with stack arguments (alloca): between `pop %rbp` and `ret` gcc's rows
 * still restore rbp from the frame. We see that the slot is outside the frame; libunwind follows
 * it, skips a caller or crashes. Ours are right.
 * - landing pads (exceptions): at a pad's first instruction libunwind may use the row in front of
 *   it. Ours are right.
 * - _init of a plugin has no rows: we guess, libunwind ends. Ours are right.
 * - inside libgcc's uw_install_context (plugin), while it overwrites the return address of its own
 *   caller, and in swapcontext (coroutine) between the switch of the stack and the push of the
 *   return address, no row is true. Ours are cut, libunwind's go astray. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <time.h>

#include "sample_clock.h"
#include "unwind_pair.h"
#include "unwind_work.h"

namespace
{
double now_s()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

bool difference_is_like(const unwind_difference &a, const unwind_difference &b)
{
    return a.pc_before == b.pc_before && a.pc_ours == b.pc_ours && a.exact == b.exact &&
           a.cut_ours == b.cut_ours && a.crashed == b.crashed;
}

/* One line per kind of difference, and one per reason stacks were cut for. */
void differences_print(unsigned from)
{
    const unwind_difference *all = unwind_pair.differences;
    for (unsigned i = from; i < unwind_pair.n_differences; i++) {
        unsigned n_before = 0;
        unsigned n_like = 0;
        for (unsigned k = from; k < unwind_pair.n_differences; k++) {
            bool like = difference_is_like(all[i], all[k]);
            n_before += like && k < i;
            n_like += like;
        }
        if (n_before > 0)
            continue;
        const unwind_difference &d = all[i];
        printf("  %4u: frame %u: ours %#lx theirs %#lx, behind %#lx%s, leaf %#lx; depth %u / %u, "
               "our cut %u%s\n",
               n_like, d.at, d.pc_ours, d.pc_theirs, d.pc_before, d.exact ? " (exact)" : "",
               d.pc_leaf, d.n_ours, d.n_theirs, d.cut_ours,
               d.crashed ? ", libunwind crashed or hung" : "");
    }
    for (unsigned cut = 1; cut < 8; cut++) {
        if (unwind_pair.n_cut[cut] > 0)
            printf("  %4u: cut for reason %u, the last at %#lx\n", unwind_pair.n_cut[cut], cut,
                   unwind_pair.pc_cut[cut]);
    }
}

void maps_print()
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != nullptr && fgets(line, sizeof line, maps) != nullptr) {
        if (strstr(line, "r-x") != nullptr || strstr(line, "r--p 00000000") != nullptr)
            fputs(line, stdout);
    }
    if (maps != nullptr)
        fclose(maps);
}
} // namespace

int main(int argc, char **argv)
{
    const char *why = "";
    setvbuf(stdout, nullptr, _IOLBF, 0);
    bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    argc -= verbose;
    argv += verbose;
    double seconds = argc > 1 ? atof(argv[1]) : 0.3;
    auto frequency_hz = static_cast<unsigned>(argc > 2 ? atoi(argv[2]) : 10000);
    const char *minimum = getenv("UNWIND_COMPARE_MIN");
    if (!unwind_pair_init(&why)) {
        fprintf(stderr, "skipped: %s\n", why);
        return 77;
    }
    if (!sample_clock_start(frequency_hz, unwind_pair_sample))
        return 77;

    unsigned all_samples = 0;
    unsigned all_equal = 0;
    uint64_t value = 0;
    printf("%-12s %9s %9s %9s %8s %8s %8s\n", "work", "samples", "equal", "complete", "depth",
           "same %", "equal %");
    for (const unwind_work *work = unwind_works; work->name != nullptr; work++) {
        if (argc > 3 && strcmp(argv[3], work->name) != 0)
            continue;
        unsigned first_difference = unwind_pair.n_differences;
        unwind_pair_reset();
        for (double end = now_s() + seconds; now_s() < end;)
            value += work->run(200);
        unsigned samples = unwind_pair.n_samples;
        unsigned equal = unwind_pair.n_equal;
        printf("%-12s %9u %9u %9u %8.1f %8.1f %8.3f\n", work->name, samples, equal,
               unwind_pair.n_cut[0],
               static_cast<double>(unwind_pair.n_frames) / (samples + !samples),
               100.0 * static_cast<double>(unwind_pair.n_same) /
                   static_cast<double>(unwind_pair.n_frames + !unwind_pair.n_frames),
               100.0 * equal / (samples + !samples));
        differences_print(first_difference);
        all_samples += samples;
        all_equal += equal;
    }
    sample_clock_stop();
    unsigned judged = all_samples - unwind_pair.n_further;
    double percent = 100.0 * all_equal / (judged + !judged);
    printf("%-12s %9u %9u %27s %.3f   (%lx)\n", "all", all_samples, all_equal, "", percent, value);
    printf("libunwind reaches the start and we do not: %u, the other way round: %u; reuse gave "
           "another "
           "stack: %u\n",
           unwind_pair.n_worse, unwind_pair.n_further, unwind_pair.n_reuse_wrong);
    if (verbose)
        maps_print();
    if (unwind_pair.n_reuse_wrong > 0 || unwind_pair.n_worse * 1000.0 > all_samples ||
        unwind_pair.n_further * 50.0 > all_samples)
        return 1;
    return all_samples > 0 && percent >= (minimum == nullptr ? 99.8 : atof(minimum)) ? 0 : 1;
}
