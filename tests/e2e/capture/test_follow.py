"""test_follow.py CASE LIBRARY PROGRAMS: children and the programs that come by exec."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import capture
from capture import Run, check

WAYS = ("execve", "execle", "execvpe", "fexecve", "execveat", "syscall", "clearenv", "other-preload", "posix_spawn", "posix_spawnp",
        "vfork")


def fresh(how):
    return [os.path.join(capture.PROGRAMS, "capture_fresh"), how]


def case_fresh_environment():
    for how in WAYS:
        run = Run(fresh(how), FREQUENCY=1000, CLOCK="timer")
        check(run.out == b"MINE=1\n", "%s: %r %s" % (how, run.out, run.err))
        check(run.err == "", "%s: %s" % (how, run.err))
        followed = [r for r in run.recordings() if b"done" in r.infos["command"].split(b"\0")]
        check(len(followed) == 1 and followed[0].summary()["weight_s"] > 0.03, "%s: not followed" % how)
        check(followed[0].summary()["clocks"] == ["timer"] and followed[0].frequency_hz == 1000, "%s: without its options" % how)


def case_fresh_not_followed():
    for how in WAYS:
        run = Run(fresh(how), FOLLOW="none")
        check(run.out == b"MINE=1\n", "%s: %r %s" % (how, run.out, run.err))
        check(not [r for r in run.recordings() if b"done" in r.infos["command"].split(b"\0")], "%s: followed" % how)


def case_exec_by_syscall():
    """A tick pending at an exec past libc's functions would end the new program."""
    for _ in range(25):
        Run(fresh("syscall"), FREQUENCY=20000)


def case_exec_beside_ends():
    """One thread tries exec again and again while others come to their end."""
    for clock in ("auto", "timer"):
        run = Run([os.path.join(capture.PROGRAMS, "capture_own_signal"), "exec-beside-ends"], CLOCK=clock, FREQUENCY=40000)
        recording = run.recording()
        # Threads that begin while an exec is tried have no clock. What counts: the streams are whole.
        check(recording.end == 1 and recording.n_threads > 10, "end, or threads: %d" % recording.n_threads)


if __name__ == "__main__":
    sys.exit(capture.main(globals()))
