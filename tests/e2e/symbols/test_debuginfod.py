"""Debug information from servers: debuginfod, whatever they answer, and never without DEBUGINFOD_URLS."""

import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from debug_files import LINES, NOTHING, alt_link_make, build_id, command, program_make, record, report
from e2e import case, check, check_equal, clean_environment, main, need, sampler_run
from views import on_terminal


class Server(http.server.ThreadingHTTPServer):
    """Has the files of `held` by their build id; `answer(handler, bytes)` sends them."""

    def __init__(self, answer, *held):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.held = {build_id(path): path for path in held}
        self.asked = []
        self.over = threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        return "http://127.0.0.1:%d" % self.server_address[1]

    def environment(self, **variables):
        return clean_environment(DEBUGINFOD_URLS=self.url(), **variables)

    def __exit__(self, *_):
        self.over.set()
        self.shutdown()
        self.server_close()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        _, kind, of, what = self.path.split("/")
        self.server.asked.append(of)
        if kind != "buildid" or what != "debuginfo" or of not in self.server.held:
            self.send_error(404)
            return
        with open(self.server.held[of], "rb") as file:
            self.server.answer(self, file.read())

    def log_message(self, *_):
        pass


def whole(handler, body):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def silent(handler, _body):
    handler.server.over.wait(100)


def trickle(handler, body):
    """Never silent for long, and never done."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(1000 * len(body)))
    handler.end_headers()
    try:
        while not handler.server.over.wait(0.2):
            handler.wfile.write(bytes(100000))
    except OSError:
        pass


def cut(handler, body):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[:len(body) // 2])
    handler.close_connection = True


def refused(handler, _body):
    handler.send_error(500)


def make():
    """./work and its recording; the debug file is where nobody looks."""
    program_make()
    record()
    os.rename("work.debug", "debug")


def forget():
    shutil.rmtree(os.path.join(os.environ["XDG_CACHE_HOME"], "debuginfod_client"), ignore_errors=True)


@case
def has_it(_scratch):
    """It is asked once: what it has is kept."""
    make()
    with Server(whole, "debug") as server:
        check_equal(report("-q", env=server.environment()), (LINES, ""), "first")
        check_equal(server.asked, [build_id("work")], "asked for")
        check_equal(report("-q", env=server.environment()), (LINES, ""), "again")
        check_equal(len(server.asked), 1, "asked again")
    result = sampler_run(["-q", "-o", "x.sprofile"], [os.path.abspath("work")], env=server.environment())
    check_equal((result.status, result.stderr), (0, ""), "of sampler-run, what was kept and no server")


@case
def has_what_dwz_split_off(_scratch):
    program_make()
    alt = alt_link_make()
    record()
    os.rename("work.debug", "debug")
    with Server(whole, "debug", "alt") as server:
        check_equal(report("-q", "--account-file", "account.json", env=server.environment()), (LINES, ""), "found")
        check_equal(server.asked, [build_id("work"), alt], "asked for")
    with open("account.json", encoding="utf-8") as file:
        check("split off" not in file.read(), "something is missing")


@case
def has_it_not(_scratch):
    """Then it is as if nobody had been asked."""
    make()
    with Server(whole) as server:
        found, said = report(env=server.environment())
        check_equal(server.asked, [build_id("work")], "asked for")
    check_equal((found, said), (NOTHING, report()[1]), "found and said")


@case
def broken(_scratch):
    """A server that sends something else, half of it, an error, or is not there."""
    make()
    shutil.copy("work.whole", "another")
    program_make("-O1")  # another build id
    os.rename("another", "work.whole")
    command("strip", "-o", "work", "work.whole")
    os.rename("work.debug", "wrong")
    for answer, path in ((whole, "wrong"), (whole, "work.c"), (cut, "debug"), (refused, "debug")):
        forget()
        with Server(answer) as server:
            server.held[build_id("work")] = path
            found, said = report(env=server.environment())
            check_equal(server.asked, [build_id("work")], "asked for")
        check_equal((found, said), (NOTHING, report()[1]), "%s of %s" % (answer.__name__, path))
    forget()
    found, said = report(env=server.environment())
    check_equal(found, NOTHING, "found at a server that is not there")
    check(": the servers of DEBUGINFOD_URLS: Connection refused" in said, "said: %s", said)


def two_modules(part, work):
    """Records ./work and the libpart.so it calls, of these sources, both stripped."""
    with open("part.c", "w", encoding="ascii") as file:
        file.write(part)
    with open("work.c", "w", encoding="ascii") as file:
        file.write(work)
    command("gcc", "-O2", "-shared", "-fPIC", "part.c", "-o", "libpart.so")
    command("gcc", "-O2", "work.c", "-L.", "-Wl,-rpath," + os.getcwd(), "-lpart", "-o", "work")
    command("strip", "work", "libpart.so")
    record()


def slow_one(answer, **variables):
    """It is asked once, for whichever of the two came first; what is said."""
    spin = "static volatile unsigned long n; void %s(void) { while (n < 200000000) n++; %s }"
    two_modules(spin % ("part", ""), "void part(void);" + spin.replace("void %s", "int %s") % ("main", "part(); return 0;"))
    with Server(answer, "work", "libpart.so") as server:
        _, said = report(env=server.environment(**variables))
        check_equal(len(server.asked), 1, "times asked")
    check(": the servers of DEBUGINFOD_URLS: too slow (DEBUGINFOD_TIMEOUT, DEBUGINFOD_MAXTIME)" in said, "said: %s", said)


@case
def only_what_weighs(_scratch):
    """The library is in all stacks, but no time is spent there."""
    two_modules("volatile int n; void part(void (*f)(void)) { f(); n = 1; }", """
