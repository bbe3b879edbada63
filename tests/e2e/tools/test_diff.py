"""sampler diff: numbers agree with `sampler top`, sides are what the command line says, what is more than chance is marked,
and --fail-over says it with the exit status."""

import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import case, check, check_equal, check_one_line, main, sampler
from sprofile import Sprofile
from views import diff_of, on_terminal, profile_of_labels

MS = 1000000


def made(path, **weights_ms):
    """A profile of 1 kHz without times: main calls each function for so many ms."""
    profile = Sprofile()
    start = profile.function("main", "a.c", 1, "/bin/app")
    for number, (name, ms) in enumerate(weights_ms.items()):
        for _ in range(ms):
            profile.add([(start, 2), (profile.function(name, "a.c", 10 * number + 10, "/bin/app"), 10 * number + 11)], MS)
    profile.write(path)


def told(*words, status=0):
    result = sampler("diff", *words)
    check_equal((result.status, result.stderr), (status, ""), "status, stderr of diff %r" % (words,))
    return result.stdout.decode().splitlines()


@case
def numbers_agree(_scratch):
    """Before and after as `top` has them, to the nanosecond, with and without filters."""
    profile_of_labels()
    os.rename("x.sprofile", "y.sprofile")
    profile_of_labels()
    for words in ((), ("--by", "line"), ("--by", "file"), ("--by", "label"), ("--by", "thread"), ("--label", "first")):
        found = diff_of("-n", "0", *words, "x.sprofile", "y.sprofile")
        for path, side in (("x.sprofile", "before"), ("y.sprofile", "after")):
            result = sampler("top", "--json", "-n", "0", *words, path)
            check_equal(result.status, 0, "status")
            top = json.loads(result.stdout)
            wanted = {}
            for row in top["rows"]:
                key = (row["name"], row.get("line") if "line" in words else None)
                wanted[key] = wanted.get(key, 0) + row["self"]
            got = {}
            for row in found["rows"]:
                key = (row["name"], row.get("line") if "line" in words else None)
                got[key] = got.get(key, 0) + row[side]
            check_equal({key: value for key, value in got.items() if value}, {key: value for key, value in wanted.items() if value},
                        "self %s %r" % (side, words))
            check_equal(found["whole"][side], top["total"], "the whole %s" % side)
        check(all(row["change"] == row["after"] - row["before"] for row in found["rows"] + [found["whole"]]), "changes of %r", words)
        sizes = [abs(row["change"]) for row in found["rows"]]
        check_equal(sizes, sorted(sizes, reverse=True), "order of %r" % (words,))
    totals = {row["name"]: row["after"] for row in diff_of("--total", "-n", "0", "x.sprofile", "y.sprofile")["rows"]}
    top = json.loads(sampler("top", "--json", "-n", "0", "y.sprofile").stdout)["rows"]
    names = [row["name"] for row in top]
    for row in top:
        if names.count(row["name"]) == 1:
            check_equal(totals[row["name"]], row["total"], "total of " + row["name"])


@case
def on_paper(_scratch):
    """All that a person reads; what is no file is as wide as it takes."""
    made("a.sprofile", parse=400, write=300, read=5)
    made("b.sprofile", parse=560, write=310, read=2, check=30)
    check_equal(told("a.sprofile", "b.sprofile"), [
        "CPU time: 705.0 ms before, 902.0 ms after: +197.0 ms (+27.9%)",
        "  before     after     change     +-99%    points  function",
        "400.0 ms  560.0 ms  +160.0 ms   52.1 ms *    +5.3  parse",
        "  0.0 ms   30.0 ms   +30.0 ms   15.2 ms *    +3.3  check",
        "300.0 ms  310.0 ms   +10.0 ms   51.3 ms      -8.2  write",
        "  5.0 ms    2.0 ms    -3.0 ms    7.8 ms      -0.5  read",
        "2 functions changed beyond chance (99%), together +190.0 ms",
        "one run each: what runs differ by on their own is a guess;",
        "several runs show it: sampler diff BEFORE... --against AFTER..."], "table")
    check_equal(told("-n", "1", "--total", "--by", "line", "b.sprofile", "a.sprofile")[1:5], [
        "  before     after     change     +-99%    points  line, with what it called",
        "902.0 ms  705.0 ms  -197.0 ms   17.9 ms *    +0.0  a.c:2  main",
        "4 more; -n 0 shows all",
        "3 lines changed beyond chance (99%)"], "with what was called")
    check_equal(told("a.sprofile", "a.sprofile")[-3], "no function changed beyond chance (99%)", "of one file twice")
    made("e.sprofile")
    check_equal(told("e.sprofile", "e.sprofile"), ["CPU time: 0.0 ms before, 0.0 ms after: +0.0 ms"], "of nothing")


