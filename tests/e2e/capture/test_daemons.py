"""sampler-run and what its command leaves running: it waits for those that are recorded, or leaves them to run."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import (BUILD, SAMPLER_RUN, Folded, Skip, case, check, check_equal, clean_environment, main,  # noqa: E402
                 run, sampler, sampler_run, test_program)

DAEMON = test_program("daemon_work")
BURN = test_program("burn")
WAITING = "sampler-run: the command has ended; waiting for "


def in_profile(result, least_s, most_s, function="serve"):
    """`function` has so much of the profile, which accounts for all of the run, and nothing is left behind."""
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    got_s = Folded("out.folded").total_of(function) / 999
    check(least_s <= got_s <= most_s, "%.3f s of %s, stderr: %s", got_s, function, result.stderr)
    share = re.search(r"\(([0-9.]+) %\)", result.stderr)
    check(share and 95 <= float(share.group(1)) <= 100.5, "stderr: %s", result.stderr)
    check_equal(os.listdir("."), ["out.folded"], "files")


def wait_until(is_so, what):
    give_up = time.monotonic() + 60
    while not is_so():
        check(time.monotonic() < give_up, "never %s", what)
        time.sleep(0.02)


def ended(pid):
    """Also one that nobody waits for."""
    try:
        with open("/proc/%d/stat" % pid) as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


class Started:
    """sampler-run in the background, in a session of its own; its stderr comes to a file."""

    def __init__(self, *argv):
        with open("../err", "wb") as errors:
            self.child = subprocess.Popen([SAMPLER_RUN, "-o", "out.folded", *argv], env=clean_environment(),
                                          stdout=subprocess.PIPE, stderr=errors, start_new_session=True)

    def stderr(self):
        with open("../err") as errors:
            return errors.read()

    def daemon(self):
        """The pid that the command tells."""
        found = re.match(rb"daemon ([0-9]+)\n", self.child.stdout.readline())
        check(found, "no daemon: %s", self.stderr())
        return int(found.group(1))

    def status(self):
        return self.child.wait(timeout=60)


def own_folder():
    """For files beside the output there is the folder above."""
    os.mkdir("own")
    os.chdir("own")


@case
def no_sample_yet(_scratch):
    """A daemon that works once the command has ended is waited for, and all it does is in the profile."""
    result = sampler_run(["-o", "out.folded"], [DAEMON, "900", "500"])
    in_profile(result, 0.45, 0.55)
    check(WAITING + "1 process that it started: daemon_work (" in result.stderr, "stderr: %s", result.stderr)
    script = "(sleep 0.9; exec $1 0.5) >/dev/null 2>&1 &"
    result = sampler_run(["-o", "out.folded"], ["sh", "-c", script, "sh", BURN])
    in_profile(result, 0.45, 0.55, "work")
    result = sampler_run(["--paused", "-o", "out.folded"], ["sh", "-c", script, "sh", BURN])  # which makes no files
    check(WAITING + "2 processes" in result.stderr, "stderr: %s", result.stderr)


@case
def told_after_a_while(_scratch):
    """Nothing is told of what ends soon, nor with -q; the rest in one line."""
    result = sampler_run(["-o", "out.folded"], ["sh", "-c", "$1 0.2 & $1 0.1", "sh", BURN])
    check(WAITING not in result.stderr and "running" not in result.stderr, "stderr: %s", result.stderr)
    in_profile(result, 0.25, 0.35, "work")
    result = sampler_run(["-q", "-o", "out.folded"], [DAEMON, "800", "100"])
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    check(Folded("out.folded").total_of("serve") > 80, "the daemon is not in the profile")
    script = "for i in 1 2 3 4; do $1 1 100 >/dev/null & done; for i in 1 2 3 4; do $1 1500 1 >/dev/null & done; wait"
    result = sampler_run(["-o", "out.folded"], ["sh", "-c", script, "sh", DAEMON])
    lines = [line for line in result.stderr.splitlines() if line.startswith(WAITING)]
    check(len(lines) == 1 and re.search(r"for [4-8] processes that it started: daemon_work \([0-9]+\),.*,.* and "
                                        "others; Ctrl-C makes", lines[0]), "stderr: %s", result.stderr)


@case
def title_in_ps(_scratch):
    """Where the environment is gone the recording tells."""
    result = sampler_run(["-o", "out.folded"], [DAEMON, "900", "500", "title"])
    in_profile(result, 0.45, 0.56)


@case
def about_to_join(_scratch):
    """Between its exec and the loading of the library a process has no more of us than its environment."""
    static = test_program("daemon_work_static")
    result = sampler_run(["-o", "out.folded"], ["sh", "-c", '"$@"; :', "sh", static, "25", "500", "exec", DAEMON])
    check(Folded("out.folded").total_of("serve") > 430, "%d samples, stderr: %s", Folded("out.folded").total_of("serve"),
          result.stderr)


@case
def not_recorded(_scratch):
    """A static program is not waited for, nor one that was started without us."""
    began = time.monotonic()
    for follow, program in ("all", test_program("static_program")), ("none", BURN):
        run_ = Started("--follow", follow, "sh", "-c", "$1 1000 >/dev/null 2>&1 & echo daemon $!", "sh", program)
        pid = run_.daemon()
        try:
            check_equal(run_.status(), 0, "status (%s)" % run_.stderr())
            check(WAITING not in run_.stderr(), "stderr: %s", run_.stderr())
        finally:
            os.kill(pid, signal.SIGKILL)
    check(time.monotonic() - began < 500, "it waited to the end")


@case
def left_to_run(_scratch):
    """--no-wait: the profile up to now, at once; the line that is told makes that of all when the rest has ended."""
    own_folder()
    run_ = Started("--no-wait", "sh", "-c", '"$@"; exit 3', "sh", DAEMON, "2000", "300")
    pid = run_.daemon()
    check_equal(run_.status(), 3, "status")
    check(not ended(pid), "it waited")
    check("1 process is still running: in the profile up to now" in run_.stderr(), "stderr: %s", run_.stderr())
    told = re.search(r"then: (sampler report --remove (\S+) -o) FILE\n", run_.stderr())
    check(told, "stderr: %s", run_.stderr())
    check_equal(Folded("out.folded").total_of("serve"), 0, "samples of the daemon")
    wait_until(lambda: ended(pid), "ended")
    report = sampler("report", "--remove", told.group(2), "-o", "all.folded")
    check_equal(report.status, 0, "status of report (%s)" % report.stderr)
    check(Folded("all.folded").total_of("serve") >= 270, "%d samples of the daemon",
          Folded("all.folded").total_of("serve"))
    check_equal(sorted(os.listdir(".")), ["all.folded", "out.folded"], "files")

    result = sampler_run(["--no-wait", "-o", "out.folded"], [BURN, "0.1"])  # nobody is left
    check(result.status == 0 and "then:" not in result.stderr, "stderr: %s", result.stderr)
    check_equal(sorted(os.listdir(".")), ["all.folded", "out.folded"], "files")


@case
def interrupted(_scratch):
    """Each signal that asks for it makes the profile up to now. What is left runs on, undisturbed, and its recording,
    which nobody can see any more, does not grow."""
    own_folder()
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT:
        run_ = Started("-F", "20000", DAEMON, "1", "600000")
        pid = run_.daemon()
        try:
            wait_until(lambda: WAITING in run_.stderr(), "waiting")
            run_.child.send_signal(number)
            check_equal(run_.status(), 0, "status (%s)" % run_.stderr())
            check("still running: in the profile up to now" in run_.stderr(), "stderr: %s", run_.stderr())
            check(Folded("out.folded").total_of("serve") > 0, "the daemon is not in the profile")
            check_equal(os.listdir("."), ["out.folded"], "files")
            if number == signal.SIGINT:
                grows_no_more(pid)
        finally:
            os.kill(pid, signal.SIGKILL)


def grows_no_more(pid):
    """Its file has room for as many samples as are taken in a moment, not for those of seconds at 20 kHz."""
    folder = "/proc/%d/fd" % pid
    [path] = [os.path.join(folder, name) for name in os.listdir(folder)
              if ".sampler" in os.readlink(os.path.join(folder, name))]
    check(os.readlink(path).endswith(" (deleted)"), "%s is there", os.readlink(path))
    before = os.stat(path).st_size
    time.sleep(3)
    check(os.stat(path).st_size - before <= 16384, "%d bytes more", os.stat(path).st_size - before)


@case
def signals_of_the_command(_scratch):
    """Whoever ends the command by a signal waits for nobody; other signals do not end the waiting."""
    own_folder()
    run_ = Started("sh", "-c", '"$@"; kill -INT $$', "sh", DAEMON, "600000", "1")
    pid = run_.daemon()
    try:
        check_equal(run_.status(), 128 + signal.SIGINT, "status (%s)" % run_.stderr())
    finally:
        os.kill(pid, signal.SIGKILL)
    run_ = Started(DAEMON, "3000", "100")
    pid = run_.daemon()
    wait_until(lambda: WAITING in run_.stderr(), "waiting")
    for number in signal.SIGUSR1, signal.SIGWINCH, signal.SIGCHLD, signal.SIGALRM:
        run_.child.send_signal(number)
    check_equal(run_.status(), 0, "status (%s)" % run_.stderr())
    check(ended(pid), "it did not wait")
    check(Folded("out.folded").total_of("serve") > 80, "the daemon is not in the profile")


@case
def stops_with_the_duration(_scratch):
    """When nothing is sampled any more there is nothing to wait for."""
    own_folder()
    run_ = Started("--duration", "1", DAEMON, "1", "600000")
    pid = run_.daemon()
    try:
        check_equal(run_.status(), 0, "status (%s)" % run_.stderr())
        check(WAITING in run_.stderr() and "still running" in run_.stderr(), "stderr: %s", run_.stderr())
    finally:
        os.kill(pid, signal.SIGKILL)
    got_s = Folded("out.folded").total_of("serve") / 999
    check(0.1 <= got_s <= 1.1, "%.3f s of the daemon", got_s)


@case
def another_user(_scratch):
    """Root waits for a daemon that gave up its user, with or without a recording of its own yet."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        raise Skip("needs root and setpriv")
    for folder in ("bin", "lib"):
        shutil.copytree(os.path.join(BUILD, folder), os.path.join("home", folder))
    daemon = os.path.abspath(shutil.copy(DAEMON, "home/daemon"))
    for folder in (".", "home"):
        os.chmod(folder, 0o755)
    launcher = os.path.abspath("home/bin/sampler-run")
    own_folder()
    for how in [], ["title"]:
        result = run([launcher, "-o", "out.folded", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                      daemon, "900", "500", *how], env=clean_environment())
        in_profile(result, 0.45, 0.56)


if __name__ == "__main__":
    main()
