"""`sampler report`, and the other commands on recordings: which files, what is told, what is refused."""

import glob
import os
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import (SAMPLER, SAMPLER_RUN, Folded, Skip, case, check, check_equal, check_one_line,
                 clean_environment, main, run, sampler, sampler_run, test_program)


def record_processes(n):
    """The recordings of a command of more than one process, in the order of a shell's glob."""
    result = sampler_run(["-q", "--keep", "-o", "all.folded"], [test_program("forks"), str(n)])
    check_equal(result.status, 0, "exit status (%s)" % result.stderr)
    return sorted(glob.glob("*.sampler"))


@case
def processes_split(_scratch):
    """-o is a name and no pattern; no file is written over by the next one."""
    recordings = record_processes(6)
    result = sampler("report", "-q", "--processes", "split", "-o", "x.%p.folded", *recordings)
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    files = glob.glob("x.*")
    check("x.%p.folded" in files and len(files) >= 4, "files: %r", files)
    # Twice the same process, and not side by side: still one file, with both in it.
    total = sum(Folded(name).total for name in files)
    for name in files:
        os.remove(name)
    result = sampler("report", "-q", "--processes", "split", "-o", "x.folded", *recordings,
                     *recordings)
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    twice = sum(Folded(name).total for name in glob.glob("x.*"))
    check(abs(twice - 2 * total) <= 2 * len(files), "%d periods, %d of them twice", twice, total)


@case
def processes_split_stream(_scratch):
    """Several files into one stream cannot be told apart."""
    recordings = record_processes(2)
    before = sorted(os.listdir("."))
    for path in ("-", "/dev/null"):
        check_one_line(sampler("report", "--processes", "split", "-f", "folded", "-o", path,
                               *recordings), 2, path, "split")
        check_one_line(sampler_run(["--processes", "split", "-f", "folded", "-o", path], ["true"]),
                       125, path, "split")
    check_equal(sorted(os.listdir(".")), before, "files")
    check_equal(glob.glob("/dev/null.*"), [], "files in /dev")


@case
def diff_output(_scratch):
    """One run is no diff: said before the command is started."""
    check_one_line(sampler_run(["-o", "a.folded", "-o", "b.diff.folded"], ["touch", "ran"]), 125,
                   "b.diff.folded", "sampler diff")
    check_equal(os.listdir("."), [], "files")


def build(source, *options):
    if shutil.which("gcc") is None:
        raise Skip("no gcc here")
    with open("app.c", "w", encoding="ascii") as file:
        file.write(source)
    subprocess.run(["gcc", "-g", "-O1", "-Wl,--build-id", "app.c", "-o", "app", *options], check=True)


SPIN = """volatile unsigned long sum;
__attribute__((noinline)) void NAME(void) { for (unsigned long i = 0; i < 400000000; i++) sum += i; }
int main(void) { NAME(); return 0; }
"""


@case
def missing_told(_scratch):
    """What has no names is said by each command that reads recordings, and not under -q."""
    build(SPIN, "-DNAME=before")
    result = sampler_run(["-q", "--keep", "-o", "a.folded"], ["./app"])
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    recording = glob.glob("*.sampler")[0]
    build(SPIN, "-DNAME=after")
    result = sampler("report", recording, "-o", "b.folded")
    check_one_line(result, 0, "/app", "another build id", "changed")
    check_one_line(sampler("top", recording), 0, "/app", "another build id")
    check_equal(sampler("report", "-q", recording, "-o", "b.folded").stderr, "", "quiet stderr")
    names = {name for stack in Folded("b.folded").stacks for name in stack}
    check("before" not in names and "after" not in names, "names: %r", names)
    os.remove("app")
    check_one_line(sampler("report", recording, "-o", "b.folded"), 0, "/app", "No such file")


