"""scripts/bench view [SAMPLES]: how long a page of a large profile takes to write, open, search, filter and zoom, in
Chromium and Firefox, and a picture; beside speedscope and flamegraph.pl with the same profile.

The profile (default: 1000000 samples of a program with 200000 distinct stacks) is made as .cpuprofile, which all of them
read, or what they read is made from it. Each figure is the median of five, of zooming the slowest of thirty steps too.
speedscope is fetched from the npm registry, or is where $SPEEDSCOPE names the folder of the package.
"""

import base64
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(TOP, "tests", "e2e", "lib"))
from browser import WAIT_S
from chromium import Chromium
from e2e import Failure
from firefox import Firefox

SAMPLER = os.path.join(TOP, "build", "release", "bin", "sampler")
FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"
N_NODES, MOST_DEEP = 200000, 120
REPEATS = 5
DRAWN = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"
READY = "location.protocol === 'file:' && document.readyState === 'complete' && "


def make_profile(path, n_samples):
    """Names as C++ has them, from a program that does not exist; the same every time."""
    chance = random.Random(1)
    nodes, depths = [], []
    for node in range(N_NODES):
        parent = None
        while node > 0 and (parent is None or depths[parent] >= MOST_DEEP):
            parent = chance.randrange(max(0, node - 3000) if chance.random() < 0.7 else 0, node)
        number = chance.randrange(20000)
        name = "ns%d::Class%d<int, std::string>::function_%d(std::vector<int> const&)" % (number % 50, number % 997, number)
        nodes.append({"id": node + 1, "children": [], "callFrame": {
            "functionName": name if node > 0 else "(root)", "scriptId": "0", "url": "/src/m%d.js" % (number % 40),
            "lineNumber": number % 1000, "columnNumber": 0}})
        depths.append(0 if node == 0 else depths[parent] + 1)
        if node > 0:
            nodes[parent]["children"].append(node + 1)
    samples = [2 + int((N_NODES - 2) * chance.random() ** 2) for _ in range(n_samples)]
    with open(path, "w", encoding="ascii") as file:
        json.dump({"nodes": nodes, "startTime": 0, "endTime": n_samples * 1000, "samples": samples, "timeDeltas": [1000] * n_samples}, file)


def median(measure):
    return statistics.median(measure() for _ in range(REPEATS))


def seconds_of(*words, **more):
    begin = time.monotonic()
    subprocess.run(words, check=True, stderr=subprocess.DEVNULL, **more)
    return time.monotonic() - begin


def opened(make, url, ready):
    """Seconds from the click on a link until what it leads to has been drawn, in a new browser; None: longer than WAIT_S."""
    def measure():
        browser.navigate("about:blank")
        browser.wait("location.protocol === 'about:'")
        browser.navigate(url)
        browser.wait(READY + ready)
        return browser.evaluate(DRAWN) / 1000
    with make(1200, 800) as browser:
        try:
            return median(measure)
        except (Failure, TimeoutError):
            return None


def after(browser, act):
    """Milliseconds from a script that acts until the page has been drawn anew."""
    return browser.evaluate("(async () => { const begin = performance.now(); %s; return await %s - begin; })()" % (act, DRAWN))


def acted(browser, act, undo):
    def measure():
        took = after(browser, act)
        after(browser, undo)
        return took
    return median(measure)


def set_value(selector, value, event):
    return ("{ const input = document.querySelector('%s'); input.value = '%s'; input.dispatchEvent(new Event('%s', {bubbles: true})); }"
            % (selector, value, event))


def zoom_steps(browser):
    wheel = ("document.querySelector('#flame canvas').dispatchEvent(new WheelEvent('wheel', {deltaY: %d, ctrlKey: true, clientX: 400, "
             "clientY: 300, cancelable: true, bubbles: true}))")
    return [after(browser, wheel % (-30 if step < 15 else 30)) for step in range(30)]


