"""scripts/bench switches [REPEATS [NAME]...]: CPU more than bare, of programs that switch much or live for a short time.

Bare, profiled and, where they are there, perf and gperftools take turns, so that a machine that gets slower does so
for all. CPU is the kernel's figure for the program and all its children (wait4); perf's own is not in it, since it
records from outside. With NAMEs, only those programs.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from bench_capture import BUILD, LIBRARY, SAMPLER, cpu_of, environment, heading  # noqa: E402: the path comes first

SWITCH = os.path.join(BUILD, "scripts", "benches", "switch_bench")
GPERFTOOLS = "/usr/lib/x86_64-linux-gnu/libprofiler.so.0"


def micro_programs():
    """(name, argv, operations)"""
    yield "byte, processes (fork)", [SWITCH, "fork", "500000"], 500000
    yield "byte, processes (exec)", [SWITCH, "exec", "500000"], 500000
    yield "byte, threads", [SWITCH, "threads", "500000"], 500000
    yield "posix_spawn true", [SWITCH, "spawn", "400", "/usr/bin/true"], 400
    yield "vfork + exec true", [SWITCH, "vfork", "400", "/usr/bin/true"], 400
    yield "threads of 1 ms", [SWITCH, "short", "500", "1000000"], 500
    yield "sh, 1000 commands", ["/bin/sh", "-c", "i=0; while [ $i -lt 1000 ]; do /usr/bin/true; i=$((i+1)); done"], 1000


class Contender:
    """A way to run a program: how it is started, and what it is called."""

    def __init__(self, name, scratch, frequency=None, clock=None):
        self.name, self.scratch, self.frequency, self.clock = name, scratch, frequency, clock

    def run(self, argv):
        """(CPU seconds, samples or None)"""
        folder = tempfile.mkdtemp(dir=self.scratch)
        env, samples = environment(), None
        if self.name == "perf":
            argv = ["perf", "record", "-q", "-e", "task-clock", "-F", "999", "-g",
                    "-o", os.path.join(folder, "perf.data"), "--"] + argv
        elif self.name == "gperftools":
            env = environment(LD_PRELOAD=GPERFTOOLS, CPUPROFILE=os.path.join(folder, "prof"),
                              CPUPROFILE_FREQUENCY="999")
        elif self.frequency is not None:
            env = environment(LD_PRELOAD=LIBRARY, SAMPLER_RECORDING_DIR=folder, SAMPLER_FREQUENCY=str(self.frequency),
                              SAMPLER_CLOCK=self.clock or "auto")
        cpu_s = self.cpu_of(argv, env)
        if self.frequency is not None:
            samples = self.samples(folder)
        shutil.rmtree(folder)
        return cpu_s, samples

    def cpu_of(self, argv, env):
        """Of argv and its children alone: perf starts it, so a shell between them prints what it was."""
        times = os.path.join(self.scratch, "times")
        if self.name == "perf":
            at = argv.index("--") + 1
            argv = argv[:at] + [sys.executable, "-S", "-E", os.path.join(HERE, "cpu_of.py"), times] + argv[at:]
        cpu_s, _ = cpu_of(argv, env)
        if self.name == "perf":
            with open(times, encoding="ascii") as file:
                return float(file.read())
        return cpu_s

    def samples(self, folder):
        """Of all recordings of a run: how many samples, and the share of the CPU time they account for."""
        paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder))][:50]
        if not paths:
            return None
        told = subprocess.run([SAMPLER, "report", "--account", "--json"] + paths, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, check=False)
        total = json.loads(told.stdout)["total"]
        return total["rate_hz"], total["explained_share"]


def contenders(scratch):
    yield Contender("bare", scratch)
    yield Contender("999 Hz", scratch, 999)
    yield Contender("99 Hz", scratch, 99)
    yield Contender("999 timer", scratch, 999, "timer")
    if shutil.which("perf"):
        yield Contender("perf", scratch)
    if os.path.exists(GPERFTOOLS):
        yield Contender("gperftools", scratch)


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    wanted = sys.argv[2:]
    with tempfile.TemporaryDirectory() as scratch:
        ways = list(contenders(scratch))
        heading("CPU of a run, in us an operation and times bare; samples per CPU second; medians of %d" % repeats)
        print("%-24s %10s" % ("", "bare us") + "".join("%22s" % way.name for way in ways[1:]))
        for name, argv, n in micro_programs():
            if wanted and not any(word in name for word in wanted):
                continue
            cpu, rates = {way.name: [] for way in ways}, {way.name: [] for way in ways}
            for _ in range(repeats):
                for way in ways:
                    cpu_s, samples = way.run(argv)
                    cpu[way.name].append(cpu_s)
                    if samples is not None:
                        rates[way.name].append(samples)
            median = {way: statistics.median(values) for way, values in cpu.items()}
            line = "%-24s %10.2f" % (name, 1e6 * median["bare"] / n)
            for way in ways[1:]:
                line += "%9.2f x%5.2f" % (1e6 * median[way.name] / n, median[way.name] / median["bare"])
                known = [rate for rate, _ in rates[way.name] if rate is not None]
                line += "%6.0f" % statistics.median(known) if known else "      "
            print(line, flush=True)


if __name__ == "__main__":
    started = time.monotonic()
    main()
    print("\n%.0f s" % (time.monotonic() - started))
