"""test_eintr.py CASE LIBRARY PROGRAMS: system calls that our ticks must not break off.

EINTR_CALLS and EINTR_EVENT in the environment make `no_eintr` longer, and run it under another event.
"""
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import capture
from capture import Run, check


def programs(name, *arguments):
    return [os.path.join(capture.PROGRAMS, name), *map(str, arguments)]


def clocks():
    """(options, fewest ticks in 1000 calls) of each way to tick."""
    event = os.environ.get("EINTR_EVENT")
    if event:
        return [({"EVENT": event}, 5)]
    return [({"CLOCK": "perf"}, 5), ({"CLOCK": "timer"}, 0)]


def case_no_eintr():
    calls = int(os.environ.get("EINTR_CALLS", "12000"))
    for options, ticks in clocks():
        run = Run(programs("capture_eintr", calls), status=None, timeout=3000, FREQUENCY=5000, FOLLOW="none",
                  **options)
        check(run.status == 0, "%s: %s%s" % (options, run.out.decode(), run.err))
        recording = max(run.recordings(), key=lambda r: r.n_ticks)
        print(options, run.out.decode().strip(), recording.n_ticks, "ticks")
        check(recording.n_ticks > ticks * calls / 1000, "only %d ticks" % recording.n_ticks)


def case_timers_of_threads():
    """A signal for the whole process may wake one thread and be taken by another: the first then returns EINTR without
    having been in a handler. So the timers of a plain run signal one thread each. (Where the kernel cannot say: skipped.)"""
    if not os.path.exists("/proc/self/timers"):
        raise capture.Skipped("no /proc/self/timers (CONFIG_CHECKPOINT_RESTORE)")
    for clock in ("perf", "timer"):
        run = Run(["cat", "/proc/self/timers"], CLOCK=clock)
        told = [line.split()[1] for line in run.out.decode().splitlines() if line.startswith("notify:")]
        check(told and all(how.startswith("signal/tid.") for how in told), "%s: %s" % (clock, run.out.decode()))


def case_transfers_whole():
    for options, _ in clocks():
        run = Run(programs("capture_transfers", "whole", 4), status=None, FREQUENCY=10000, FOLLOW="none", **options)
        check(run.status == 0, "%s: %s%s" % (options, run.out.decode(), run.err))


def case_transfers_cut_by_own():
    """What a handler of the program cuts stays cut, ticks or not. An alarm that comes just between two calls cuts neither: that
    may happen now and then."""
    for options, _ in clocks():
        run = Run(programs("capture_transfers", "cut", 5), status=None, FREQUENCY=10000, FOLLOW="none", **options)
        n_whole = int(run.out.split(b"\n")[-2].split()[0])
        check(n_whole <= 2, "%s: of 40 transfers %s%s" % (options, run.out.decode(), run.err))


def waits_in_time(**options):
    """A tick just when a wait's time is over does not make it wait once more. A busy machine is late by itself, so what counts
    is how much more often that happens, in three runs together."""
    argv = programs("capture_eintr", 500, "waits")
    late = [0, 0]
    for _ in range(3):
        for i, run in enumerate((Run(argv, preload=False), Run(argv, FREQUENCY=40000, **options))):
            late[i] += int(run.out.split()[2])
    print(options, "late without and with us:", late)
    check(late[1] - late[0] <= 15 + 3 * late[0] ** 0.5, "%s: waits that took twice as long: %s" % (options, late))


def case_waits_in_time_perf():
    waits_in_time(CLOCK="perf")


def case_waits_in_time_timer():
    waits_in_time(CLOCK="timer")


def case_waits_end():
    """Calls of which nobody noted when they began end in time, however often they are interrupted and made again. By the signal
    that toggles sampling, as it comes when the test says."""
    run = Run(programs("capture_waits", int(signal.SIGUSR2)), status=None, TOGGLE="USR2")
    check(run.status == 0 and run.out == b"", "status %d, %r, %s" % (run.status, run.out.decode(), run.err))


if __name__ == "__main__":
    sys.exit(capture.main(globals()))
