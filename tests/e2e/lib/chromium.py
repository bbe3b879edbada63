"""Chromium, told what to do over a pipe (Chrome DevTools Protocol, messages of JSON with a NUL after each), so nothing
is needed but Debian's chromium."""

import base64
import fcntl
import json
import os
import select
import subprocess
import tempfile
import time

from browser import WAIT_S, Page
from e2e import Failure, need

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, "Home": 36, "Delete": 46, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
MODIFIERS = {"": 0, "Control": 2, "Shift": 8}


class Chromium(Page):
    def __init__(self, width, height):
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
        target = self.call("Target.createTarget", {"url": "about:blank"}, session=None)["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True}, session=None)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.resize(width, height)

    def resize(self, width, height, scale=1):
        self.call("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": False})

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

    def navigate(self, url):
        self.call("Page.navigate", {"url": url})

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True})
        if "exceptionDetails" in result:
            raise Failure("%s: %s" % (expression, result["exceptionDetails"]))
        return result["result"].get("value")

    def press(self, *keys):
        for key in keys:
            code = KEYS.get(key, 0)
            event = {"key": key, "code": key, "windowsVirtualKeyCode": code}
            if code == 0 or key == "Enter":
                event["text"] = "\r" if key == "Enter" else key
            self.call("Input.dispatchKeyEvent", {"type": "keyDown", **event})
            self.call("Input.dispatchKeyEvent", {"type": "keyUp", **event})

    def insert(self, text):
        self.call("Input.insertText", {"text": text})

    def pointer(self, steps):
        x, y, n_down, button = 0, 0, 0, {}
        for step in steps:
            kind = {"down": "mousePressed", "up": "mouseReleased"}.get(step, "mouseMoved")
            if kind == "mouseMoved":
                _, x, y = step
            elif kind == "mousePressed":
                n_down += 1
                button = {"button": "left", "buttons": 1}
            elif kind == "mouseReleased":
                button = {"button": "left"}
            clicks = {} if kind == "mouseMoved" else {"clickCount": n_down}
            self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **button, **clicks})
            if kind == "mouseReleased":
                button = {}

    def scroll(self, x, y, delta_y, modifier):
        self.call("Input.dispatchMouseEvent", {"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": delta_y,
                                               "modifiers": MODIFIERS[modifier]})

    def prefer(self, scheme):
        """"dark" or "light", as the system's setting."""
        self.call("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.settle()

    def screenshot(self):
        return base64.b64decode(self.call("Page.captureScreenshot", {"format": "png"})["data"])
