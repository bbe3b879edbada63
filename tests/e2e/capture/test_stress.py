"""What breaks profilers: short threads, forks, exceptions, at 5000 Hz. No crash, no deadlock, no
changed result, twenty times each."""

import os
import resource
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import LIBRARY, Folded, Skip, case, check, check_equal, main, run, sampler_run, test_program

RUNS = 20


def check_runs(argv, least_samples):
    bare = run(argv)
    check_equal(bare.status, 0, "status without us")
    for i in range(RUNS):
        clock = ("perf", "timer")[i % 2]
        result = sampler_run(["-q", "-F", "5000", "--clock", clock, "-o", "out.folded"], argv,
                             timeout_s=60)
        check_equal((result.status, result.stdout, result.stderr), (0, bare.stdout, ""),
                    "run %d (%s): status, stdout, stderr" % (i, clock))
        profile = Folded("out.folded")
        check(profile.total >= least_samples, "run %d (%s): %d samples", i, clock, profile.total)
        check(profile.share_rooted() >= 0.99, "run %d (%s): rooted %.4f", i, clock,
              profile.share_rooted())
    print("  %d runs, last one %d samples" % (RUNS, profile.total))


@case
def short_threads(_scratch):
    check_runs([test_program("short_threads"), "1000"], 500)


@case
def forks(_scratch):
    check_runs([test_program("forks"), "60"], 500)


@case
def forks_beside_threads(scratch):
    """A child of fork has the program's limit of files and runs, whatever our part of another thread was about to do when
    the process was copied: it raises that limit for a moment, under a lock."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    low = 256 if soft == hard else soft
    if low >= hard:
        raise Skip("no room between the limits of files, %d and %d" % (soft, hard))
    for clock in ("perf", "timer"):
        result = run(["prlimit", "--nofile=%d:%d" % (low, hard), "env", "LD_PRELOAD=" + LIBRARY,
                      "SAMPLER_RECORDING_DIR=" + scratch, "SAMPLER_CLOCK=" + clock,
                      test_program("forks_beside_threads"), "1000"], timeout_s=200)
        check_equal((result.status, result.stdout), (0, b"1000 as before, 0 with another limit, 0 hung or failed\n"), clock)


@case
def throws(_scratch):
    check_runs([test_program("throws"), "8000"], 300)


if __name__ == "__main__":
    main()
