"""sampler-run stands between a command and its caller as if it were not there."""

import glob
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import (BUILD, SAMPLER_RUN, Folded, Skip, case, check, check_equal, clean_environment, main, need, run,
                 sampler, sampler_run, test_program)


def start(argv, **how):
    return subprocess.Popen([SAMPLER_RUN, "-q", "-o", "out.folded", "--"] + argv,
                            env=clean_environment(), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, **how)


def read_until(file, wanted):
    lines = []
    for line in iter(file.readline, b""):
        lines.append(line.decode().strip())
        if lines[-1] == wanted:
            return lines
    raise AssertionError("%r never came, only %r" % (wanted, lines))


def wait_for(condition, what, limit_s=20):
    end = time.monotonic() + limit_s
    while not condition():
        check(time.monotonic() < end, "%s did not come to pass", what)
        time.sleep(0.01)


def state_of(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as stat:
        return stat.read().rsplit(")", 1)[1].split()[0]


def child_of(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as children:
        return int(children.read().split()[0])


@case
def arguments(_scratch):
    words = ["", "a b", "--help", "-o", "*", "é\n", "--"]
    program = "import sys; print(sys.argv[1:]); print(sys.stdin.read()); sys.exit(3)"
    with open("input", "w", encoding="ascii") as out:
        out.write("some input")
    argv = [sys.executable, "-c", program] + words
    with open("input", "rb") as stdin:
        bare = run(argv, stdin=stdin)
    with open("input", "rb") as stdin:
        profiled = sampler_run(["-q", "-o", "out.folded"], argv, stdin=stdin)
    check_equal((profiled.status, profiled.stdout, profiled.stderr),
                (bare.status, bare.stdout, bare.stderr), "status, stdout, stderr")


@case
def exit_status(_scratch):
    for status in (0, 1, 77, 125, 126, 127, 255):
        result = sampler_run(["-q", "-o", "out.folded"], ["sh", "-c", "exit %d" % status])
        check_equal(result.status, status, "exit status")
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT, signal.SIGPIPE):
        result = sampler_run(["-q", "-o", "out.folded"], ["sh", "-c", "kill -%d $$" % number])
        check_equal(result.status, 128 + number, "exit status after signal %d" % number)
        check(os.path.exists("out.folded"), "no profile after signal %d", number)
        os.unlink("out.folded")


@case
def signals_untouched(_scratch):
    """The command finds mask and dispositions as our caller left them."""
    def prepare():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1, signal.SIGALRM})
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGQUIT, signal.SIG_IGN)

    def seen(argv):
        child = subprocess.Popen(argv, env=clean_environment(), stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, preexec_fn=prepare)
        lines = read_until(child.stdout, "ready")
        child.send_signal(signal.SIGTERM)
        check_equal(read_until(child.stdout, "15")[-1:], ["15"], "signals that arrived")
        check_equal(child.wait(), 7, "exit status")
        return lines

    program = test_program("signals")
    bare = seen([program])
    check("blocked 10 14" in bare, "the test itself is wrong: %r", bare)
    check_equal(seen([SAMPLER_RUN, "-q", "-o", "out.folded", program]), bare, "signals seen")


@case
def signals_forwarded(_scratch):
    child = start([test_program("signals")])
    read_until(child.stdout, "ready")
    for number in (signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT, signal.SIGTERM):
        child.send_signal(number)
        read_until(child.stdout, str(int(number)))
    check_equal(child.wait(), 7, "exit status")
    check(os.path.exists("out.folded"), "no profile")


