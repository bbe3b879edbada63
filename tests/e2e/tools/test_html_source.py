"""Source in the page and --embed-source: the text of the run's files, the numbers of `sampler top --by line`, and what is missing
is said."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from browser import Browser
from e2e import case, check, check_equal, main, sampler, sampler_run, test_program
from html_page import both, convert, details, focus
from sprofile import Sprofile
from views import json_of

MS = 1000000
HOSTILE = '</script><img src=x onerror="document.title=1">\t<b>&amp;'


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as out:
        out.write(text)


def made(**options):
    """x.sprofile: f of a.c calls g of b.c, and has a line of part.h."""
    profile = Sprofile(**options)
    f, g = profile.function("f", "a.c", 3, "app"), profile.function("g", "b.c", 1)
    profile.add([(f, 5)], 10 * MS)
    profile.add([(f, 5), (g, 2), (f, 5)], 20 * MS)
    profile.add([(f, 9), (g, 2)], 30 * MS)
    profile.add([(f, 7, "part.h")], 40 * MS)
    profile.write("x.sprofile")


def numbered(n):
    return "".join("line %d;\n" % number for number in range(1, n + 1))


def embed(*words):
    """What is said when x.sprofile becomes embedded.sprofile."""
    result = sampler("convert", "--embed-source", *words, "x.sprofile", "-o", "embedded.sprofile")
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    return result.stderr


def rows(browser):
    """[self, its time, total, its time, line, text] of each line shown."""
    browser.settle()
    return browser.evaluate("[...document.querySelectorAll('#source tbody tr')].map((row) => "
                            "[...row.children].map((cell) => cell.textContent))")


def expected_row(number, text, own=0, total=0, whole=100 * MS):
    halves = [part for weight in (own, total) for part in (both(weight * MS, whole).split(" ", 1) if weight else ["", ""])]
    return halves + [str(number), text]


def chosen_file(browser):
    browser.settle()
    return browser.evaluate("document.querySelector('#source-file select').value")


@case
def text_and_numbers(_scratch):
    """Each line with its text and weights; a line that a stack has twice counts once; files most time went through first."""
    made()
    write("a.c", numbered(8) + HOSTILE + "\r\nend")
    write("b.c", numbered(3))
    check_equal(embed(), "sampler: source: 2 files embedded; 1 not here (sampler convert --source-path DIR says where they are)\n", "said")
    os.remove("a.c")
    os.remove("b.c")
    page = convert("embedded.sprofile")
    with Browser() as browser:
        browser.open(page, "#view=source")
        check_equal(chosen_file(browser), "b.c", "most self time of those whose text is here")
        check_equal(rows(browser), [expected_row(1, "line 1;"), expected_row(2, "line 2;", 30, 50), expected_row(3, "line 3;")], "b.c")
        browser.choose("#source-file select", "a.c")
        lines = {5: (30, 30), 9: (0, 30)}
        texts = ["line %d;" % number for number in range(1, 9)] + [HOSTILE, "end"]
        check_equal(rows(browser), [expected_row(at, text, *lines.get(at, ())) for at, text in enumerate(texts, 1)], "a.c")
        check_equal(browser.evaluate("[document.title, document.querySelectorAll('#source img, #source b').length]"), ["Profile - Sampler", 0], "data")

        browser.choose("#source-file select", "part.h")
        check_equal(rows(browser), [expected_row(7, "", 40, 40)], "part.h: numbers alone")
        check_equal(browser.text("#source-file p"), "The text of this file is not in the page; sampler view puts it there, or --embed-source.", "remark")
        address = browser.evaluate("location.hash")
        browser.open(page, address)
        check_equal(chosen_file(browser), "part.h", address)
        browser.open(page, "#view=source&file=none.c&line=3")
        check_equal(rows(browser), [], "a file of another profile")
        check_equal(browser.problems, [], "problems")


@case
def own_file_first(_scratch):
    """A file of the user's own is shown before a heavier one of a library."""
    profile = Sprofile()
    profile.add([(profile.function("f", "a.c", 3, "app"), 5), (profile.function("g", "/usr/include/stdio.h", 1), 30)], 90 * MS)
    profile.add([(profile.function("h", "a.c", 8, "app"), 9)], 10 * MS)
    profile.write("x.sprofile")
    write("a.c", numbered(12))
    check(embed().startswith("sampler: source: 2 files embedded"), "the library's is there too")
    with Browser() as browser:
        browser.open(convert("embedded.sprofile"), "#view=source")
        check_equal(chosen_file(browser), "a.c", "the first")
        check_equal(browser.evaluate("document.querySelector('#source-file option').value"), "/usr/include/stdio.h", "the heaviest")


