"""scripts/pictures [NAME]...: what commands show on a terminal, and pages in a browser, as docs/pictures/NAME.png.

A command runs in a terminal of its own; aha turns its colours into a page. Chromium takes the pictures.
"""

import fcntl
import html
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "tests", "e2e", "lib"))
from chromium import Chromium

BIN = os.path.join(TOP, "build", "release", "bin")
PICTURES = os.path.join(TOP, "docs", "pictures")
COLUMNS = 80
LOOK_WIDTH, LOOK_HEIGHT = 1100, 680
LINE_PX, CHARACTER_PX, MARGIN_PX = 19, 8.43, 14
PAGE = """<!doctype html><meta charset="utf-8"><style>
body { margin: %dpx; background: #fff; color: #1f2328; }
pre { margin: 0; width: 80.9ch; white-space: pre-wrap; overflow-wrap: anywhere; word-break: break-all; font: 14px/%dpx "DejaVu Sans Mono", monospace; }
b { color: #6e7781; font-weight: normal; }
</style><pre>%s</pre>"""

# What the pictures are of: commands, in the order in which they run.
TOUR = (
    ("tour-run", "sampler-run ./orders 4"),
    ("tour-top", "sampler top -n 10"),
    ("tour-lines", "sampler top --my-code --by line -n 6"),
    ("tour-list", "sampler list normalize"),
    ("tour-tree", "sampler tree --my-code --min 3"),
    ("tour-thread", "sampler top --my-code --thread reader-2 --to 1 -n 5"),
    ("tour-diff", "sampler diff --my-code slow.sprofile fast.sprofile -n 6"),
)


def on_terminal(command, folder):
    env = {"PATH": BIN + ":" + os.environ["PATH"], "HOME": folder, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8",
           "SAMPLER_PAGER": "cat"}
    reading, writing = os.openpty()
    fcntl.ioctl(writing, termios.TIOCSWINSZ, struct.pack("HHHH", 100, COLUMNS, 0, 0))
    child = subprocess.Popen(command, shell=True, cwd=folder, env=env, stdin=writing, stdout=writing, stderr=writing,
                             start_new_session=True)
    os.close(writing)
    text = b""
    while True:
        try:
            piece = os.read(reading, 65536)
        except OSError:  # the other end is closed
            break
        text += piece
    if child.wait() != 0:
        sys.exit("pictures: '%s' ended with %d: %s" % (command, child.returncode, text.decode()))
    return text.decode().replace("\r\n", "\n")


def take(browser, name, what):
    picture = os.path.join(PICTURES, name + ".png")
    browser.picture(picture)
    print("%s: %s" % (os.path.relpath(picture, TOP), what), flush=True)


def draw(browser, name, command, text, scratch):
    colored = subprocess.run(["aha", "--no-header"], input=text.encode(), stdout=subprocess.PIPE, check=True).stdout.decode()
    page = os.path.join(scratch, name + ".html")
    with open(page, "w", encoding="utf-8") as out:
        out.write(PAGE % (MARGIN_PX, LINE_PX, "<b>$</b> %s\n%s" % (html.escape(command), colored.rstrip("\n"))))
    plain = re.sub("\033\\[[0-9;]*m", "", text).rstrip("\n").split("\n")
    lines = 1 + sum(max(1, math.ceil(len(line) / COLUMNS)) for line in plain)
    browser.resize(math.ceil(COLUMNS * CHARACTER_PX + 2 * MARGIN_PX), lines * LINE_PX + 2 * MARGIN_PX, 2)
    browser.navigate("file://" + page)
    browser.wait("location.protocol === 'file:' && document.readyState === 'complete'")
    take(browser, name, command)


def look_flame(browser):
    """Searches, and walks down to what was found."""
    browser.type("#search", "normalize")
    browser.evaluate("document.getElementById('flame').focus()")
    browser.press("Home")
    for _ in range(20):
        browser.press("ArrowDown")
        if "normalize" in browser.text("#details .name"):
            break


def look_timeline(browser):
    left, top, width, height = browser.place("#overview")
    browser.drag(left + 0.3 * width, top + height / 2, left + 0.7 * width, top + height / 2)


def look_at_nothing_else(_browser):
    pass


# What the pictures of pages are of: commands, the view, what a person then does.
LOOKS = (
    ("look-flame", "sampler view slow.sprofile", "", look_flame),
    ("look-timeline", "sampler view slow.sprofile", "#view=timeline", look_timeline),
    ("look-source", "sampler view slow.sprofile", "#view=source", look_at_nothing_else),
    ("look-diff", "sampler diff slow.sprofile fast.sprofile -o change.html", "", look_at_nothing_else),
)


def look(browser, wanted, folder):
    browser.resize(LOOK_WIDTH, LOOK_HEIGHT, 1.5)
    for name, command, fragment, act in LOOKS:
        if wanted and name not in wanted:
            continue
        on_terminal(command, folder)
        browser.open(os.path.join(folder, "change.html" if "change" in command else "slow.html"), fragment)
        act(browser)
        browser.settle()
        take(browser, name, command)


def make_orders(folder, source, name):
    subprocess.run(["g++", "-std=c++17", "-O2", "-g", "-pthread", source, "-o", name], cwd=folder, check=True)


def tour(browser, wanted, scratch):
    folder = os.path.join(scratch, "tour")
    os.mkdir(folder)
    with open(os.path.join(TOP, "docs", "tour", "orders.cpp"), encoding="utf-8") as file:
        slow = file.read()
    with open(os.path.join(folder, "fast.cpp"), "w", encoding="utf-8") as out:
        out.write(slow.replace("result = result + ", "result += "))
    make_orders(folder, "fast.cpp", "orders")
    on_terminal("sampler-run -q -o fast.sprofile ./orders 4 >/dev/null", folder)
    shutil.copy(os.path.join(TOP, "docs", "tour", "orders.cpp"), folder)
    make_orders(folder, "orders.cpp", "orders")
    on_terminal("sampler-run -q -o slow.sprofile ./orders 4 >/dev/null", folder)
    for name, command in TOUR:
        text = on_terminal(command, folder)
        if not wanted or name in wanted:
            draw(browser, name, command, text, scratch)
    look(browser, wanted, folder)


def main():
    with tempfile.TemporaryDirectory(prefix="sampler-") as scratch, Chromium(LOOK_WIDTH, LOOK_HEIGHT) as browser:
        tour(browser, sys.argv[1:], scratch)


if __name__ == "__main__":
    main()
