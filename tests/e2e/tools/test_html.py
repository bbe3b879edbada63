"""The html page in a browser: what it shows is what the tools print, and it does no more than show it."""

import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from browser import Browser
from e2e import case, check, check_equal, main, sampler
from html_page import both, convert, details, focus, folded
from views import json_of, profile_of_labels

MIDDLE = (600, 400)


def name_at(browser, x, y):
    browser.move(x, y)
    return browser.evaluate("document.getElementById('tooltip').hidden ? '' : "
                            "document.querySelector('#tooltip .name').textContent")


@case
def numbers_agree(_scratch):
    """Walked to or searched for: the numbers of `sampler tree` and `sampler top`."""
    profile_of_labels()
    tree, top = json_of("tree", "--min", "0"), json_of("top", "-n", "0")
    with Browser() as browser:
        browser.open(convert("x.sprofile"))
        total = top["total"]
        facts = browser.text("#facts")
        check(re.match("%s of CPU time · [0-9.]+%% of the [0-9.]+ m?s used · " % re.escape(both(total, total).split("% ")[1]), facts), "facts: %s", facts)
        focus(browser)
        browser.press("Home")
        everywhere = {row["name"]: row for row in top["rows"]}
        twice = {row["name"] for row in top["rows"] if everywhere[row["name"]] is not row}
        depth = 0
        for row in tree["rows"]:
            # The heaviest path, which comes first: box by box.
            if row["depth"] <= depth:
                break
            depth = row["depth"]
            browser.press("ArrowDown")
            name, numbers = details(browser)
            here = {what: numbers.get(what + " here", numbers.get(what)) for what in ("total", "self")}
            check_equal((name, here), (row["name"], {what: both(row[what], total) for what in here}), "box at depth %d" % depth)
            for what in here if name not in twice else ():
                check_equal(numbers.get(what + " everywhere", here[what]), both(everywhere[name][what], total),
                            what + " of " + name)
        check(depth > 3, "only %d boxes", depth)
        for name in ("work_a", "spin", "main"):
            browser.type("#search", "^%s$" % name)
            share = "%.1f%% in 1 function" % (100 * everywhere[name]["total"] / total)
            check_equal(browser.text("#matched"), share, "search for " + name)
        browser.type("#search", "work_(a")
        check_equal(browser.text("#matched"), "0.0% in 0 functions (not a regular expression: searched as plain text)", "no expression")
        modules = {row["name"].split("/")[-1]: row["self"] for row in json_of("top", "--by", "module", "-n", "0")["rows"]}
        legend = browser.evaluate("[...document.querySelectorAll('#legend li')].map((item) => [...item.children].slice(1).map("
                                  "(part) => part.textContent))")
        check_equal(dict(legend), {name: "%.1f%%" % (100 * weight / total) for name, weight in modules.items() if weight > 0}, "legend")
        check_equal(browser.problems, [], "problems")


