"""Firefox, told what to do over a socket (Marionette, messages of JSON after their length), so nothing is needed but
Debian's firefox-esr."""

import base64
import json
import os
import signal
import socket
import subprocess
import tempfile
import time

from browser import WAIT_S, Page
from e2e import Failure, need

# Keys without a character, as WebDriver has them.
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Home": "\ue011", "ArrowLeft": "\ue012", "ArrowUp": "\ue013",
        "ArrowRight": "\ue014", "ArrowDown": "\ue015", "Delete": "\ue017"}
MODIFIERS = {"Shift": "\ue008", "Control": "\ue009"}

# Run with the browser's own rights: what the page asked for over the network, or was refused.
WATCH = """
    this.requests = [];
    Services.obs.addObserver({observe(channel) {
        channel.QueryInterface(Ci.nsIChannel);
        if (channel.loadInfo.triggeringPrincipal.schemeIs('file'))
            requests.push('request for ' + channel.URI.spec);
    }}, 'http-on-opening-request');
"""
PROBLEMS = """
    const errors = Services.console.getMessageArray().filter((message) => message instanceof Ci.nsIScriptError &&
        message.sourceName.startsWith('file:') && (message.flags & Ci.nsIScriptError.infoFlag) === 0);
    const said = errors.map((error) => error.errorMessage).concat(requests.splice(0));
    Services.console.reset();
    return said;
"""
PREFER = "Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', arguments[0] === 'dark' ? 0 : 1)"


class Firefox(Page):
    def __init__(self, width, height):
        firefox = need("firefox-esr")
        self.folder = tempfile.TemporaryDirectory(prefix="sampler-firefox-", ignore_cleanup_errors=True)
        with open(os.path.join(self.folder.name, "user.js"), "w", encoding="ascii") as file:
            file.write('user_pref("marionette.port", 0);\n')
        environment = {**os.environ, "HOME": self.folder.name}
        self.process = subprocess.Popen(
            [firefox, "--headless", "--no-remote", "--marionette", "--remote-allow-system-access", "--profile", self.folder.name, "about:blank"],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        self.last_id = 0
        self.noticed = []
        self.socket = socket.create_connection(("127.0.0.1", self.port()), timeout=WAIT_S)
        self.stream = self.socket.makefile("rb")
        self.receive()  # who it is
        self.call("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {"timeouts": {"script": 1000 * WAIT_S}}}})
        self.with_rights(WATCH)
        inner = self.evaluate("[innerWidth - outerWidth, innerHeight - outerHeight]")
        self.call("WebDriver:SetWindowRect", {"width": width - inner[0], "height": height - inner[1]})

    def port(self):
        """It writes which one it took."""
        until = time.monotonic() + WAIT_S
        path = os.path.join(self.folder.name, "MarionetteActivePort")
        while time.monotonic() < until and self.process.poll() is None:
            if os.path.exists(path):
                with open(path, encoding="ascii") as file:
                    port = file.read()
                if port != "":
                    return int(port)
            time.sleep(0.02)
        raise Failure("firefox has not started")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.folder.cleanup()

    # ---- the protocol -----------------------------------------------------------------------

    def receive(self):
        length = b""
        while not length.endswith(b":"):
            piece = self.stream.read(1)
            if piece == b"":
                raise Failure("firefox has ended")
            length += piece
        return json.loads(self.stream.read(int(length[:-1])))

    def call(self, command, parameters=None):
        self.last_id += 1
        data = json.dumps([0, self.last_id, command, parameters or {}]).encode()
        self.socket.sendall(b"%d:%s" % (len(data), data))
        _, number, error, result = self.receive()
        if number != self.last_id or error is not None:
            raise Failure("%s: %s" % (command, error))
        return result

    def with_rights(self, script, *arguments):
        self.call("Marionette:SetContext", {"value": "chrome"})
        try:
            return self.call("WebDriver:ExecuteScript", {"script": script, "args": arguments, "newSandbox": False, "sandbox": "test"})["value"]
        finally:
            self.call("Marionette:SetContext", {"value": "content"})

    @property
    def problems(self):
        self.noticed += self.with_rights(PROBLEMS)
        return self.noticed

    @problems.setter
    def problems(self, problems):
        self.noticed = problems

    # ---- what a person does -----------------------------------------------------------------

    def navigate(self, url):
        self.call("WebDriver:Navigate", {"url": url})

    def evaluate(self, expression):
        return self.call("WebDriver:ExecuteScript", {"script": "return (%s)" % expression, "args": []})["value"]

    def act(self, *sources):
        self.call("WebDriver:PerformActions", {"actions": sources})

    def type_keys(self, keys):
        self.act({"type": "key", "id": "keyboard",
                  "actions": [{"type": way, "value": key} for key in keys for way in ("keyDown", "keyUp")]})

    def press(self, *keys):
        self.type_keys([KEYS.get(key, key) for key in keys])

    def insert(self, text):
        self.type_keys(text)

    def pointer(self, steps):
        actions = []
        for step in steps:
            if step in ("down", "up"):
                actions.append({"type": "pointerDown" if step == "down" else "pointerUp", "button": 0})
            else:
                actions.append({"type": "pointerMove", "x": round(step[1]), "y": round(step[2]), "duration": 0})
        self.act({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions})

    def scroll(self, x, y, delta_y, modifier):
        held = [] if modifier == "" else [{"type": "keyDown", "value": MODIFIERS[modifier]}]
        freed = [] if modifier == "" else [{"type": "pause"}, {"type": "keyUp", "value": MODIFIERS[modifier]}]
        self.act({"type": "key", "id": "keyboard", "actions": held + freed},
                 {"type": "wheel", "id": "wheel", "actions": [*[{"type": "pause"} for _ in held], {
                     "type": "scroll", "x": round(x), "y": round(y), "deltaX": 0, "deltaY": delta_y}]})

    def prefer(self, scheme):
        """"dark" or "light", as the system's setting."""
        self.with_rights(PREFER, scheme)
        self.settle()

    def screenshot(self):
        return base64.b64decode(self.call("WebDriver:TakeScreenshot", {"full": False})["value"])
