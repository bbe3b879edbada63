"""scripts/bench matrix [REPEATS]: CPU time explained, by number of threads, their length, rate and clock.

account_shares runs as a direct child with the library preloaded; its getrusage is compared with the sum of the
weights. Threads of 1 ms, 20 ms and 1 s; "at once" of them live at a time. The range is that of REPEATS runs
(default 3); "chance" is one sigma of one run, from the number of grid points alone.
"""

import os
import sys
import tempfile

E2E = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "e2e")
sys.path[:0] = [os.path.join(E2E, "lib"), os.path.join(E2E, "capture")]
os.environ.setdefault("SAMPLER_BUILD", os.path.abspath("build/release"))

from e2e import test_program  # noqa: E402: the path comes first
from test_account import measure  # noqa: E402

# Threads, at once, microseconds of each.
PROGRAMS = ((1, 1, 3000000), (3, 3, 1000000), (50, 50, 60000), (200, 200, 20000), (1000, 1000, 5000), (1000, 8, 1000),
            (1000, 1000, 1000), (5000, 8, 1000))


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    print("%8s %8s %9s %7s %-6s %9s %18s %8s %9s" % ("threads", "at once", "us each", "Hz", "clock", "Hz got", "explained",
                                                    "chance", "handler"))
    n_out = 0
    with tempfile.TemporaryDirectory() as scratch:
        for count, at_once, us in PROGRAMS:
            for frequency in (100, 999, 10000):
                for clock in ("perf", "timer"):
                    shares, total = [], None
                    for _ in range(repeats):
                        share, chance, account = measure([test_program("account_shares"), str(count), str(at_once),
                                                          str(us)], scratch, frequency, clock)
                        shares.append(share)
                        total = account["total"]
                    low, high = 100 * min(shares), 100 * max(shares)
                    mean = sum(shares) / len(shares)
                    out = not 0.99 <= mean <= 1.005
                    n_out += out
                    print("%8d %8d %9d %7d %-6s %9.0f %7.2f - %7.2f %% %6.2f %% %6.2f %%%s" % (
                        count, at_once, us, frequency, clock, total["rate_hz"], low, high, 100 * chance / 3,
                        100 * total["handler_share"], "  OUTSIDE 99 .. 100.5" if out else ""), flush=True)
    print("%d of %d means outside 99 %% to 100.5 %%" % (n_out, len(PROGRAMS) * 6))


if __name__ == "__main__":
    main()
