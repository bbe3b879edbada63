"""scripts/bench formats [MEGABYTES|NAME]...: MB/s and peak memory of reading and writing each format, or those named,
beside what users have.

A generator makes a folded file and a .cpuprofile of each size (default: 10, 100, 400 MB): 3000 functions with names of
real length, stacks of 5 to 40 frames. The other formats' files are written from the .cpuprofile, with as many samples
as it takes to come near the size. Each figure is the best of three runs (one for the largest).
Peers: flamegraph.pl and nytprofcsv of libdevel-nytprof-perl, node's JSON.parse, and speedscope's importer where
$ORACLES names the folder with cpuprofile.mjs and folded.mjs.
"""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
BENCH = os.path.abspath(os.path.join(HERE, "..", "..", "build", "release", "scripts", "benches", "format_bench"))
FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"
MB = 1000000
PEER_LIMIT_S = 300
MAX_SAMPLES = 60000000  # more take over 4 GB to read from the .cpuprofile the other files are written from
ALL = ["folded", "cpuprofile", "easyprofiler", "htdump", "nytprof", "chrome-trace", "nytprof-chunked", "sprofile"]


class Generator:
    """Stacks of a program that does not exist, the same every time."""

    def __init__(self):
        self.random = random.Random(1)
        words = ["parse", "read", "write", "node", "tree", "block", "std::vector<int>", "hash_map<K, V>", "flush",
                 "operator()", "const char*", "insert", "resolve", "update", "frame"]
        self.names = ["%s_%s(%s)%d" % (self.random.choice(words), self.random.choice(words), self.random.choice(words),
                                       i) for i in range(3000)]
        self.nodes = [(-1, "main")]  # (parent, name)
        self.paths = ["main"]
        self.depths = [1]
        while len(self.nodes) < 60000:
            parent = len(self.nodes) - 1 if self.random.random() < 0.9 else self.random.randrange(len(self.nodes))
            if self.depths[parent] >= 40:
                parent = self.random.randrange(len(self.nodes) // 2 + 1)
            name = self.random.choice(self.names)
            self.nodes.append((parent, name))
            self.depths.append(self.depths[parent] + 1)
            self.paths.append(self.paths[parent] + ";" + name)
        self.leaves = [i for i, depth in enumerate(self.depths) if depth >= 5]

    def folded(self, path, size_bytes, is_sorted):
        """Sorted as all tools write them, or in no order. Lines differ in their last frame, so that a large file has
        more stacks, not repeats."""
        leaves = sorted(self.leaves, key=self.paths.__getitem__)
        n_each = max(1, round(size_bytes / sum(len(self.paths[leaf].encode()) + 12 for leaf in leaves)))
        least = 1 if n_each > 1 else max(1, round(sum(len(self.paths[leaf]) + 12 for leaf in leaves) / size_bytes))
        order = [(leaf, k) for leaf in leaves[::least] for k in range(n_each)]
        if not is_sorted:
            self.random.shuffle(order)
        with open(path, "w", encoding="utf-8") as out:
            for at in range(0, len(order), 10000):
                out.write("".join("%s;leaf_%d %d\n" % (self.paths[leaf], k, (leaf + k) % 977 + 1)
                                  for leaf, k in order[at:at + 10000]))

    def cpuprofile(self, path, n_samples):
        children = {}
        for i, (parent, _) in enumerate(self.nodes):
            children.setdefault(parent, []).append(i + 2)
        with open(path, "w", encoding="utf-8") as out:
            out.write('{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,'
                      '"columnNumber":-1},"hitCount":0,"children":[2]}')
            for i, (_, name) in enumerate(self.nodes):
                node = {"id": i + 2, "callFrame": {"functionName": name, "scriptId": "1", "url": "/src/%s.cc" % name[:5],
                                                   "lineNumber": i % 3000, "columnNumber": 0}, "hitCount": 1}
                if i in children:
                    node["children"] = children[i]
                out.write("," + json.dumps(node))
            out.write('],"startTime":1000000,"samples":[')
            block = [str(self.random.choice(self.leaves) + 2) for _ in range(50000)]
            write_list(out, block, n_samples)
            out.write('],"timeDeltas":[')
            write_list(out, [str(900 + self.random.randrange(200)) for _ in range(50000)], n_samples)
            out.write('],"endTime":%d}' % (1000000 + n_samples * 1100))


def write_list(out, block, n):
    text = ",".join(block)
    for i in range(0, n - len(block) + 1, len(block)):
        out.write(("," if i else "") + text)
    rest = n % len(block)
    if rest:
        out.write(("," if n > len(block) else "") + ",".join(block[:rest]))


def bench(argv, repeats):
    best = None
    for _ in range(repeats):
        result = subprocess.run([BENCH] + argv, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit("bench: %s: %s" % (" ".join(argv), result.stderr.strip()))
        figures = json.loads(result.stdout)
        if best is None:
            best = figures
        best["read_s"] = min(best["read_s"], figures["read_s"])
        best["write_s"] = min(best["write_s"], figures["write_s"])
    return best


def row(name, what, size_bytes, seconds, kb, profile_kb=0):
    print("| %s | %s | %.1f | %.2f | %.0f | %s%s |" % (
        name, what, size_bytes / MB, seconds, size_bytes / MB / max(seconds, 1e-4),
        "%.0f (%.1f x)" % (kb / 1000, kb * 1024 / size_bytes) if kb else "",
        ", %.0f of it the profile" % (profile_kb / 1000) if profile_kb else ""), flush=True)


def peer(name, what, path, argv):
    if shutil.which(argv[0]) is None:
        return
    started = time.monotonic()
    try:
        child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - started > PEER_LIMIT_S:
                child.kill()
                os.wait4(child.pid, 0)
                print("| %s | %s | %.1f | > %d | | |" % (name, what, os.path.getsize(path) / MB, PEER_LIMIT_S), flush=True)
                return
            time.sleep(0.01)
    except OSError:
        return
    if status == 0:
        row(name, what, os.path.getsize(path), time.monotonic() - started, usage.ru_maxrss)
    else:
        print("| %s | %s | %.1f | fails | | |" % (name, what, os.path.getsize(path) / MB), flush=True)


def samples_for(generator, folder, format_name, size_bytes):
    """How many samples a file of that size has, from two small ones."""
    sizes = []
    for n in (50000, 250000):
        source = os.path.join(folder, "try.cpuprofile")
        generator.cpuprofile(source, n)
        out = os.path.join(folder, "try.out")
        if format_name == "cpuprofile":
            sizes.append(os.path.getsize(source))
        else:
            sizes.append(bench(["cpuprofile", source, format_name, out], 1)["write_bytes"])
    per_sample = (sizes[1] - sizes[0]) / 200000
    return int(max(1, (size_bytes - sizes[0]) / max(per_sample, 0.01))) + 50000


def folded_size(generator, folder, megabytes, repeats):
    path = lambda name: os.path.join(folder, name)
    generator.folded(path("in.folded"), megabytes * MB, False)
    figures = bench(["folded", path("in.folded")], repeats)
    row("folded", "read, lines in no order", figures["read_bytes"], figures["read_s"], figures["read_kb"])
    generator.folded(path("in.folded"), megabytes * MB, True)
    figures = bench(["folded", path("in.folded"), "folded", path("out.folded")], repeats)
    row("folded", "read", figures["read_bytes"], figures["read_s"], figures["read_kb"])
    row("folded", "write", figures["write_bytes"], figures["write_s"], figures["write_kb"], figures["profile_kb"])
    if os.path.exists(FLAMEGRAPH):
        peer("folded", "flamegraph.pl, all of it", path("in.folded"), ["perl", FLAMEGRAPH, path("in.folded")])


def one_size(generator, folder, megabytes, names):
    repeats = 3 if megabytes < 200 else 1
    path = lambda name: os.path.join(folder, name)
    if "folded" in names:
        folded_size(generator, folder, megabytes, repeats)
    oracles = os.environ.get("ORACLES")
    for name in ("cpuprofile", "easyprofiler", "htdump", "nytprof", "chrome-trace"):
        if name not in names:
            continue
        n_samples = samples_for(generator, folder, name, megabytes * MB)
        n_samples = min(n_samples, MAX_SAMPLES)
        generator.cpuprofile(path("in.cpuprofile"), n_samples)
        figures = bench(["cpuprofile", path("in.cpuprofile"), name, path("out")], repeats)
        if name == "cpuprofile":
            row(name, "read", figures["read_bytes"], figures["read_s"], figures["read_kb"])
            peer(name, "node's JSON.parse, reading included", path("in.cpuprofile"), [
                "node", "-e", "JSON.parse(require('fs').readFileSync(process.argv[1], 'utf8'))", path("in.cpuprofile")])
            if oracles:
                peer(name, "speedscope's importer in node", path("in.cpuprofile"), [
                    "node", os.path.join(oracles, "cpuprofile.mjs"), "--reader=speedscope", path("in.cpuprofile")])
        row(name, "write", figures["write_bytes"], figures["write_s"], figures["write_kb"], figures["profile_kb"])
        if name not in ("cpuprofile", "chrome-trace"):
            figures = bench([name, path("out")], repeats)
            row(name, "read", figures["read_bytes"], figures["read_s"], figures["read_kb"])
        if name == "nytprof":
            peer(name, "nytprofcsv, all of it", path("out"), ["nytprofcsv", "--file", path("out"), "--out", path("csv")])
    if "nytprof-chunked" not in names:
        return
    generator.folded(path("in.folded"), megabytes * MB, True)
    figures = bench(["folded", path("in.folded"), "nytprof-chunked", path("out")], repeats)
    row("nytprof-chunked", "write (from the folded file)", figures["write_bytes"], figures["write_s"], figures["write_kb"],
        figures["profile_kb"])
    figures = bench(["nytprof-chunked", path("out")], repeats)
    row("nytprof-chunked", "read", figures["read_bytes"], figures["read_s"], figures["read_kb"])


def main():
    sizes = [int(word) for word in sys.argv[1:] if word.isdigit()] or [10, 100, 400]
    names = [word for word in sys.argv[1:] if not word.isdigit()] or ALL
    generator = Generator()
    for megabytes in sizes:
        print("\n%d MB\n\n| format | what | MB | s | MB/s | peak MB (x the file) |\n|---|---|---|---|---|---|" % megabytes)
        with tempfile.TemporaryDirectory(prefix="sampler-bench-") as folder:
            one_size(generator, folder, megabytes, names)


main()
