"""Bad input: one clear line, the right exit status, nothing half-written, nothing left behind."""

import os
import shutil
import stat
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import (Skip, case, check, check_equal, check_one_line, main, need, run, sampler,
                 sampler_run, test_program, BUILD, SAMPLER_RUN)


def check_nothing_left(scratch, *expected):
    check_equal(sorted(os.listdir(scratch)), sorted(expected), "files in the folder")


@case
def unknown_option(scratch):
    check_one_line(run([SAMPLER_RUN, "--frequnecy", "9", "true"]), 125, "frequnecy", "--frequency")
    check_one_line(run([SAMPLER_RUN, "--clock", "prf", "true"]), 125, "prf", "perf")
    check_one_line(run([SAMPLER_RUN, "-F", "many", "true"]), 125, "many", "100000")
    check_one_line(run([SAMPLER_RUN]), 125, "command")
    check_one_line(sampler("report", "--nmaes", "x"), 2, "nmaes", "--names")
    check_one_line(sampler("reprot"), 2, "reprot", "report")
    check_one_line(sampler("--reprot"), 2, "reprot")
    check_one_line(sampler("top"), 2, "no FILE is named")
    check_nothing_left(scratch)


@case
def unknown_format(scratch):
    check_one_line(sampler_run(["-o", "out.unheard"], ["touch", "ran"]), 125, "out.unheard",
                   "folded")
    check_one_line(sampler_run(["-f", "foldde"], ["touch", "ran"]), 125, "foldde", "folded")
    check_one_line(sampler_run(["-o", "out%z.folded"], ["touch", "ran"]), 125, "%z")
    check_nothing_left(scratch)


@case
def unreadable_formats(scratch):
    """A file we only write, JSON of others, nothing at all: what it is and what to do, under any name."""
    with open("a.folded", "w", encoding="utf-8") as out:
        out.write("main;work 5\n")
    check_equal(sampler("convert", "a.folded", "-o", "a.trace.json").status, 0, "status of convert")
    shutil.copy("a.trace.json", "b.cpuprofile")
    shutil.copy("a.trace.json", "b.json")
    with open("list.json", "w", encoding="utf-8") as out:
        out.write('[{"name":"f","ph":"X","ts":1,"dur":2,"pid":1,"tid":1}]')
    for name in ("a.trace.json", "b.cpuprofile", "b.json", "list.json"):
        for command in (["top", name], ["convert", name, "-o", "x.folded"], ["dump", name]):
            check_one_line(sampler(*command), 1, name, "chrome-trace", "can be written, not read")
    open("empty.trace.json", "w", encoding="utf-8").close()
    check_one_line(sampler("top", "empty.trace.json"), 1, "empty.trace.json", "empty")
    with open("other.json", "w", encoding="utf-8") as out:
        out.write('{\n  "answer": 42,\n  "b": 5\n}\n')
    check_one_line(sampler("top", "other.json"), 1, "other.json", "sampler formats")
    check_nothing_left(scratch, "a.folded", "a.trace.json", "b.cpuprofile", "b.json", "list.json",
                       "empty.trace.json", "other.json")


@case
def unwritable_output(scratch):
    check_one_line(sampler_run(["-o", "missing/out.folded"], ["touch", "ran"]), 125, "missing")
    os.mkdir("folder.folded")
    check_one_line(sampler_run(["-o", "folder.folded"], ["touch", "ran"]), 125, "folder.folded")
    check_one_line(sampler_run(["-o", "a.folded", "-o", "missing/b.folded"], ["touch", "ran"]), 125,
                   "missing")
    check_one_line(sampler_run(["-o", "/proc/out.folded"], ["touch", "ran"]), 125, "/proc")
    check_nothing_left(scratch, "folder.folded")
    if os.getuid() == 0 and shutil.which("setpriv"):
        for name in ("bin", "lib"):
            shutil.copytree(os.path.join(BUILD, name), os.path.join("home", name))
        os.chmod(scratch, 0o755)
        os.chmod("folder.folded", 0o755)
        result = run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                      os.path.abspath("home/bin/sampler-run"), "-o", "folder.folded/x.folded",
                      "true"])
        check_one_line(result, 125, "folder.folded", "ermission")
        check_equal(os.listdir("folder.folded"), [], "files in the unwritable folder")


@case
def missing_command(scratch):
    check_one_line(sampler_run([], ["no-such-command-anywhere"]), 127, "no-such-command-anywhere")
    check_one_line(sampler_run([], ["./no/such/path"]), 127, "./no/such/path")
    check_one_line(sampler_run([], [""]), 127)
    with open("script", "w", encoding="ascii") as out:
        out.write("#!/no/such/interpreter\n")
    os.chmod("script", 0o755)
    check_one_line(sampler_run([], ["./script"]), 127, "./script")
    check_nothing_left(scratch, "script")


