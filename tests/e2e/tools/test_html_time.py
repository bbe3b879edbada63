"""The html page's filters, timeline and heat map: after each choice the numbers are those of `sampler top` with the same one."""

import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from browser import Browser
from e2e import case, check, check_equal, main, sampler_run, test_program
from html_page import both, convert, folded
from views import json_of, profile_of_labels

ODD = '"><img src=x>'  # a program's name, and so its threads'


def two_processes():
    """x.sprofile of two programs, each with two threads and three labels, one after the other."""
    program = test_program("api_work")
    shutil.copy(program, ODD)
    command = ["sh", "-c", '"$1" labels 150; "$2" labels 200', "sh", "./" + ODD, program]
    check_equal(sampler_run(["-q", "-o", "x.sprofile"], command).status, 0, "status")


def rows_of_the_page(browser):
    return sorted(map(tuple, browser.evaluate(
        "[...document.querySelectorAll('#functions tbody tr')].map((row) => [...row.children].slice(0, 5).map((cell) => cell.textContent))")))


def rows_of_top(*words):
    top = json_of("top", "-n", "0", *words)
    return sorted((*both(row["self"], top["total"]).split(" ", 1), *both(row["total"], top["total"]).split(" ", 1), row["name"])
                  for row in top["rows"])


def check_same(browser, words, what):
    browser.settle()
    expected = rows_of_top(*words)
    check(expected, "%s: nothing to compare", what)
    check_equal(rows_of_the_page(browser), expected, what)


def busiest_span(words):
    """The 130 ms of the first three seconds with most of what the words choose: how fast the machine was is chance."""
    spans = [("%.2f" % (step / 20), "%.2f" % (step / 20 + 0.13)) for step in range(60)]
    return max(spans, key=lambda span: json_of("top", *words, "--from", span[0], "--to", span[1])["total"])


def span_words(browser):
    """What the page says of the span of time, as options."""
    start, end = browser.evaluate("['from', 'to'].map((id) => document.getElementById(id).value)")
    return [*(["--from", start] if start else []), *(["--to", end] if end else [])]


@case
def filters_agree(_scratch):
    """Thread, process, label and time, one by one and together; the choices are those there are, whatever their names."""
    two_processes()
    page = convert("x.sprofile")
    with Browser() as browser:
        browser.open(page, "#view=functions&whole-names=true")
        check_same(browser, [], "all")

        def choices(kind):
            return browser.evaluate("[...document.querySelectorAll('#%s option')].map((option) => option.value)" % kind)

        def choose(kind, value):
            browser.choose("#" + kind, value)
            words = [] if value == "" else ["--" + kind, "^" + re.escape(value) + "$"]
            check_same(browser, words, "%s %s" % (kind, value))

        check({"", "api_work", ODD} <= set(choices("thread")), "threads: %r", choices("thread"))
        check({"", "api_work", ODD} <= set(choices("process")), "processes: %r", choices("process"))
        check_equal(set(choices("label")), {"", "first", "second", "other;thread\n"}, "labels")
        for kind in ("thread", "process"):
            for value in ("api_work", ODD, ""):
                choose(kind, value)
        for value in ("second", "first", ""):
            choose("label", value)
        browser.choose("#label", "other;thread\n")
        check_same(browser, ["--label", "^other;thread"], "a label of two lines")

        browser.choose("#label", "second")
        browser.choose("#process", ODD)
        words = ["--label", "second", "--process", "^" + re.escape(ODD)]
        start, end = busiest_span(words)
        browser.type("#from", start)
        browser.press("Enter")
        browser.type("#to", end)
        browser.press("Enter")
        words += ["--from", start, "--to", end]
        check_same(browser, words, "all of them")
        address = browser.evaluate("location.hash")
        browser.open(page, address)
        check_same(browser, words, "from the address " + address)
        browser.evaluate("document.getElementById('everything').click()")
        check_same(browser, [], "everything again")
        check_equal(browser.evaluate("location.hash"), "#view=functions&whole-names=true", "address")

        tid = [row["tid"] for row in json_of("top", "--by", "thread", "-n", "0")["rows"] if row["name"] == "api_work"][1]
        browser.open(page, "#view=functions&whole-names=true&thread=%d" % tid)
        check_same(browser, ["--thread", str(tid)], "a thread by its number")
        check_equal(browser.evaluate("document.querySelectorAll('img, svg').length"), 0, "foreign elements")
        check_equal(browser.problems, [], "problems")


