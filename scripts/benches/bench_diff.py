"""scripts/bench diff [PAIRS [SECONDS]]: whether `sampler diff` calls changed what changed, and nothing else.

PAIRS (200) pairs of runs of one program, SECONDS (2) each, without any change: how many rows are called changed. Then 20
pairs of 10 s in which one function does 5 % more: in how many pairs it is called changed. Beside what two other ways of
comparing the same program show: `perf diff`, which has no word of chance, and the counts of folded files, which
difffolded.pl colours red and blue. Runs before and after take turns.
"""

import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from bench_capture import BUILD, SAMPLER, SAMPLER_RUN, environment, heading  # noqa: E402: the path comes first

WORK = os.path.join(BUILD, "scripts", "benches", "diff_work")
PERF_ROW = re.compile(r"^ *([0-9.]*)%? +([+-][0-9.]+)% +(\S+) +\[\S\] (\S+)")


def command(argv):
    return subprocess.run(argv, env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=True).stdout.decode()


def run(path, argv):
    command([SAMPLER_RUN, "-q", "-o", path, "--"] + argv)


def rows_of(before, after):
    return json.loads(command([SAMPLER, "diff", "--json", "-n", "0"] + before + ["--against"] + after))


def self_counts(path):
    counts = collections.Counter()
    for line in command([SAMPLER, "convert", path, "-o", "-"]).splitlines():
        stack, number = line.rsplit(" ", 1)
        counts[stack.rsplit(";", 1)[-1]] += int(number)
    return counts


class Verdicts:
    """What diff said of many pairs."""

    def __init__(self):
        self.pairs = self.rows = self.called = self.large = self.large_called = self.whole = 0
        self.names = collections.Counter()

    def add(self, found):
        self.pairs += 1
        self.whole += found["whole"]["is_beyond_chance"]
        for row in found["rows"]:
            is_large = row["before"] > 0.01 * found["whole"]["before"]
            self.rows += 1
            self.large += is_large
            if row["is_beyond_chance"]:
                self.called += 1
                self.large_called += is_large
                self.names[row["name"]] += 1

    def print(self, what):
        print("%-34s %5d pairs, %6d rows: %5.2f %% called changed; of rows above 1 %%: %5.2f %% of %d; the whole in %d" %
              (what, self.pairs, self.rows, 100 * self.called / max(self.rows, 1), 100 * self.large_called / max(self.large, 1),
               self.large, self.whole))
        print("    most often: " + ", ".join("%s %d" % name for name in self.names.most_common(6)), flush=True)


def unchanged(scratch, pairs, seconds):
    heading("%d pairs of runs of %d s without a change" % (pairs, seconds))
    paths, verdicts, differ = [], Verdicts(), []
    for i in range(2 * pairs):
        paths.append(os.path.join(scratch, "%d.sprofile" % i))
        run(paths[-1], [WORK, str(seconds)])
        if i % 2:
            verdicts.add(rows_of(paths[-2:-1], paths[-1:]))
            before, after = self_counts(paths[-2]), self_counts(paths[-1])
            large = [name for name in before if before[name] > 0.01 * sum(before.values())]
            differ.append(sum(abs(after[name] - before[name]) > 0.05 * before[name] for name in large) / len(large))
    verdicts.print("one run on each side")
    for side in (3, 5):
        several = Verdicts()
        for i in range(0, len(paths) - 2 * side + 1, 2 * side):
            several.add(rows_of(paths[i:i + 2 * side:2], paths[i + 1:i + 2 * side:2]))
        if several.pairs:
            several.print("%d runs on each side" % side)
    print("folded counts: %.0f %% of rows above 1 %% differ by more than 5 %% of themselves" % (100 * sum(differ) / len(differ)))


def perf_rows(scratch, slower):
    """Rows of perf diff by size of the change: (name, points)."""
    paths = [os.path.join(scratch, name) for name in ("before.data", "after.data")]
    for path, more in zip(paths, ([], slower)):
        command(["perf", "record", "-q", "-e", "task-clock", "-F", "999", "-g", "-o", path, "--", WORK, "10"] + more)
    rows = []
    for line in command(["perf", "diff", "-q", "-f"] + paths).splitlines():
        match = PERF_ROW.match(line)
        if match:
            rows.append((match.group(4), float(match.group(2))))
    return sorted(rows, key=lambda row: -abs(row[1]))


def slower(scratch, name, pairs):
    heading("%d pairs of runs of 10 s, %s does 5 %% more in the second" % (pairs, name))
    before, after = os.path.join(scratch, "before.sprofile"), os.path.join(scratch, "after.sprofile")
    found = others = first = 0
    changes, ranks, largest = [], [], []
    for _ in range(pairs):
        run(before, [WORK, "10"])
        run(after, [WORK, "10", name, "5"])
        rows = rows_of([before], [after])["rows"]
        for row in rows:
            if row["name"] == name:
                found += row["is_beyond_chance"] and row["change"] > 0
                changes.append(row["change"] / row["before"])
            else:
                others += row["is_beyond_chance"]
        first += rows[0]["name"] == name
        if shutil.which("perf"):
            shown = perf_rows(scratch, [name, "5"])
            names = [row[0] for row in shown]
            ranks.append(names.index(name) + 1 if name in names else 0)
            largest.append(max(abs(points) for other, points in shown if other != name))
    print("called changed in %d of %d pairs, first row in %d; its change: %.1f to %.1f %%; other rows called changed: %.1f a pair" %
          (found, pairs, first, 100 * min(changes), 100 * max(changes), others / pairs))
    if ranks:
        print("perf diff: first row in %d of %d pairs; the largest change of another row: %.2f to %.2f points" %
              (ranks.count(1), pairs, min(largest), max(largest)), flush=True)


def main():
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 2
    with tempfile.TemporaryDirectory() as scratch:
        unchanged(scratch, pairs, seconds)
        for name in ("hash_text", "sieve"):
            slower(scratch, name, max(1, pairs // 10))


if __name__ == "__main__":
    started = time.monotonic()
    main()
    print("\n%.0f s" % (time.monotonic() - started))
