"""sampler list: numbers of lines agree with `sampler top`, the text beside them is that of the right file, and what is not
known is said."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import case, check, check_equal, check_one_line, main, sampler
from sprofile import Sprofile
from views import json_of, on_terminal, profile_of_labels

MS = 1000000


def write(path, text):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)


def numbered(first, last, indent=""):
    return "".join("%sline %d;\n" % (indent, number) for number in range(first, last + 1))


def listed(*words):
    """The lines a command prints that is no terminal's, without what it says on stderr."""
    result = sampler("list", *words)
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    return result.stdout.decode().splitlines()


def made(**options):
    """x.sprofile: f of a.c calls g; f has lines of another file, g a line that is not known, h none."""
    profile = Sprofile(**options)
    f, g, h = profile.function("f", "/build/app/src/a.c", 3, "app"), profile.function("g", "b.c", 1), profile.function("h", module="libh.so")
    profile.add([(f, 5)], 10 * MS)
    profile.add([(f, 5), (g, 2)], 20 * MS)
    profile.add([(f, 40), (g, 0)], 30 * MS)
    profile.add([(f, 7, "part.h")], 40 * MS)
    profile.add([(g, 2)], 1 * MS)
    profile.add([(h, 0)], 99 * MS)
    profile.write("x.sprofile")


@case
def numbers_agree(_scratch):
    """Of each function and line as `top` has it, to the nanosecond; the text is that of the file."""
    profile_of_labels()
    found = json_of("list", "-n", "0", ".")
    functions = json_of("top", "-n", "0", "--sort", "total")["rows"]
    lines = json_of("top", "-n", "0", "--by", "line")["rows"]
    has_lines = {(row["name"], row["module"]) for row in lines if row.get("line")}
    check(len(found["functions"]) >= 4, "functions: %r", [function["name"] for function in found["functions"]])
    check_equal([{key: function[key] for key in function if key != "parts"} for function in found["functions"]],
                [row for row in functions if (row["name"], row.get("module")) in has_lines], "functions")
    check_equal(found["left_out"], len(functions) - len(found["functions"]), "functions without lines")
    for function in found["functions"]:
        got = [(line.get("line"), line["self"], line["total"]) for part in function["parts"] for line in part["lines"]]
        wanted = [(row.get("line"), row["self"], row["total"]) for row in lines
                  if (row["name"], row.get("module")) == (function["name"], function["module"])]
        check_equal(sorted(got, key=str), sorted(wanted, key=str), "lines of " + function["name"])
        check_equal(sum(line[1] for line in got), function["self"], "self of the lines of " + function["name"])
    spin = json_of("list", "spin")["functions"]
    check_equal([function["name"] for function in spin], ["spin"], "functions called spin")
    with open(spin[0]["parts"][0]["source"], encoding="utf-8") as source:
        text = source.read().splitlines()
    for line in spin[0]["parts"][0]["lines"]:
        check_equal(line["text"], text[line["line"] - 1], "text of line %d" % line["line"])
    part = json_of("list", "--label", "^first$", "spin")
    check(0 < part["functions"][0]["total"] < spin[0]["total"], "a label: %r", part["functions"][0]["total"])


@case
def lines_of_several_files(_scratch):
    made()
    found = json_of("list", "f")
    check_equal([(part["file"], [(line["line"], line["self"], line["total"]) for line in part["lines"]])
                 for part in found["functions"][0]["parts"]],
                [("/build/app/src/a.c", [(5, 10 * MS, 30 * MS), (40, 0, 30 * MS)]), ("part.h", [(7, 40 * MS, 40 * MS)])], "parts")
    check_equal((found["total"], found["unit"], found["functions"][0]["total"]), (200 * MS, "ns", 100 * MS), "sums")
    check("source" not in found["functions"][0]["parts"][0], "a source that is not there")
    unknown = json_of("list", "g")["functions"][0]["parts"][0]["lines"]
    check_equal(unknown, [{"self": 30 * MS, "total": 30 * MS}, {"line": 2, "self": 21 * MS, "total": 21 * MS}], "an unknown line")


