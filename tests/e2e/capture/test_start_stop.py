"""Sampling that begins later, ends earlier, is stopped and goes on; labels; a profile in between."""

import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import (BUILD, LIBRARY, SAMPLER_RUN, Folded, Skip, case, check, check_equal, check_one_line, clean_environment, main,
                 need, run, sampler_run, test_program)

WORK = ("work_a", "work_b", "work_c")
ON = re.compile(r": accounts for ([0-9.]+) of ([0-9.]+) s CPU \(([0-9.]+) %\), .*; "
                r"sampling was on for ([0-9.]+) of ([0-9.]+) s;")


def shares(path):
    """{function: samples}, of the functions of api_work that work."""
    profile = Folded(path)
    return {name: profile.total_of(name) for name in WORK}


def near(got, wanted, what):
    """Within what chance and a lost tick do to a number of samples."""
    check(abs(got - wanted) <= 4 + 0.03 * wanted, "%s: %d samples, wanted %d", what, got, wanted)


def check_account(result, least=99.0, most=101.0):
    """What was used while sampling was stopped is not missing; returns how long it was on, and could have been."""
    match = ON.search(result.stderr)
    check(match is not None, "no word of the stop: %s", result.stderr)
    slack = 100 * 0.004 / max(float(match.group(2)), 0.004)
    check(least - slack <= float(match.group(3)) <= most + slack, "explained: %s", match.group(0))
    return float(match.group(4)), float(match.group(5))


def program(*arguments):
    return [test_program("api_work")] + [str(argument) for argument in arguments]


@case
def without_the_profiler(_scratch):
    result = run(program("absent"))
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    for work in (["labels", 10], ["window", 10], ["threads", 10]):
        result = run(program(*work))
        wanted = 1 if work[0] == "window" else 0  # it says that start failed
        check_equal(result.status, wanted, "status of %s (%s)" % (work[0], result.stderr))


@case
def labels_are_root_frames(_scratch):
    result = sampler_run(["-o", "x.folded"], program("labels", 200))
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    found = {}
    for stack, number in Folded("x.folded").stacks.items():
        name = stack[0] if stack[0] in ("first", "second", "other:thread") else "none"
        work = [frame for frame in stack if frame in WORK]
        if work:
            key = name, work[0]
            found[key] = found.get(key, 0) + number
    for key in (("first", "work_a"), ("second", "work_a"), ("none", "work_c"), ("other:thread", "work_b")):
        near(found.pop(key, 0), 200, "%s in %s" % key)
    check_equal(sum(found.values()) <= 3, True, "samples under other labels: %r" % found)


@case
def the_program_starts_and_stops(_scratch):
    result = sampler_run(["--paused", "-o", "x.folded"], program("window", 200))
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    found = shares("x.folded")
    near(found["work_b"], 200, "between start and stop")
    check(found["work_a"] <= 1 and found["work_c"] <= 1, "samples while stopped: %r", found)
    on_s, all_s = check_account(result)
    check(0.19 <= on_s < all_s - 0.35, "on for %.2f of %.2f s", on_s, all_s)
    result = sampler_run(["-o", "y.folded"], program("window", 200))
    found = shares("y.folded")
    near(found["work_a"], 200, "before the stop")
    near(found["work_b"], 200, "before the stop")
    check(found["work_c"] <= 1, "samples while stopped: %r", found)


@case
def threads_go_on_with_the_rest(_scratch):
    """Threads there at the stop, and one that begins during it, are all sampled when it is over."""
    for clock in ("auto", "timer"):
        result = sampler_run(["--paused", "--clock", clock, "-o", "x.folded"], program("threads", 150))
        check_equal(result.status, 0, "status (%s)" % result.stderr)
        check_account(result, 97 if clock == "timer" else 99, 103 if clock == "timer" else 101)
        profile = Folded("x.folded")
        found = sum(n for stack, n in profile.stacks.items() if "run_rounds" in stack and "work_b" in stack)
        check(270 <= found <= 320, "%s: %d samples in the rounds with sampling on", clock, found)
        off = sum(n for stack, n in profile.stacks.items() if "run_rounds" in stack and "work_a" in stack)
        check(off <= 2, "%s: %d samples while stopped", clock, off)


@case
def delay_and_duration(_scratch):
    cases = ((["--delay", "0.3"], 0.3, None), (["--duration", ".25"], 0, 0.25),
             (["--delay", "0.2", "--duration", "0.25"], 0.2, 0.25))
    for how in ("spin", "blocked"):
        for options, delay_s, duration_s in cases:
            result = sampler_run(options + ["-o", "x.folded"], program(how, 700))
            check_equal(result.status, 0, "status (%s)" % result.stderr)
            on_s, all_s = check_account(result)
            wanted = all_s - delay_s if duration_s is None else duration_s
            check(abs(on_s - wanted) < 0.1, "%r: on for %.2f of %.2f s", options, on_s, all_s)
    result = sampler_run(["--delay", "5", "-o", "x.folded"], program("spin", 50))
    check_equal((result.status, shares("x.folded")["work_a"]), (0, 0), "a program that ends before")
    check("sampling never began" in result.stderr and "--delay" in result.stderr and "next:" not in result.stderr,
          "account: %s", result.stderr)