void part(void (*f)(void));
static void spin(void) { static volatile unsigned long n; while (n < 300000000) n++; }
int main(void) { part(spin); return 0; }
""")
    with Server(whole) as server:
        report("-q", env=server.environment())
        check_equal(server.asked, [build_id("work")], "asked for")


@case
def slow(_scratch):
    slow_one(silent, DEBUGINFOD_TIMEOUT=1)


@case
def slow_all_the_time(_scratch):
    slow_one(trickle, DEBUGINFOD_MAXTIME=2)


@case
def who_waits_sees_why(_scratch):
    make()
    with Server(trickle, "debug") as server:
        text = on_terminal(80, 24, "report", "-q", "recording", "-o", "x.sprofile", streams=(2,), DEBUGINFOD_URLS=server.url(), DEBUGINFOD_MAXTIME=4)
    size_mb = 1000 * os.path.getsize("debug") / 1e6
    check("symbolizing: fetching work, 0." in text or "symbolizing: fetching work, 1." in text, "shown: %r", text)
    check(" of %.1f MB, 2 s" % size_mb in text, "shown: %r", text)


@case
def never_without_the_variable(_scratch):
    """Nor is the client loaded."""
    make()
    with Server(whole, "debug") as server:
        for urls in (None, "", " "):
            env = clean_environment(LD_DEBUG="files", DEBUGINFOD_TIMEOUT=1)
            if urls is not None:
                env["DEBUGINFOD_URLS"] = urls
            found, said = report("-q", env=env)
            check_equal(found, NOTHING, "found with %r" % urls)
            check("libdw.so" in said and "libdebuginfod" not in said, "the client is loaded with %r", urls)
        check_equal(server.asked, [], "asked for")


@case
def no_client(_scratch):
    """The library is not installed, or is something else."""
    program_make("-shared", "-fPIC", source="int nothing;")
    os.makedirs("other")
    os.rename("work", "other/libdebuginfod.so.1")
    os.mkdir("no")
    with open("no/libdebuginfod.so.1", "w", encoding="ascii") as file:
        file.write("no library")
    make()
    with Server(whole, "debug") as server:
        for folder, why in (("no", "DEBUGINFOD_URLS is set, but there is no libdebuginfod.so.1 to ask with"), ("other", "libdebuginfod.so.1 cannot be used")):
            _, said = report(env=server.environment(LD_LIBRARY_PATH=os.path.abspath(folder)))
            check(why in said, "said: %s", said)
        check_equal(server.asked, [], "asked for")


def port_free():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(url):
    """It has read its folder when it has the file."""
    for _ in range(300):
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return answer.read()
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
    check(False, "%s is not to be had", url)
    return b""


@case
def the_real_one(_scratch):
    """elfutils' own server."""
    program = need("debuginfod")
    make()
    os.makedirs("files")
    shutil.copy("debug", "files/work.debug")
    url = "http://127.0.0.1:%d" % port_free()
    with subprocess.Popen([program, "-d", ":memory:", "-p", url.rsplit(":", 1)[1], "-F", "files"], env=clean_environment(),
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            wait_for("%s/buildid/%s/debuginfo" % (url, build_id("work")))
            check_equal(report("-q", env=clean_environment(DEBUGINFOD_URLS=url)), (LINES, ""), "found")
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
