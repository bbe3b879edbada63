"""-e EVENT: kernel events by name, with weights in events."""

import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import (BUILD, LIBRARY, Folded, Skip, case, check, check_equal, check_one_line, clean_environment, main, run,
                 sampler, sampler_run, test_program)


def events(event, options, argv, **how):
    result = sampler_run(["-e", event, "-o", "out.folded"] + options, argv, **how)
    check_equal(result.status, 0, "exit status (%s)" % result.stderr)
    line = result.stderr.strip().splitlines()[0]
    print("  " + line)
    account = re.search(r"accounts for ([0-9 ]+) of ([0-9 ]+) (\S+) \([0-9.]+ %\)(?:, one sample in ([0-9 ]+))?[;,]", line)
    check(account is not None, "no account of events in %r", line)
    check_equal(account[3], event, "event")
    numbers = [int((account[i] or "1").replace(" ", "")) for i in (4, 1, 2)]
    return result, Folded("out.folded"), *numbers


@case
def page_faults(_scratch):
    """Every fault is counted, at the function that makes it."""
    result, profile, period, explained, counted = events("page-faults", [], [test_program("clock_work"), "faults", "3000"])
    check_equal((period, explained), (1, counted), "period, explained")
    check_equal(profile.total, explained, "sum of the profile")
    check(12000 <= counted <= json.loads(result.stdout)["faults"] + 200, "%d counted", counted)
    for name, n in (("touch_few", 3000), ("touch_many", 9000)):
        check(0.99 * n <= profile.total_of(name) <= 1.01 * n + 20, "%s: %d, wanted %d", name, profile.total_of(name), n)


@case
def period(_scratch):
    """With a period the sum is right but for one period a thread, and the shares to chance."""
    _result, profile, period, explained, counted = events("page-faults", ["--period", "7"],
                                                          [test_program("clock_work"), "faults", "3000"])
    check_equal(period, 7, "period")
    check(abs(explained - counted) <= 7, "%d of %d", explained, counted)
    check_equal(profile.total % 7, 0, "weights are whole periods")
    check(abs(profile.total_of("touch_many") - 9000) <= 90, "touch_many: %d", profile.total_of("touch_many"))


@case
def context_switches(_scratch):
    """A tick at each, and no nap is broken off, let alone for ever."""
    result, profile, _period, explained, counted = events("context-switches", [],
                                                          [test_program("clock_work"), "switches", "1000"], timeout_s=60)
    truth = json.loads(result.stdout)
    check_equal(truth["broken_off"], 0, "naps that returned EINTR")
    check_equal(explained, counted, "explained")
    # Besides naps, the program counts switches in our handler and between its own two calls.
    in_naps, switches = profile.total_of("work_nap"), truth["switches"]
    print("  %d in naps, %d counted by the program" % (in_naps, switches))
    check(switches >= 1000, "the machine let only %d of 2000 naps begin", switches)
    check(abs(in_naps - switches) <= 0.02 * switches + 10, "work_nap: %d of %d", in_naps, switches)


@case
def task_clock(_scratch):
    """An event that is a time: as good as the clock of -e cpu."""
    result, _profile, _period, explained, counted = events("task-clock", ["--period", "1000000"],
                                                           [test_program("burn"), "0.5"])
    check(abs(explained - counted) <= 2e6, "%d of %d", explained, counted)
    check(0.4e9 <= counted <= 0.7e9, "%d ns for half a second", counted)


@case
def not_to_be_had(_scratch):
    """Said before the start, in one line with what to do, and nothing runs."""
    for event, words in (("nonsense", ["nonsense", "no such event", "page-faults"]),
                         ("sched:no_such_point", ["no such tracepoint"]),
                         ("alignment-faultsx", ["no such event"])):
        result = sampler_run(["-e", event, "-o", "out.folded"], ["touch", "ran"])
        check_one_line(result, 125, *words)
        check_equal(os.listdir("."), [], "files")
    result = sampler_run(["-e", "cycles", "-o", "out.folded"], ["touch", "ran"])
    if result.status != 0:
        check_one_line(result, 125, "cycles", "hardware counters")
        check_equal(os.listdir("."), [], "files")
    result = run(["echo", "hello"], env=clean_environment(LD_PRELOAD=LIBRARY, SAMPLER_EVENT="nonsense"))
    check_equal((result.status, result.stdout), (0, b"hello\n"), "the program with plain LD_PRELOAD")
    check_one_line(result, 0, "nonsense", "nothing is sampled")
    check_equal([name for name in os.listdir(".") if name != "ran"], [], "files")