@case
def on_a_terminal(_scratch):
    """80 columns hold each line; what grew is red, what shrank green, the rest dim."""
    made("a.sprofile", parse=400, write=300, read=5)
    made("b.sprofile", parse=560, write=100, read=4, **{"check_" + "x" * 100: 30})
    lines = on_terminal(80, 40, "diff", "a.sprofile", "b.sprofile").splitlines()
    check(all(len(line) <= 80 for line in lines), "too wide: %r", lines)
    check("\u00b1 99%" in lines[1], "heading: %r", lines[1])
    check_equal(len({line.index(" ms *") for line in lines if " ms *" in line}), 1, "columns of marks")
    lines = on_terminal(80, 40, "diff", "a.sprofile", "b.sprofile", NO_COLOR="").splitlines()
    colours = {line.split()[-1].split("\033")[0]: line.split("m")[0] for line in lines if line.startswith("\033") and "  " in line}
    check_equal((colours["parse"], colours["write"], colours["read"]), ("\033[1;31", "\033[32", "\033[2;37"), "colours")


@case
def sides(_scratch):
    """Patterns in quotes or not, before or behind the options; each side needs a file."""
    for name, ms in (("old1", 300), ("old2", 302), ("old3", 298), ("new1", 400), ("new2", 399), ("new3", 404), ("old[x]", 7), ("oldx", 8)):
        made(name + ".sprofile", parse=ms)
    wanted = diff_of("old1.sprofile", "old2.sprofile", "old3.sprofile", "--against", "new1.sprofile", "new2.sprofile", "new3.sprofile")
    check_equal((wanted["runs_before"], wanted["runs_after"]), (3, 3), "runs")
    check_equal((wanted["whole"]["before"], wanted["whole"]["after"], wanted["whole"]["is_beyond_chance"]),
                (300 * MS, 401 * MS, True), "means")
    for words in (("old[0-9]*", "--against", "new*"), ("old[123].sprofile", "--against=new*"), ("--", "old[0-9]*", "new*")):
        check_equal(diff_of(*words), wanted, "sides of %r" % (words,))
    check_equal(diff_of("old[x].sprofile", "old1.sprofile")["whole"]["before"], 7 * MS, "a file called like a pattern")
    check("mean of 3 runs before and 1 after" in told("old[0-9]*", "new1.sprofile")[0], "title of several runs")
    lines = told("old[0-9]*", "new*.sprofile")
    check_equal(lines[-1], "1 function changed beyond chance (99%): +101.0 ms", "last line of several runs")
    check_one_line(sampler("diff", "old1.sprofile", "old2.sprofile", "new1.sprofile"), 2, "BEFORE", "--against")
    check_one_line(sampler("diff", "--against", "old1.sprofile", "new1.sprofile"), 2, "before --against")
    check_one_line(sampler("diff", "old1.sprofile", "--against", "new1.sprofile", "--against", "new2.sprofile"), 2, "twice")
    check_one_line(sampler("diff", "old1.sprofile", "none*"), 2, "none*", "no file")
    check_one_line(sampler("diff", "old1.sprofile", "none"), 1, "none", "No such file")
    check_one_line(sampler("diff", "old1.sprofile"), 2, "a file is missing")


