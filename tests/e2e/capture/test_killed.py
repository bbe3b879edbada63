"""Killed in the middle: all up to the kill is there."""

import json
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import (LIBRARY, Folded, case, check, check_equal, clean_environment, main, run, sampler,
                 sampler_run, test_program)


def check_burned(path, seconds):
    profile = Folded(path)
    got = profile.total / 1e9
    # The grid is off by less than a period; what the program does beside work() is little.
    check(0.98 * seconds <= got <= 1.01 * seconds, "%.4f s in the profile of %.4f s", got, seconds)
    share = profile.total_of("work") / profile.total
    check(share > 0.9, "work() has a share of %.3f only", share)
    print("  %.4f s in the profile, the program had used %.4f s when killed" % (got, seconds))


@case
def kill_under_run(scratch):
    result = sampler_run(["-o", "out.folded", "--count", "ns"], [test_program("burn"), "1", "kill"])
    check_equal(result.status, 128 + signal.SIGKILL, "exit status")
    check_burned("out.folded", float(result.stdout))
    check_equal(sorted(os.listdir(scratch)), ["out.folded"], "files")


@case
def kill_plain(scratch):
    result = run([test_program("burn"), "1", "kill"], env=clean_environment(LD_PRELOAD=LIBRARY))
    check_equal(result.status, -signal.SIGKILL, "exit status")
    recordings = [name for name in os.listdir(scratch) if name.endswith(".sampler")]
    check_equal(len(recordings), 1, "recordings in the folder")
    report = sampler("report", recordings[0], "-o", "out.folded", "--count", "ns")
    check_equal(report.status, 0, "status of report (%s)" % report.stderr)
    check_burned("out.folded", float(result.stdout))


@case
def kill_while_stopped(_scratch):
    """Nothing ticks from the start; that sampling was off is known all the same."""
    for options, program in ((["--delay", "60"], [test_program("burn"), "0.3", "kill"]),
                             (["-F", "60"], [test_program("api_work"), "killed", "300"])):
        result = sampler_run(["-o", "out.folded", "--account-file", "account.json", *options], program)
        check_equal(result.status, 128 + signal.SIGKILL, "exit status (%s)" % result.stderr)
        with open("account.json", encoding="utf-8") as file:
            account = json.load(file)
        check_equal((account["processes_recorded"], account["unrecorded_ns"]), (1, 0),
                    "recorded, CPU in no recording (%s)" % program)
        check(account["total"]["paused_ns"] > 280e6, "stopped for %d ns", account["total"]["paused_ns"])


@case
def truncated_recordings(_scratch):
    """A recording cut at any place: a profile of what is there, or one line; never a crash."""
    result = sampler_run(["-q", "--keep", "-o", "out.folded"], [test_program("burn"), "0.3"])
    check_equal(result.status, 0, "status")
    name = [name for name in os.listdir(".") if name.endswith(".sampler")][0]
    with open(name, "rb") as file:
        whole = file.read()
    totals = []
    for cut in sorted({0, 1, 7, 8, 100, 4095, 4096, 4097, 4112, 4200, 5000, 8192, 16384, 20479,
                       20480, 20481, len(whole) - 1, len(whole)}):
        if cut > len(whole):
            continue
        with open("cut.sampler", "wb") as file:
            file.write(whole[:cut])
        if os.path.exists("cut.folded"):
            os.unlink("cut.folded")
        report = sampler("report", "cut.sampler", "-o", "cut.folded", "-q")
        check(report.status in (0, 1), "cut at %d: status %d", cut, report.status)
        if report.status == 1:
            check(not os.path.exists("cut.folded"), "cut at %d: failed but wrote", cut)
            check(cut < 4096, "cut at %d: %s", cut, report.stderr)
            check_equal(len(report.stderr.splitlines()), 1, "lines on stderr")
        else:
            totals.append(Folded("cut.folded").total)
    check(totals == sorted(totals) and totals[-1] > 200, "totals by length: %r", totals)


if __name__ == "__main__":
    main()
