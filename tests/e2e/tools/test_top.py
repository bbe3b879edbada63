"""sampler top on a profile of a run: its rows agree with one another, with the folded file, and with its parts."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import Folded, case, check, check_equal, check_one_line, main, sampler
from views import json_of, on_terminal, profile_of_labels, self_by_name

EVERY_BY = ("function", "line", "file", "module", "thread", "process", "command", "label")


def table(*words):
    return json_of("top", "-n", "0", *words)


@case
def numbers_agree(_scratch):
    profile_of_labels()
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
    profile_of_labels()
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
    profile_of_labels()
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


# As libstdc++ has them; what tells some of them apart stands far inside.
STRING = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
CPP_NAMES = ["std::_Rb_tree<%s, std::pair<%s const, %s>, std::less<%s> >::_M_lower_bound(%s const&)" % (STRING, STRING, value, STRING, STRING)
             for value in ("double", "long", "std::vector<int>", "std::vector<int*>")]
CPP_NAMES += ["void std::__introsort_loop<%s, long, %s>(%s, %s, long)" % (iterator, order, iterator, iterator)
              for iterator in ("__gnu_cxx::__normal_iterator<double*, std::vector<double> >", "__gnu_cxx::__normal_iterator<int*, std::vector<int> >")
              for order in ("std::less<void>", "std::greater<void>")]
CPP_NAMES += ["%s::compare(%s const&) const" % (STRING, STRING), "acme::\u6f22\u5b57::(anonymous namespace)::run<%s>(%s)::{lambda(int)#1}::operator()(int) const" % (STRING, STRING)]


@case
def fits_a_terminal(_scratch):
    """C++ names at 80 columns: one line each, none too wide, all different; in a file they are whole."""
    with open("a.folded", "w", encoding="utf-8") as out:
        for i, name in enumerate(CPP_NAMES):
            out.write("main;%s %d\n" % (name, 1000 - i))
    for columns in (80, 60, 100):
        lines = on_terminal(columns, 50, "top", "a.folded").splitlines()
        check_equal(len(lines), 2 + len(CPP_NAMES) + 1, "lines: %r" % lines)
        widths = [len(line) + sum(char in "\u6f22\u5b57" for char in line) for line in lines]
        check(max(widths) <= columns, "too wide for %d: %r", columns, lines)
        names = [re.sub(r"^ *[0-9.]+% +[0-9]+ +\S* +[0-9.]+% +[0-9]+  ", "", line) for line in lines[2:]]
        check(len(set(names)) == len(names), "the same in %d columns: %r", columns, names)
    check("_Rb_tree<\u2026>" in "".join(lines), "nothing is folded: %r", lines)
    whole = sampler("top", "a.folded").stdout.decode()
    check(all(name in whole for name in CPP_NAMES) and "\033" not in whole, "cut or coloured: %s", whole)
    plain = on_terminal(80, 50, "top", "a.folded", LC_ALL="C")
    check("..." in plain and "\u2026" not in plain and "#" in plain and "\u2588" not in plain, "not for ASCII: %r", plain)


@case
def colours_and_pager(_scratch):
    with open("a.folded", "w", encoding="utf-8") as out:
        out.writelines("main;f%03d 1\n" % i for i in range(100))
    words = ("top", "-n", "0", "a.folded")
    check("\033[" in on_terminal(80, 200, *words, NO_COLOR=""), "no colours")
    check("\033[" not in on_terminal(80, 200, *words), "colours with NO_COLOR")
    check("\033[" not in on_terminal(80, 200, *words, NO_COLOR="", TERM="dumb"), "colours on a dumb terminal")
    straight = on_terminal(80, 200, *words, SAMPLER_PAGER="sed 's/^/paged /'")
    check("paged" not in straight and "f099" in straight, "a pager for what fits: %r", straight)
    paged = on_terminal(80, 24, *words, SAMPLER_PAGER="sed 's/^/paged /'").splitlines()
    check_equal(["paged " + line for line in straight.splitlines()], paged, "by the pager")
    check("f099" in on_terminal(80, 24, *words, SAMPLER_PAGER="/no/such/pager"), "lost by a pager that is not there")
    first = on_terminal(80, 24, *words, SAMPLER_PAGER="head -n 1")
    check_equal(first.splitlines(), straight.splitlines()[:1], "a pager that ends early")
    check("paged" in on_terminal(80, 24, *words, PAGER="sed 's/^/paged /'", SAMPLER_PAGER=None), "PAGER is not asked")


if __name__ == "__main__":
    main()
