"""Two runs in a page: numbers and chance are those of `sampler diff`, what is new or gone is there, colours tell growth from
shrinkage."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from browser import Browser
from e2e import case, check, check_equal, check_one_line, main, sampler
from html_page import convert, details, focus
from sprofile import Sprofile
from views import diff_of, profile_of_labels

MS = 1000000


def made(path, stacks_ms):
    """A profile of 1 kHz without times, of {"main;f": ms}."""
    profile = Sprofile()
    for stack, ms in stacks_ms.items():
        frames = [(profile.function(name, name + ".c", 7, "/bin/app"), 0) for name in stack.split(";")]
        for _ in range(ms):
            profile.add(frames, MS)
    profile.write(path)


def compare(*files):
    result = sampler("diff", *files, "-o", "x.html")
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    return "x.html"


def time(weight, total):
    return "%.1f ms" % (weight / 1e6) if total < 1e9 else "%.3f s" % (weight / 1e9)


def rows_of_the_page(browser):
    """(name, [before, after, change, chance] of self, the same of total) in their order."""
    browser.settle()
    rows = browser.evaluate("[...document.querySelectorAll('#functions tbody tr')].map("
                            "(row) => [...row.children].map((cell) => cell.textContent))")
    return [(row[8], row[0:4], row[4:8]) for row in rows]


def rows_of_diff(*words):
    """The same numbers by name, and the names in their order."""
    diff = diff_of("-n", "0", *words)
    most = max(diff["whole"]["before"], diff["whole"]["after"])
    sign = lambda change: "-" if change < 0 else "+"
    return {row["name"]: [time(row["before"], most), time(row["after"], most), sign(row["change"]) + time(abs(row["change"]), most),
                          "\u00b1 " + time(row["interval"], most)] for row in diff["rows"]}


@case
def numbers_agree(_scratch):
    """Of two real runs each function as `sampler diff` has it, before, after, change and chance, most changed first."""
    profile_of_labels()
    os.rename("x.sprofile", "a.sprofile")
    profile_of_labels()
    os.rename("x.sprofile", "b.sprofile")
    files = ("a.sprofile", "b.sprofile")
    with Browser() as browser:
        browser.open(compare(*files), "#view=functions&whole-names=true")
        check_equal(browser.text("#title"), "a.sprofile \u2192 b.sprofile", "title")
        totals, selves = rows_of_diff("--total", *files), rows_of_diff(*files)
        found = rows_of_the_page(browser)
        check_equal({name: total for name, _, total in found}, totals, "totals")
        check_equal({name: own for name, own, _ in found if name in selves}, selves, "self")
        check(all(own[:2] == [own[0]] * 2 and float(own[0].split()[0]) == 0 for name, own, _ in found if name not in selves),
              "what has no self time: %r", found)
        sizes = [abs(float(own[2].split()[0])) for _, own, _ in found]
        check_equal(sizes, sorted(sizes, reverse=True), "order")
        check_equal(browser.problems, [], "problems")


@case
def boxes(_scratch):
    """Each path with both its numbers; what is new, gone, within chance; search on both sides; callers and callees."""
    made("a.sprofile", {"main;parse;read": 400, "main;write": 300, "main;old": 50, "main;same": 100})
    made("b.sprofile", {"main;parse;read": 600, "main;parse": 10, "main;write": 301, "main;new;read": 80, "main;same": 100})
    with Browser() as browser:
        browser.open(compare("a.sprofile", "b.sprofile"))
        focus(browser)
        browser.press("ArrowDown", "ArrowDown")
        name, numbers = details(browser)
        check_equal(name, "parse", "the heaviest of both together")
        check_equal(numbers["self"].split(", chance")[0], "0.000 s (0.0%) \u2192 0.010 s (0.9%), +0.010 s", "self of parse")
        check_equal(numbers["total"].split(", chance")[0], "0.400 s (47.1%) \u2192 0.610 s (55.9%), +0.210 s", "total of parse")
        browser.press("ArrowDown")
        name, numbers = details(browser)
        check_equal((name, numbers["total here"].split(", chance")[0]), ("read", "0.400 s (47.1%) \u2192 0.600 s (55.0%), +0.200 s"), "read here")
        check_equal(numbers["total everywhere"].split(", chance")[0], "0.400 s (47.1%) \u2192 0.680 s (62.3%), +0.280 s", "read everywhere")
        chance = rows_of_diff("--total", "a.sprofile", "b.sprofile")["read"][3]
        check_equal(numbers["total everywhere"].split(", chance ")[1], chance, "as diff has it")
        browser.press("ArrowUp", "ArrowRight")
        name, numbers = details(browser)
        check_equal(name, "write", "next to it")
        check("+0.001 s, within chance (\u00b1 " in numbers["total"], "write: %r", numbers)

        browser.press("/")
        browser.type("#search", "read")
        browser.settle()
        check_equal(browser.text("#matched"), "47.1% \u2192 62.3% in 1 function", "search")
        browser.type("#search", "")
        browser.open("x.html", "#view=sandwich")
        browser.settle()
        check_equal(browser.text("#subject .name"), "read", "what changed most")
        browser.evaluate("document.getElementById('callers').focus()")
        seen = {}
        browser.press("ArrowUp")
        for _ in range(2):
            name, numbers = details(browser)
            seen[name] = next(iter(numbers.values())).split(", chance")[0]
            browser.press("ArrowRight")
        check_equal(seen, {"parse": "0.400 s (47.1%) \u2192 0.600 s (55.0%), +0.200 s", "new": "0.000 s (0.0%) \u2192 0.080 s (7.3%), +0.080 s"},
                    "callers of read")
        hidden = browser.evaluate("['tab-timeline', 'tab-source', 'overview', 'time'].map((id) => document.getElementById(id).hidden)")
        check_equal(hidden, [True] * 4, "what two runs have no part in")
        check_equal(browser.problems, [], "problems")


@case
def colours(_scratch):
    """Of the box of one function that is all: orange grew, blue shrank, pale is within chance; in light and dark."""
    for name, ms in (("small", 100), ("same", 103), ("large", 300)):
        made(name + ".sprofile", {"f": ms})

    def color(before, after, theme):
        browser.open(compare(before + ".sprofile", after + ".sprofile"), "")
        browser.choose("#theme", theme)
        browser.settle()
        red, green, blue, alpha = browser.evaluate(
            "[...document.querySelector('#flame canvas').getContext('2d').getImageData(600, 25, 1, 1).data]")
        check_equal(alpha, 255, "a box at the place")
        return red - blue, max(red, green, blue) - min(red, green, blue)

    with Browser() as browser:
        for theme in ("light", "dark"):
            grew, shrank, same = color("small", "large", theme), color("large", "small", theme), color("small", "same", theme)
            check(grew[0] > 60 and shrank[0] < -60, "%s: grew %r, shrank %r", theme, grew, shrank)
            check(same[1] < 30, "%s: within chance %r", theme, same)
        check_equal(browser.problems, [], "problems")


@case
def other_inputs(_scratch):
    """Several runs of a side, a .diff.folded file, and a profile of both that was saved."""
    for number, ms in enumerate((100, 104, 96, 200, 204, 199)):
        made("%d.sprofile" % number, {"main;f": ms, "main;g": 50})
    sides = ("0.sprofile", "1.sprofile", "2.sprofile", "--against", "3.sprofile", "4.sprofile", "5.sprofile")
    with Browser() as browser:
        def check_page(page, title, words):
            browser.open(page, "#view=functions")
            check_equal(browser.text("#title"), title, "title")
            found = {name: own for name, own, _ in rows_of_the_page(browser)}
            check_equal({name: found[name] for name in ("f", "g")}, rows_of_diff(*words), title)
            return found

        title = "0.sprofile, 1.sprofile, 2.sprofile \u2192 3.sprofile, 4.sprofile, 5.sprofile"
        check_page(compare(*sides), title, sides)
        check_page(compare("--by", "module", "--total", *sides), title, sides)
        check_page(compare("--normalize", *sides), title, ("--normalize", *sides))
        check("as if it had taken as long" in browser.text("#facts"), "facts: %s", browser.text("#facts"))
        check_equal(sampler("diff", *sides, "-o", "both.sprofile").status, 0, "both.sprofile")
        check_page(convert("both.sprofile"), title, sides)
        check_one_line(sampler("diff", *sides, "-o", "x.diff.folded"), 2, "one run beside one other")

        check_equal(sampler("diff", "0.sprofile", "3.sprofile", "-o", "x.diff.folded").status, 0, "x.diff.folded")
        browser.open(convert("x.diff.folded"), "#view=functions")
        check_equal(browser.text("#title"), "Before \u2192 after", "of folded")
        rows = {name: own for name, own, _ in rows_of_the_page(browser)}
        check_equal((rows["f"][:3], rows["g"][:3]), (["100", "200", "+100"], ["50", "50", "+0"]), "counts")
        check(rows["f"][3].startswith("\u00b1 "), "draws have a chance: %r", rows["f"])
        check_equal(browser.problems, [], "problems")


@case
def names_are_data(_scratch):
    """Of files and functions."""
    file, name = "<img src=x onerror=document.body.remove``>", "<img/src=x/onerror=document.body.remove``>"
    made(file + ".sprofile", {name: 10})
    made("b.sprofile", {name: 20, "</script>": 5})
    with Browser() as browser:
        browser.open(compare(file + ".sprofile", "b.sprofile"), "#view=functions")
        check_equal(browser.text("#title"), file + ".sprofile \u2192 b.sprofile", "title")
        check_equal({row[0] for row in rows_of_the_page(browser)}, {name, "</script>"}, "names")
        check_equal(browser.evaluate("document.querySelectorAll('img').length"), 0, "foreign elements")
        check_equal(browser.problems, [], "problems")


main()