@case
def same_as_list(_scratch):
    """Of a real run: the sums of `top --by line`, before and after a filter; the text is there when the folder is not."""
    check_equal(sampler_run(["-q", "--embed-source", "-o", "x.sprofile"], [test_program("api_work"), "labels", "200"]).status, 0, "status")
    page = convert("x.sprofile")
    with Browser() as browser:
        for fragment, words in (("", []), ("&label=second", ["--label", "second"])):
            browser.open(page, "#view=source" + fragment)
            path = chosen_file(browser)
            check(path.endswith("api_work.c"), "file: %s", path)
            top = json_of("top", "-n", "0", "--by", "line", *words)
            sums = {}
            for row in top["rows"]:
                if row.get("file") == path and "line" in row:
                    sums[str(row["line"])] = sums.get(str(row["line"]), 0) + row["self"]
            wanted = {line: both(weight, top["total"]) for line, weight in sums.items() if weight > 0}
            check(wanted, "%s: no lines", fragment)
            check_equal({row[4]: " ".join(row[:2]) for row in rows(browser) if row[0]}, wanted, "self of lines " + fragment)
        with open(path, encoding="utf-8") as file:
            check_equal([row[5] for row in rows(browser)], file.read().splitlines(), "text")
    with_file = sampler("list", "work_of", "x.sprofile").stdout
    absent = sampler("list", "--source-path", "none", "work_of", "x.sprofile").stdout
    check_equal(absent, with_file, "list of the text in the profile")


@case
def what_is_left_out(_scratch):
    """Files changed since the run, beyond what there is room for, and not here; each time the others are taken."""
    made(start_realtime_ns=2000 * 10 ** 9)
    for path in ("a.c", "b.c", "part.h"):
        write(path, numbered(9))
        os.utime(path, (1000, 1000))
    check_equal(embed(), "sampler: source: 3 files embedded\n", "all")
    os.utime("b.c", (3000, 3000))
    check_equal(embed(), "sampler: source: 2 files embedded; 1 changed since the run began\n", "newer")
    os.truncate("a.c", 32 * 1024 * 1024)
    os.utime("a.c", (1000, 1000))
    check_equal(embed(), "sampler: source: 1 file embedded; 1 changed since the run began, 1 beyond the 32 MiB there is room for\n",
                "a.c and b.c")  # part.h has less weight than a.c, which alone would have filled it
    check_equal(embed("-q"), "", "quiet")
    os.mkdir("there")
    write("there/b.c", "// another\n" + numbered(9))
    os.utime("there/b.c", (1000, 1000))
    for path in ("a.c", "b.c", "part.h"):
        os.remove(path)
    said = embed("--source-path", "there")
    check_equal(said, "sampler: source: 1 file embedded; 2 not here (sampler convert --source-path DIR says where they are)\n", "elsewhere")

    write("b.c", "// a third\n" + numbered(9))
    os.utime("b.c", (1000, 1000))
    result = sampler("convert", "--embed-source", "embedded.sprofile", "-o", "again.sprofile")
    check_equal((result.status, result.stderr), (0, "sampler: source: 1 file embedded; 2 not here (sampler convert --source-path DIR says where they are)\n"),
                "again")
    listed = lambda *words: sampler("list", *words, "g", "again.sprofile").stdout.decode()
    check("line 1;" in listed() and "// a third" not in listed(), "what was embedded stays: %s", listed())
    check("// a third" in listed("--source-path", "."), "but not before a folder that is named")