@case
def refused(_scratch):
    """A container that forbids perf_event_open."""
    result = run([test_program("refuse_perf"), "1", os.path.join(BUILD, "bin", "sampler-run"), "-e", "page-faults",
                  "touch", "ran"])
    check_one_line(result, 125, "page-faults", "perf_event_open")
    check_equal(os.listdir("."), [], "files")


@case
def ordinary_user(_scratch):
    """What happens in the kernel is not for everybody: left out and said, or refused."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        raise Skip("needs root and setpriv")
    if int(open("/proc/sys/kernel/perf_event_paranoid").read()) != 2:
        raise Skip("perf_event_paranoid is not 2")
    for folder in ("bin", "lib"):
        shutil.copytree(os.path.join(BUILD, folder), os.path.join("home", folder))
    shutil.copy(test_program("clock_work"), "home/clock_work")
    os.chmod(".", 0o755)
    os.mkdir("own")
    os.chown("own", 65534, 65534)
    words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", os.path.abspath("home/bin/sampler-run"),
             "-o", "out.folded"]
    result = run(words + ["-e", "page-faults", os.path.abspath("home/clock_work"), "faults", "1000"], cwd="own")
    check_equal(result.status, 0, "exit status (%s)" % result.stderr)
    check("those in the kernel are left out" in result.stderr, "not said: %r", result.stderr)
    check(Folded("own/out.folded").total_of("touch_many") >= 2970, "touch_many: %d of 3000",
          Folded("own/out.folded").total_of("touch_many"))
    os.unlink("own/out.folded")
    result = run(words + ["-e", "context-switches", os.path.abspath("home/clock_work"), "switches", "10"], cwd="own")
    check_one_line(result, 125, "context-switches", "perf_event_paranoid")
    check_equal(os.listdir("own"), [], "files")


@case
def other_formats(_scratch):
    """Formats that know only time say so; the numbers come back as they were."""
    work = [test_program("clock_work"), "faults", "1000"]
    result = sampler_run(["-e", "page-faults", "-o", "out.folded", "-o", "out.cpuprofile", "-o", "out.trace.json", "-o",
                          "out.prof", "-o", "out.htdump", "-o", "out.nytprof"], work)
    check_equal(result.status, 0, "exit status (%s)" % result.stderr)
    total = Folded("out.folded").total
    for name in ("out.cpuprofile", "out.trace.json", "out.prof", "out.htdump"):
        told = [line for line in result.stderr.splitlines() if line.startswith("sampler: %s: " % name)]
        check(told and "1 us stands for one of page-faults" in told[0], "%s: not said: %r", name, result.stderr)
    profile = json.load(open("out.cpuprofile"))
    check(abs(profile["endTime"] - profile["startTime"] - total) <= total * 0.01 + 10,
          "%d us for %d events", profile["endTime"] - profile["startTime"], total)
    check_equal(sampler("convert", "-q", "out.htdump", "-o", "back.folded").status, 0, "convert")
    check_equal(Folded("back.folded").total, total, "events after htdump")


@case
def traps_of_the_program(_scratch):
    """SIGTRAP is ours for some events: a program's own still ends it."""
    code = "import os, signal; print('alive', flush=True); os.kill(os.getpid(), signal.SIGTRAP); print('not reached')"
    python = shutil.which("python3")
    for event in ("page-faults", "context-switches"):
        result = sampler_run(["-q", "-e", event, "-o", "out.folded"], [python, "-c", code])
        check_equal((result.status, result.stdout), (128 + 5, b"alive\n"), event)


if __name__ == "__main__":
    main()
