"""Flame graphs as pictures: numbers are those of the terminal, they can be seen without script, and zoomed and searched with it."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from browser import Browser
from e2e import case, check, check_equal, check_one_line, main, sampler
from html_page import both
from picture import boxes_of, paths_of, pixels_of
from sprofile import Sprofile
from views import diff_of, json_of, profile_of_labels

MS = 1000000
HEAD_PX, MARGIN_PX, BOXES_PX = 56, 8, 1184


def made(path, stacks_ms):
    """A profile of 1 kHz without times, of {"main;f": ms}; the module of x is lib-x.so, of others app."""
    profile = Sprofile()
    for stack, ms in stacks_ms.items():
        frames = [(profile.function(name, name + ".c", 7, "/lib/lib-x.so" if name == "x" else "/bin/app"), 0)
                  for name in stack.split(";")]
        for _ in range(ms):
            profile.add(frames, MS)
    profile.write(path)
    return path


def draw(*words):
    result = sampler(*words, "-o", "x.svg")
    check_equal((result.status, result.stderr), (0, ""), "status, stderr of %r" % (words,))
    return boxes_of("x.svg")


def nodes_of_tree():
    """[self and total] by path of `sampler tree`: functions of one name are several."""
    nodes, path = {}, []
    for row in json_of("tree", "--min", "0")["rows"]:
        path[row["depth"] - 1:] = [row["name"].replace("\n", "\ufffd")]
        nodes.setdefault(tuple(path), []).append((row["self"], row["total"]))
    return nodes


def words_of(own, total, whole):
    """What a box's title says of it."""
    words = both(total, whole).replace("% ", "%, ")
    return words + "; self " + both(own, whole).replace("% ", "%, ") if own else words


@case
def numbers_agree(_scratch):
    """Of a real run each path as `sampler tree` has it."""
    profile_of_labels()
    nodes = nodes_of_tree()
    boxes = draw("convert", "-q", "x.sprofile")
    whole = sum(total for path, same in nodes.items() if len(path) == 1 for _, total in same)
    check_equal(boxes[0].numbers, words_of(0, whole, whole), "the whole")
    found = {path: sorted(box.numbers for box in same) for path, same in paths_of(boxes).items()}
    wanted = {path: sorted(words_of(own, total, whole) for own, total in same if total / whole * 1200 >= 0.1)
              for path, same in nodes.items()}
    check_equal(found, {path: words for path, words in wanted.items() if words}, "boxes")
    check(len(found) > 10, "more than a few boxes: %d", len(found))


@case
def without_script(_scratch):
    """As rsvg-convert draws it: each box in the colour of its library where it should be, its name in it."""
    made("x.sprofile", {"main;parse;x": 550, "main;parse": 100, "main;write": 200, "other": 200})
    boxes = draw("convert", "-q", "x.sprofile")
    with open("x.svg", encoding="utf-8") as file:
        style = file.read().split("@media")[0]
    color = dict(re.findall(r"\.sampler \.(\w\d)\{fill:(#\w+)\}", style))
    at = pixels_of("x.svg")
    for box in boxes:
        # Beside the middle, where no letter is.
        x = MARGIN_PX + BOXES_PX * (box.start + box.width * 0.97)
        check_equal(at(x, HEAD_PX + box.y + 4), color[box.css_class], "colour of " + box.name)
        row = {at(x, HEAD_PX + box.y + 9) for x in range(int(MARGIN_PX + BOXES_PX * box.start) + 4,
                                                          int(MARGIN_PX + BOXES_PX * box.start) + 30)}
        check(len(row) > 2, "letters in %s: %r", box.name, row)
    hues = {box.name: box.css_class[0] for box in boxes}
    check_equal(hues, {"all": "r", "x": "a", "main": "b", "parse": "b", "write": "b", "other": "b"}, "hues")
    check_equal(at(MARGIN_PX + BOXES_PX * 0.9, HEAD_PX + 4), "#ffffff", "where no box is")


