"""scripts/bench unwind [SECONDS [NAME]...]: stacks of real programs, ours beside libunwind's.

Each program runs with libsampler_check.so (scripts/benches/unwind_check.c) preloaded, which unwinds
every sample with both engines and compares frame by frame, and once more with our walks timed alone.

  equal      the same frames, up to the start of the program or thread
  ours       only ours reaches the start          theirs   only libunwind's does
  differ     both reach it, by different frames   cut      neither does (alike or not)
  skips      as differ, but theirs is ours without one frame: the caller of a leaf in code without rows
  no rule .. too deep   why ours were cut         busy     not compared: another thread was
  p50 .. p99 time of our walk, caches as the program left them

Then, for each program, where the stacks part or end.
"""

import glob
import os
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LIBRARY = os.path.join(os.path.abspath(os.path.join(HERE, "..", "..", "build", "release")),
                       "scripts", "benches", "libsampler_check.so")

# struct unwind_check of scripts/benches/unwind_check.h.
COUNTS = struct.Struct("<4Q7Q8QQ256QQ")
KIND = struct.Struct("<6I" + "Q48s" * 4 + "Q")
OUTCOMES = ("equal", "equal, cut", "ours only", "theirs only", "both, differ", "neither, differ", "theirs skips")
CUTS = ("", "no rule", "bad memory", "no progress", "too deep", "table full")


