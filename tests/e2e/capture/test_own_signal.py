"""test_own_signal.py CASE LIBRARY PROGRAMS: the program uses the signal we use, and sees nothing of us."""
import os
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import capture
from capture import Run, check


def own_signal(case, timeout=30, **settings):
    for clock in ("auto", "timer"):
        run = Run([os.path.join(capture.PROGRAMS, "capture_own_signal"), case], status=None, timeout=timeout, CLOCK=clock,
                  FREQUENCY=5000, **settings)
        check(run.status == 0, "%s: status %d, %s%s" % (clock, run.status, run.out.decode(), run.err))
        check(any(r.n_ticks > 0 for r in run.recordings()), "nothing was sampled")


def case_held():
    own_signal("held")


def case_taken_by_sigwait():
    own_signal("sigwait")


def case_other_thread():
    own_signal("other-thread")


def case_wait_masks():
    for _ in range(8):  # a signal that another thread takes first is seen in 1 run of 60
        own_signal("wait-masks")


def case_ignored():
    own_signal("ignored")


def case_wait_ignored():
    own_signal("wait-ignored", SIGNAL=signal.SIGURG.value)


def case_tick_first():
    own_signal("tick-first", timeout=120)


def case_default():
    own_signal("default")


def case_late():
    for clock in ("auto", "timer"):
        for _ in range(30):
            run = Run([os.path.join(capture.PROGRAMS, "capture_own_signal"), "late"], CLOCK=clock, FREQUENCY=20000)
            check(run.out == b"", "%s: our tick reached the program's handler" % clock)


def case_real_time_refused():
    """A tick for which there is no room in the queue would come as SIGIO, and end the program."""
    if shutil.which("prlimit") is None:
        raise capture.Skipped("no prlimit")
    run = Run(capture.program("spin", 300), launcher=["prlimit", "--sigpending=0:0"], SIGNAL=40, FREQUENCY=20000)
    check("SAMPLER_SIGNAL=40" in run.err, "it is not refused: %r" % run.err)


if __name__ == "__main__":
    sys.exit(capture.main(globals()))