def box_in_browser(browser, name):
    """Left edge, width and label of the box as it is drawn; None: it is not."""
    return browser.evaluate(
        "(() => { const box = [...document.querySelectorAll('.boxes>svg')].find("
        "  (box) => box.firstElementChild.textContent.startsWith(%s + '\\n'));"
        "  if (getComputedStyle(box).display === 'none') return null;"
        "  const rect = box.querySelector('rect'), {x, width} = rect.getBBox(), {a, e} = rect.getScreenCTM();"
        "  const text = box.querySelector('text');"
        "  return [Math.round(x * a + e), Math.round(width * a), text === null ? '' : text.textContent]; })()" % json.dumps(name))


def click(browser, name):
    x, y = browser.evaluate(
        "(() => { const box = [...document.querySelectorAll('.boxes>svg')].find("
        "  (box) => box.firstElementChild.textContent.startsWith(%s + '\\n')).getBoundingClientRect();"
        "  return [box.x + box.width / 2, box.y + box.height / 2]; })()" % json.dumps(name))
    browser.click(x, y)


@case
def zoom_and_search(_scratch):
    """In a browser: it fills the window, a click zooms and makes labels anew, and the share of a search is that of `sampler top`."""
    made("x.sprofile", {"main;std::vector<int>::push_back(int);x": 500, "main;parse": 100, "main;write": 400, "main;write;deep;parse": 50})
    draw("convert", "-q", "x.sprofile")
    with Browser(1616, 700) as browser:
        browser.open("x.svg")
        check_equal(box_in_browser(browser, "main"), [8, 1600, "main"], "all")
        check_equal(box_in_browser(browser, "deep")[2], "deep", "a label that has room in the window")
        click(browser, "write")
        check_equal(box_in_browser(browser, "write"), [8, 1600, "write"], "zoomed")
        check_equal(box_in_browser(browser, "main"), [8, 1600, "main"], "what called it")
        check_equal(box_in_browser(browser, "deep")[1], round(1600 * 50 / 450), "what it called")
        check_equal(box_in_browser(browser, "x"), None, "what is beside it")
        check_equal(browser.evaluate("document.querySelector('.foot text').textContent"),
                    "write \u00b7 42.9%, 0.450 s; self 38.1%, 0.400 s \u00b7 write.c:7 \u00b7 /bin/app", "what the mouse points at")
        browser.press("Escape")
        browser.settle()
        check_equal(box_in_browser(browser, "x")[1], round(1600 * 500 / 1050), "all again")
        check_equal(box_in_browser(browser, "std::vector<int>::push_back(int)")[2], "std::vector<\u2026>::push_back", "short name")
        browser.press("/")
        browser.type("input", "^parse$|deep")
        browser.settle()
        total = {row["name"]: row["total"] for row in json_of("top")["rows"]}["parse"]
        check_equal(browser.text("output"), "%.1f%% matched" % (100 * total / 1050 / MS), "share")
        faded = browser.evaluate("[...document.querySelectorAll('.faded>title')].map((title) => title.textContent.split('\\n')[0])")
        check_equal(sorted(faded), ["all", "main", "std::vector<int>::push_back(int)", "write", "x"], "what does not match")
        browser.press("Escape")
        browser.settle()
        check_equal(browser.text("output"), "", "no search")
        check_equal(browser.evaluate("document.querySelectorAll('.faded').length"), 0, "all in colour")
        light = browser.evaluate("getComputedStyle(document.querySelector('.page')).fill")
        browser.prefer("dark")
        dark = browser.evaluate("getComputedStyle(document.querySelector('.page')).fill")
        check_equal((light, dark), ("rgb(255, 255, 255)", "rgb(21, 24, 28)"), "light and dark")

        # What is not drawn cannot be found, and that is said.
        stacks = {"main;worker%d;copy" % i: 1 for i in range(200)}
        made("y.sprofile", {**stacks, "main;large": 19800})
        check_equal(sampler("convert", "-q", "y.sprofile", "-o", "y.svg").status, 0, "convert")
        browser.open("y.svg")
        check_equal(browser.evaluate("document.querySelector('.foot text').textContent"),
                    "400 boxes narrower than 0.1 pixels are left out, 1.0% together", "left out")
        browser.press("/")
        browser.type("input", "copy")
        browser.settle()
        check_equal(browser.text("output"), "0.0% matched; 1.0% too narrow to search", "share of what is not drawn")
        browser.press("Escape")
        browser.press("/")
        browser.type("input", "(a+)+!")
        browser.settle()
        check_equal(browser.text("output"), "0.0% matched; 1.0% too narrow to search", "an expression without end")
        check_equal(browser.problems, [], "problems")


