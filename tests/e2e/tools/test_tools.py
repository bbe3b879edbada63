"""sampler's other commands on small files."""

import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import (SAMPLER_RUN, TOP, Folded, case, check, check_equal, check_one_line, main, run, sampler,
                 sampler_run, test_program)


def write(name, text):
    with open(name, "w", encoding="utf-8") as out:
        out.write(text)
    return name


def rows_of(result):
    """[(self percent, total percent, name)] of `sampler top`."""
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    rows = []
    for line in result.stdout.decode().splitlines():
        match = re.fullmatch(r" *([0-9.]+)% +[0-9.]+(?: m?s)? +([0-9.]+)% +[0-9.]+(?: m?s)?  (.*)", line)
        if match:
            rows.append((float(match.group(1)), float(match.group(2)), match.group(3)))
    return rows


@case
def top(_scratch):
    write("a.folded", "main;f;g 60\nmain;f 25\nmain;h;g 10\nmain;f;f;g 5\n")
    rows = rows_of(sampler("top", "a.folded"))
    wanted = [(75.0, 75.0, "g"), (25.0, 90.0, "f"), (0.0, 100.0, "main"), (0.0, 10.0, "h")]
    check_equal(sorted(rows), sorted(wanted), "rows")  # f in f counts once
    check_equal(rows[0], wanted[0], "first row")
    check_equal(len(rows_of(sampler("top", "-n", "2", "a.folded"))), 2, "rows with -n 2")
    result = sampler_run(["-q", "--keep", "-o", "out.folded"], [test_program("burn"), "0.3"])
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    for names in (["out.folded"], None):
        if names is None:
            names = [name for name in os.listdir(".") if name.endswith(".sampler")]
        rows = rows_of(sampler("top", *names))
        check(rows[0][2] == "work" and rows[0][0] > 80, "%s: first row %r", names, rows[0])


@case
def convert(_scratch):
    write("a.folded", "main;f 3\nmain;g 2\n")
    write("b.folded", "main;f 4\nother 1\n")
    result = sampler("convert", "a.folded", "b.folded", "-o", "c.folded")
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    check_equal(Folded("c.folded").stacks,
                {("main", "f"): 7, ("main", "g"): 2, ("other",): 1}, "the merged profile")
    check_equal(sampler("convert", "c.folded", "-f", "folded", "-o", "-").stdout,
                open("c.folded", "rb").read(), "the same again on stdout")
    check_one_line(sampler("convert", "a.folded", "-o", "x.unheard"), 2, "x.unheard")


@case
def outputs(_scratch):
    """-o - is folded unless -f says otherwise, in every command; what has no name is called as what it was made of."""
    sampler_run(["-q", "--keep", "-o", "run.sprofile"], [test_program("burn"), "0.1"])
    recording = [name for name in os.listdir(".") if name.endswith(".sampler")][0]
    commands = {"run": lambda *words: sampler_run(list(words), [test_program("burn"), "0.1"]),
                "report": lambda *words: sampler("report", recording, *words),
                "convert": lambda *words: sampler("convert", "run.sprofile", *words)}
    for name, command in commands.items():
        folded = command("-o", "-")
        check(folded.status == 0 and re.search(rb"(?m)^[^{\n]*;main;work [0-9]+$", folded.stdout), "%s -o -: %r", name,
              folded.stdout[:300])
        other = command("-o", "-", "-f", "chrome-trace")
        check(other.status == 0 and b'{"traceEvents"' in other.stdout, "%s -f: %r", name, other.stdout[:300])
    os.mkdir("in")
    write("in/a.7.collapsed", "main;f 3\n")
    write("b.data", "main;f 4\n")
    for words, wanted in ((["in/a.7.collapsed"], ["a.7.folded"]), (["b.data", "a.7.folded"], ["b.data.folded"]),
                          (["a.7.folded", "-f", "cpuprofile"], ["a.7.cpuprofile"])):
        before = set(os.listdir("."))
        result = sampler("convert", *words)
        check_equal((result.status, sorted(set(os.listdir(".")) - before)), (0, wanted), "files of %r" % words)
        check("sampler: wrote " + wanted[0] in result.stderr.splitlines(), "not named: %r", result.stderr)
    check_equal(Folded("b.data.folded").stacks, {("main", "f"): 7}, "the merged profile")
    result = sampler("convert", "a.7.folded", "-q", "-f", "nytprof")
    check_equal((result.status, result.stderr), (0, ""), "with -q")
    for words in (["a.7.folded"], ["b.data", "a.7.folded", "b.data.folded"], ["in/../a.7.folded", "-f", "folded"]):
        os.utime("a.7.folded")
        kept = [open(name, "rb").read() for name in ("a.7.folded", "b.data.folded")]
        check_one_line(sampler("convert", *words), 2, "is the input")
        check_equal([open(name, "rb").read() for name in ("a.7.folded", "b.data.folded")], kept, "the inputs")