class Check:
    def __init__(self, path):
        with open(path, "rb") as file:
            data = file.read()
        values = COUNTS.unpack_from(data)
        self.n_samples, self.n_busy, self.n_crashed, self.n_reuse_wrong = values[:4]
        self.outcomes, self.cuts, self.n_frames = values[4:11], values[11:19], values[19]
        self.bins, self.n_kinds_full = values[20:276], values[276]
        self.kinds = [kind for kind in KIND.iter_unpack(data[COUNTS.size:]) if kind[-1]]

    def percentile_us(self, share):
        """Upper edge of the bin the walk at this share of all falls into."""
        left = share * sum(self.bins)
        for i, n in enumerate(self.bins):
            left -= n
            if left <= 0:
                return ((9 + i % 8) << (i // 8)) / 1000
        return float("nan")


def run(argv, scratch, **settings):
    counts = os.path.join(scratch, "counts")
    recordings = os.path.join(scratch, "recordings")
    shutil.rmtree(recordings, ignore_errors=True)
    os.mkdir(recordings)
    if os.path.exists(counts):
        os.unlink(counts)
    env = {key: value for key, value in os.environ.items() if not key.startswith("SAMPLER_")}
    env.update(LD_PRELOAD=LIBRARY, SAMPLER_CHECK_FILE=counts, SAMPLER_RECORDING_DIR=recordings, **settings)
    done = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, cwd=scratch, check=False)
    return done.returncode, Check(counts)


# ---- the programs ---------------------------------------------------------------------------

GMP = """
import ctypes
g = ctypes.CDLL("libgmp.so.10")
a, b, c, d = [ctypes.create_string_buffer(16) for _ in range(4)]
for x in (a, b, c, d): g.__gmpz_init(x)
for i in range(%d):
    g.__gmpz_fac_ui(a, ctypes.c_ulong(9000 + i %% 50))
    g.__gmpz_ui_pow_ui(b, ctypes.c_ulong(7), ctypes.c_ulong(5000))
    g.__gmpz_mul(c, a, b)
    g.__gmpz_tdiv_q(d, c, b)
    g.__gmpz_powm_ui(d, b, ctypes.c_ulong(300), a)
    g.__gmpz_gcd(d, a, b)
    g.__gmpz_get_str(None, 10, c)
"""

JAVASCRIPT = """
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
class Tree { constructor(n) { this.l = n > 0 ? new Tree(n - 1) : null; this.r = n > 0 ? new Tree(n - 1) : null; }
  sum() { return 1 + (this.l ? this.l.sum() + this.r.sum() : 0); } }
let value = 0;
for (let i = 0; i < %d; i++) {
  value += fib(24) + new Tree(11).sum();
  const words = JSON.stringify(Array.from({length: 900}, (_, k) => ({k, t: 'x' + k %% 37}))).split(/[,:]/);
  words.sort((a, b) => a < b ? -1 : a > b ? 1 : 0);
  value += new Map(words.map((w, k) => [w, k])).size;
  value += words.filter(w => /^"x(1|2)+/.test(w)).length;
  try { JSON.parse('{' + i); } catch (error) { value += error.message.length; }
}
console.log(value);
"""

PYTHON = """
import json, re, hashlib
total = 0
for i in range(%d):
    data = {str(k): [k, "x" * (k %% 17), {"a": k * 1.5}] for k in range(400)}
    text = json.dumps(data, indent=(i %% 2) or None)
    total += len(json.loads(text)) + len(re.findall(r"(x+)|(\\\\d+)", text))
    total += sum(sorted(hash(w) %% 1000 for w in text.split()))
    try:
        int("no")
    except ValueError as why:
        total += len(str(why)) + len(hashlib.sha256(text.encode()).hexdigest())
print(total)
"""

PERL = ("my %%h; for my $i (1..%d) { my $k = 'key' . ($i * 7919 %% 50021); $h{$k} .= chr(65 + $i %% 26);"
        " eval { die \"x\\n\" } if $i %% 50 == 0; } my $t = join '', map { length $h{$_} } sort { $a cmp $b } keys %%h;"
        " $t =~ s/(\\d)1/$1-/g; print length($t), \"\\n\";")

SQL = ("WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT %d)"
       " SELECT count(*), sum(n %% 97), max(substr(printf('%%08d', n * 7919), 3)) FROM"
       " (SELECT n FROM numbers ORDER BY (n * 7919) %% 100003);")

JAVA = """
public class Work {
  static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  public static void main(String[] a) {
    long value = 0;
    for (int i = 0; i < %d; i++) {
      java.util.TreeMap<String, Integer> map = new java.util.TreeMap<>();
      for (int k = 0; k < 900; k++) map.merge("k" + (k * 7919 %% 613), k, Integer::sum);
      value += fib(22) + map.values().stream().mapToInt(x -> x).sum();
    }
    System.out.println(value);
  }
}
"""

GO = """
package main
import ("fmt"; "sort"; "strings")
// #include <stdlib.h>
// static int fold(int n) { unsigned v = 1; for (int i = 0; i < n; i++) v = v * 33 + (v >> 3); return (int)v; }
import "C"
func fib(n int) int { if n < 2 { return n }; return fib(n-1) + fib(n-2) }
func main() {
  done := make(chan int)
  for g := 0; g < 2; g++ {
    go func(g int) {
      total := 0
      for i := 0; i < %d; i++ {
        words := strings.Fields(strings.Repeat("some words to sort and map ", 60))
        sort.Strings(words)
        seen := map[string]int{}
        for _, w := range words { seen[w + fmt.Sprint(i)]++ }
        total += len(seen) + fib(18) + int(C.fold(20000))
      }
      done <- total
    }(g)
  }
  fmt.Println(<-done + <-done)
}
"""


def write(scratch, name, text):
    path = os.path.join(scratch, name)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    return path


def words_file(scratch, n_words):
    state, words = 1, []
    for _ in range(n_words):
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        words.append("%x" % (state >> 46) + ("\n" if state >> 60 == 3 else " "))
    return write(scratch, "words", "".join(words))


def source_file(scratch, n_functions):
    return write(scratch, "many.cpp", "#include <map>\n#include <string>\n#include <regex>\n" + "".join(
        "int f%d(int *d, int n) { std::map<int, std::string> m; for (int i = 0; i < n; i++) { if (d[i] %% 7 == 3)"
        " m[i] += 'a' + d[i] * %d; else d[i] ^= d[(i + %d) %% n]; } return (int)m.size(); }\n" % (i, i, i)
        for i in range(n_functions)))


def go_program(scratch, seconds):
    """A dynamically linked one (cgo); nothing can be preloaded into others."""
    source = write(scratch, "work.go", GO % (seconds * 700))
    program = os.path.join(scratch, "work_go")
    env = dict(os.environ, CGO_ENABLED="1", GOCACHE=os.path.join(scratch, "go"), GO111MODULE="off",
               GOPATH=scratch, HOME=scratch)
    done = subprocess.run(["go", "build", "-o", program, source], env=env, check=False,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return program if done.returncode == 0 else None


def git_commands(seconds):
    text = ("git init -q r; cd r; git config user.email a@b.c; git config user.name n;"
            " for i in $(seq 60); do seq $((i * 37)) $((i * 37 + 6000)) > f; git add f; git commit -qm $i; done;"
            " for i in $(seq %d); do git log -p >/dev/null; git gc -q --aggressive --prune=now; done")
    return ["sh", "-c", text % max(1, round(seconds / 1.2))]


def programs(seconds, scratch):
    """(name, argv), each for about `seconds` of CPU."""
    libstdcxx = (glob.glob("/usr/lib/*/libstdc++.so.6") or [""])[0]
    times = "for i in $(seq %d); do %s; done"
    yield "xz -T2", lambda: ["xz", "-T2", "--block-size=600000", "-6", "-k", "-c", words_file(scratch, int(280000 * seconds))]
    yield "g++ -O2", lambda: ["g++", "-O2", "-c", source_file(scratch, int(110 * seconds)), "-o", os.path.join(scratch, "many.o")]
    yield "python3", lambda: ["/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3", "-c", PYTHON % (seconds * 300)]
    yield "perl", lambda: ["perl", "-e", PERL % (seconds * 1500000)]
    yield "node", lambda: ["node", write(scratch, "work.js", JAVASCRIPT % (seconds * 180))]
    yield "objdump -dC", lambda: ["sh", "-c", times % (max(1, round(seconds / 1.1)), "objdump -dC " + libstdcxx)]
    yield "openssl speed", lambda: ["sh", "-c", times % (1, "for a in " + " ".join(
        ["-evp=aes-256-gcm", "-evp=chacha20-poly1305", "sha256", "sha512", "md5", "rsa2048", "ecdsap256", "ed25519"])
        .replace("-evp=", "-evp:") + "; do openssl speed -bytes 4096 -seconds %d $(echo $a | tr : ' '); done" % max(1, round(seconds / 8)))]
    yield "libgmp", lambda: ["/usr/bin/python3" if os.path.exists("/usr/bin/python3") else "python3", "-c", GMP % (seconds * 35)]
    yield "rg (Rust)", lambda: ["sh", "-c", times % (seconds * 4, r"rg -c '([a-f]+[0-9]){3}(\w|[é-ü])+' " + words_file(scratch, 800000))]
    yield "sqlite3", lambda: ["sqlite3", ":memory:", SQL % (seconds * 450000)]
    yield "git", lambda: git_commands(seconds)
    yield "cmake", lambda: ["sh", "-c", times % (seconds * 2, "cmake --help-full; cmake -P " + write(
        scratch, "work.cmake", "foreach(i RANGE 20000)\n string(REGEX REPLACE \"([0-9])(1*)\" \"\\\\2x\\\\1\" o \"${i}\")\n"
        " list(APPEND all ${o})\nendforeach()\nlist(SORT all)\n"))]
    yield "gdb", lambda: ["sh", "-c", times % (max(1, round(seconds / 2)), "gdb -nx -batch -ex 'info functions alloc' -ex 'info types .' " + (
        glob.glob("/usr/bin/python3.1?") + ["/usr/bin/gdb"])[0])]
    yield "java", lambda: ["java", write(scratch, "Work.java", JAVA % (seconds * 500))]
    yield "go (cgo)", lambda: [go_program(scratch, seconds) or "/nowhere"]


# ---- the tables -----------------------------------------------------------------------------

def place(offset, module):
    name = module.split(b"\0")[0].decode("utf-8", "replace")
    return "%s+%#x" % (name or "[no module]", offset) if name or offset else "(end)"


def print_kinds(check, limit):
    kinds = sorted(check.kinds, reverse=True)
    for kind in kinds[:limit]:
        n, outcome, cut, n_ours, n_theirs, at = kind[:6]
        leaf, last, ours, theirs = (place(kind[i], kind[i + 1]) for i in (6, 8, 10, 12))
        print("    %6d  %-16s depth %d/%d, same up to %d at %s; ours %s%s, theirs %s; leaf %s" % (
            n, OUTCOMES[outcome], n_ours, n_theirs, at, last, ours, " (" + CUTS[cut] + ")" if cut else "", theirs, leaf))
    if len(kinds) > limit > 0:
        print("    %6d  in %d more ways" % (sum(kind[0] for kind in kinds[limit:]), len(kinds) - limit))


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3
    seconds = int(seconds) if seconds == int(seconds) else seconds
    names = sys.argv[2:]
    limit = int(os.environ.get("BENCH_UNWIND_KINDS", "4"))
    print("%-14s %8s %8s %7s %6s %6s %6s %6s %6s %8s %8s %6s %6s %6s %6s | %7s %6s %6s %6s" % (
        "program", "samples", "depth", "equal %", "ours", "theirs", "differ", "skips", "cut", "no rule", "bad mem",
        "other", "busy", "crash", "reuse", "walks", "p50us", "p99us", "p99.9"))
    with tempfile.TemporaryDirectory(prefix="sampler-bench-") as scratch:
        for name, make in programs(seconds, scratch):
            if names and name.split()[0] not in names:
                continue
            argv = make()
            if shutil.which(argv[0]) is None or (argv[0] == "sh" and shutil.which(name.split()[0]) is None):
                print("%-14s not here" % name)
                continue
            status, check = run(argv, scratch, SAMPLER_FREQUENCY="2000")
            timed = run(argv, scratch, SAMPLER_FREQUENCY="999", SAMPLER_CHECK_TIME="1")[1]
            n = max(check.n_samples, 1)
            equal, equal_cut, ours, theirs, differ, neither, skips = check.outcomes
            print("%-14s %8d %8.1f %7.3f %6d %6d %6d %6d %6d %8d %8d %6d %6d %6d %6d | %7d %6.1f %6.1f %6.1f%s" % (
                name, check.n_samples, check.n_frames / n, 100 * equal / n, ours, theirs, differ, skips,
                equal_cut + neither, check.cuts[1], check.cuts[2], sum(check.cuts[3:]), check.n_busy, check.n_crashed,
                check.n_reuse_wrong, timed.n_samples, timed.percentile_us(0.5), timed.percentile_us(0.99),
                timed.percentile_us(0.999), "  status %d" % status if status else ""), flush=True)
            print_kinds(check, limit)


if __name__ == "__main__":
    main()