@case
def names_are_data(_scratch):
    """Markup, scripts, characters that XML forbids, and a name of 10 000 letters: it is cut, as each box has its own copy."""
    names = ["</title><script>alert(1)</script>", "]]>&amp;", "a\x01b\x7f", "\u4e2d\u6587" * 20, "n" * 10000, "\u4e2d" * 5000,
             "<svg onload=alert(1)>", "\" onload=\"alert(1)"]
    profile = Sprofile()
    profile.add([(profile.function(name, "<b>.c", 1, "/lib/\"&.so"), 0) for name in names], MS)
    profile.write("x.sprofile")
    boxes = draw("convert", "-q", "x.sprofile")
    wanted = [name.replace("\x01", "\ufffd").replace("\x7f", "\ufffd") for name in names]
    wanted[names.index("n" * 10000)] = "n" * 4096 + "\u2026"
    wanted[names.index("\u4e2d" * 5000)] = "\u4e2d" * (4096 // 3) + "\u2026"
    check_equal([box.name for box in boxes[1:]], wanted, "names")
    check_equal(boxes[1].place, ["<b>.c:1", "/lib/\"&.so"], "place")
    with Browser() as browser:
        browser.open("x.svg")
        check_equal(browser.evaluate("document.querySelectorAll('script').length"), 1, "scripts")
        check_equal(browser.problems, [], "problems")


@case
def two_runs(_scratch):
    """Numbers and verdict of each path; those of functions with one path are those of `sampler diff`."""
    made("a.sprofile", {"main;parse;read": 400, "main;write": 300, "main;old": 50, "main;same": 100})
    made("b.sprofile", {"main;parse;read": 600, "main;parse": 10, "main;write": 301, "main;new": 80, "main;same": 100})
    boxes = draw("diff", "a.sprofile", "b.sprofile")
    rows = {row["name"]: row for row in diff_of("-n", "0", "--total", "a.sprofile", "b.sprofile")["rows"]}
    before, after = 850 * MS, 1091 * MS
    for box in boxes[1:]:
        row = rows[box.name]
        sides = "%.3f s (%.1f%%) \u2192 %.3f s (%.1f%%), %+.3f s" % (
            row["before"] / 1e9, 100 * row["before"] / before, row["after"] / 1e9, 100 * row["after"] / after, row["change"] / 1e9)
        chance = "chance \u00b1 %.3f s" % (row["interval"] / 1e9)
        if not row["is_beyond_chance"]:
            chance = "within chance (\u00b1 %.3f s)" % (row["interval"] / 1e9)
        check_equal(box.numbers, sides + ", " + chance, "numbers of " + box.name)
        check_equal(box.css_class[0], "n" if row["change"] == 0 else "gs"[row["change"] < 0] if row["is_beyond_chance"] else "pm"[row["change"] < 0],
                    "colour of " + box.name)
        check(abs(box.width - (row["before"] + row["after"]) / (before + after)) < 1e-5, "width of %s", box.name)
    marks = {box.name: box.mark for box in boxes}
    check_equal((marks["parse"], marks["new"], marks["old"], marks["write"]), ("+52%", "new", "gone", None), "marks")
    check("parse +52%" in [box.label for box in boxes], "labels: %r", [box.label for box in boxes])
    check_equal(sampler("diff", "a.sprofile", "b.sprofile", "-o", "x.diff.folded").status, 0, "folded")
    folded = draw("convert", "-q", "x.diff.folded")
    check_equal({box.name: box.mark for box in folded}, marks, "marks by way of a folded file")


@case
def written_only(_scratch):
    """Reading one is refused, with what to read instead; by name and by content."""
    made("x.sprofile", {"main": 10})
    draw("convert", "-q", "x.sprofile")
    check_one_line(sampler("top", "x.svg"), 1, "x.svg", "svg can be written, not read", "profile it was made from")
    os.rename("x.svg", "y")
    check_one_line(sampler("top", "y"), 1, "svg can be written, not read")


if __name__ == "__main__":
    main()
