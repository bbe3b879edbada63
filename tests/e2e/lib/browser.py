"""A page as a person uses it: opens it, moves the mouse, types, looks. What every browser has in common.

chromium.py and firefox.py say how each is told. What a page should never do is gathered in `problems`: exceptions,
errors on the console, refusals by its policy, and requests beyond the file itself. Tests take Browser(), which is
Chromium or, where SAMPLER_BROWSER says so, Firefox.
"""

import json
import os
import time

from e2e import Failure

WAIT_S = 60


class Page:
    """A browser gives: navigate(url), evaluate(expression), pointer(steps), scroll(x, y, delta_y, modifier), press(*keys),
    insert(text), prefer(scheme), screenshot() as bytes, `problems`, and is a context that ends it."""

    file = None  # the URL of what is shown

    def open(self, path, fragment=""):
        """Opens a page and waits until it shows its profile, or why it cannot."""
        self.file = "file://" + os.path.abspath(path)
        self.navigate("about:blank")
        self.navigate(self.file + fragment)
        self.wait("location.protocol === 'file:' && document.readyState === 'complete' && "
                  "(document.getElementById('profile') === null || !document.getElementById('alert').hidden)")
        self.settle()

    def wait(self, condition):
        until = time.monotonic() + WAIT_S
        while not self.evaluate(condition):
            if time.monotonic() > until:
                raise Failure("never true: " + condition)
            time.sleep(0.02)

    def settle(self):
        """Until what was begun has been drawn: the zoom takes less than this."""
        self.evaluate("new Promise((done) => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(done)), 250))")

    def text(self, selector):
        """What can be read there, "" of nothing."""
        return self.evaluate("(document.querySelector(%s) || {innerText: ''}).innerText" % json.dumps(selector))

    def place(self, selector):
        """Left edge, top, width and height."""
        return self.evaluate("[document.querySelector(%s).getBoundingClientRect()].flatMap((box) => "
                             "[box.left, box.top, box.width, box.height])" % json.dumps(selector))

    def type(self, selector, text):
        """In place of what is there."""
        self.evaluate("[document.querySelector(%s)].forEach((input) => { input.focus(); input.select(); })" % json.dumps(selector))
        if text == "":
            self.press("Delete")
        else:
            self.insert(text)

    def choose(self, selector, value):
        self.evaluate("[document.querySelector(%s)].forEach((choice) => { choice.value = %s; choice.dispatchEvent(new Event('change')); })"
                      % (json.dumps(selector), json.dumps(value)))
        self.settle()

    def move(self, x, y):
        self.pointer([("move", x, y)])

    def click(self, x, y, times=1):
        self.pointer([("move", x, y), *[("down", "up")[i % 2] for i in range(2 * times)]])
        self.settle()

    def drag(self, x, y, to_x, to_y):
        between = [("move", x + (to_x - x) * step / 5, y + (to_y - y) * step / 5) for step in range(1, 6)]
        self.pointer([("move", x, y), "down", *between, "up"])
        self.settle()

    def wheel(self, x, y, delta_y, modifier=""):
        self.scroll(x, y, delta_y, modifier)
        self.settle()

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(self.screenshot())


def Browser(width=1200, height=800):
    """Of a page of that size."""
    if os.environ.get("SAMPLER_BROWSER") == "firefox":
        from firefox import Firefox
        return Firefox(width, height)
    from chromium import Chromium
    return Chromium(width, height)
