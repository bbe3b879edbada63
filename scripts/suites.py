"""scripts/suites: real test suites, without and with every process of them profiled; see there.

A unit is what runs as one command: a module of Python's suite, a .t file of Perl, a test of libuv. It
runs once plain, then in each round profiled (LD_PRELOAD with a recording folder, as under sampler-run).
A test whose verdict differs is then run alone, several times both ways: one that differs without us too
is called unsteady and is not held against us. A unit that is not over in time is a hang.
"""

import argparse
import glob
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
BUILD = os.path.abspath(os.environ.get("SAMPLER_BUILD") or os.path.join(TOP, "build", "release"))
SAMPLER = os.path.join(BUILD, "bin", "sampler")
PYTHON = "/usr/bin/python3"  # Debian's: its suite is a package
NOBODY = 65534
LIBRARY = None  # a copy that every user can read, and that a new build does not change

PYTHON_MODULES = [
    "test_threading", "test_subprocess", "test_signal", "test_select", "test_selectors", "test_socket", "test_asyncio",
    "test_multiprocessing_fork", "test_multiprocessing_spawn", "test_multiprocessing_forkserver",
    "test_concurrent_futures"]
PERL_FOLDERS = ["dist/threads", "dist/threads-shared", "dist/Thread-Queue", "dist/Thread-Semaphore", "dist/Time-HiRes",
                "dist/IO", "ext/IPC-Open3", "ext/POSIX"]


class Unit:
    """argv(test) runs all of it, or one test of it alone; verdicts(output, status) reads what came of it."""

    name = ""
    timeout_s = 900
    cwd = None
    needs_ordinary_user = False


class PythonUnit(Unit):
    def __init__(self, module):
        self.name = "python " + module
        self.module = module

    def argv(self, scratch, test=None):
        alone = ["-m", test.rpartition(".")[2].partition(" ")[0]] if test else []
        return [PYTHON, "-m", "test", "-i", "*VSOCK*", "--junit-xml", os.path.join(scratch, "verdicts.xml")] + alone + [self.module]

    def verdicts(self, scratch, output, status):
        path = os.path.join(scratch, "verdicts.xml")
        verdicts = {"(the whole)": "ends with %d" % status}
        if not os.path.exists(path):
            return verdicts
        for case in ElementTree.parse(path).iter("testcase"):
            inside = {child.tag for child in case} & {"failure", "error", "skipped"}
            name = case.get("name")
            verdict = sorted(inside)[0] if inside else "passed"
            if verdicts.get(name, "passed") in ("passed", "skipped"):
                verdicts[name] = verdict
        return verdicts


class PerlUnit(Unit):
    timeout_s = 300

    def __init__(self, folder, script):
        self.name = "perl %s/%s" % (os.path.basename(folder), script)
        self.cwd, self.script = folder, script

    def argv(self, scratch, test=None):
        return ["perl", self.script]

    def verdicts(self, scratch, output, status):
        verdicts = {"(the whole)": "ends with %d" % status}
        for line in output.splitlines():
            match = re.match(r"(not ok|ok) (\d+)(.*)", line)
            if match:
                skipped = re.search(r"#\s*(skip|todo)", match.group(3), re.I)
                verdicts[match.group(2)] = "skipped" if skipped else match.group(1)
        return verdicts


class LibuvUnit(Unit):
    timeout_s = 120
    needs_ordinary_user = True

    def __init__(self, folder, test):
        self.name = "libuv " + test
        self.cwd, self.test = folder, test

    def argv(self, scratch, test=None):
        return [os.path.join(self.cwd, "build", "uv_run_tests_a"), self.test]

    def verdicts(self, scratch, output, status):
        skipped = re.search(r"# SKIP", output)
        return {"(the whole)": "skipped" if skipped else "passed" if status == 0 else "failed"}


# ---- where the suites come from ---------------------------------------------------------------

def source_fetch(work, package, folder):
    """The upstream source of a Debian package, unpacked as work/folder: apt-get source with lists of its own."""
    target = os.path.join(work, folder)
    if os.path.isdir(target):
        return target
    apt = os.path.join(work, "apt")
    os.makedirs(os.path.join(apt, "lists", "partial"), exist_ok=True)
    os.makedirs(os.path.join(apt, "parts"), exist_ok=True)
    with open(os.path.join(apt, "parts", "source.sources"), "w", encoding="ascii") as out:
        out.write("Types: deb-src\nURIs: http://deb.debian.org/debian\nSuites: bookworm\nComponents: main\n"
                  "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n")
    options = ["-qq", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", "Dir::Etc::sourceparts=%s/parts" % apt,
               "-o", "Dir::State::lists=%s/lists" % apt]
    subprocess.run(["apt-get"] + options + ["update"], check=True)
    subprocess.run(["apt-get"] + options + ["source", "--download-only", package], cwd=work, check=True,
                   stderr=subprocess.DEVNULL)
    [archive] = glob.glob(os.path.join(work, package + "_*.orig.tar.*z"))
    os.makedirs(target + ".new")
    subprocess.run(["tar", "xf", archive, "--strip-components=1", "--no-same-owner", "-C", target + ".new"], check=True)
    os.rename(target + ".new", target)
    return target