@case
def many_threads(_scratch):
    """The switch takes long where hundreds of threads block, and seconds where they want the processor: what they do
    until they have followed it is in samples, or not in what there is to account for."""
    blocked = [test_program("clock_work"), "blocked", "600", "1.6"]
    for options in ["--delay", "0.8"], ["--delay", "0.4", "--duration", "0.8"]:
        result = sampler_run(["-e", "wall", "-o", "x.folded"] + options, blocked)
        found = re.search(r"accounts for ([0-9.]+) of ([0-9.]+) s elapsed in threads", result.stderr)
        explained_s, elapsed_s = map(float, found.groups())
        check(elapsed_s > 100, "600 threads, but %.1f s elapsed in them", elapsed_s)
        check(0.99 <= explained_s / elapsed_s <= 1.005, "%s: %.1f of %.1f s", options, explained_s, elapsed_s)
    busy = [test_program("account_shares"), "150", "150", "20000"]
    for clock in "perf", "timer":
        for options in ["--delay", "0.5"], ["--duration", "0.5"]:
            result = sampler_run(["--clock", clock, "-o", "x.folded"] + options, busy)
            check_account(result, 97, 101)


def in_another_time(scratch):
    """A library that gives programs ten times the time that passes, as libfaketime does."""
    source = os.path.join(scratch, "another_time.c")
    with open(source, "w") as file:
        file.write("#define _GNU_SOURCE\n#include <sys/syscall.h>\n#include <time.h>\n#include <unistd.h>\n"
                   "int clock_gettime(clockid_t clock, struct timespec *out)\n{\n"
                   "    long result = syscall(SYS_clock_gettime, clock, out);\n"
                   "    out->tv_sec = 10 * out->tv_sec + out->tv_nsec / 100000000;\n"
                   "    out->tv_nsec = out->tv_nsec % 100000000 * 10;\n    return (int)result;\n}\n")
    run([need("cc"), "-shared", "-fPIC", "-o", "another_time.so", source])
    return os.path.join(os.getcwd(), "another_time.so")


@case
def time_is_the_kernels(scratch):
    """A program, and sampler-run with it, that are told another time than passes."""
    env = clean_environment(LD_PRELOAD=in_another_time(scratch))
    argv = [SAMPLER_RUN, "--duration", "0.2", "-o", "x.folded", test_program("burn"), "4"]
    result = run(argv, env=env)
    on_s, all_s = check_account(result)
    check(0.15 <= on_s <= 0.25 and all_s > 0.35, "on for %.2f of %.2f s", on_s, all_s)
    check("not understood" not in result.stderr, "said: %s", result.stderr)


@case
def times_are_of_the_whole_run(_scratch):
    """A program started by exec is sampled when the command is, not so much later again."""
    script = 'sleep 0.4; exec "$0" spin 200'
    result = sampler_run(["--delay", "0.3", "-o", "x.folded"], ["sh", "-c", script] + program()[:1])
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    near(shares("x.folded")["work_a"], 200, "of the second program")
    script = '"$0" spin 100; sleep 0.3; exec "$0" spin 200'
    result = sampler_run(["--duration", "0.3", "-o", "y.folded"], ["sh", "-c", script] + program()[:1])
    check(shares("y.folded")["work_a"] <= 105, "samples after the end: %r", shares("y.folded"))


@case
def an_exec_while_stopped(_scratch):
    """What the program before it used by then is nobody's start-up, and of no process that was not recorded."""
    script = 'i=0; while [ $i -lt 600000 ]; do i=$((i+1)); done; exec "$0" spin 50'
    result = sampler_run(["--duration", "0.2", "-o", "x.folded"], ["sh", "-c", script] + program()[:1])
    check_account(result)
    check(Folded("x.folded").total_of("[start-up]") < 20, "start-up: %d periods", Folded("x.folded").total_of("[start-up]"))
    check("not recorded" not in result.stderr, "stderr: %s", result.stderr)