@case
def normalize(_scratch):
    """A run twice as long is no change of its parts."""
    made("a.sprofile", parse=300, write=100)
    made("b.sprofile", parse=600, write=200)
    check_equal(diff_of("a.sprofile", "b.sprofile")["rows_beyond_chance"], 2, "rows that changed")
    found = diff_of("--normalize", "a.sprofile", "b.sprofile")
    check_equal([(row["before"], row["after"], row["points"]) for row in found["rows"]],
                [(300 * MS, 300 * MS, 0), (100 * MS, 100 * MS, 0)], "normalized")
    check("all runs as long as those before" in told("--normalize", "a.sprofile", "b.sprofile")[0], "title")


@case
def fail_over(_scratch):
    """1 if the whole or a row grew, beyond chance, by more than that part of the whole; with -o, too."""
    made("a.sprofile", parse=500, write=500)
    made("b.sprofile", parse=600, write=500)
    made("c.sprofile", parse=600, write=400)
    made("d.sprofile", parse=520, write=480)
    for words, status, says in ((("--fail-over", "9%", "a.sprofile", "b.sprofile"), 1, ["the whole grew by 10.0%", "parse grew by 10.0%"]),
                                (("--fail-over=10", "a.sprofile", "b.sprofile"), 0, []),
                                (("--fail-over", "9.5", "a.sprofile", "c.sprofile"), 1, ["parse grew by 10.0%"]),
                                (("--fail-over", "9", "-o", "x.diff.folded", "a.sprofile", "c.sprofile"), 1, ["parse grew by 10.0%"]),
                                (("--fail-over", "1", "a.sprofile", "d.sprofile"), 0, []),
                                (("--fail-over", "1", "b.sprofile", "a.sprofile"), 0, [])):
        result = sampler("diff", *words)
        check_equal(result.status, status, "status of %r" % (words,))
        lines = result.stderr.splitlines()
        check_equal(len(lines), len(says), "lines of %r: %r" % (words, lines))
        check(all(says[i] in line and "allowed are 9" in line for i, line in enumerate(lines)), "%r says %r", words, lines)
    check_one_line(sampler("diff", "--fail-over", "5x", "a.sprofile", "b.sprofile"), 2, "--fail-over", "5x")
    check_one_line(sampler("diff", "--fail-over", "5%%", "a.sprofile", "b.sprofile"), 2, "--fail-over")


@case
def formats(_scratch):
    """Files without times and files of sums say what they can; different measures are refused."""
    made("a.sprofile", parse=400, write=300)
    made("b.sprofile", parse=500, write=300)
    for side in "ab":
        check_equal(sampler("convert", side + ".sprofile", "-o", side + ".folded").status, 0, "status")
    found = diff_of("a.folded", "b.folded")
    check_equal((found["unit"], [(row["name"], row["before"], row["after"]) for row in found["rows"]]),
                ("samples", [("parse", 400, 500), ("write", 300, 300)]), "of folded files")
    check(found["rows"][0]["is_beyond_chance"], "100 samples of 400 more are chance")
    result = sampler("diff", "a.folded", "b.sprofile", "--json")
    check_equal((result.status, json.loads(result.stdout)["unit"]), (0, "samples"), "samples and times")
    check("comparing samples" in result.stderr, "no word of it: %r", result.stderr)
    check_one_line(sampler("diff", "a.folded", "b.folded", "--by", "line"), 1, "a.folded", "holds no lines")
    check_one_line(sampler("diff", "a*.sprofile", "--against", "a.sprofile", "b.sprofile", "-o", "x.diff.folded"), 2, "-o")
    check(not os.path.exists("x.diff.folded"), "x.diff.folded was written")
    check_equal(sampler("diff", "--hide", "parse", "a.sprofile", "b.sprofile", "-o", "-").stdout.decode().splitlines(),
                ["main 400 500", "main;write 300 300"], "stacks of a part")
    shutil.copy("a.sprofile", "c.sprofile")
    with open("c.sprofile", "r+b") as out:
        out.truncate(100)
    check(sampler("diff", "a.sprofile", "c.sprofile", "--strict").status == 1, "a damaged file is taken")


if __name__ == "__main__":
    main()