@case
def text_of_the_lines(_scratch):
    """From the definition to a little behind the last line, long stretches cut, without the common indentation."""
    made()
    write("/".join(("src", "a.c")), "first\n\nint f(void)\n{\n\tfive();\r\n" + numbered(6, 43, "\t"))
    lines = listed("f")
    start = lines.index("src/a.c")
    check_equal(lines[:start], ["CPU time: 200.0 ms", "", "f", "self 50.0 ms (25.0%), total 100.0 ms (50.0%)"], "above")
    check_equal(lines[start + 1], "in place of /build/app/src/a.c", "below the path")
    rows = lines[start + 3:lines.index("part.h")]
    check_equal([row.split("  ")[-1].strip() for row in rows],
                ["int f(void)", "{", "five();"] + ["line %d;" % i for i in range(6, 11)] + ["..."] +
                ["line %d;" % i for i in range(35, 43)], "texts")
    check_equal(rows[2], "  5.0%  10.0 ms   15.0%  30.0 ms     5          five();", "a row with samples")
    check_equal(rows[4], "              .                .     7          line 7;", "a row without")
    check_equal(lines[lines.index("part.h") + 1:],
                ["it is not here; --source-path DIR says where the sources are",
                 "           self            total  line", " 20.0%  40.0 ms   20.0%  40.0 ms     7"], "what is not found")
    write("part.h", numbered(1, 9))
    lines = listed("f")
    check_equal([row.split()[-1] for row in lines[lines.index("part.h") + 2:]], ["%d;" % i for i in range(2, 10)],
                "lines of another file than that of the definition")
    write("b.c", "     \ttwo tabs less\n\t\tint x;\n")
    check_equal(listed("g")[-3:], ["              .                .     1  two tabs less",
                                   " 10.5%  21.0 ms   10.5%  21.0 ms     2          int x;",
                                   " 15.0%  30.0 ms   15.0%  30.0 ms     ?  no line is known"], "indentation")


@case
def on_a_terminal(_scratch):
    made()
    write("src/a.c", numbered(1, 4) + "\twide \u6f22\u5b57 \033[31m %s end\n" % ("x" * 100) + numbered(6, 60))
    for columns in (64, 80, 100, 200):
        lines = on_terminal(columns, 200, "list", "f", "x.sprofile").splitlines()
        check(max(map(len, lines)) <= columns, "too wide for %d: %r", columns, lines)
        row = next(line for line in lines if "wide" in line)
        check("\033" not in row and row.endswith("end" if columns == 200 else "\u2026"), "row at %d: %r", columns, row)
        check(("%" in row) == (columns >= 100), "percent at %d: %r", columns, row)
    colored = on_terminal(80, 200, "list", "f", "x.sprofile", NO_COLOR="")
    check("\033[1;31m 10.0 ms\033[0m" in colored, "not hot, though a tenth of the function: %r", colored)


@case
def where_sources_are_looked_for(_scratch):
    """Longest end first, the given folders before the recorded path, the current folder only when none is given."""
    made()
    with_path = lambda *words: [part.get("source") for part in json_of("list", *words, "f")["functions"][0]["parts"]]
    check_equal(with_path(), [None, None], "nothing there")
    for path in ("a.c", "src/a.c", "one/a.c", "two/app/src/a.c", "two/a.c"):
        write(path, numbered(1, 50))
    check_equal(with_path(), ["src/a.c", None], "below the current folder")
    check_equal(with_path("--source-path", "none:one:two"), ["one/a.c", None], "the first folder that has it")
    check_equal(with_path("--source-path", "two"), ["two/app/src/a.c", None], "the longest end")
    check_equal(with_path("--source-path", "none"), [None, None], "only where it was said")
    write("part.h", numbered(1, 9))
    check_equal(with_path("--source-path", "none"), [None, "part.h"], "the recorded path")
    write("one/part.h", numbered(1, 9))
    check_equal(with_path("--source-path", "one"), ["one/a.c", "one/part.h"], "before the recorded path")
    profile = Sprofile()
    profile.add([(profile.function("f", "../up/d.c", 1), 1)], MS)
    profile.write("up.sprofile")
    write("up/d.c", numbered(1, 3))
    check("../up/d.c" in listed("--source-path", "one", "f", "up.sprofile"), "not found below one")
    check("up/d.c" in listed("f", "up.sprofile"), "found below this folder")
    os.remove("part.h")
    os.mkfifo("part.h")
    check_equal(with_path()[1], None, "a pipe")