@case
def not_executable(scratch):
    with open("plain", "w", encoding="ascii") as out:
        out.write("echo hello\n")
    check_one_line(sampler_run([], ["./plain"]), 126, "./plain", "not executable")
    check_one_line(sampler_run([], [scratch]), 126, "not executable")
    os.chmod("plain", 0o755)
    result = sampler_run(["-q", "-o", "out.folded"], ["./plain"])  # as execvp: by /bin/sh
    check_equal((result.status, result.stdout), (0, b"hello\n"), "a script without #!")
    check_nothing_left(scratch, "plain", "out.folded")


@case
def static_program(scratch):
    program = test_program("static_program")
    check_one_line(sampler_run([], [program, "0.1"]), 125, "static")
    with open("script", "w", encoding="ascii") as out:
        out.write("#! %s 0.1\n" % program)
    os.chmod("script", 0o755)
    check_one_line(sampler_run([], ["./script"]), 125, "static")
    check_nothing_left(scratch, "script")


@case
def other_architecture(scratch):
    """Headers of other machines, made from a program of this one."""
    with open(need("true"), "rb") as file:
        program = bytearray(file.read())
    for offset, value, word in ((4, 1, "32-bit"), (18, 183, "processor"), (5, 2, "processor")):
        changed = bytearray(program)
        check(changed[offset] != value, "this machine is not the one the test knows")
        changed[offset] = value
        with open("foreign", "wb") as out:
            out.write(changed)
        os.chmod("foreign", 0o755)
        check_one_line(sampler_run([], ["./foreign"]), 125, "./foreign", word)
    check_nothing_left(scratch, "foreign")


@case
def setuid_program(_scratch):
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        raise Skip("needs root to make a setuid program and setpriv to be somebody else")
    for name in ("bin", "lib"):
        shutil.copytree(os.path.join(BUILD, name), os.path.join("home", name))
    shutil.copy(need("true"), "home/raised")
    os.chmod(".", 0o755)
    for mode, word in ((stat.S_ISUID, "setuid"), (stat.S_ISGID, "setgid")):
        os.chmod("home/raised", 0o755 | mode)
        result = run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                      os.path.abspath("home/bin/sampler-run"), "-o", "/tmp/unused-%p.folded",
                      os.path.abspath("home/raised")])
        check_one_line(result, 125, "raised", word)
    result = sampler_run(["-q", "-o", "out.folded"], ["home/bin/sampler", "--version"])
    check_equal(result.status, 0, "a program without such a bit")


@case
def unreadable_input(scratch):
    check_one_line(sampler("top", "missing.folded"), 1, "missing.folded", "No such file")
    check_one_line(sampler("report", "missing.sampler", "-o", "x.folded"), 1, "missing.sampler")
    check_one_line(sampler("top", scratch), 1, scratch)
    with open("odd", "wb") as out:
        out.write(b"\x00\x01\x02 nothing anybody knows")
    check_one_line(sampler("convert", "odd", "-o", "x.folded"), 1, "odd")
    check_one_line(sampler("report", "odd", "-o", "x.folded"), 1, "odd")
    check_one_line(sampler("convert", "odd"), 1, "odd")
    check_nothing_left(scratch, "odd")


@case
def damaged_recording(scratch):
    """Any byte changed: a profile or one line, and never a crash or a half-written file."""
    result = sampler_run(["-q", "--keep", "-o", "out.folded"], [test_program("burn"), "0.2"])
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    name = [name for name in os.listdir(".") if name.endswith(".sampler")][0]
    with open(name, "rb") as file:
        whole = bytearray(file.read())
    seed = 12345
    for i in range(60):
        damaged = bytearray(whole)
        for _ in range(1 + i % 8):
            seed = (seed * 6364136223846793005 + 1442695040888963407) % (1 << 64)
            place = (seed >> 33) % min(len(damaged), 4096 + 2 * 16384)
            if i < 16:
                place = i if i < 8 else (seed >> 33) % 256
            damaged[place] ^= 1 + (seed >> 20) % 255
        with open("damaged.sampler", "wb") as out:
            out.write(damaged)
        result = sampler("report", "damaged.sampler", "-o", "damaged.folded", timeout_s=60)
        check(result.status in (0, 1), "status %d, stderr %s", result.status, result.stderr)
        check_equal(os.path.exists("damaged.folded"), result.status == 0, "output is there")
        if result.status == 1:
            check_equal(len(result.stderr.splitlines()), 1, "lines on stderr: " + result.stderr)
            check("damaged.sampler" in result.stderr, "stderr: %s", result.stderr)
        else:
            os.unlink("damaged.folded")
        check(i >= 8 or result.status == 1, "a file without our magic was read")
    check_nothing_left(scratch, name, "out.folded", "damaged.sampler")


if __name__ == "__main__":
    main()
