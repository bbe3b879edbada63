"""sampler top on a profile of a run: its rows agree with one another, with the folded file, and with its parts."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import Folded, case, check, check_equal, check_one_line, main, sampler, sampler_run, test_program

EVERY_BY = ("function", "line", "file", "module", "thread", "process", "command", "label")


def profile():
    """x.sprofile: labels first, second and none in the main thread, a thread with another label."""
    check_equal(sampler_run(["-q", "-o", "x.sprofile"], [test_program("api_work"), "labels", "200"]).status, 0, "status")


def table(*words):
    result = sampler("top", "--json", "-n", "0", *words, "x.sprofile")
    check_equal((result.status, result.stderr), (0, ""), "status, stderr of %r" % (words,))
    return json.loads(result.stdout)


def self_by_name(rows):
    sums = {}
    for row in rows:
        sums[row["name"]] = sums.get(row["name"], 0) + row["self"]
    return sums


@case
def numbers_agree(_scratch):
    profile()
    tables = {by: table("--by", by) for by in EVERY_BY}
    total = tables["function"]["total"]
    check(total > 300e6, "total: %r", total)
    for by, found in tables.items():
        check_equal((found["by"], found["unit"], found["measure"], found["total"], found["more_rows"]),
                    (by, "ns", "cpu", total, 0), by)
        check_equal(sum(row["self"] for row in found["rows"]), total, "sum of self by " + by)
        check(max(row["total"] for row in found["rows"]) <= total, "a total beyond the sum, by %s", by)
    check_equal(sampler("convert", "-q", "--count", "ns", "x.sprofile", "-o", "x.folded").status, 0, "convert")
    leaves, anywhere = {}, {}
    for stack, ns in Folded("x.folded").stacks.items():
        leaves[stack[-1]] = leaves.get(stack[-1], 0) + ns
        for name in set(stack):
            anywhere[name] = anywhere.get(name, 0) + ns
    clean = {name.replace(";", ":").replace("\n", " ").strip(): ns
             for name, ns in self_by_name(tables["function"]["rows"]).items() if ns > 0}
    check_equal(clean, leaves, "self per function and leaves of the folded file")
    work = [row for row in tables["function"]["rows"] if row["name"] == "work_a"]
    check_equal([row["total"] for row in work], [anywhere["work_a"]], "total of work_a")
    labels = self_by_name(tables["label"]["rows"])
    check({"first", "second", "[no label]"} < set(labels), "labels: %r", labels)
    lines = [row for row in tables["line"]["rows"] if row["name"] == "spin"]
    check(lines and all(row["file"].endswith("api_work.c") and row["line"] > 0 for row in lines), "lines: %r", lines)
    check_equal(len({(row["tid"], row["pid"]) for row in tables["thread"]["rows"]}), 2, "threads")
    limited = json.loads(sampler("top", "--json", "-n", "1", "x.sprofile").stdout)
    check_equal(limited["rows"], tables["function"]["rows"][:1], "the first row")
    check_equal(limited["more_rows"], len(tables["function"]["rows"]) - 1, "rows left out")


@case
def parts(_scratch):
    """Each way to divide the profile: parts add up to the whole, and hold what was asked for alone."""
    profile()
    total = table()["total"]
    threads = table("--by", "thread")["rows"]
    one_each = [table("--thread", str(row["tid"])) for row in threads]
    check_equal([part["total"] for part in one_each], [row["self"] for row in threads], "threads by tid")
    main_thread = next(row for row in threads if row["tid"] == row["pid"])
    names = self_by_name(table("--thread", str(main_thread["tid"]))["rows"])
    check("work_a" in names and "work_b" not in names, "functions of the main thread: %r", names)
    check_equal(table("--process", "api_work")["total"], total, "the process by its name")
    halves = [table("--to", "0.15"), table("--from", "0.15")]
    check(all(half["total"] > total / 10 for half in halves), "halves: %r", [half["total"] for half in halves])
    check_equal(sum(half["total"] for half in halves), total, "halves of the time")
    labelled = table("--label", "^first$")
    check_equal(labelled["total"], self_by_name(table("--by", "label")["rows"])["first"], "a label")
    check_equal(table("--focus", "^work_c$")["total"] + table("--ignore", "^work_c$")["total"], total, "focus and ignore")
    below = self_by_name(table("--focus", "^work_a$")["rows"])
    hidden = table("--hide", "^spin$")
    check_equal(hidden["total"], total, "total with a function hidden")
    check_equal(self_by_name(hidden["rows"])["work_a"], below.get("work_a", 0) + below["spin"], "work_a with the time of spin")
    nothing = sampler("top", "--label", "first", "--focus", "work_c", "x.sprofile")
    check_equal((nothing.status, nothing.stdout.splitlines()[1:]), (0, [b"no samples"]), "conditions not met together")


@case
def refusals(_scratch):
    """What cannot be answered is one line with the way out, and no table."""
    profile()
    with open("a.folded", "w", encoding="utf-8") as out:
        out.write("main;f 3\nmain;g 2\n")
    for words, status, *wanted in (
            (("--by", "line", "a.folded"), 1, "a.folded", "no lines", ".sprofile"),
            (("--by", "file", "a.folded"), 1, "no source files", "-g"),
            (("--by", "module", "a.folded"), 1, "no modules", ".sprofile"),
            (("--by", "thread", "a.folded"), 1, "no threads"),
            (("--by", "process", "a.folded"), 1, "no processes"),
            (("--by", "command", "a.folded"), 1, "no processes"),
            (("--by", "label", "a.folded"), 1, "no labels", "sampler.h"),
            (("--from", "1", "a.folded"), 1, "a.folded", "no times", ".sprofile"),
            (("--thread", "main", "a.folded"), 1, "a.folded", "no threads"),
            (("--thread", "gamma", "x.sprofile"), 1, "x.sprofile", "gamma", "api_work ("),
            (("--focus", "no_such", "x.sprofile"), 1, "x.sprofile", "no_such"),
            (("--label", "third", "x.sprofile"), 1, "first", "second"),
            (("--hide", "(", "missing.sprofile"), 2, "--hide", "("),
            (("--from", "2", "--to", "1", "missing.sprofile"), 2, "--from"),
            (("--from", "soon", "x.sprofile"), 2, "--from", "2.5"),
            (("--by", "lines", "x.sprofile"), 2, "nearest is 'line'")):
        result = sampler("top", *words)
        check_one_line(result, status, *wanted)
        check_equal(result.stdout, b"", "stdout of %r" % (words,))


if __name__ == "__main__":
    main()