@case
def spans_by_mouse(_scratch):
    """Dragging over the strip, a thread's row or the heat map selects that time in every view."""
    profile_of_labels()
    page = convert("x.sprofile")
    with Browser() as browser:
        def drag(selector, begin, end):
            left, top, width, height = browser.place(selector)
            browser.drag(left + begin[0] * width, top + begin[1] * height, left + end[0] * width, top + end[1] * height)
            words = span_words(browser)
            browser.press("2")
            check_same(browser, words, "%s %s" % (selector, words))
            browser.press("4")
            browser.settle()
            return [float(word) for word in words[1::2]]

        browser.open(page, "#whole-names=true")
        whole = float(browser.evaluate("document.getElementById('to').placeholder"))
        check(0.3 < whole < 10, "%s s altogether", whole)

        def check_near(found, expected, what):
            check(all(abs(a - b) < 0.01 * whole for a, b in zip(found, expected)) and len(found) == len(expected),
                  "%s: %r s instead of about %r", what, found, expected)

        check_near(drag("#overview", (0.25, 0.3), (0.75, 0.6)), (whole / 4, whole * 3 / 4), "the strip")
        # The timeline shows what is selected; right of the names, which are 230 pixels wide.
        left, _, width, _ = browser.place("#threads canvas")
        names = 230 / width
        middle = (names + 0.5 * (1 - names), 0.1)
        check_near(drag("#threads canvas", middle, (0.999, 0.1)), (whole / 2, whole * 3 / 4), "a thread's row, from the middle to the end")
        left, top, width, height = browser.place("#overview")
        browser.click(left + 9, top + 9, 2)
        check_equal(span_words(browser), [], "a double click on the strip")
        # Columns of 10 ms, from bottom to top: from the middle of the one at 0.1 s to the end of the one at 0.12 s.
        column = lambda at: names + (1 - names) * (at + 0.005) / whole
        found = drag("#heat canvas", (column(0.1), 0.5), (column(0.12), 0.005))
        check(abs(found[0] - 0.105) < 0.0006 and abs(found[1] - 0.13) < 0.0006, "the heat map: %r", found)
        browser.evaluate("document.getElementById('everything').click()")
        browser.settle()
        left, top, width, height = browser.place("#threads canvas")
        browser.move(left + width * 0.7, top + 35)
        check(re.search("api_work [0-9]+", browser.text("#tooltip")), "a row's tooltip: %s", browser.text("#tooltip"))
        left, top, width, height = browser.place("#heat canvas")
        browser.move(left + width * 0.5, top + 35)
        check(re.search(r"0\.[0-9]+ to 0\.[0-9]+ s\sbusy\s[0-9.]+% of a CPU", browser.text("#tooltip")),
              "a cell's tooltip: %s", browser.text("#tooltip"))
        check_equal(browser.problems, [], "problems")


@case
def keys_in_the_timeline(_scratch):
    """Threads are walked through and chosen, the span narrowed, moved and left, without a mouse."""
    profile_of_labels()
    page = convert("x.sprofile")
    with Browser() as browser:
        def press(*keys):
            browser.evaluate("document.getElementById('threads').focus()")
            browser.press(*keys)
            browser.settle()

        browser.open(page, "#view=timeline&whole-names=true")
        threads = json_of("top", "--by", "thread", "-n", "0")["rows"]
        press("ArrowDown", "ArrowDown")
        check_equal(browser.text("#details .name"), "%s %d" % (threads[1]["name"], threads[1]["tid"]), "the second thread")
        press("Enter")
        browser.press("2")
        check_same(browser, ["--thread", str(threads[1]["tid"])], "one thread")
        browser.press("4")
        browser.evaluate("document.getElementById('everything').click()")
        press("+")
        narrow = span_words(browser)
        check_equal(narrow[0::2], ["--from", "--to"], "+ narrows")
        press("ArrowRight")
        moved = span_words(browser)
        check(float(moved[1]) > float(narrow[1]), "moved from %s to %s", narrow, moved)
        browser.press("2")
        check_same(browser, moved, "a span by keys")
        browser.press("4")
        press("Escape")
        check_equal((span_words(browser), browser.evaluate("location.hash")), ([], "#view=timeline&whole-names=true"), "Escape")
        check_equal(browser.problems, [], "problems")


@case
def without_times(_scratch):
    """A profile that has none has no timeline to go to, and what cannot be chosen is not offered."""
    page = convert(folded({"main;a": 3, "main;b": 5}))
    with Browser() as browser:
        for fragment in ("", "#view=timeline&from=1&to=2"):
            browser.open(page, fragment)
            browser.press("4")
            browser.settle()
            hidden = browser.evaluate("['overview', 'tab-timeline', 'time', 'thread', 'process', 'label', 'everything', 'view-timeline'].filter("
                                      "(id) => document.getElementById(id).offsetParent !== null)")
            check_equal(hidden, [], "what is there" + fragment)
            browser.press("2")
            browser.settle()
            check_equal(rows_of_the_page(browser), [("0.0%", "0", "100.0%", "8", "main"), ("37.5%", "3", "37.5%", "3", "a"),
                                                    ("62.5%", "5", "62.5%", "5", "b")], "rows" + fragment)
        check_equal(browser.evaluate("location.hash"), "#view=functions", "address")
        check_equal(browser.problems, [], "problems")


main()
