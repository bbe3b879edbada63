"""scripts/bench capture: what a sample costs and what it explains, beside other profilers.

Every figure is a median of interleaved runs, so that a machine that gets slower does so for all.
"""

import glob
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import bench_unwind

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(os.path.join(HERE, "..", "..", "build", "release"))
SAMPLER = os.path.join(BUILD, "bin", "sampler")
SAMPLER_RUN = os.path.join(BUILD, "bin", "sampler-run")
LIBRARY = os.path.join(BUILD, "lib", "libsampler.so")
DEEP_WORK = os.path.join(BUILD, "tests", "programs", "deep_work")

# struct capture_header: see include/capture.h.
HEADER = struct.Struct("<8s6IQ2I4Q3Q2IQ")
CHUNK = struct.Struct("<4I")
CHUNK_MAGIC = 0x4b4e4843


def environment(**changes):
    env = {key: value for key, value in os.environ.items()
           if not key.startswith(("SAMPLER_", "CPUPROFILE")) and key != "LD_PRELOAD"}
    env.update(changes)
    return env


def cpu_of(argv, env=None, cwd=None):
    """(CPU seconds of a command and the children it waited for, what it said)"""
    child = subprocess.Popen(argv, env=env or environment(), cwd=cwd, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read().decode("utf-8", "replace")
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit("bench: %s ended with %d: %s" % (" ".join(argv), child.returncode, said[-500:]))
    return usage.ru_utime + usage.ru_stime, said


def run(argv, env=None):
    """(CPU seconds, wall seconds) of a command and the children it waited for."""
    started = time.monotonic()
    cpu_s, _ = cpu_of(argv, env)
    return cpu_s, time.monotonic() - started


def heading(text):
    print("\n%s\n%s" % (text, "-" * len(text)))


# ---- recordings -----------------------------------------------------------------------------

class Recording:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        header = HEADER.unpack_from(data)
        header_bytes, chunk_bytes = header[2], header[3]
        self.n_ticks = header[-1]
        self.bytes = 0
        for offset in range(header_bytes, len(data) - CHUNK.size, chunk_bytes):
            magic, _, _, committed = CHUNK.unpack_from(data, offset)
            if magic == CHUNK_MAGIC:
                self.bytes += CHUNK.size + committed


def record(scratch, argv, **settings):
    """Runs argv preloaded; returns its CPU seconds and its recordings' paths."""
    folder = tempfile.mkdtemp(dir=scratch)
    settings = {"SAMPLER_" + key.upper(): str(value) for key, value in settings.items()}
    cpu_s, _ = run(argv, environment(LD_PRELOAD=LIBRARY, SAMPLER_RECORDING_DIR=folder, **settings))
    return cpu_s, sorted(glob.glob(os.path.join(folder, "*.sampler")))


# ---- the tables -----------------------------------------------------------------------------

def bench_frames():
    heading("ns per frame, by engine, depth and state of the caches")
    program = os.path.join(BUILD, "scripts", "benches", "unwind_bench")
    if os.path.exists(program):
        subprocess.run([program], check=False)
    else:
        print("not measured: %s is not built" % program)


def bench_sample_cost(scratch, rounds=5, frequency=4999):
    heading("CPU of a fixed work, %d Hz, against the same clock with an empty handler" % frequency)
    print("%8s %6s %10s %10s %10s %9s %12s %14s" %
          ("clock", "frames", "bare s", "empty s", "sampled s", "ratio", "ns/sample", "ns over empty"))
    for clock in ("perf", "timer"):
        for depth in (10, 36, 100):
            argv = [DEEP_WORK, str(depth), "30000"]
            bare, empty, sampled, n_ticks = [], [], [], 0
            for _ in range(rounds):
                bare.append(run(argv)[0])
                empty.append(record(scratch, argv, frequency=frequency, clock=clock,
                                    handler="empty")[0])
                cpu_s, paths = record(scratch, argv, frequency=frequency, clock=clock)
                sampled.append(cpu_s)
                n_ticks = sum(Recording(path).n_ticks for path in paths)
            bare_s, empty_s, sampled_s = map(statistics.median, (bare, empty, sampled))
            per_tick = 1e9 / max(n_ticks, 1)
            print("%8s %6d %10.4f %10.4f %10.4f %9.4f %12.0f %14.0f" %
                  (clock, depth, bare_s, empty_s, sampled_s, sampled_s / empty_s,
                   (sampled_s - bare_s) * per_tick, (sampled_s - empty_s) * per_tick))


def bench_start(scratch, rounds=40):
    heading("wall time of doing nothing, ms, median of %d" % rounds)
    out = os.path.join(scratch, "true.folded")
    commands = {"true": ["true"],
                "sampler-run true": [SAMPLER_RUN, "-q", "-o", out, "true"]}
    if shutil.which("perf"):
        commands["perf record -g true"] = ["perf", "record", "-q", "-g", "-o",
                                           os.path.join(scratch, "perf.data"), "true"]
    times = {name: [] for name in commands}
    for _ in range(rounds):
        for name, argv in commands.items():
            times[name].append(run(argv)[1] * 1000)
    base = statistics.median(times["true"])
    for name in commands:
        median = statistics.median(times[name])
        print("%-22s %8.2f   more than true: %8.2f" % (name, median, median - base))


def ours(scratch, argv, clock):
    cpu_s, paths = record(scratch, argv, frequency=999, clock=clock)
    recordings = [Recording(path) for path in paths]
    out = os.path.join(scratch, "ours.folded")
    subprocess.run([SAMPLER, "report", "-q", "--count", "ns", "-o", out] + paths, check=True)
    with open(out, encoding="utf-8", errors="replace") as folded:
        explained_s = sum(int(line.rsplit(" ", 1)[1]) for line in folded) / 1e9
    return cpu_s, explained_s, sum(r.n_ticks for r in recordings), sum(r.bytes for r in recordings)


def gperftools(scratch, argv, library):
    """Its format: words of 8 bytes; header 0 3 0 period_us 0, then count depth pc..., ends 0 1 0."""
    path = os.path.join(scratch, "gperftools.prof")
    cpu_s, _ = run(argv, environment(LD_PRELOAD=library, CPUPROFILE=path,
                                     CPUPROFILE_FREQUENCY="999"))
    with open(path, "rb") as file:
        data = file.read()
    words = struct.unpack("<%dQ" % (len(data) // 8), data[:len(data) // 8 * 8])
    period_us, at, n_samples = words[3], 5, 0
    while words[at:at + 3] != (0, 1, 0):
        n_samples += words[at]
        at += 2 + words[at + 1]
    return cpu_s, n_samples * period_us / 1e6, n_samples, at * 8


def perf(scratch, argv):
    path = os.path.join(scratch, "perf.data")
    cpu_s, _ = run(["perf", "record", "-q", "-g", "-e", "task-clock", "-F", "999", "-o", path] + argv)
    text = subprocess.run(["perf", "script", "-i", path, "-F", "period", "-G"], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.split()
    return cpu_s, sum(map(int, text)) / 1e9, len(text), os.path.getsize(path)


def gprofng(scratch, argv):
    """Its clock profile at 1 kHz; it gives seconds, from which the samples follow."""
    path = os.path.join(scratch, "bench.er")
    shutil.rmtree(path, ignore_errors=True)
    cpu_s, _ = run(["gprofng", "collect", "app", "-p", "hi", "-o", path] + argv)
    text = subprocess.run(["gprofng", "display", "text", "-overview", path], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    found = re.search(r"totalcpu \(Seconds\): \[\*?([0-9.]+)\]", text)
    explained_s = float(found.group(1)) if found else 0.0
    size_bytes = sum(os.path.getsize(os.path.join(path, name)) for name in ("profile", "data.frameinfo")
                     if os.path.exists(os.path.join(path, name)))
    return cpu_s, explained_s, round(explained_s / 0.000997), size_bytes


def bench_real_walks(scratch):
    """The walks as they are in real programs: caches cold, rules met for the first time."""
    heading("us to unwind a sample of a real program at 999 Hz (walks that were not interrupted)")
    print("%-20s %8s %8s %8s %8s %8s" % ("", "walks", "frames", "p50", "p90", "p99"))
    for name, make in bench_unwind.programs(2, scratch):
        argv = make() if name in ("xz -T2", "g++ -O2", "python3", "perl", "objdump -dC", "sqlite3") else [""]
        if shutil.which(argv[0]) is None:
            continue
        _, check = bench_unwind.run(argv, scratch, SAMPLER_FREQUENCY="999", SAMPLER_CHECK_TIME="1")
        print("%-20s %8d %8.1f %8.1f %8.1f %8.1f" % (
            name, sum(check.bins), check.n_frames / max(check.n_samples, 1), check.percentile_us(0.5),
            check.percentile_us(0.9), check.percentile_us(0.99)), flush=True)


def bench_beside(scratch):
    argv = [DEEP_WORK, "36", "60000", "3"]
    heading("a busy program of three threads, 36 frames deep, at 999 Hz")
    bare_s = statistics.median(run(argv)[0] for _ in range(3))
    print("%-20s %8s %8s %12s %10s %10s %13s" %
          ("", "CPU s", "more %", "explained s", "explained", "samples", "bytes/sample"))
    rows = [("ours, perf clock", lambda: ours(scratch, argv, "perf")),
            ("ours, timer clock", lambda: ours(scratch, argv, "timer"))]
    libraries = glob.glob("/usr/lib/*/libprofiler.so.0")
    if libraries:
        rows.append(("gperftools", lambda: gperftools(scratch, argv, libraries[0])))
    if shutil.which("perf"):
        rows.append(("perf record -g", lambda: perf(scratch, argv)))
    if shutil.which("gprofng"):
        rows.append(("gprofng collect app", lambda: gprofng(scratch, argv)))
    for name, measure in rows:
        results = sorted(measure() for _ in range(3))
        cpu_s, explained_s, n_samples, size_bytes = results[1]
        print("%-20s %8.3f %8.2f %12.3f %9.2f%% %10d %13.1f" %
              (name, cpu_s, 100 * (cpu_s / bare_s - 1), explained_s, 100 * explained_s / cpu_s,
               n_samples, size_bytes / max(n_samples, 1)))


def main():
    scratch = tempfile.mkdtemp(prefix="sampler-bench-")
    try:
        print("machine: %s, %d processors, kernel %s" %
              (os.uname().machine, os.cpu_count(), os.uname().release))
        bench_frames()
        bench_real_walks(scratch)
        bench_sample_cost(scratch)
        bench_start(scratch)
        bench_beside(scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
