"""Random trees of processes whose CPU time is known, profiled: is the account true?

    account_trees.py BUILD N [SEED] [OPTION...]

Options go to sampler-run. For each tree the percentage of the closing line is compared with that of the truth: what the
profile explains but for the ends of processes, of what the processes say that they used
(tests/programs/capture/account_tree.c), and after their last word, where that is not told apart, up to a part of what `true`
takes on this machine, each. Prints the trees in which they are more than 1.5 points apart, and how far apart they are over
all. Status 1 if more than one in eight is such a tree, or one is 5 points apart.
"""

import collections
import json
import os
import subprocess
import sys
import tempfile

POINTS = 1.5
MOST_POINTS = 5  # where a machine's host takes time away, the end of a process takes some too
END_PART = 0.8  # of the time of `true`: from 0.4 ms to 1.3


def end_ns():
    """What the last part of a process may take: measured, since machines differ by four times."""
    used = []
    for _ in range(21):
        _, _, usage = os.wait4(os.posix_spawn("/bin/true", ["true"], {}), 0)
        used.append(usage.ru_utime + usage.ru_stime)
    return END_PART * 1e9 * sorted(used)[len(used) // 2]


def tree(build, seed, options, folder, one_end_ns):
    """(percentage told, true percentage, points between them, account, {kind: us}, closing lines) of one tree."""
    programs = os.path.join(build, "tests", "programs")
    truth, account = os.path.join(folder, "truth"), os.path.join(folder, "account.json")
    argv = [os.path.join(build, "bin", "sampler-run"), "-o", os.path.join(folder, "out.folded"), "--account-file", account,
            *options, os.path.join(programs, "account_tree"), str(seed), truth, os.path.join(programs, "account_tree_static")]
    result = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=120,
                            check=True, cwd=folder)
    used_us, n_ends = collections.Counter(), 0
    with open(truth, encoding="ascii") as file:
        for line in file:
            _, kind, us = line.split()
            used_us[kind] += int(us)
            n_ends += 1
    with open(account, encoding="ascii") as file:
        account = json.load(file)
    total = account["total"]
    # What our own code used is in the truth, and not in what is to be explained; what the kernel used to remove processes is in
    # neither.
    explained_ns = total["explained_ns"] - total["process_exit_ns"]
    whole_ns = total["cpu_ns"] - total["own_ns"] - total["process_exit_ns"] + account["unrecorded_ns"]
    true_ns = 1000 * sum(used_us.values()) - total["own_ns"]
    told, most, least = (100 * explained_ns / ns for ns in (whole_ns, true_ns, true_ns + n_ends * one_end_ns))
    apart = told - min(max(told, least), most)
    return told, most, apart, account, used_us, result.stderr.decode()


def main():
    build, n = sys.argv[1], int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    far, apart, one_end_ns = 0, [], end_ns()
    for seed in range(first, first + n):
        with tempfile.TemporaryDirectory(prefix="sampler-tree-") as folder:
            told, true, points, account, used_us, stderr = tree(build, seed, sys.argv[4:], folder, one_end_ns)
        apart.append(points)
        if abs(points) <= POINTS:
            continue
        far += 1
        print("seed %d: told %.1f %%, true %.1f %%; run %.1f ms, recorded %.1f, unrecorded %.1f, truth %.1f ms: %s" % (
            seed, told, true, account["run_cpu_ns"] / 1e6, account["total"]["cpu_ns"] / 1e6, account["unrecorded_ns"] / 1e6,
            sum(used_us.values()) / 1e3, ", ".join("%s %.1f" % (kind, us / 1e3) for kind, us in used_us.items())))
        print("  " + stderr.replace("\n", "\n  "))
    apart.sort(key=abs)
    print("%d trees: %d more than %.1f points from the truth; half are within %.2f, 95 of 100 within %.2f" % (
        n, far, POINTS, abs(apart[len(apart) // 2]), abs(apart[int(0.95 * (len(apart) - 1))])))
    return 1 if far > n // 8 or abs(apart[-1]) > MOST_POINTS else 0


if __name__ == "__main__":
    sys.exit(main())
