"""Helpers of the end-to-end tests: run the built tools, read their profiles, check.

A test file marks its cases with @case and ends in main(); `python3 test_x.py CASE` runs one, without
an argument all. Each case gets a scratch folder of its own, which is removed.
Only the standard library is used. Randomness of sampling is met by margins computed from counts.
"""

import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.abspath(os.path.join(HERE, "..", "..", ".."))
BUILD = os.path.abspath(os.environ.get("SAMPLER_BUILD") or os.path.join(TOP, "build", "release"))
# Sample files and independent checkers that stand beside the project, if they do.
SHARED = os.environ.get("SAMPLER_SHARED") or os.path.join(TOP, "..", "shared")
SAMPLER = os.path.join(BUILD, "bin", "sampler")
SAMPLER_RUN = os.path.join(BUILD, "bin", "sampler-run")
LIBRARY = os.path.join(BUILD, "lib", "libsampler.so")

# Where stacks end: a program's entry, the dynamic linker's, a thread's.
ROOTS = {"_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
         "clone3", "__clone3", "clone", "__clone", "start_thread", "_dl_start_user", "_dl_start"}

SKIPPED = 77

# What is kept of debug information: of this test alone, and gone with it.
_cache = tempfile.TemporaryDirectory(prefix="sampler-cache-")
os.environ["XDG_CACHE_HOME"] = _cache.name
_cases = {}


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def case(function):
    _cases[function.__name__] = function
    return function


def main():
    names = sys.argv[1:] or sorted(_cases)
    for name in names:
        scratch = tempfile.mkdtemp(prefix="sampler-e2e-")
        started = time.monotonic()
        os.chdir(scratch)
        try:
            _cases[name](scratch)
            print("%s: passed in %.1f s" % (name, time.monotonic() - started))
        except Skip as skip:
            print("%s: skipped: %s" % (name, skip))
            sys.exit(SKIPPED)
        except Failure as failure:
            print("%s: FAILED: %s" % (name, failure))
            sys.exit(1)
        finally:
            os.chdir("/")
            shutil.rmtree(scratch, ignore_errors=True)


def check(condition, text, *values):
    if not condition:
        raise Failure(text % values if values else text)


def check_equal(got, wanted, what):
    if got != wanted:
        raise Failure("%s: got %s, wanted %s" % (what, _shorten(got), _shorten(wanted)))


def _shorten(value):
    text = repr(value)
    return text if len(text) < 400 else text[:200] + " ... " + text[-200:]


def need(program_name):
    """The path of a program this machine may lack."""
    path = shutil.which(program_name)
    if path is None:
        raise Skip("no " + program_name + " here")
    return path


def test_program(name):
    path = os.path.join(BUILD, "tests", "programs", name)
    if not os.path.exists(path):
        raise Skip("no " + path)
    return path


# ---- running --------------------------------------------------------------------------------

class Result:
    """How a command ended: status is the exit status, or minus the signal."""

    def __init__(self, stdout, stderr, status, cpu_s):
        self.stdout = stdout
        self.stderr = stderr
        self.status = status
        self.cpu_s = cpu_s


def clean_environment(**changes):
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("SAMPLER_", "DEBUGINFOD_")) and key != "LD_PRELOAD"}
    env["LC_ALL"] = "C"
    env["CCACHE_DISABLE"] = "1"  # a compiler that is profiled compiles, whichever of that name comes first
    env.update({key: str(value) for key, value in changes.items()})
    return env


