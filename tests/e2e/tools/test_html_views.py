"""The html page's other views: functions as a table, callers and callees; and the address that brings a view back."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from browser import Browser
from e2e import case, check, check_equal, main, sampler
from html_page import both, convert, details, folded
from views import json_of, profile_of_labels

# A function that calls itself, a path within a path, and no two weights alike.
RECURSIVE = {"main;a;b;a;c": 500, "main;a;c": 300, "main;a": 41, "main;d;a": 70, "main;d;a;e;b": 9, "main;d": 33, "idle": 3}


def shown(browser):
    """Rows of the table as [self, its time, total, its time, name, module, place]."""
    return browser.evaluate("[...document.querySelectorAll('#functions tbody tr')].map("
                            "(row) => [...row.children].map((cell) => cell.textContent))")


def numbers_of(row):
    return row[4], " ".join(row[0:2]), " ".join(row[2:4])


def view_of(browser):
    """Which view is shown, and which tab is selected."""
    return browser.evaluate("[[...document.querySelectorAll('main > section')].filter((section) => !section.hidden)"
                            ".map((section) => section.id), document.querySelector('[role=tab][aria-selected=true]').id]")


def walk_rows(browser, rows, into, out):
    """Walks from row to row of a tree that `sampler tree` printed, by keys; yields each with what the page says of it."""
    depth = 1  # of the function itself, which the page has as its root
    for row in rows:
        while depth > row["depth"]:
            browser.press(out)
            depth -= 1
        browser.press(into if row["depth"] > depth else "ArrowRight")
        depth = row["depth"]
        yield row, details(browser)


@case
def functions_table(_scratch):
    """The numbers of `sampler top`, in its order; sorted by each column, and filtered by the search."""
    profile_of_labels()
    top = json_of("top", "-n", "0")
    total = top["total"]
    expected = [(row["name"], both(row["self"], total), both(row["total"], total)) for row in top["rows"]]
    with Browser() as browser:
        browser.open(convert("x.sprofile"))
        browser.press("2")
        browser.settle()
        browser.choose("#names", "whole")
        rows = shown(browser)
        check_equal(sorted(map(numbers_of, rows)), sorted(expected), "rows")
        check_equal([row[0:2] for row in rows], [both(row["self"], total).split(" ", 1) for row in top["rows"]], "order")
        check_equal(browser.text("caption"), "%d functions" % len(expected), "caption")

        def sort(column):
            browser.evaluate("document.querySelector('th.%s button').click()" % column)
            browser.settle()
            return shown(browser)

        by_total = [both(weight, total).split(" ", 1) for weight in sorted((row["total"] for row in top["rows"]), reverse=True)]
        check_equal([row[2:4] for row in sort("total")], by_total, "by total")
        check_equal([row[2:4] for row in sort("total")], by_total[::-1], "by total, lightest first")
        for column, at in (("name", 4), ("module", 5)):
            words = [row[at].lower().replace("_", " ") for row in sort(column)]  # what is no letter comes first
            check_equal(words, sorted(words), "by " + column)
            check_equal(browser.evaluate("document.querySelector('th.%s').ariaSort" % column), "ascending", "aria-sort")
        sort("self")
        browser.type("#search", "^work_[ab]$")
        browser.settle()
        wanted = [row for row in expected if re.search("^work_[ab]$", row[0])]
        check_equal((len(wanted), [numbers_of(row) for row in shown(browser)]), (2, wanted), "searched for")
        check_equal(browser.text("caption"), "2 of %d functions match" % len(expected), "caption of the search")
        browser.type("#search", "")
        browser.settle()
        check_equal(len(shown(browser)), len(expected), "the search undone")
        check_equal(browser.problems, [], "problems")


@case
def table_is_long(_scratch):
    """Rows come as they are scrolled to; the last one is there in the end."""
    page = convert(folded({"main;f%d" % i: i + 1 for i in range(5000)}))
    with Browser() as browser:
        browser.open(page, "#view=functions")
        at_first = len(shown(browser))
        check(50 < at_first < 1000, "%d rows at first", at_first)
        browser.evaluate("""(async () => {
            const list = document.getElementById('functions'), nextFrame = () => new Promise(requestAnimationFrame);
            for (let i = 0; i < 40; i++) {
                list.scrollTop = list.scrollHeight;
                await nextFrame();
                await nextFrame();
            }
        })()""")
        rows = shown(browser)
        check_equal([len(rows), rows[-2][4], rows[-2][1]], [5001, "f0", "1"], "at the end, but for main")
        browser.evaluate("document.querySelector('tbody tr').focus()")
        check_equal(browser.text("#details .name"), "f4999", "heaviest")


@case
def callers_and_callees(_scratch):
    """Box by box what `sampler tree --callers` and `--callees` print."""
    check_equal(sampler("convert", "-q", folded(RECURSIVE), "-o", "x.sprofile").status, 0, "convert")
    total = sum(RECURSIVE.values())
    with Browser() as browser:
        for subject in ("a", "b", "main", "idle"):
            browser.open(convert("x.sprofile"), "#view=sandwich&subject=1+" + subject)
            check_equal(browser.text("#subject .name"), subject, "subject")
            for side, into, out in (("callers", "ArrowUp", "ArrowDown"), ("callees", "ArrowDown", "ArrowUp")):
                tree = json_of("tree", "--" + side, "^%s$" % subject, "--min", "0")["rows"]
                browser.evaluate("document.getElementById('%s').focus()" % side)
                n = 1
                for row, (name, numbers) in walk_rows(browser, tree[1:], into, out):
                    here = [numbers.get(what + " here", numbers.get(what)) for what in ("total", "self")]
                    expected = [both_counts(row[what], total) for what in ("total", "self")]
                    if side == "callers":
                        here[1], expected[1] = "self here" in numbers, False  # what ends there is the subject's
                    check_equal((name, here), (row["name"], expected), "%s of %s, row %d" % (side, subject, n))
                    n += 1
                check_equal(n, len(tree), "rows of %s of %s" % (side, subject))
        check_equal(browser.problems, [], "problems")


def both_counts(weight, total):
    return "%.1f%% %d" % (100 * weight / total, weight)


@case
def address_keeps_the_view(_scratch):
    """What was chosen stands in the address, which brings it back; what it does not understand it leaves out."""
    page = convert(folded(RECURSIVE))
    with Browser() as browser:
        browser.open(page)
        check_equal(browser.evaluate("location.hash"), "", "at first")
        browser.press("2")
        browser.type("#search", "a|c&d #1")
        browser.choose("#color", "kind")
        browser.choose("#names", "whole")
        browser.choose("#theme", "dark")
        browser.evaluate("document.querySelector('th.total button').click()")
        browser.settle()
        address = browser.evaluate("location.hash")
        state = "JSON.stringify([document.querySelector('#search').value, document.querySelector('#color').value, " \
                "document.querySelector('#names').value, document.querySelector('th.total').ariaSort])"
        chosen = browser.evaluate(state)
        check_equal(json.loads(chosen), ["a|c&d #1", "kind", "whole", "descending"], "chosen")
        check("dark" not in address, "the theme is the reader's: %s", address)
        browser.open(page, address)
        check_equal((browser.evaluate(state), view_of(browser)), (chosen, [["view-functions"], "tab-functions"]), "opened again")

        browser.open(page)
        browser.evaluate("document.getElementById('flame').focus()")
        browser.press("Home", "ArrowDown", "ArrowDown", "ArrowDown", "Enter")
        browser.settle()
        name, address = browser.text("#details .name"), browser.evaluate("location.hash")
        browser.open(page, address)
        browser.evaluate("document.getElementById('flame').focus()")
        browser.press("ArrowUp", "ArrowDown")
        check_equal((browser.text("#details .name"), bool(address)), (name, True), "zoomed to " + address)

        # Of another profile: the function's number is another one.
        browser.open(page, "#view=sandwich&subject=2+d")
        check_equal(browser.text("#subject .name"), "d", "by its name")
        browser.evaluate("location.hash = '#view=sandwich&subject=99999+e'")
        browser.settle()
        check_equal(browser.text("#subject .name"), "e", "an address typed into the open page")
        for nonsense in ("#view=sandwitch&color=pink&sort=1&subject=-1&zoomed=x", "#%", "#subject=4294967296+a%00&zoomed=1e9+b", "#=&&="):
            browser.open(page, nonsense)
            check_equal(view_of(browser), [["view-flame"], "tab-flame"], nonsense)
        check_equal(browser.problems, [], "problems")


@case
def keyboard_only(_scratch):
    """From opening the page to the callers of a function that was searched for, without a mouse."""
    def focused():
        return browser.evaluate("document.activeElement.id || document.activeElement.className || document.activeElement.localName")

    page = convert(folded(RECURSIVE))
    with Browser() as browser:
        browser.open(page)
        browser.press("Tab")
        check_equal(focused(), "tab-flame", "the first stop")
        browser.press("ArrowRight")
        check_equal((focused(), view_of(browser)[0]), ("tab-functions", ["view-functions"]), "to the next tab")
        browser.press("ArrowLeft", "ArrowLeft")
        check_equal(view_of(browser)[0], ["view-sandwich"], "round to the last")
        stops, wanted = [], {"search", "color", "names", "theme", "callers", "callees"}
        while len(stops) < 12 and not wanted <= set(stops):
            browser.press("Tab")
            stops.append(focused())
        check(wanted <= set(stops), "stops: %r", stops)
        browser.press("1", "/")
        check_equal((focused(), view_of(browser)[0]), ("search", ["view-flame"]), "/ searches")
        browser.type("#search", "^b$")
        browser.evaluate("document.getElementById('tab-flame').focus()")
        browser.press("2")
        for _ in range(20):
            browser.press("Tab")
            if browser.evaluate("document.activeElement.localName") == "tr":
                break
        check_equal(browser.text("#details .name"), "b", "the only row")
        browser.press("Enter")
        browser.settle()
        check_equal((browser.text("#subject .name"), focused()), ("b", "callees"), "Enter shows its callers and callees")
        browser.press("ArrowDown", "c")
        browser.settle()
        check_equal(browser.text("#subject .name"), "a", "c goes on to the function walked to")
        browser.press("1")
        browser.evaluate("document.getElementById('flame').focus()")
        browser.press("Home", "ArrowDown", "c")
        check_equal((browser.text("#subject .name"), view_of(browser)[0]), ("main", ["view-sandwich"]), "c in the flame graph")
        check_equal(browser.problems, [], "problems")


@case
def mouse_to_callers(_scratch):
    """A double click on a box or a row, or the button of its details, puts its function in the middle."""
    page = convert(folded(RECURSIVE))
    with Browser() as browser:
        def middle(selector):
            left, top, width, height = browser.place(selector)
            return left + width / 2, top + height / 2

        browser.open(page)
        left, top, _, _ = browser.place("#flame")
        browser.click(left + 20, top + 19 * 2.5, 2)
        check_equal((browser.text("#subject .name"), view_of(browser)[0]), ("a", ["view-sandwich"]), "a box")
        browser.press("2")
        browser.settle()
        browser.click(*middle("tbody tr:nth-child(4)"), 2)
        row = sorted(self_of(RECURSIVE).items(), key=lambda item: -item[1])[3][0]
        check_equal((browser.text("#subject .name"), view_of(browser)[0]), (row, ["view-sandwich"]), "a row")
        browser.press("1")
        browser.settle()
        browser.click(left + 20, top + 19 * 1.5)
        browser.click(*middle("#details button"))
        check_equal((browser.text("#subject .name"), view_of(browser)[0]), ("main", ["view-sandwich"]), "the button")
        check_equal(browser.problems, [], "problems")


def self_of(stacks):
    sums = {}
    for stack, weight in stacks.items():
        name = stack.split(";")[-1]
        sums[name] = sums.get(name, 0) + weight
    return sums


main()
