"""Real programs that nobody rebuilt: unchanged by being profiled, stacks complete, CPU explained.

Each program runs once bare, once under sampler-run, and with every rate and clock as a direct child
whose getrusage is compared with the weights.
"""

import errno
import glob
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import (Failure, Folded, case, check, check_equal, check_explained, clean_environment,
                 main, need, record, run, sampler_run)

RATES = (100, 999, 5000)


def open_input(path):
    return open(path or os.devnull, "rb")


def check_program(scratch, argv, n_threads=1, stdin_path=None):
    """n_threads: how many thread clocks take part, all processes counted."""
    with open_input(stdin_path) as stdin:
        bare = run(argv, stdin=stdin)
    check(bare.cpu_s > 0.25, "%s uses %.2f s of CPU: too little to say anything", argv[0],
          bare.cpu_s)

    with open_input(stdin_path) as stdin:
        profiled = sampler_run(["-o", "out.folded"], argv, stdin=stdin)
    check_equal(profiled.status, bare.status, "exit status")
    check_equal(profiled.stdout, bare.stdout, "stdout")
    lines = profiled.stderr[len(bare.stderr):].splitlines()
    check(profiled.stderr.startswith(bare.stderr), "stderr of the program changed: %s",
          profiled.stderr)
    check(lines and all(line.startswith("sampler: ") for line in lines),
          "our own words: %r", lines)
    check(" s CPU (" in lines[0] and lines[0].endswith("wrote out.folded"),
          "wanted the line of account first, got %r", lines)
    check(lines[-1].startswith("sampler: next: ") and len(lines) <= 5, "wanted what to type next last, got %r", lines)
    print("  " + lines[0])
    check(Folded("out.folded").share_rooted() >= 0.99, "rooted: %.4f",
          Folded("out.folded").share_rooted())
    check_equal([name for name in os.listdir(scratch) if name.startswith(".sampler")], [],
                "left behind")

    explained = []
    # What makes a process and removes it is in no thread's time: twice what one takes that does nothing.
    none_s = 2 * statistics.median(run([need("true")]).cpu_s for _ in range(9))
    for frequency in RATES:
        for clock, refusal in (("perf", None), ("timer", None), ("auto", errno.EPERM)):
            what = "%d Hz %s%s" % (frequency, clock, " refused" if refusal else "")
            with open_input(stdin_path) as stdin:
                result, profile = record(argv, scratch, frequency, clock, refusal, stdin=stdin)
            check_equal(result.stdout, bare.stdout, "stdout at %d Hz" % frequency)
            check_equal(result.status, bare.status, "exit status at %d Hz" % frequency)
            # A machine that halts in between makes one run worse, which is not the profile's fault.
            check_explained(result, profile, frequency, n_threads, what, allowance=0.04)
            explained.append((profile.total / 1e9, result.cpu_s))
            check(profile.share_rooted() >= 0.99, "%s: rooted only %.4f", what,
                  profile.share_rooted())
    least = statistics.median((explained_s + none_s) / cpu_s for explained_s, cpu_s in explained)
    most = statistics.median(explained_s / cpu_s for explained_s, cpu_s in explained)
    check(0.99 <= least and most <= 1.005, "%.4f of the CPU time explained, %.4f with the ends, the medians of %d runs",
          most, least, len(explained))


def large_library():
    for pattern in ("/usr/lib/*/libstdc++.so.6", "/usr/lib/*/libcrypto.so.3",
                    "/usr/lib/*/libc.so.6", "/lib/*/libc.so.6"):
        found = glob.glob(pattern)
        if found:
            return found[0]
    raise Failure("no library to disassemble")


@case
def objdump(scratch):
    check_program(scratch, [need("objdump"), "-dC"] + 2 * [large_library()])