@case
def other_versions_are_told(_scratch):
    made(start_realtime_ns=2000 * 10 ** 9)
    write("src/a.c", numbered(1, 50))
    os.utime("src/a.c", (1000, 1000))
    check(not any("changed" in line or "version" in line for line in listed("f")), "an old file: %r", listed("f"))
    check_equal([part.get("source_is_newer") for part in json_of("list", "f")["functions"][0]["parts"]], [False, None], "older")
    os.utime("src/a.c", (3000, 3000))
    check("changed after the run began: its lines may be others by now" in listed("f"), "newer: %r", listed("f"))
    check_equal(json_of("list", "f")["functions"][0]["parts"][0]["source_is_newer"], True, "newer")
    write("src/a.c", numbered(1, 39))
    lines = listed("f")
    check("another version: it has 39 lines, the one compiled 40 or more" in lines, "shorter: %r", lines)
    check("              .   15.0%  30.0 ms    40" in lines, "a line beyond the end: %r", lines)


@case
def what_is_hot(_scratch):
    """Without FUNC: most self first, of which the source is here; with one: most total first."""
    made()
    write("src/a.c", numbered(1, 50))
    for words in ((), ("x.sprofile",)):
        lines = listed(*words)
        check_equal([line for line in lines if line and line in "fgh"], ["f"], "functions")
        check_equal(lines[1:4], ["", "no source is here for 150.0 ms (75.0%) self in h and 1 more function", ""], "left out, and hotter")
    write("b.c", numbered(1, 50))
    check_equal([line for line in listed() if line and line in "fgh"], ["g", "f"], "functions")
    check_equal([line for line in listed("-n", "1") if line and line in "fgh"], ["g"], "with -n 1")
    found = listed("-n", "1", "[fgh]")
    check_equal([line for line in found if line and line in "fgh"], ["f"], "of three, -n 1")
    check_equal(found[-2:], ["no lines are known for 99.0 ms (49.5%) self in h", "functions that match and are left out: 1; -n 0 shows all"], "remarks")
    os.remove("b.c")
    os.remove("src/a.c")
    check_equal([line for line in listed() if line and line in "fgh"], ["g", "f"], "no source at all")


@case
def my_code(_scratch):
    """Time in libraries stands where own code called them: what `list` without FUNC goes by, and --my-code shows."""
    profile = Sprofile()
    main_, scan = profile.function("main", "a.c", 1, "/home/me/app"), profile.function("scan", "a.c", 10, "/home/me/app")
    sort = profile.function("std::sort", "/usr/include/none/stl_algo.h", 1, "/home/me/app")
    copy = profile.function("memcpy", "string/memcpy.c", 1, "/lib/x86_64-linux-gnu/libc.so.6")
    for frames, ms in (([(main_, 2)], 30), ([(main_, 3), (scan, 12), (copy, 5)], 40), ([(main_, 3), (scan, 13), (sort, 7)], 50), ([(copy, 5)], 7)):
        profile.add(frames, ms * MS)
    profile.write("x.sprofile")
    for name in ("a.c", "string/memcpy.c"):
        write(name, numbered(1, 20))
    os.utime("a.c", (1000, 1000))
    check_equal([line for line in listed() if line in ("main", "scan", "memcpy", "std::sort")], ["scan", "main", "memcpy"],
                "in the order of what own code spent, then libraries")
    rows = json_of("top", "--my-code", "--by", "line")["rows"]
    check_equal([(row["name"], row.get("line"), row["self"] // MS) for row in rows],
                [("scan", 13, 50), ("scan", 12, 40), ("main", 2, 30), ("[hidden]", None, 7), ("main", 3, 0)], "lines")
    write("a.folded", "main;f 3\n")
    check_one_line(sampler("top", "--my-code", "a.folded"), 1, "a.folded", "--my-code", "neither modules nor source files")
    profile = Sprofile()
    profile.add([(profile.function("memcpy", "", 0, "/usr/lib/libc.so.6"), 0)], MS)
    profile.write("y.sprofile")
    check_one_line(sampler("top", "--my-code", "y.sprofile"), 1, "y.sprofile", "all of it is code of libraries")


@case
def refusals(_scratch):
    made()
    write("a.folded", "main;f 3\nmain;g 2\n")
    for words, status, *wanted in (
            (("nobody", "x.sprofile"), 1, "x.sprofile", "list 'nobody'", "no function"),
            (("h", "x.sprofile"), 1, "x.sprofile", "no lines are known of h", "libh.so", "-g"),
            (("f", "a.folded"), 1, "a.folded", "no lines", ".sprofile"),
            (("f(", "x.sprofile"), 2, "list 'f('", "regular expression"),
            (("f", "missing.sprofile"), 1, "missing.sprofile")):
        result = sampler("list", *words)
        check_one_line(result, status, *wanted)
        check_equal(result.stdout, b"", "stdout of %r" % (words,))


if __name__ == "__main__":
    main()
