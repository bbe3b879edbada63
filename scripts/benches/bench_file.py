"""scripts/bench file [SECONDS]: size of the .sprofile file that a run leaves, and the time to write and to read it.

Beside the recordings it is made of, the folded file of the same run, and `perf record -g` of another run. Ten million
samples are a run at 9999 Hz, merged with itself a hundred times.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from bench_capture import BUILD, SAMPLER, SAMPLER_RUN, environment, heading  # noqa: E402: the path comes first

TOP = os.path.dirname(os.path.dirname(HERE))
WORK = os.path.join(BUILD, "scripts", "benches", "diff_work")
REPEATS = 5


def seconds(argv, folder, n=1):
    """The median of n runs."""
    times = []
    for _ in range(n):
        started = time.monotonic()
        done = subprocess.run(argv, cwd=folder, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, check=False)
        times.append(time.monotonic() - started)
        if done.returncode != 0:
            sys.exit("bench: %s ended with %d: %s" % (" ".join(argv)[:200], done.returncode, done.stderr.decode()[-300:]))
    return sorted(times)[n // 2]


def bytes_of(folder, pattern):
    return sum(os.path.getsize(path) for path in glob.glob(os.path.join(folder, pattern)))


def used_bytes(folder, pattern):
    """Of recordings: what they hold, not the space reserved for more."""
    return sum(os.stat(path).st_blocks * 512 for path in glob.glob(os.path.join(folder, pattern)))


def make_sources(folder):
    """A Makefile for C files of ours, which need nothing that a build makes."""
    names = []
    for path in glob.glob(os.path.join(TOP, "base", "*.[ch]")):
        shutil.copy(path, folder)
        if path.endswith(".c"):
            names.append(os.path.basename(path)[:-2])
    with open(os.path.join(folder, "Makefile"), "w", encoding="ascii") as out:
        out.write("CFLAGS = -O2 -D_GNU_SOURCE -I.\nall: %s\n" % " ".join(
            "%s.%d.o" % (name, copy) for name in sorted(names) for copy in range(8)))
        for name in sorted(names):
            for copy in range(8):
                out.write("%s.%d.o: %s.c\n\t$(CC) $(CFLAGS) -c -o $@ $<\n" % (name, copy, name))


def row(what, argv, scratch, prepare=None):
    folder = tempfile.mkdtemp(dir=scratch)
    if prepare:
        prepare(folder)
    run = os.path.join(folder, "x")
    seconds([SAMPLER_RUN, "-q", "--keep", "-o", run + ".folded", "--"] + argv, folder)
    recordings = [path for path in glob.glob(os.path.join(folder, "*.sampler*"))]
    names = seconds([SAMPLER, "report", "-q", "-o", run + ".folded"] + recordings, folder, REPEATS)
    both = seconds([SAMPLER, "report", "-q", "-o", run + ".folded", "-o", run + ".sprofile"] + recordings, folder, REPEATS)
    reading = seconds([SAMPLER, "top", run + ".sprofile"], folder, REPEATS)
    perf = ""
    if shutil.which("perf"):
        for path in glob.glob(os.path.join(folder, "*.o")):
            os.remove(path)
        seconds(["perf", "record", "-q", "-e", "task-clock", "-F", "999", "-g", "-o", run + ".data", "--"] + argv, folder)
        perf = "%.0f" % (bytes_of(folder, "x.data") / 1000)
    recorded = used_bytes(folder, "*.sampler/*") if any(map(os.path.isdir, recordings)) else used_bytes(folder, "*.sampler*")
    print("%-22s %10.0f %10.0f %10.0f %10s %12.3f %12.3f %10.3f" % (what, recorded / 1000, bytes_of(folder, "x.sprofile") / 1000,
          bytes_of(folder, "x.folded") / 1000, perf, names, both - names, reading), flush=True)


def many(scratch):
    one, all_ = os.path.join(scratch, "one.sprofile"), os.path.join(scratch, "many.sprofile")
    seconds([SAMPLER_RUN, "-q", "-F", "9999", "-o", one, "--", WORK, "10"], scratch)
    merging = seconds([SAMPLER, "convert", "-q"] + 100 * [one] + ["-o", all_], scratch)
    folding = seconds([SAMPLER, "convert", "-q", all_, "-o", os.path.join(scratch, "many.folded")], scratch)
    reading = seconds([SAMPLER, "top", all_], scratch, REPEATS)
    print("\n100 times %d kB: %d kB, folded %d kB; merged in %.2f s, folded in %.2f s, `sampler top` in %.2f s" %
          (os.path.getsize(one) / 1000, os.path.getsize(all_) / 1000, bytes_of(scratch, "many.folded") / 1000, merging, folding, reading))


def main():
    work_s = sys.argv[1] if len(sys.argv) > 1 else "10"
    with tempfile.TemporaryDirectory() as scratch:
        heading("kB of files, seconds of `sampler report` without and for the .sprofile, and of `sampler top`")
        print("%-22s %10s %10s %10s %10s %12s %12s %10s" % ("", "recording", "sprofile", "folded", "perf.data", "names", "+ sprofile", "top"))
        row("one process, %s s" % work_s, [WORK, work_s], scratch)
        row("make -j2", ["make", "-j2"], scratch, make_sources)
        many(scratch)


if __name__ == "__main__":
    main()