@case
def not_for_the_asking(scratch):
    """A profile is data from elsewhere, and a page is passed on: only source code is taken, and from whose machine it is not only
    what lies below a folder that was chosen."""
    os.makedirs("here/src")
    for path in ("id_rsa", "app.env", "link.c", "here/src/a.c", "outside.c"):
        if path != "link.c":
            write(path, "secret\n")
    os.symlink(os.path.abspath("id_rsa"), "link.c")

    def said_of(host, *paths):
        profile = Sprofile(host=host)
        for path in paths:
            profile.add([(profile.function("f", path, 1), 1)], MS)
        profile.write("here/x.sprofile")
        result = sampler("convert", "--embed-source", "x.sprofile", "-o", "y.sprofile", cwd="here")
        check_equal(result.status, 0, "status (%s)" % result.stderr)
        return result.stderr.removeprefix("sampler: source: ").rstrip()

    us = os.uname().nodename
    where = "(sampler convert --source-path DIR says where they are)"
    foreign = "not below this folder " + where.replace("(", "(the profile is not of this machine; ")
    within = lambda path: os.path.join(scratch, path)
    check_equal(said_of(us, within("id_rsa"), within("app.env"), within("link.c"), "/proc/self/environ", "/usr/include/../../" + within("id_rsa")),
                "0 files embedded; 5 not source code by name", "no source code")
    check_equal(said_of(us, within("outside.c"), "/srv/src/a.c", "/srv/gone.c"), "2 files embedded; 1 not here " + where, "of this machine")
    for host in ("other", ""):
        check_equal(said_of(host, within("outside.c"), "/srv/build/../src/a.c", "src/../../outside.c", "../outside.c"),
                    "1 file embedded; 3 " + foreign, "of another machine")
    result = sampler("convert", "--embed-source", "--source-path", within("here"), "here/x.sprofile", "-o", "y.sprofile")
    check_equal(result.stderr, "sampler: source: 1 file embedded; 3 not here " + where.replace("(", "(the profile is not of this machine; ") + "\n",
                "in a folder that is named")


@case
def many_lines(_scratch):
    """Of more lines than a page holds well the heaviest are shown; an address leads to any of them where there is text."""
    profile = Sprofile()
    f = profile.function("f", "a.c", 1)
    for line in range(1, 12001):
        profile.add([(f, line)], MS if line != 11000 else 5 * MS)
    profile.write("x.sprofile")
    with Browser() as browser:
        browser.open(convert("x.sprofile"), "#view=source")
        browser.settle()
        shown = browser.evaluate("[...document.querySelectorAll('#source tbody tr')].map((row) => row.dataset.line)")
        check_equal((len(shown), "11000" in shown), (5000, True), "rows, the heaviest among them")
        write("a.c", numbered(12000))
        embed()
        browser.open(convert("embedded.sprofile"), "#view=source&file=a.c&line=11990")
        browser.settle()
        check_equal(browser.evaluate("document.querySelector('#source [data-line=\"11990\"] .text').textContent"), "line 11990;", "a line of little weight")
        check_equal(browser.problems, [], "problems")


@case
def by_keyboard(_scratch):
    """From a box to its source, from line to line, to the callers of the function it is of."""
    made()
    write("a.c", numbered(12))
    embed()
    with Browser() as browser:
        browser.open(convert("embedded.sprofile"))
        focus(browser)
        browser.press("ArrowDown", "s")
        browser.settle()
        check_equal(chosen_file(browser), "a.c", "from the flame graph")
        check_equal(browser.evaluate("document.activeElement.dataset.line"), "3", "its first line")
        browser.press("ArrowDown", "ArrowDown")
        check_equal(details(browser), ("f", {"total of the line": "30.0% 30.0 ms", "self of the line": "30.0% 30.0 ms"}), "line 5")
        browser.press("Enter")
        check_equal(browser.evaluate("[document.getElementById('view-sandwich').hidden, document.activeElement.id]"), [False, "callees"], "f")
        browser.press("5")
        check_equal(chosen_file(browser), "a.c", "back")
        browser.evaluate("document.querySelector('#tab-functions').click()")
        browser.settle()
        browser.evaluate("document.querySelector('#functions tbody tr').focus()")
        defined_at = browser.text("#details .place")
        browser.press("s")
        check_equal(chosen_file(browser), defined_at.rsplit(":", 1)[0], "from the table")
        check_equal(browser.problems, [], "problems")


@case
def no_lines(_scratch):
    """A profile without lines has no such view, not even by an address or key."""
    write("x.folded", "main;f 10\n")
    with Browser() as browser:
        browser.open(convert("x.folded"), "#view=source")
        browser.settle()
        shown = "[document.getElementById('tab-source').hidden, document.getElementById('view-flame').hidden]"
        check_equal(browser.evaluate(shown), [True, False], "by address")
        focus(browser)
        browser.press("ArrowDown", "s", "4", "5")
        browser.settle()
        check_equal(browser.evaluate(shown), [True, False], "by key")
        check_equal(browser.problems, [], "problems")


main()