@case
def cut_told(_scratch):
    """A recording that lost its end is said to be one."""
    result = sampler_run(["-q", "--keep", "-o", "a.folded"], [test_program("burn"), "0.3"])
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    recording = glob.glob("*.sampler")[0]
    with open(recording, "rb") as file:
        data = file.read()
    for length in (4096, 4100, 5000):
        with open("cut.sampler", "wb") as file:
            file.write(data[:length])
        result = sampler("report", "cut.sampler", "-o", "b.folded")
        check_equal(result.status, 0, "%d bytes: status" % length)
        lines = result.stderr.splitlines()
        check(lines and "cut.sampler" in lines[0] and "cut short" in lines[0], "%d bytes: %r", length,
              result.stderr)


@case
def odd_names(_scratch):
    """Control characters of names do not reach the terminal, nor break a line in two."""
    name = "a\nb\x1b[31m.folded"
    check_one_line(sampler("top", name), 1, "a?b?[31m.folded")
    check_one_line(sampler_run(["-o", name], [test_program("burn"), "0.1"]), 0, "a?b?[31m.folded")  # and no command
    check_equal(os.listdir("."), [name], "files")
    with open(name, "w", encoding="ascii") as file:
        file.write("main 1\nno count\n")
    result = sampler("top", name)
    check_equal(result.status, 0, "status of top (%s)" % result.stderr)
    for line in result.stderr.splitlines():
        check(line.startswith("sampler: a?b?[31m.folded: "), "line: %r", line)


@case
def quiet(_scratch):
    """-q leaves errors only: no notes of readers and writers."""
    with open("a.folded", "w", encoding="ascii") as file:
        file.write("main 1\nno count\n")
    loud = sampler("convert", "a.folded", "-o", "b.nytprofc")
    check(loud.status == 0 and loud.stderr != "", "nothing to be quiet about: %r", loud.stderr)
    result = sampler("convert", "-q", "a.folded", "-o", "c.nytprofc")
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    result = sampler_run(["-q", "-o", "d.nytprofc"], [test_program("burn"), "0.1"])
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")


@case
def hint_in_odd_folder(scratch):
    """What sampler-run says to continue with can be given to a shell as it is."""
    folder = os.path.join(scratch, "it's a folder; $HOME")
    os.makedirs(os.path.join(folder, "sub"))
    result = sampler_run(["-q", "-o", "keep.folded", "-o", "sub/out.folded"],
                         ["sh", "-c", "rmdir sub; " + test_program("burn") + " 0.2"], cwd=folder)
    check_equal(result.status, 0, "exit status")
    hint = result.stderr.splitlines()[-1].partition("to continue: ")[2]
    check(hint.startswith("sampler report "), "the last line: %r", result.stderr)
    hint = hint.replace("sampler report", SAMPLER + " report", 1).replace("-o FILE", "-o later.folded")
    again = run(["sh", "-c", hint])
    check_equal(again.status, 0, "the command %r: %s" % (hint, again.stderr))
    check(Folded("later.folded").total > 100, "an empty profile")


@case
def launcher_killed(scratch):
    """SIGKILL of sampler-run itself: the command goes on, and its recording is there to go on with."""
    child = subprocess.Popen([SAMPLER_RUN, "-o", "out.folded", test_program("burn"), "1"],
                             env=clean_environment(), stdout=subprocess.DEVNULL)
    time.sleep(0.4)
    child.send_signal(signal.SIGKILL)
    child.wait()
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        recordings = glob.glob(os.path.join(scratch, ".sampler-*", "*.sampler"))
        result = sampler("report", *recordings, "-o", "later.folded")
        check_equal(result.status, 0, "status of the report (%s)" % result.stderr)
        if "still running" not in result.stderr:
            break
        time.sleep(0.1)
    check_equal(sorted(os.listdir(scratch))[1:], ["later.folded"], "files beside the folder")
    check(Folded("later.folded").total_of("work") >= 900, "periods of one second: %d",
          Folded("later.folded").total)


if __name__ == "__main__":
    main()