@case
def ignored_sigchld(_scratch):
    """A caller that ignores SIGCHLD would make children vanish without a status."""
    result = sampler_run(["-q", "-o", "out.folded"], ["sh", "-c", "exit 9"],
                         preexec=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    check_equal(result.status, 9, "exit status")


@case
def closed_stdin(_scratch):
    """Started without stdin, stdout and stderr: none of our files may take their numbers."""
    def close_all():
        for fd in (0, 1, 2):
            os.close(fd)

    program = ("import os\n"
               "open_fds = [fd for fd in (0, 1, 2) if os.path.exists('/proc/self/fd/%d' % fd)]\n"
               "os._exit(40 + len(open_fds))\n")
    bare = run([sys.executable, "-S", "-c", program], preexec=close_all)
    result = sampler_run(["-q", "-o", "out.folded"], [sys.executable, "-S", "-c", program],
                         preexec=close_all)
    check_equal(result.status, bare.status, "exit status")


@case
def several_outputs(_scratch):
    os.mkdir("sub")
    result = sampler_run(["-o", "a.folded", "-o", "sub/b.folded", "-o", "c.any", "-f", "folded"],
                         [test_program("burn"), "0.3"])
    check_equal(result.status, 0, "exit status (%s)" % result.stderr)
    for name in ("a.folded", "sub/b.folded", "c.any"):
        check(name in result.stderr, "%s is not named in %r", name, result.stderr)
    first = Folded("a.folded").stacks
    check(sum(first.values()) > 200, "%d samples only", sum(first.values()))
    check_equal(Folded("sub/b.folded").stacks, first, "second output")
    check_equal(Folded("c.any").stacks, first, "third output")


@case
def launcher_is_light(_scratch):
    """sampler-run itself needs libc only: what reads debug information and writes formats is `sampler`'s."""
    text = run([need("readelf"), "-d", SAMPLER_RUN]).stdout.decode()
    check_equal(re.findall(r"\(NEEDED\).*\[(.*)\]", text), ["libc.so.6"], "libraries")


def copy_without_tool():
    for folder in ("bin", "lib"):
        shutil.copytree(os.path.join(BUILD, folder), os.path.join("home", folder))
    os.unlink(os.path.join("home", "bin", "sampler"))
    return os.path.abspath("home/bin/sampler-run")


@case
def no_tool(scratch):
    """Without `sampler` beside it: said in a clear line, the status is the command's, the recordings are kept."""
    result = run([copy_without_tool(), "-o", "out.folded", test_program("burn"), "0.2", "exit", "3"])
    check_equal(result.status, 3, "exit status")
    lines = result.stderr.splitlines()
    check(len(lines) == 2 and lines[0].startswith("sampler-run: ") and "home/bin/sampler" in lines[0]
          and "No such file" in lines[0] and "sampler report" in lines[1], "stderr: %r", result.stderr)
    check(not os.path.exists("out.folded"), "a profile of nobody")
    folder = glob.glob(os.path.join(scratch, ".sampler-*"))
    check_equal(len(folder), 1, "folders kept")
    again = sampler("report", folder[0], "-o", "later.folded", "--remove")
    check_equal((again.status, again.stderr), (0, ""), "report of the folder: status, stderr")
    check(Folded("later.folded").total > 100, "an empty profile")
    check(not os.path.exists(folder[0]), "the folder is still there")


@case
def report_interrupted(scratch):
    """A signal while the profile is made ends that, not us: the recordings are kept, the status is the command's."""
    launcher = copy_without_tool()
    with open("home/bin/sampler", "w", encoding="ascii") as out:
        out.write("#!/bin/sh\necho reporting LD_PRELOAD=$LD_PRELOAD\nexec sleep 20\n")
    os.chmod("home/bin/sampler", 0o755)
    for number in (signal.SIGTERM, signal.SIGINT):
        child = subprocess.Popen([launcher, "-o", "out.folded", "sh", "-c", "exit 6"], env=clean_environment(),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        read_until(child.stdout, "reporting LD_PRELOAD=")
        time.sleep(0.2)  # the shell becomes sleep
        child.send_signal(number)
        _, stderr = child.communicate()
        check_equal(child.returncode, 6, "exit status")
        text = stderr.decode()
        check("symbolizing ended by signal %d" % number in text and "the recordings are kept" in text, "stderr: %r", text)
    check_equal(len(glob.glob(os.path.join(scratch, ".sampler-*", "*.sampler"))), 2, "recordings kept")


def in_terminal(argv):
    """Starts argv as the foreground of a new terminal; returns (pid, terminal's other end)."""
    try:
        pid, terminal = pty.fork()
    except OSError as error:
        raise Skip("no terminals here: %s" % error) from error
    if pid == 0:
        os.execve(argv[0], argv, clean_environment())
    return pid, terminal


def terminal_read(terminal, wanted):
    text = b""
    while wanted not in text:
        try:
            piece = os.read(terminal, 1000)
        except OSError:
            piece = b""
        check(piece, "the terminal showed %r, wanted %r", text, wanted)
        text += piece
    return text


@case
def terminal_keys(_scratch):
    """Ctrl-C reaches the command, once; we stay to write the profile."""
    program = ("import signal, sys, time\n"
               "hits = []\n"
               "signal.signal(signal.SIGINT, lambda *_: hits.append(1))\n"
               "print('ready', flush=True)\n"
               "end = time.monotonic() + 20\n"
               "while not hits and time.monotonic() < end: sum(range(1000))\n"
               "end = time.monotonic() + 0.3\n"
               "while time.monotonic() < end: sum(range(1000))\n"
               "sys.exit(50 + len(hits))\n")
    pid, terminal = in_terminal([SAMPLER_RUN, "-q", "-o", "out.folded", sys.executable, "-c",
                                 program])
    terminal_read(terminal, b"ready")
    os.write(terminal, b"\x03")
    _, wait_status = os.waitpid(pid, 0)
    os.close(terminal)
    check_equal(os.waitstatus_to_exitcode(wait_status), 51, "exit status")
    check(Folded("out.folded").total > 100, "hardly any sample")


@case
def job_control(_scratch):
    """Ctrl-Z stops both, so that the shell gets its prompt; SIGCONT continues both."""
    shell = ("import os, signal, sys\n"
             "signal.signal(signal.SIGTTOU, signal.SIG_IGN)\n"
             "pid = os.fork()\n"
             "if pid == 0:\n"
             "    os.setpgid(0, 0)\n"
             "    os.tcsetpgrp(0, os.getpgrp())\n"
             "    signal.signal(signal.SIGTTOU, signal.SIG_DFL)\n"
             "    os.execv(sys.argv[1], sys.argv[1:])\n"
             "print('pid', pid, flush=True)\n"
             "_, status = os.waitpid(pid, os.WUNTRACED)\n"
             "os.tcsetpgrp(0, os.getpgrp())\n"
             "print('stopped' if os.WIFSTOPPED(status) else 'ended', flush=True)\n"
             "sys.stdin.readline()\n"
             "os.tcsetpgrp(0, pid)\n"
             "os.killpg(pid, signal.SIGCONT)\n"
             "_, status = os.waitpid(pid, 0)\n"
             "os._exit(os.waitstatus_to_exitcode(status))\n")
    program = "import time; print('ready', flush=True); time.sleep(1.5); raise SystemExit(5)"
    pid, terminal = in_terminal([sys.executable, "-c", shell, SAMPLER_RUN, "-q", "-o",
                                 "out.folded", sys.executable, "-c", program])
    text = terminal_read(terminal, b"ready")
    while b"pid " not in text:
        text += terminal_read(terminal, b"\n")
    runner = int(text.split(b"pid ")[1].split()[0])
    os.write(terminal, b"\x1a")
    terminal_read(terminal, b"stopped")
    command = child_of(runner)
    wait_for(lambda: state_of(runner) == "T" and state_of(command) == "T", "both stopping")
    os.write(terminal, b"\n")
    _, wait_status = os.waitpid(pid, 0)
    os.close(terminal)
    check_equal(os.waitstatus_to_exitcode(wait_status), 5, "exit status")


if __name__ == "__main__":
    main()