def run(argv, env=None, cwd=None, stdin=subprocess.DEVNULL, timeout_s=120, preexec=None):
    """Runs a command to its end. cpu_s is user + system of it and the children it waited for."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(argv, env=clean_environment() if env is None else env, cwd=cwd,
                                 stdin=stdin, stdout=out, stderr=err, start_new_session=True,
                                 preexec_fn=preexec)
        expired = threading.Event()

        def expire():
            expired.set()
            os.killpg(child.pid, signal.SIGKILL)

        timer = threading.Timer(timeout_s, expire)
        timer.start()
        _, wait_status, usage = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = os.waitstatus_to_exitcode(wait_status)
        out.seek(0)
        err.seek(0)
        result = Result(out.read(), err.read().decode("utf-8", "replace"), child.returncode,
                        usage.ru_utime + usage.ru_stime)
    check(not expired.is_set(), "%s: not ended after %d s", " ".join(argv)[:200], timeout_s)
    return result


def sampler_run(options, argv, **how):
    return run([SAMPLER_RUN] + options + ["--"] + argv, **how)


def sampler(*arguments, **how):
    return run([SAMPLER] + list(arguments), **how)


def check_one_line(result, status, *words):
    """A failure that is told in one line holding all the words."""
    check_equal(result.status, status, "exit status (stderr: %s)" % result.stderr)
    lines = result.stderr.splitlines()
    check(len(lines) == 1, "wanted one line on stderr, got %r", result.stderr)
    for word in words:
        check(word in lines[0], "%r is not in %r", word, lines[0])


# ---- profiles -------------------------------------------------------------------------------

class Folded:
    """A .folded file: {stack as a tuple of names, root first: number}."""

    LINE = re.compile(r"(.+) ([0-9]+)")

    def __init__(self, path):
        self.stacks = {}
        with open(path, "rb") as file:
            data = file.read().decode("utf-8")
        check(data == "" or data.endswith("\n"), "%s does not end in a newline", path)
        for line in data.split("\n")[:-1]:
            match = self.LINE.fullmatch(line)
            check(match is not None, "%s: not a folded line: %r", path, line)
            stack = tuple(match.group(1).split(";"))
            check(stack not in self.stacks, "%s: twice: %r", path, line)
            self.stacks[stack] = int(match.group(2))
        self.total = sum(self.stacks.values())

    def share_rooted(self):
        """Share of the weight in stacks that reach their thread's outermost frame. A process's or
        thread's name may stand before it."""
        rooted = sum(number for stack, number in self.stacks.items()
                     if any(frame in ROOTS for frame in stack[:3]))
        return rooted / self.total if self.total else 1.0

    def total_of(self, name):
        return sum(number for stack, number in self.stacks.items() if name in stack)


def record(argv, scratch, frequency=999, clock="auto", refuse_errno=None, unwinder="table",
           stdin=subprocess.DEVNULL):
    """Runs argv as a direct child with the library preloaded and returns (result, profile in ns):
    what getrusage says of it, and what the profile says."""
    folder = tempfile.mkdtemp(prefix="rec-", dir=scratch)
    settings = {"LD_PRELOAD": LIBRARY, "SAMPLER_RECORDING_DIR": folder,
                "SAMPLER_FREQUENCY": str(frequency), "SAMPLER_CLOCK": clock,
                "SAMPLER_UNWINDER": unwinder}
    if refuse_errno is None:
        result = run(argv, env=clean_environment(**settings), stdin=stdin)
    else:
        words = ["%s=%s" % item for item in settings.items()]
        result = run([test_program("refuse_perf"), str(refuse_errno), "env"] + words + argv,
                     stdin=stdin)
    recordings = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    check(recordings, "no recording was made; stderr: %s", result.stderr)
    output = os.path.join(folder, "out.folded")
    report = sampler("report", *recordings, "-o", output, "--count", "ns")
    check_equal(report.status, 0, "status of sampler report (%s)" % report.stderr)
    profile = Folded(output)
    shutil.rmtree(folder)
    return result, profile


def check_explained(result, profile, frequency, n_threads, what, allowance=0):
    """The weights add up to the CPU time within 99 % to 100.5 %, give or take the allowance and what chance does: a
    thread's grid has a random phase, so its number of points is off by less than one, with a
    variance of at most 1/4; three of their standard deviations."""
    explained_s = profile.total / 1e9
    chance_s = 3 * 0.5 * math.sqrt(n_threads) / frequency
    print("  %-28s %8.4f of %8.4f s CPU explained (%6.2f %%), rooted %6.2f %%" %
          (what, explained_s, result.cpu_s, 100 * explained_s / result.cpu_s,
           100 * profile.share_rooted()))
    check(explained_s >= (0.99 - allowance) * result.cpu_s - chance_s, "%s: only %.4f of %.4f s explained", what,
          explained_s, result.cpu_s)
    check(explained_s <= (1.005 + allowance) * result.cpu_s + chance_s, "%s: %.4f s explained of %.4f s used",
          what, explained_s, result.cpu_s)