@case
def python(scratch):
    program = ("import json\n"
               "data = [{'name': str(i), 'values': list(range(i % 50))} for i in range(12000)]\n"
               "print(sum(len(json.dumps(json.loads(json.dumps(data)))) for _ in range(4)))\n"
               "print(sum(i * i for i in range(5000000)))\n")
    check_program(scratch, [need("python3"), "-c", program])


C_FUNCTION = """
static int step_%d(int *data, int n)
{
    int sum = %d;
    for (int i = 0; i < n; i++)
        switch (data[i] %% 7) {
        case 0: sum += data[i] * %d; break;
        case 1: sum ^= data[i] << 3; break;
        case 2: sum -= data[(i + %d) %% n]; break;
        default: data[i] = sum + i;
        }
    return sum;
}
int call_%d(int *data, int n) { return step_%d(data, n) + step_%d(data, n / 2); }
"""


@case
def gcc(scratch):
    # The driver, cc1 and as: three processes, two of them made by vfork and exec.
    with open("large.c", "w", encoding="ascii") as source:
        for i in range(110):
            source.write(C_FUNCTION % ((i,) * 7))
    check_program(scratch, [need("gcc"), "-O2", "-c", "large.c", "-o", "large.o"], n_threads=3)


@case
def xz(scratch):
    with open("input", "wb") as out:
        state = 1
        words = []
        for _ in range(4000):
            state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
            words.append(b"%x" % (state >> 40))
        for i in range(220000):
            state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
            out.write(words[(state >> 33) % len(words)] + b" ")
    # Threads compress blocks of 600 kB.
    check_program(scratch, [need("xz"), "-T2", "--block-size=600000", "-6", "-c", "input"],
                  n_threads=4)


@case
def sqlite(scratch):
    query = ("WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers"
             " LIMIT 2700000) SELECT count(*), sum(n % 97), group_concat(n % 1000 = 7)"
             " FROM (SELECT n FROM numbers ORDER BY (n * 7919) % 100003);\n")
    with open("query.sql", "w", encoding="ascii") as out:
        out.write(query)
    check_program(scratch, [need("sqlite3"), ":memory:"], stdin_path="query.sql")


@case
def perl(scratch):
    program = ('my %h; for my $i (1..2200000) { my $k = "key" . ($i * 7919 % 50021);'
               ' $h{$k} .= chr(65 + $i % 26); }'
               ' my $t = join "", map { length $h{$_} } sort keys %h; $t =~ s/(\\d)1/$1-/g;'
               ' print length($t), "\\n";')
    check_program(scratch, [need("perl"), "-e", program])


@case
def git(scratch):
    # A repository of our own making: many commits on a file of some size.
    git_path = need("git")
    env = clean_environment(GIT_AUTHOR_NAME="a", GIT_AUTHOR_EMAIL="a@example.org",
                            GIT_COMMITTER_NAME="a", GIT_COMMITTER_EMAIL="a@example.org",
                            GIT_CONFIG_NOSYSTEM="1", HOME=scratch)
    stream = []
    lines = ["line %d\n" % (i * 31 % 977) for i in range(6000)]
    for n in range(600):
        for i in range(60):
            lines[(n * 37 + i * 97) % len(lines)] = "line %d of %d\n" % (i, n)
        text = "".join(lines)
        stream.append("commit refs/heads/main\ncommitter a <a@example.org> %d +0000\n"
                      "data 5\nhello\nM 644 inline file.txt\ndata %d\n%s\n"
                      % (1600000000 + n, len(text), text))
    with open("stream", "w", encoding="ascii") as out:
        out.write("".join(stream))
    check_equal(run([git_path, "init", "-q", "repo"], env=env).status, 0, "git init")
    with open("stream", "rb") as stdin:
        check_equal(run([git_path, "-C", "repo", "fast-import", "--quiet"], env=env,
                        stdin=stdin).status, 0, "git fast-import")
    check_program(scratch, [git_path, "-C", "repo", "--no-pager", "log", "-p", "main"])


if __name__ == "__main__":
    main()