@case
def diff(_scratch):
    write("a.folded", "main;f 3\nmain;g 2\n")
    write("b.folded", "main;f 4\nmain;h 1\n")
    result = sampler("diff", "a.folded", "b.folded", "-o", "c.diff.folded")
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    lines = sorted(open("c.diff.folded", encoding="utf-8").read().splitlines())
    check_equal(lines, ["main;f 3 4", "main;g 2 0", "main;h 0 1"], "lines")
    check_equal(sampler("diff", "a.folded", "b.folded", "-o", "-").stdout.decode().splitlines(),
                lines, "the same on stdout")
    for path in ("d.folded", "d.unheard"):  # one number, or none
        check_one_line(sampler("diff", "a.folded", "b.folded", "-o", path), 2, path, ".diff.folded")
        check(not os.path.exists(path), "%s was written", path)
    result = sampler("convert", "c.diff.folded", "-o", "d.diff.folded")
    check_equal((result.status, result.stderr), (0, ""), "status, stderr of convert")
    check_equal(open("d.diff.folded", "rb").read(), open("c.diff.folded", "rb").read(), "both counts read again")


@case
def dump(_scratch):
    write("a.folded", "main;f 3\nmain;g 2\n")
    result = sampler("dump", "a.folded")
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    text = json.dumps(json.loads(result.stdout))
    for word in ("main", "f", "g", "3", "2"):
        check(word in text, "%r is not in %s", word, text)


@case
def formats(_scratch):
    result = sampler("formats")
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    text = result.stdout.decode()
    for word in ("folded", ".folded", "diff-folded", ".diff.folded"):
        check(word in text, "%r is not in %s", word, text)
    names = re.findall(r"^([a-z-]+) +\.", text, re.MULTILINE)
    check_equal(names, list(dict.fromkeys(names)), "names of formats, each once")
    check_one_line(sampler("formats", "extra"), 2, "extra")
    result = sampler("formats", "--json")
    check_equal((result.status, result.stderr), (0, ""), "status, stderr of --json")
    listed = json.loads(result.stdout)
    check_equal([row["name"] for row in listed], names, "names in --json")
    for row in listed:  # the text says the same
        told = re.search(r"^%s .*\n((?: +.*\n)+)" % row["name"], text, re.MULTILINE).group(1)
        words = re.split(r",\s+", told.strip().replace("keeps ", "", 1))
        check_equal(words, row["keeps"] or ["sums alone"], row["name"])
    with open(os.path.join(TOP, "docs", "formats", "README.md"), encoding="utf-8") as page:
        table = re.findall(r"^\| \[([a-z-]+)\]\(([a-z-]+)\.md\) \| (.*?) \| (.*?) \| (.*?) \|$", page.read(), re.MULTILINE)
    wanted = []
    for row in listed:
        what = ", ".join(word for word, key in (("read", "read"), ("written", "write")) if row[key])
        extensions = ", ".join("`.%s`" % extension for extension in row["extensions"])
        wanted.append((row["name"], row["name"], extensions, what, ", ".join(row["keeps"]) or "-"))
    check_equal(table, wanted, "rows of docs/formats/README.md")


@case
def help(_scratch):
    for argv in ([SAMPLER_RUN, "--help"], [SAMPLER_RUN, "--version"]):
        result = run(argv)
        check_equal((result.status, result.stderr), (0, ""), "%s: status, stderr" % argv)
    result = sampler("--help")
    check_equal((result.status, result.stderr), (0, ""), "--help: status, stderr")
    commands = re.findall(r"^  ([a-z]+) ", result.stdout.decode(), re.MULTILINE)
    for command in ("report", "convert", "diff", "top", "dump", "formats"):
        check(command in commands, "--help does not tell of %s", command)
        result = sampler(command, "--help")
        check_equal((result.status, result.stderr), (0, ""), command + " --help: status, stderr")
        check(len(result.stdout.splitlines()) <= 32, "%s --help is no screen", command)
        check(b"%p" not in result.stdout, "%s --help promises patterns it does not take", command)
    for letter in (b"%n", b"%p", b"%h", b"%r", b"%%"):
        check(letter in run([SAMPLER_RUN, "--help"]).stdout, "--help lacks %r", letter)
    check(len(run([SAMPLER_RUN, "--help"]).stdout.splitlines()) <= 32, "--help is no screen")
    result = run([SAMPLER_RUN, "--version"])
    check(re.fullmatch(rb"sampler [0-9.]+\n", result.stdout), "--version: %r", result.stdout)
    with open("/dev/full", "wb") as full:
        status = subprocess.run([SAMPLER_RUN, "--help"], stdout=full,
                                stderr=subprocess.DEVNULL, check=False).returncode
    check(status != 0, "--help into a full disk says nothing was wrong")


if __name__ == "__main__":
    main()
