"""Runs programs under libsampler.so and reads their recordings, for tests of what happens inside a program.

A test file has functions case_NAME and ends in main(globals()); `python3 FILE.py NAME LIBRARY PROGRAMS` runs one, with
CAPTURE_REPEAT=n in the environment n times. LIBRARY is libsampler.so, PROGRAMS the folder of the test programs. Unlike
e2e.py this one needs neither of the tools: what it looks at is the recording, read by recording_dump.py.
"""
import contextlib
import glob
import os
import subprocess
import sys
import tempfile

import recording_dump

SKIP = 77
LIBRARY = PROGRAMS = FOLDER = None


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failed(what)


class Run:
    """One run of a program under the library, its recordings read."""

    def __init__(self, argv, plain=False, preload=True, status=0, timeout=120, launcher=(), **options):
        self.folder = tempfile.mkdtemp(dir=FOLDER)
        self.recordings_folder = os.path.join(self.folder, "recordings")
        os.mkdir(self.recordings_folder)
        os.chmod(self.recordings_folder, 0o777)
        os.chmod(self.folder, 0o777)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("SAMPLER_", "DEBUGINFOD_"))}
        environment.update({"SAMPLER_" + k: str(v) for k, v in options.items()})
        if not plain:
            environment.setdefault("SAMPLER_RECORDING_DIR", self.recordings_folder)
        settings = ["LD_PRELOAD=" + LIBRARY] if preload else []
        # env sets the variable behind the launcher, so that the launcher itself is not sampled.
        argv = list(launcher) + ["env"] + settings + list(argv)
        if launcher and launcher[0].endswith("capture_refuse"):
            argv = ["env"] + settings + list(launcher) + argv[len(launcher) + 1 + len(settings):]
        done = subprocess.run(argv, env=environment, cwd=self.folder, capture_output=True, timeout=timeout)
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr.decode(errors="replace")
        if status is not None:
            check(self.status == status, "status %d, expected %d; out %r err %r" % (self.status, status, self.out[-300:], self.err[-300:]))

    def files(self):
        return sorted(glob.glob(self.recordings_folder + "/*.sampler"))

    def recordings(self):
        found = [recording for path in self.files() for recording in recording_dump.read_all(path)]
        for recording in found:
            recording.check_modules()
        return sorted(found, key=lambda recording: (recording.pid, recording.start_time_ns))

    def recording(self):
        """That of the program itself, not of what started it by exec."""
        sampled = [r for r in self.recordings() if r.end != 2]
        check(len(sampled) == 1, "%d recordings: %s; err %r" % (len(sampled), self.files(), self.err))
        return sampled[0]


def read(path):
    recording = recording_dump.Recording(path)
    recording.check_modules()
    return recording


def program(*arguments):
    return [os.path.join(PROGRAMS, "capture_program"), *map(str, arguments)]


def refusing(*refusals):
    return [os.path.join(PROGRAMS, "capture_refuse"), *refusals, "--"]


def check_explained(recording, low=0.99, high=1.005):
    """The sum of weights against getrusage. A grid of random phase may be one point off."""
    summary = recording.summary()
    check(summary["cpu_s"] is not None, "no end was written")
    slack = len(recording.threads) * recording.period / 1e9
    weight, cpu = summary["weight_s"], summary["cpu_s"]
    check(low * cpu - slack <= weight <= high * cpu + slack, "weights %.4f s of %.4f s CPU: %s" % (weight, cpu, summary))
    return summary


def main(cases):
    """`cases`: the globals of the test's file."""
    global LIBRARY, PROGRAMS, FOLDER
    case, LIBRARY, PROGRAMS = sys.argv[1], os.path.abspath(sys.argv[2]), os.path.abspath(sys.argv[3])
    with contextlib.ExitStack() as stack:
        FOLDER = stack.enter_context(tempfile.TemporaryDirectory(prefix="sampler-test-"))
        os.chmod(FOLDER, 0o755)
        try:
            for _ in range(int(os.environ.get("CAPTURE_REPEAT", "1"))):
                cases["case_" + case]()
        except Skipped as why:
            print("skipped:", why)
            return SKIP
        except (Failed, recording_dump.Damaged, subprocess.TimeoutExpired) as why:
            print("FAILED %s: %s" % (case, why))
            return 1
    return 0
