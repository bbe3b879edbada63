"""scripts/bench explained [SECONDS]: how much of the CPU time of real programs their profiles explain.

Each program runs for about SECONDS of CPU (default 10) as a direct child with the library preloaded;
its getrusage (user + system, with the children it waited for) is compared with the sum of the
weights. Long runs, because at 100 Hz a period is 10 ms: in 10 s that is 0.1 %.
"""

import errno
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "e2e", "lib"))
os.environ.setdefault("SAMPLER_BUILD", os.path.abspath("build/release"))

from e2e import need, record  # noqa: E402: the path comes first


def programs(seconds, scratch):
    source = os.path.join(scratch, "many.c")
    with open(source, "w", encoding="ascii") as out:
        for i in range(int(60 * seconds)):
            out.write("int f%d(int *d, int n) { int s = %d; for (int i = 0; i < n; i++) { if (d[i] %% 7 == 3)"
                      " s += d[i] * %d; else s ^= d[(i + s) %% n]; } return s; }\n" % (i, i, i))
    data = os.path.join(scratch, "data")
    with open(data, "wb") as out:
        state = 1
        for _ in range(int(100000 * seconds)):
            state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
            out.write(b"%x " % (state >> 44))
    yield "python3", [need("python3"), "-c", "print(sum(i * i %% 7 for i in range(%d)))" % (seconds * 9000000)]
    yield "perl", [need("perl"), "-e", "my %%h; $h{$_ * 7919 %% 50021} .= 'x' for 1..%d; print scalar %%h" % (seconds * 2200000)]
    yield "gcc -O2 -c", [need("gcc"), "-O2", "-c", source, "-o", os.path.join(scratch, "many.o")]
    yield "xz -T2", [need("xz"), "-T2", "--block-size=600000", "-6", "-k", "-c", data]
    yield "objdump -dC", [need("sh"), "-c", "for i in $(seq %d); do objdump -dC /usr/lib/*/libstdc++.so.6; done" % max(1, round(seconds / 1.1))]


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 10
    print("%-14s %6s %-8s %9s %9s %9s %9s" % ("program", "Hz", "clock", "CPU s", "explained", "%", "rooted %"))
    with tempfile.TemporaryDirectory() as scratch:
        for name, argv in programs(seconds, scratch):
            for frequency in (100, 999, 5000):
                for clock, refusal in (("perf", None), ("timer", None), ("auto", errno.EPERM)):
                    result, profile = record(argv, scratch, frequency, clock, refusal)
                    explained_s = profile.total / 1e9
                    print("%-14s %6d %-8s %9.3f %9.3f %9.2f %9.2f" % (
                        name, frequency, "refused" if refusal else clock, result.cpu_s, explained_s,
                        100 * explained_s / result.cpu_s, 100 * profile.share_rooted()), flush=True)


if __name__ == "__main__":
    main()
