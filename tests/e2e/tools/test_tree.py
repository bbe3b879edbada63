"""sampler tree on a profile of a run: its rows agree with the folded file and with `sampler top`, and fit a terminal."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import Folded, case, check, check_equal, check_one_line, main, sampler
from views import json_of, on_terminal, profile_of_labels


def tree(*words):
    return json_of("tree", "--min", "0", *words)


def stacks_of(found):
    """{path of names: self} of a tree's rows, which come each below its caller."""
    stacks, path = {}, []
    for row in found["rows"]:
        check(row["depth"] <= len(path) + 1, "a row without the one above it: %r", row)
        path[row["depth"] - 1:] = [row["name"].replace(";", ":").strip()]
        if row["self"] > 0:
            stacks[tuple(path)] = stacks.get(tuple(path), 0) + row["self"]
    return stacks


def sums(stacks):
    added = {}
    for stack, ns in stacks:
        added[stack] = added.get(stack, 0) + ns
    return added


@case
def numbers_agree(_scratch):
    """Down, up, from and to a function: each the stacks of the folded file, to the nanosecond."""
    profile_of_labels()
    check_equal(sampler("convert", "-q", "--count", "ns", "x.sprofile", "-o", "x.folded").status, 0, "convert")
    folded = Folded("x.folded").stacks
    total = sum(folded.values())
    down = tree()
    check_equal((down["direction"], down["by"], down["unit"], down["measure"]), ("down", "function", "ns", "cpu"), "head")
    check_equal((down["total"], down["in_tree"], down["more_branches"]), (total, total, 0), "sums")
    check_equal(stacks_of(down), folded, "down")
    up = tree("--up")
    check_equal(up["direction"], "up", "direction")
    check_equal(stacks_of(up), {stack[::-1]: ns for stack, ns in folded.items()}, "up")
    below = [(stack[stack.index("work_a"):], ns) for stack, ns in folded.items() if "work_a" in stack]
    callees = tree("--callees", "work_a")
    check_equal(stacks_of(callees), sums(below), "callees")
    above = [(stack[stack.index("spin")::-1], ns) for stack, ns in folded.items() if "spin" in stack]
    callers = tree("--callers", "spin")
    check_equal(stacks_of(callers), sums(above), "callers")
    check(callers["in_tree"] < total and callers["total"] == total, "of one function: %r of %r", callers["in_tree"], total)
    rows = json_of("top", "-n", "0")["rows"]
    for name, found in (("work_a", callees), ("spin", callers)):
        check_equal([found["in_tree"]], [row["total"] for row in rows if row["name"] == name], "total of " + name)


@case
def parts(_scratch):
    """What a row stands for, a part of the profile, and a limit."""
    profile_of_labels()
    total = tree()["total"]
    for by in ("line", "file", "module"):
        found = tree("--by", by)
        check_equal((found["by"], found["total"], sum(row["self"] for row in found["rows"])), (by, total, total), by)
    lines = [row for row in tree("--by", "line", "--callees", "spin")["rows"] if row["name"] == "spin"]
    check(len(lines) > 1 and all(row["file"].endswith("api_work.c") and row["line"] > 0 for row in lines), "lines: %r", lines)
    labelled = tree("--label", "^first$")
    check(0 < labelled["total"] < total / 2, "a label: %r of %r", labelled["total"], total)
    whole, most = tree("--callees", "main"), json_of("tree", "--min", "40", "--callees", "main")
    least = 0.4 * whole["in_tree"]
    check_equal(most["rows"], [row for row in whole["rows"] if row["total"] >= least], "with a limit")
    check(most["more_branches"] > 0, "nothing left out")
    hidden = sampler("tree", "--callers", "spin", "--hide", "^spin$")
    check_equal((hidden.status, hidden.stdout.splitlines()[1:]),
                (0, [b"no samples in this function, or what the options ask for has none of them"]), "a function left out")