@case
def mouse_and_keys(_scratch):
    """Zoomed by click, wheel and Enter; moved by drag; the same boxes wherever the root is."""
    page = convert(folded({"main;left;deep": 500, "main;right;one": 300, "main;right;two": 200}))
    with Browser(1200, 800) as browser:
        browser.open(page)
        _, top, _, height = browser.place("#flame")
        bottom = top + height
        row = 19
        y = [top + row * depth + row / 2 for depth in range(5)]
        names = [name_at(browser, x, y[2]) for x in (20, 580, 620, 1180)]
        check_equal(names, ["left", "left", "right", "right"], "at first")
        browser.click(900, y[2])
        check_equal([name_at(browser, x, y[depth]) for x, depth in ((20, 2), (1180, 2), (20, 3), (700, 3), (1180, 3), (20, 1))],
                    ["right", "right", "one", "one", "two", "main"], "zoomed")
        check_equal(browser.text("#details .name"), "right", "details")
        browser.drag(500, y[2], 1000, y[2])
        check_equal([name_at(browser, 20, y[2]), name_at(browser, 1100, y[2])], ["left", "right"], "dragged")
        check_equal(browser.text("#details .name"), "right", "a drag is no click")
        focus(browser)
        browser.press("Escape")
        browser.settle()
        check_equal(name_at(browser, 580, y[2]), "left", "all of it")
        browser.wheel(590, y[2], -400, "Control")
        check_equal([name_at(browser, x, y[2]) for x in (20, 640, 700)], ["left", "left", "right"], "wheel, about its place")
        check_equal(name_at(browser, 1180, y[3]), "one", "wheel")
        browser.press("Home", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown", "Enter")
        browser.settle()
        check_equal((details(browser)[0], name_at(browser, 20, y[3]), name_at(browser, 1180, y[3])), ("one", "one", "one"), "by keys")
        browser.press("ArrowLeft", "ArrowUp", "ArrowLeft")
        check_equal(details(browser)[0], "left", "back by keys; there is nothing left of the first")
        browser.choose("#root", "bottom")
        browser.press("Escape")
        browser.settle()
        check_equal([name_at(browser, 20, bottom - row * depth - row / 2) for depth in (1, 2, 3)], ["main", "left", "deep"], "upside down")
        browser.press("ArrowUp")
        check_equal(details(browser)[0], "deep", "up is to the callee")
        check_equal(name_at(browser, 20, bottom - row / 2), "", "all has no tooltip")
        check_equal(browser.problems, [], "problems")


@case
def names_are_data(_scratch):
    """No name becomes markup, is run, or is asked for over the network."""
    nasty = ["</script><img src=x onerror=document.title='run'>", "<!--<script>", "\"'><svg/onload=fetch('//example.org')>",
             "&lt", "\u202edlrow", "@SCRIPT@ @PROFILE@", "${7*7}"]
    with Browser() as browser:
        browser.open(convert(folded({";".join(nasty): 7})))
        focus(browser)
        browser.press("Home")
        for name in nasty:
            browser.press("ArrowDown")
            check_equal(browser.evaluate("document.querySelector('#details .name').textContent"), name, "name")
        check_equal(browser.evaluate("document.querySelectorAll('img, svg, iframe, script[src]').length"), 0, "foreign elements")
        check_equal(browser.evaluate("document.title"), "Profile - Sampler", "title")
        check_equal(browser.problems, [], "problems")
        browser.evaluate("document.body.append(Object.assign(document.createElement('script'), {textContent: 'document.title = 1'}))")
        browser.evaluate("fetch('http://127.0.0.1:9/').catch(() => 0)")
        deadline = time.monotonic() + 20  # it is told of them some time later
        while sum("Content" in what for what in browser.problems) < 2 and time.monotonic() < deadline:
            browser.settle()
        check(len([what for what in browser.problems if re.search("Content.Security.Policy", what)]) >= 2,
              "the policy let something pass: %r", browser.problems)
        check_equal(browser.evaluate("document.title"), "Profile - Sampler", "title")


@case
def deep_and_wide(_scratch):
    """Two thousand frames, and ten thousand siblings."""
    deep = ";".join("f%d" % depth for depth in range(2000))
    wide = {"wide;sibling_%d" % i: 1 for i in range(10000)}
    with Browser() as browser:
        browser.open(convert(folded({deep: 20000, **wide})))
        focus(browser)
        browser.evaluate("""(() => {
            const press = (key) => document.getElementById('flame').dispatchEvent(new KeyboardEvent('keydown', {key}));
            press('Home');
            for (let i = 0; i < 2000; i++)
                press('ArrowDown');
        })()""")
        name, numbers = details(browser)
        check_equal((name, numbers["total"]), ("f1999", "66.7% 20 000".replace(" 000", "\u202f000")), "the last")
        check(browser.evaluate("document.getElementById('flame').scrollTop") > 30000, "it is not in sight")
        visible = browser.evaluate("document.getElementById('flame').clientHeight") // 19
        names = {name_at(browser, 300, MIDDLE[1] + 19 * i) for i in range(-5, 5)}
        check(names <= {"f%d" % depth for depth in range(2000 - 2 * visible, 2000)} and len(names) > 5, "in sight: %r", names)
        browser.press("Home", "ArrowDown", "ArrowRight", "ArrowDown")
        check_equal(details(browser)[0][:8], "sibling_", "of the wide one")
        check_equal(browser.problems, [], "problems")


@case
def light_and_dark(_scratch):
    """As the system says, until the person says otherwise."""
    def is_dark():
        red = browser.evaluate("getComputedStyle(document.body).backgroundColor").split("(")[1].split(",")[0]
        pixel = browser.evaluate("[...document.querySelector('#flame canvas').getContext('2d').getImageData(1100, 5, 1, 1).data]")
        browser.problems = [what for what in browser.problems if "willReadFrequently" not in what]  # our own doing
        return int(red) < 128, pixel[0] < 128

    with Browser() as browser:
        browser.prefer("light")
        browser.open(convert(folded({"main;work": 10})))
        check_equal(is_dark(), (False, False), "light system")
        browser.prefer("dark")
        check_equal(is_dark(), (True, True), "dark system")
        browser.choose("#theme", "light")
        check_equal(is_dark(), (False, False), "light chosen")
        browser.prefer("light")
        browser.choose("#theme", "dark")
        check_equal(is_dark(), (True, True), "dark chosen")
        check_equal(browser.problems, [], "problems")


@case
def damaged(_scratch):
    """A page that was damaged says so, in the browser and to the tools."""
    with open(convert(folded({"main;work": 10})), encoding="ascii") as file:
        page = file.read()
    begin = page.index(">", page.index('id="profile"')) + 1
    letter = "A" if page[begin + 80] != "A" else "B"
    cases = {
        "header": (page[:begin] + "AAAA" + page[begin + 4:], "does not begin with SPROFILE", "expected"),
        "block": (page[:begin + 80] + letter + page[begin + 81:], "does not unpack", "does not unpack"),
        "letter": (page[:begin + 60] + "*" + page[begin + 61:], "base64", "base64 expected"),
    }
    with Browser() as browser:
        for name, (content, in_browser, to_tools) in cases.items():
            with open("x.html", "w", encoding="ascii") as file:
                file.write(content)
            browser.open("x.html")
            check(in_browser in browser.text("#alert"), "%s: the page says: %r", name, browser.text("#alert"))
            result = sampler("top", "x.html")
            check(to_tools in result.stderr, "%s: the tool says: %r", name, result.stderr)


main()