def toggled(how, options=()):
    """Stopped by a signal after a while, and on again after another; (stderr, stdout)."""
    child = subprocess.Popen([SAMPLER_RUN, "--toggle", "USR2", "-o", "x.folded", *options] + program(how, 900),
                             env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    pid = int(child.stdout.readline())
    for _ in range(2):
        time.sleep(0.25)
        os.kill(pid, signal.SIGUSR2)
    out, err = child.communicate(timeout=60)
    check_equal(child.returncode, 0, "status (%s)" % err)
    return err, out


class Said:
    def __init__(self, stderr):
        self.stderr = stderr


@case
def a_signal_toggles(_scratch):
    err, _ = toggled("spin")
    on_s, all_s = check_account(Said(err))
    check(0.15 < all_s - on_s < 0.6, "on for %.2f of %.2f s", on_s, all_s)
    err, _ = toggled("spin", ["--paused"])
    on_s, all_s = check_account(Said(err))
    check(0.15 < on_s < 0.6, "on for %.2f of %.2f s", on_s, all_s)


@case
def the_programs_handler_runs_too(_scratch):
    err, out = toggled("handler")
    check_equal(out, "2 handled\n", "what the program counted")
    check_account(Said(err))


@case
def a_profile_so_far(_scratch):
    result = sampler_run(["-o", "x.folded"], program("flush", 200, "sofar.cpuprofile"))
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    check("/nowhere/at/all.folded" in result.stderr, "the flush that failed is not told of: %s", result.stderr)
    with open("sofar.cpuprofile", encoding="utf-8") as file:
        text = file.read()
    check("work_a" in text and "work_b" not in text, "what is in the profile so far")
    found = shares("x.folded")
    near(found["work_a"], 200, "before")
    near(found["work_b"], 200, "after")
    check_equal(sorted(os.listdir(".")), ["sofar.cpuprofile", "x.folded"], "files")
    result = run(program("flush", 100, "plain.folded"), env=clean_environment(LD_PRELOAD=LIBRARY))
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    near(shares("plain.folded")["work_a"], 100, "with plain LD_PRELOAD")


@case
def linked_with_the_library(_scratch):
    linked = test_program("api_work_linked")
    result = run([linked, "window", "200"], env=clean_environment(SAMPLER_PAUSED=1, SAMPLER_OUTPUT="x.folded"))
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    near(shares("x.folded")["work_b"], 200, "between start and stop")
    check_account(result)
    result = run([linked, "labels", "100"], env=clean_environment(SAMPLER_OUTPUT="y.folded"))
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    check(any(stack[0] == "other:thread" for stack in Folded("y.folded").stacks), "labels of threads")


@case
def forked_children_are_as_their_parent(_scratch):
    result = sampler_run(["--paused", "-o", "x.folded"], [test_program("forks"), "3"])
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    check("sampling never began" in result.stderr, "account: %s", result.stderr)


@case
def installed_header(scratch):
    """What cmake installs is enough to build both ways, as C and as C++."""
    need("cmake")
    compiler = need("cc")
    prefix = scratch + "/prefix"
    installed = run(["cmake", "--install", BUILD, "--prefix", prefix])
    if installed.status != 0:
        raise Skip("cannot install: " + installed.stderr)
    text = '#include <sampler.h>\nint main(void) { return sampler_label("x") + sampler_is_active() + 1; }\n'
    for name in ("a.c", "a.cpp"):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        result = run([compiler, "-std=c99" if name == "a.c" else "-std=c++11", "-Wall", "-Wextra", "-Werror", "-no-pie",
                      "-I" + prefix + "/include", name, "-o", name + ".out"])
        check_equal((result.status, result.stderr), (0, ""), "compiling " + name)
        check_equal(run(["./" + name + ".out"]).status, 0, "status without the profiler")
        result = run(["./" + name + ".out"], env=clean_environment(LD_PRELOAD=LIBRARY, SAMPLER_QUIET=1,
                                                                   SAMPLER_OUTPUT="x.folded"))
        check_equal(result.status, 2, "status with it (%s)" % result.stderr)
    flags = run([need("pkg-config"), "--define-variable=prefix=" + prefix, "--cflags", "--libs", "sampler"],
                env=clean_environment(PKG_CONFIG_PATH=glob_one(prefix, "sampler.pc")))
    check_equal(flags.status, 0, "pkg-config (%s)" % flags.stderr)
    words = flags.stdout.decode().split()
    result = run([compiler, "a.c", "-o", "linked.out"] + words)
    check_equal((result.status, result.stderr), (0, ""), "linking")


def glob_one(folder, name):
    return next(root for root, _, files in os.walk(folder) if name in files)


@case
def bad_values_are_refused(_scratch):
    for option, value in (("--delay", "soon"), ("--delay", "1.2.3"), ("--duration", "-1"), ("--duration", "."),
                          ("--toggle", "KILL"), ("--toggle", "USR3")):
        check_one_line(sampler_run([option, value], ["true"]), 125, option, value)
    result = run(program("spin", 20), env=clean_environment(
        LD_PRELOAD=LIBRARY, SAMPLER_DELAY="soon", SAMPLER_TOGGLE="KILL", SAMPLER_OUTPUT="x.folded", SAMPLER_QUIET=1))
    check_equal(result.status, 0, "status")
    check_equal([line.split("=")[0] for line in result.stderr.splitlines()],
                ["sampler: SAMPLER_TOGGLE", "sampler: SAMPLER_DELAY"], "complaints")


if __name__ == "__main__":
    main()