def row(what, make, write_s, path, open_s, more="- | - | - |"):
    print("| %s in %s | %.1f s | %.1f MB | %s | %s" % (
        what, make.__name__, write_s, os.path.getsize(path) / 1e6,
        "%.1f s" % open_s if open_s is not None else "more than %d s" % WAIT_S, more), flush=True)


def page(make, n_samples):
    write_s = median(lambda: seconds_of(SAMPLER, "convert", "-q", "big.sprofile", "-o", "big.html"))
    url, ready = "file://" + os.path.abspath("big.html"), "document.getElementById('profile') === null"
    open_s = opened(make, url, ready)
    with make(1200, 800) as browser:
        browser.navigate(url)
        browser.wait(READY + ready)
        search = acted(browser, set_value("#search", "function_1", "input"), set_value("#search", "", "input"))
        part = acted(browser, set_value("#to", str(n_samples / 4000), "change"), set_value("#to", "", "change"))
        steps = zoom_steps(browser)
    row("html", make, write_s, "big.html", open_s,
        "%.0f ms | %.0f ms | %.0f, %.0f ms |" % (search, part, statistics.median(steps), max(steps)))


def speedscope_folder():
    folder = os.environ.get("SPEEDSCOPE")
    if folder is None:
        fetched = subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", "fetched", "speedscope@1"], check=False)
        folder = os.path.abspath(os.path.join("fetched", "node_modules", "speedscope")) if fetched.returncode == 0 else None
    return folder


def speedscope(make):
    folder = speedscope_folder()
    if folder is None:
        print("bench: speedscope cannot be had here", file=sys.stderr)
        return
    # What its command line does: a script that hands the file over.
    begin = time.monotonic()
    with open("big.cpuprofile", "rb") as profile, open("big.js", "w", encoding="ascii") as out:
        out.write('speedscope.loadFileFromBase64("big.cpuprofile", "%s")' % base64.b64encode(profile.read()).decode())
    write_s = time.monotonic() - begin
    url = "file://%s#localProfilePath=%s" % (os.path.join(folder, "dist", "release", "index.html"), os.path.abspath("big.js"))
    row("speedscope", make, write_s, "big.js", opened(make, url, "document.title.includes('big')"))


def pictures(makes):
    write_s = median(lambda: seconds_of(SAMPLER, "convert", "-q", "big.sprofile", "-o", "big.svg"))
    subprocess.run([SAMPLER, "convert", "-q", "big.sprofile", "-o", "big.folded"], check=True)
    with open("flamegraph.svg", "wb") as out:
        their_write_s = seconds_of("perl", FLAMEGRAPH, "big.folded", stdout=out)
    for make in makes:
        row("svg", make, write_s, "big.svg", opened(make, "file://" + os.path.abspath("big.svg"), "true"))
        row("flamegraph.pl", make, their_write_s, "flamegraph.svg", opened(make, "file://" + os.path.abspath("flamegraph.svg"), "true"))


def main():
    n_samples = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    makes = [make for make, program in ((Chromium, "chromium"), (Firefox, "firefox-esr")) if shutil.which(program) is not None]
    with tempfile.TemporaryDirectory(prefix="sampler-view-") as folder:
        os.chdir(folder)
        make_profile("big.cpuprofile", n_samples)
        subprocess.run([SAMPLER, "convert", "-q", "big.cpuprofile", "-o", "big.sprofile"], check=True)
        print("%d samples; .cpuprofile %.1f MB, .sprofile %.1f MB" % (
            n_samples, os.path.getsize("big.cpuprofile") / 1e6, os.path.getsize("big.sprofile") / 1e6))
        print("| | written in | file | opens in | search | a quarter of the time | a step of zooming: median, slowest |\n|---|---|---|---|---|---|---|")
        for make in makes:
            page(make, n_samples)
        for make in makes:
            speedscope(make)
        pictures(makes)
        os.chdir("/")


main()
