"""scripts/bench symbolize: how long names take, the first time and again, beside llvm-symbolizer and eu-addr2line.

Addresses of Debian's ceph-osd, whose debug file has 230 MB of packed DWARF 5: 5000 in 500 clusters, as profiles have
them, and 5000 all over; then 100 to 100000. Each figure is the median of five runs of a process (three of
llvm-symbolizer, one of eu-addr2line, with 100 addresses). The packages, 530 MB, are fetched once into build/bench.
Then what sampler-run waits for after the end of a program that runs for about a second.
"""

import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.path.join(TOP, "build", "release")
SAMPLER_RUN = os.path.join(BUILD, "bin", "sampler-run")
SYMBOLIZE = os.path.join(BUILD, "tests", "programs", "symbolize_addresses")
FETCHED = os.path.join(TOP, "build", "bench")
REPEATS = 5

SMALL = r"""
#include <stdlib.h>
static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}
int main(void)
{
    static int numbers[200000];
    for (int n = 0; n < 30; n++) {
        for (int i = 0; i < 200000; i++)
            numbers[i] = rand() % 1000;
        qsort(numbers, 200000, sizeof *numbers, compare);
    }
    return 0;
}
"""


def ceph_fetch():
    """The program, its debug file beside it where every tool looks."""
    os.makedirs(FETCHED, exist_ok=True)
    program = os.path.join(FETCHED, "ceph-osd")
    if not os.path.exists(program):
        subprocess.run(["apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", "ceph-osd", "ceph-osd-dbg"], cwd=FETCHED, check=True,
                       stdout=subprocess.DEVNULL)
        for name in sorted(os.listdir(FETCHED), reverse=True):  # the program last: it says that all is there
            if name.endswith(".deb"):
                path = os.path.join(FETCHED, name)
                if "-dbg_" in name:
                    unpack(path, "./usr/lib/debug")
                else:
                    unpack(path, "./usr/bin/ceph-osd")
                os.unlink(path)
        build_id = re.search("Build ID: ([0-9a-f]+)", output_of("readelf", "-n", os.path.join(FETCHED, "usr/bin/ceph-osd")))[1]
        debug = os.path.join(FETCHED, "usr/lib/debug/.build-id", build_id[:2], build_id[2:] + ".debug")
        os.rename(debug, os.path.join(FETCHED, build_id[2:] + ".debug"))
        os.rename(os.path.join(FETCHED, "usr/bin/ceph-osd"), program)
        subprocess.run(["rm", "-r", os.path.join(FETCHED, "usr")], check=True)
    return program


def unpack(package, member):
    content = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", FETCHED, member], stdin=content.stdout, check=True)
    content.stdout.close()
    content.wait()


def output_of(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def text_section(path):
    match = re.search(r" \.text +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", output_of("readelf", "-SW", path))
    return int(match[1], 16), int(match[2], 16)


def addresses(section, n, in_clusters, seed):
    """Lines of hexadecimal addresses; another seed has others."""
    start, size = section
    chance = random.Random(seed)
    found = set()
    while len(found) < n:
        base = start + chance.randrange(size - 2000)
        found.update(base + chance.randrange(2000) for _ in range(10 if in_clusters else 1))
    return "".join("%#x\n" % address for address in sorted(found)[:n]).encode()


class Measured:
    def __init__(self, words, stdin, cache):
        environment = dict(os.environ, XDG_CACHE_HOME=cache)
        with tempfile.TemporaryFile() as asked:
            asked.write(stdin)
            asked.seek(0)
            begin = time.monotonic()
            child = subprocess.Popen(words, stdin=asked, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
            _, status, usage = os.wait4(child.pid, 0)
            self.wall_s = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit("%s: status %d" % (words[0], child.returncode))
        self.cpu_s = usage.ru_utime + usage.ru_stime
        self.peak_mb = usage.ru_maxrss / 1000


def row(what, runs):
    def median(of):
        return statistics.median(getattr(run, of) for run in runs)
    print("  %-46s %8.2f %8.2f %8.0f" % (what, median("wall_s"), median("cpu_s"), median("peak_mb")), flush=True)


def of_one_file(program):
    section = text_section(program)
    ours = [SYMBOLIZE, "--raw", "--cache", program]
    print("  %-46s %8s %8s %8s" % ("", "wall s", "CPU s", "peak MB"))
    for kind, in_clusters in (("500 clusters of 10", True), ("5000 all over", False)):
        asked = addresses(section, 5000, in_clusters, 1)
        others = [addresses(section, 5000, in_clusters, 2 + n) for n in range(REPEATS)]
        with tempfile.TemporaryDirectory() as cache:
            row(kind + ", first time", [Measured(ours[:2] + ours[3:], asked, cache) for _ in range(REPEATS)])
            Measured(ours, asked, cache)
            row(kind + ", other ones, kept", [Measured(ours, other, cache) for other in others])
            row(kind + ", the same again", [Measured(ours, asked, cache) for _ in range(REPEATS)])
            row(kind + ", llvm-symbolizer-14",
                [Measured(["llvm-symbolizer-14", "--inlines", "--no-demangle", "-e", program], asked, cache) for _ in range(3)])
    with tempfile.TemporaryDirectory() as cache:
        few = addresses(section, 100, False, 1)
        row("100 all over, eu-addr2line -i", [Measured(["eu-addr2line", "-i", "-f", "-e", program], few, cache)])
        Measured(ours, few, cache)
        for n in (100, 1000, 10000, 100000):
            asked = addresses(section, n, False, 1)
            row("%d all over, first time" % n, [Measured(ours[:2] + ours[3:], asked, cache) for _ in range(3)])
            row("%d all over, kept" % n, [Measured(ours, asked, cache) for _ in range(REPEATS)])


def waited_s(command, cache, *options):
    """From the end of the command until sampler-run has ended."""
    with tempfile.TemporaryDirectory() as folder:
        words = [SAMPLER_RUN, "-q", *options, "-o", "out.sprofile", "sh", "-c", command + "; date +%s%N >stamp"]
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, XDG_CACHE_HOME=cache))
        end = time.time()
        with open(os.path.join(folder, "stamp"), encoding="ascii") as stamp:
            return end - int(stamp.read()) / 1e9


def after_the_end():
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "small.c"), "w", encoding="ascii") as file:
            file.write(SMALL)
        small = os.path.join(folder, "small")
        subprocess.run(["gcc", "-g", "-O2", small + ".c", "-o", small], check=True)
        library = os.path.realpath(output_of("sh", "-c", "ls /usr/lib/x86_64-linux-gnu/libbfd-*.so | head -1").strip())
        programs = [
            ("true", "true"),
            ("a small program, libc6-dbg", small),
            ("objdump, binutils' debug information", "objdump -d --no-show-raw-insn %s >/dev/null" % library),
            ("python3.11-dbg", "python3.11-dbg -c 'for n in range(7000000): pass'"),
        ]
        print("\n  %-46s %8s %8s %8s" % ("sampler-run after the end of, in ms:", "first", "again", "no cache"))
        for name, command in programs:
            with tempfile.TemporaryDirectory() as cache:
                first = waited_s(command, cache)
                again = statistics.median(waited_s(command, cache) for _ in range(REPEATS))
                without = statistics.median(waited_s(command, cache, "--no-cache") for _ in range(REPEATS))
            print("  %-46s %8.0f %8.0f %8.0f" % (name, 1000 * first, 1000 * again, 1000 * without), flush=True)


def main():
    of_one_file(ceph_fetch())
    after_the_end()


main()