@case
def refusals(_scratch):
    profile_of_labels()
    with open("a.folded", "w", encoding="utf-8") as out:
        out.write("main;f 3\nmain;g 2\n")
    for words, status, *wanted in (
            (("--up", "--callers", "f", "missing.sprofile"), 2, "--up", "--callers", "one"),
            (("--callers", "f", "--callees", "g", "missing.sprofile"), 2, "--callees"),
            (("--by", "thread", "missing.sprofile"), 2, "--by thread", "sampler top"),
            (("--callers", "nobody", "a.folded"), 1, "a.folded", "--callers 'nobody'", "no function"),
            (("--callees", "nobody", "x.sprofile"), 1, "x.sprofile", "--callees 'nobody'"),
            (("--callees", "f(", "a.folded"), 2, "--callees 'f('", "regular expression"),
            (("--by", "module", "a.folded"), 1, "no modules", ".sprofile"),
            (("--min", "1%%", "a.folded"), 2, "--min", "percentage")):
        result = sampler("tree", *words)
        check_one_line(result, status, *wanted)
        check_equal(result.stdout, b"", "stdout of %r" % (words,))


@case
def fits_a_terminal(_scratch):
    """A chain of calls stays in one column, each fork takes two more, and no row is too wide or without a name."""
    with open("a.folded", "w", encoding="utf-8") as out:
        out.write("start;main;compute;sort 60\nstart;main;compute;sort;compare 20\nstart;main;read 15\nidle_loop 5\n")
    lines = on_terminal(80, 50, "tree", "a.folded").splitlines()
    check_equal(lines, ["samples: 100", "     total  function",
                        " 95.0%  95  \u251c start",
                        " 95.0%  95  \u2502 main",
                        " 80.0%  80  \u2502 \u251c compute",
                        " 80.0%  80  \u2502 \u2502 sort",
                        " 20.0%  20  \u2502 \u2502 compare",
                        " 15.0%  15  \u2502 \u2514 read",
                        "  5.0%   5  \u2514 idle_loop"], "the tree")
    plain = on_terminal(80, 50, "tree", "a.folded", LC_ALL="C")
    check(plain.isascii(), "not for ASCII: %r", plain)
    wide = on_terminal(100, 50, "tree", "a.folded").splitlines()
    check("self" in wide[1] and " 80.0%  80   60.0%  60  \u2502 \u2502 sort" in wide, "wide: %r", wide)
    limited = on_terminal(80, 50, "tree", "--min", "16", "a.folded").splitlines()
    check_equal(limited[2:], [" 95.0%  95  start", " 95.0%  95  main", " 80.0%  80  compute", " 80.0%  80  sort",
                              " 20.0%  20  compare", "2 branches below 16% left out; --min 0 shows all"], "with a limit")
    callers = on_terminal(80, 50, "tree", "--callers", "sort", "a.folded").splitlines()
    check_equal(callers[2:], [" 80.0%  80  sort", " 80.0%  80  compute", " 80.0%  80  main", " 80.0%  80  start"], "callers")
    with open("deep.folded", "w", encoding="utf-8") as out:
        stack = "f"
        for i in range(60):
            out.write("%s;leaf%d 1\n" % (stack, i))
            stack += ";a_function_with_a_rather_long_name_%d" % i
    for columns in (80, 40, 20):
        lines = on_terminal(columns, 200, "tree", "--min", "0", "deep.folded").splitlines()
        check(len(lines) > 100, "lines: %r", lines)
        if columns > 30:
            check(max(map(len, lines)) <= columns, "too wide for %d: %r", columns, lines)
        check(all(line.rstrip("\u2502\u251c\u2514 ")[-1].isalnum() for line in lines), "without a name: %r", lines)
    whole = sampler("tree", "--min", "0", "deep.folded").stdout.decode()
    check("long_name_58" in whole and "\033" not in whole, "cut or coloured: %s", whole)


if __name__ == "__main__":
    main()