def python_units(work):
    return [PythonUnit(module) for module in PYTHON_MODULES]


def perl_units(work):
    top = source_fetch(work, "perl", "perl")
    for folder in PERL_FOLDERS:
        folder = os.path.join(top, folder)
        for path in sorted(glob.glob(folder + "/t/*.t")):
            yield PerlUnit(folder, os.path.relpath(path, folder))


def libuv_units(work):
    folder = source_fetch(work, "libuv1", "libuv")
    if not os.path.exists(folder + "/build/uv_run_tests_a"):
        subprocess.run(["cmake", "-S", folder, "-B", folder + "/build", "-G", "Ninja", "-DLIBUV_BUILD_TESTS=ON",
                        "-DCMAKE_BUILD_TYPE=RelWithDebInfo"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", folder + "/build"], check=True, stdout=subprocess.DEVNULL)
    listed = subprocess.run(as_ordinary_user([folder + "/build/uv_run_tests_a", "--list"]), capture_output=True,
                            text=True, check=True, cwd=folder)
    return [LibuvUnit(folder, test) for test in listed.stdout.split()]


SUITES = {"python": python_units, "libuv": libuv_units, "perl": perl_units}


# ---- running ----------------------------------------------------------------------------------

def as_ordinary_user(argv):
    if os.getuid() != 0:
        return argv
    return ["setpriv", "--reuid=%d" % NOBODY, "--regid=%d" % NOBODY, "--clear-groups"] + argv


class Outcome:
    def __init__(self, verdicts, seconds, output, recordings):
        self.verdicts, self.seconds, self.output, self.recordings = verdicts, seconds, output, recordings


def environment(recordings, hz):
    env = {key: value for key, value in os.environ.items()
           if not key.startswith("SAMPLER_") and key not in ("LD_PRELOAD", "PYTHONPATH")}
    env.update(LC_ALL="C.UTF-8", HOME="/tmp")
    if recordings is not None:
        env.update(LD_PRELOAD=LIBRARY, SAMPLER_RECORDING_DIR=recordings, SAMPLER_FREQUENCY=str(hz))
    return env


def run(unit, hz=None, test=None, keep=None):
    """Runs a unit (one test of it) plain, or profiled at hz."""
    scratch = tempfile.mkdtemp(prefix="suites-")
    recordings = os.path.join(scratch, "recordings") if hz else None
    os.chmod(scratch, 0o777)
    if recordings:
        os.mkdir(recordings)
        os.chmod(recordings, 0o1777)
    argv = unit.argv(scratch, test)
    if unit.needs_ordinary_user:
        argv = as_ordinary_user(argv)
    if hz:
        # env sets it behind setpriv, so that what changes the user is not profiled itself.
        words = ["%s=%s" % (key, value) for key, value in environment(recordings, hz).items()
                 if key.startswith(("LD_PRELOAD", "SAMPLER_"))]
        cut = len(argv) - len(unit.argv(scratch, test))
        argv = argv[:cut] + ["env"] + words + argv[cut:]
    # The soft limit most systems start with: ours lie above it, where the program cannot find them by counting.
    limit = min(1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    argv = ["prlimit", "--nofile=%d:" % limit] + argv
    started = time.monotonic()
    with open(os.path.join(scratch, "output"), "w+", encoding="utf-8", errors="replace") as out:
        child = subprocess.Popen(argv, cwd=unit.cwd or scratch, env=environment(None, hz), stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=subprocess.STDOUT, start_new_session=True)
        hung = False
        try:
            child.wait(unit.timeout_s)
        except subprocess.TimeoutExpired:
            hung = True
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        status = child.wait()
        out.seek(0)
        output = out.read()
    verdicts = {"(the whole)": "hangs"} if hung else unit.verdicts(scratch, output, status)
    told = account(recordings) if recordings else None
    outcome = Outcome(verdicts, time.monotonic() - started, output, told)
    shutil.rmtree(scratch, ignore_errors=True)
    return outcome


def account(folder):
    """(recordings, CPU seconds explained, used) of those whose CPU is known, and those that cannot be read."""
    paths = sorted(glob.glob(folder + "/*.sampler"))
    if not paths:
        return 0, 0.0, 0.0, 0
    try:
        done = subprocess.run([SAMPLER, "report", "--account", "--json", "-q"] + paths, capture_output=True, text=True)
        told = json.loads(done.stdout)
    except (OSError, ValueError):
        return len(paths), 0.0, 0.0, 1
    ended = [process for process in told["processes"] if process["cpu_ns"] is not None]
    return (len(paths), sum(p["explained_ns"] for p in ended) / 1e9, sum(p["cpu_ns"] for p in ended) / 1e9, 0)


def differing(plain, profiled):
    """{test: (plain verdict, profiled)}; None where one did not run."""
    names = set(plain) | set(profiled)
    return {name: (plain.get(name), profiled.get(name)) for name in sorted(names)
            if plain.get(name) != profiled.get(name)}


def judge(unit, test, hz, n_times):
    """Whether a test that differed does so because of us: runs it alone both ways."""
    alone = None if test.startswith("(") else test
    counts = []
    for with_us in (None, hz):
        got = {}
        for _ in range(n_times):
            verdicts = run(unit, with_us, alone).verdicts
            verdict = verdicts.get(test, verdicts.get("(the whole)"))
            got[verdict] = got.get(verdict, 0) + 1
        counts.append(got)
    if counts[0] == counts[1]:
        return "unsteady: alone it is the same with and without us: %s" % counts[0]
    if len(counts[0]) > 1:
        return "unsteady: without us %s, with us %s" % tuple(counts)
    return "OURS: without us %s, with us %s" % tuple(counts)


def main():
    parser = argparse.ArgumentParser(prog="scripts/suites")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--hz", type=int, default=2000)
    parser.add_argument("--only", choices=sorted(SUITES), action="append")
    parser.add_argument("--work", default=os.path.join(tempfile.gettempdir(), "sampler-suites"))
    parser.add_argument("--again", type=int, default=5, help="times a differing test is run alone, each way")
    parser.add_argument("--outputs", help="folder for the output of units that differ")
    parser.add_argument("units", nargs="*")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    global LIBRARY
    LIBRARY = shutil.copy(os.path.join(BUILD, "lib", "libsampler.so"), options.work)
    units = [unit for name in (options.only or SUITES) for unit in SUITES[name](options.work)
             if not options.units or any(part in unit.name for part in options.units)]
    n_tests = n_ours = n_unsteady = 0
    judged = {}
    totals = [0, 0.0, 0.0, 0]
    for unit in units:
        plain = run(unit)
        if plain.verdicts != run_again_if_bad(unit, plain):
            print("%-44s unsteady without us" % unit.name, flush=True)
        for n in range(options.rounds):
            profiled = run(unit, options.hz)
            totals = [a + b for a, b in zip(totals, profiled.recordings)]
            differ = differing(plain.verdicts, profiled.verdicts)
            n_tests += len(profiled.verdicts)
            print("%-44s round %d: %4d tests, %d differ; %5.1f s plain, %5.1f s; %d recordings" % (
                unit.name, n + 1, len(profiled.verdicts), len(differ), plain.seconds, profiled.seconds,
                profiled.recordings[0]), flush=True)
            if differ and options.outputs:
                os.makedirs(options.outputs, exist_ok=True)
                path = os.path.join(options.outputs, re.sub(r"\W+", "_", unit.name) + ".%d.txt" % (n + 1))
                with open(path, "w", encoding="utf-8") as out:
                    out.write(profiled.output)
            only_whole = set(differ) == {"(the whole)"}
            for test, (before, after) in differ.items():
                if test == "(the whole)" and not only_whole:
                    continue  # follows from the others
                if (unit.name, test) not in judged:
                    judged[unit.name, test] = judge(unit, test, options.hz, options.again)
                verdict = judged[unit.name, test]
                n_ours += verdict.startswith("OURS")
                n_unsteady += not verdict.startswith("OURS")
                print("    %s: %s -> %s; %s" % (test, before, after, verdict), flush=True)
    print("%d tests in %d units, %d round%s at %d Hz: %d differ because of us, %d unsteady ones differ; %d recordings, "
          "%.1f of %.1f s CPU explained, %d sets unreadable" % (
              n_tests, len(units), options.rounds, "s" if options.rounds > 1 else "", options.hz, n_ours, n_unsteady,
              *totals))
    return 1 if n_ours or totals[3] else 0


def run_again_if_bad(unit, plain):
    """A failure without us: another try tells whether it is steady. The verdicts of the better one count."""
    bad = {"failure", "error", "not ok", "failed", "hangs"}
    if not bad & set(plain.verdicts.values()):
        return plain.verdicts
    again = run(unit)
    first = dict(plain.verdicts)
    for test, verdict in again.verdicts.items():
        if plain.verdicts.get(test) in bad | {None}:
            plain.verdicts[test] = verdict
    return first


if __name__ == "__main__":
    sys.exit(main())
