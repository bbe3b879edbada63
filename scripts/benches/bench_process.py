"""scripts/bench process [REPEATS [NAME]...]: what a process costs that lives for a millisecond, and programs made of such.

Bare, the library alone (its recordings and no report), plain LD_PRELOAD, sampler-run, `perf record -g` and gperftools take
turns, so that a machine that gets slower does so for all. CPU is the kernel's figure (wait4) of all that was started: the
program, its children, and what the profiler does for them until its profile is there. All write to a folder in memory, and
once more to one on a disk. With NAMEs, only those programs.
"""

import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from bench_capture import BUILD, LIBRARY, SAMPLER_RUN, cpu_of, environment, heading  # noqa: E402: the path comes first

SWITCH = os.path.join(BUILD, "scripts", "benches", "switch_bench")
GPERFTOOLS = "/usr/lib/x86_64-linux-gnu/libprofiler.so.0"
RATE = "999"
EXPLAINED = re.compile(r"accounts for .*\(([0-9.]+) %\)")


def sh(command, folder):
    subprocess.run(["/bin/sh", "-ec", command], cwd=folder, check=True, env=environment(), stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL)


class Program:
    """What is run, in a folder of its own; `again` makes the folder as it was."""

    def __init__(self, name, argv, n, make="", again="true"):
        self.name, self.argv, self.n, self.make, self.again = name, argv, n, make, again


MAKE_SOURCES = """
for i in $(seq 200); do echo "int f$i(int x) { return x * $i; }" >f$i.c; done
printf 'all: $(patsubst %%.c,%%.o,$(wildcard *.c))\\n%%.o: %%.c\\n\\tgcc -c $< -o $@\\n' >Makefile
"""
MAKE_COMMITS = """
git init -q -b main .; git config user.name bench; git config user.email bench@localhost; git config gc.auto 0
echo >base; git add .; git commit -qm base; git branch work
echo >>base; git commit -qam more; git checkout -q work
for i in $(seq 50); do echo $i >f$i; git add .; git commit -qm $i; done
git branch kept
"""

PROGRAMS = [
    Program("true", [SWITCH, "spawn", "400", "/usr/bin/true"], 400),
    Program("a fork", [SWITCH, "child", "400"], 400),
    Program("a thread of 1 ms", [SWITCH, "short", "400", "1000000"], 400),
    Program("a script's command", ["/bin/sh", "-c", "i=0; while [ $i -lt 1000 ]; do /usr/bin/true; i=$((i+1)); done"],
            1000),
    Program("gcc -c by make -j2", ["make", "-s", "-j2"], 200, MAKE_SOURCES, "rm -f *.o"),
    Program("a commit by git rebase", ["git", "rebase", "-q", "main"], 50, MAKE_COMMITS,
            "git reset -q --hard; git checkout -q -B work kept"),
]


def way_bare(argv, _):
    return argv, environment()


def way_library(argv, folder):
    return argv, environment(LD_PRELOAD=LIBRARY, SAMPLER_RECORDING_DIR=folder, SAMPLER_FREQUENCY=RATE)


def way_preload(argv, folder):
    return argv, environment(LD_PRELOAD=LIBRARY, SAMPLER_OUTPUT=os.path.join(folder, "%n.%p.folded"),
                             SAMPLER_FREQUENCY=RATE)


def way_run(argv, folder):
    return [SAMPLER_RUN, "-F", RATE, "-o", os.path.join(folder, "out.folded"), "--"] + argv, environment()


def way_perf(argv, folder):
    return ["perf", "record", "-q", "-e", "task-clock", "-F", RATE, "-g", "-o", os.path.join(folder, "perf.data"),
            "--"] + argv, environment()


def way_gperftools(argv, folder):
    return argv, environment(LD_PRELOAD=GPERFTOOLS, CPUPROFILE=os.path.join(folder, "prof"), CPUPROFILE_FREQUENCY=RATE)


def ways():
    yield "bare", way_bare
    yield "library", way_library
    yield "preload", way_preload
    yield "sampler-run", way_run
    if shutil.which("perf"):
        yield "perf", way_perf
    if os.path.exists(GPERFTOOLS):
        yield "gperftools", way_gperftools


def measure(program, parent, repeats):
    """{way: [CPU seconds]}, [percentages that sampler-run says]"""
    cpu, explained = {name: [] for name, _ in ways()}, []
    with tempfile.TemporaryDirectory(dir=parent) as work:
        sh(program.make, work)
        for _ in range(repeats):
            for name, way in ways():
                with tempfile.TemporaryDirectory(dir=parent) as results:
                    argv, env = way(program.argv, results)
                    seconds, said = cpu_of(argv, env, work)
                cpu[name].append(seconds)
                found = EXPLAINED.search(said)
                if name == "sampler-run" and found:
                    explained.append(float(found.group(1)))
                sh(program.again, work)
    return cpu, explained


def show(program, cpu, explained):
    median = {name: statistics.median(values) for name, values in cpu.items()}
    line = "%-24s%10.0f" % (program.name, 1e6 * median["bare"] / program.n)
    for name in list(cpu)[1:]:
        line += "%+10.0f x%5.2f" % (1e6 * (median[name] - median["bare"]) / program.n, median[name] / median["bare"])
    print(line + ("%9.1f %%" % statistics.median(explained) if explained else "  too short"), flush=True)


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    wanted = sys.argv[2:]
    for what, parent in (("in memory", "/dev/shm"), ("on a disk", os.environ.get("TMPDIR", "/var/tmp"))):
        heading("%s: us of CPU an operation, more than bare, and times bare; medians of %d" % (what, repeats))
        print("%-24s%10s" % ("", "bare") + "".join("%17s" % name for name, _ in list(ways())[1:]) + "  explained")
        for program in PROGRAMS:
            if not wanted or any(word in program.name for word in wanted):
                show(program, *measure(program, parent, repeats))


if __name__ == "__main__":
    started = time.monotonic()
    main()
    print("\n%.0f s" % (time.monotonic() - started))
