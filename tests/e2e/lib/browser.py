"""Chromium as a person uses it: opens a page, moves the mouse, types, looks.

It is told what to do over a pipe (Chrome DevTools Protocol, messages of JSON with a NUL after each), so nothing is
needed but Debian's chromium. What a page should never do is gathered in `problems`: exceptions, errors on the console,
refusals by its policy, and requests beyond the file itself.
"""

import base64
import fcntl
import json
import os
import select
import subprocess
import tempfile
import time

from e2e import Failure, need

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "Home": 36, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
MODIFIERS = {"": 0, "Control": 2, "Shift": 8}
WAIT_S = 60


class Browser:
    def __init__(self, width=1200, height=800):
        chromium = need("chromium")
        self.folder = tempfile.TemporaryDirectory(prefix="sampler-chromium-", ignore_cleanup_errors=True)
        their_in, our_out = os.pipe()
        our_in, their_out = os.pipe()
        # The browser reads from 3 and writes to 4: ours must not be in the way when they get these numbers.
        high_in, high_out = fcntl.fcntl(their_in, fcntl.F_DUPFD, 10), fcntl.fcntl(their_out, fcntl.F_DUPFD, 10)

        def place_pipes():
            os.dup2(high_in, 3)
            os.dup2(high_out, 4)

        self.process = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-extensions", "--remote-debugging-pipe",
             "--window-size=%d,%d" % (width, height), "--user-data-dir=" + self.folder.name, "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(3, 4),
            preexec_fn=place_pipes, start_new_session=True)
        for fd in (their_in, their_out, high_in, high_out):
            os.close(fd)
        self.reading, self.writing = our_in, our_out
        self.received = b""
        self.last_id = 0
        self.problems = []
        self.file = None
        target = self.call("Target.createTarget", {"url": "about:blank"}, session=None)["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True}, session=None)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", session=None)
            self.process.wait(10)
        except (Failure, OSError, subprocess.TimeoutExpired):
            pass
        if self.process.poll() is None:
            os.killpg(self.process.pid, 9)
            self.process.wait()
        os.close(self.reading)
        os.close(self.writing)
        self.folder.cleanup()

    # ---- the protocol -----------------------------------------------------------------------

    def call(self, method, parameters=None, session=""):
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": parameters or {}}
        if session is not None:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.writing, data):]
        while True:
            answer = self.receive(method)
            if answer.get("id") == self.last_id:
                if "error" in answer:
                    raise Failure("%s: %s" % (method, answer["error"]))
                return answer["result"]

    def receive(self, what):
        """The next message; events are looked at on the way."""
        until = time.monotonic() + WAIT_S
        while b"\0" not in self.received:
            if not select.select([self.reading], [], [], max(0, until - time.monotonic()))[0]:
                raise Failure("%s: the browser does not answer" % what)
            piece = os.read(self.reading, 1 << 20)
            if not piece:
                raise Failure("%s: the browser has ended" % what)
            self.received += piece
        line, self.received = self.received.split(b"\0", 1)
        message = json.loads(line)
        self.look_at(message.get("method"), message.get("params"))
        return message

    def look_at(self, event, what):
        if event == "Runtime.exceptionThrown":
            details = what["exceptionDetails"]
            self.problems.append(details.get("exception", {}).get("description", details["text"]))
        elif event == "Log.entryAdded" and what["entry"]["level"] in ("error", "warning"):
            self.problems.append(what["entry"]["text"])
        elif event == "Runtime.consoleAPICalled" and what["type"] in ("error", "warning", "assert"):
            self.problems.append(str(what["args"]))
        elif event == "Network.requestWillBeSent" and what["request"]["url"] not in (self.file, "about:blank"):
            self.problems.append("request for " + what["request"]["url"])

    # ---- what a person does -----------------------------------------------------------------

    def open(self, path, fragment=""):
        """Opens a page and waits until it shows its profile, or why it cannot."""
        self.file = "file://" + os.path.abspath(path)
        self.call("Page.navigate", {"url": "about:blank"})
        self.call("Page.navigate", {"url": self.file + fragment})
        self.wait("location.protocol === 'file:' && document.readyState === 'complete' && "
                  "(document.getElementById('profile') === null || !document.getElementById('alert').hidden)")
        self.settle()

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in result:
            raise Failure("%s: %s" % (expression, result["exceptionDetails"]))
        return result["result"].get("value")

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

    def press(self, *keys):
        for key in keys:
            code = KEYS.get(key, 0)
            event = {"key": key, "code": key, "windowsVirtualKeyCode": code}
            if code == 0 or key == "Enter":
                event["text"] = "\r" if key == "Enter" else key
            self.call("Input.dispatchKeyEvent", {"type": "keyDown", **event})
            self.call("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def type(self, selector, text):
        """In place of what is there."""
        self.evaluate("{const input = document.querySelector(%s); input.focus(); input.select();}" % json.dumps(selector))
        if text == "":
            self.call("Input.dispatchKeyEvent", {"type": "keyDown", "key": "Delete", "windowsVirtualKeyCode": 46})
        else:
            self.call("Input.insertText", {"text": text})

    def choose(self, selector, value):
        self.evaluate("{const choice = document.querySelector(%s); choice.value = %s; choice.dispatchEvent(new Event('change'));}"
                      % (json.dumps(selector), json.dumps(value)))
        self.settle()

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})

    def click(self, x, y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        self.mouse("mouseReleased", x, y, button="left", clickCount=1)
        self.settle()

    def drag(self, x, y, to_x, to_y):
        self.mouse("mouseMoved", x, y)
        self.mouse("mousePressed", x, y, button="left", buttons=1, clickCount=1)
        for step in range(1, 6):
            self.mouse("mouseMoved", x + (to_x - x) * step / 5, y + (to_y - y) * step / 5, button="left", buttons=1)
        self.mouse("mouseReleased", to_x, to_y, button="left", clickCount=1)
        self.settle()

    def wheel(self, x, y, delta_y, modifier=""):
        self.mouse("mouseWheel", x, y, deltaX=0, deltaY=delta_y, modifiers=MODIFIERS[modifier])
        self.settle()

    def prefer(self, scheme):
        """"dark" or "light", as the system's setting."""
        self.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.settle()

    def picture(self, path):
        data = self.call("Page.captureScreenshot", {"format": "png"})["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
