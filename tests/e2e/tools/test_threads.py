"""Several threads in formats that hold one thread a file: files apart, or one with all."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import Folded, case, check, check_equal, main, sampler, sampler_run, test_program


def load(name):
    with open(name, encoding="utf-8") as file:
        return json.load(file)


def self_us(profile):
    """{name: microseconds}, as viewers count: a sample lasts until the next. Without the end of the process, of which
    sampler-run knows and the recording does not."""
    nodes = {node["id"]: node for node in profile["nodes"]}
    times, now = [], profile["startTime"]
    for delta in profile["timeDeltas"]:
        now += delta
        times.append(now)
    times.append(profile["endTime"])
    found = {}
    for i, sample in enumerate(profile["samples"]):
        name = nodes[sample]["callFrame"]["functionName"]
        if name not in ("(idle)", "(root)", "[process exit]"):
            found[name] = found.get(name, 0) + times[i + 1] - times[i]
    return found


def record():
    result = sampler_run(["--keep", "-o", "app.cpuprofile"], [test_program("format_work"), "0.3"])
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    names = sorted(name for name in os.listdir(".") if name.endswith(".cpuprofile"))
    recording = [name for name in os.listdir(".") if name.endswith(".sampler")]
    check_equal(len(recording), 1, "recordings")
    return result, names, recording[0]


@case
def a_file_for_each_thread(_scratch):
    result, names, recording = record()
    check_equal(len(names), 5, "files %r" % names)
    for name in names:
        check(re.fullmatch(r"app\.[0-9]+\.cpuprofile", name), "unexpected name %s", name)
    check("wrote app." in result.stderr and "and 1 more" in result.stderr,
          "the files are not named: %s", result.stderr)
    profiles = [load(name) for name in names]
    # The kernel's removal of the process comes after its end, and is the first thread's.
    check_equal(len({p["startTime"] for p in profiles}), 1, "starts")
    ends = sorted(p["endTime"] for p in profiles)
    check(ends[0] == ends[-2] and ends[-1] - ends[0] < 20000, "ends: %s", ends)
    check_equal(sampler("report", recording, "-o", "app.ns.folded", "--count", "ns").status, 0,
                "status")
    total_ns = Folded("app.ns.folded").total
    total_us = sum(sum(self_us(profile).values()) for profile in profiles)
    n_samples = sum(len(profile["samples"]) for profile in profiles)
    check(abs(total_us - total_ns / 1000) <= n_samples, "%d us in the files, %d ns recorded",
          total_us, total_ns)


@case
def merged_into_one_file(_scratch):
    _, names, recording = record()
    result = sampler("report", recording, "--threads", "merge", "-o", "all.cpuprofile")
    check_equal(result.status, 0, "status")
    check_equal(len(result.stderr.splitlines()), 1, "lines on stderr (%s)" % result.stderr)
    check("one after another" in result.stderr, "times that are not true go unsaid: %s",
          result.stderr)
    apart = {}
    for name in names:
        for function, us in self_us(load(name)).items():
            apart[function] = apart.get(function, 0) + us
    merged = self_us(load("all.cpuprofile"))
    check_equal(sorted(merged), sorted(apart), "functions")
    for function, us in merged.items():
        check(abs(us - apart[function]) <= 2000, "%s: %d us merged, %d apart", function, us,
              apart[function])
    result = sampler("report", recording, "-f", "cpuprofile", "-o", "-")
    check_equal(result.stdout, open("all.cpuprofile", "rb").read(), "stdout takes one file")


@case
def one_thread_keeps_the_name(_scratch):
    result = sampler_run(["-o", "one.cpuprofile"], [test_program("burn"), "0.2"])
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    check_equal([name for name in os.listdir(".")], ["one.cpuprofile"], "files")
    check("wrote one.cpuprofile" in result.stderr, "the file is not named: %s", result.stderr)
    with open("a.folded", "w", encoding="utf-8") as out:
        out.write("main;f 3\n")
    result = sampler("convert", "a.folded", "-o", "a.cpuprofile")
    check_equal(result.status, 0, "status of convert")
    check("no times" in result.stderr and result.stderr.count("\n") == 1, "stderr of convert: %s", result.stderr)
    check_equal(self_us(load("a.cpuprofile")), {"f": 3000}, "converted")


@case
def converted_threads_come_apart(_scratch):
    _, names, recording = record()
    check_equal(sampler("report", recording, "-q", "-o", "all.htdump").status, 0, "status")
    result = sampler("convert", "all.htdump", "-o", "app2.cpuprofile")
    check_equal(result.status, 0, "status of convert (%s)" % result.stderr)
    for name in names:
        again = name.replace("app.", "app2.")
        check_equal(self_us(load(again)), self_us(load(name)), again)


if __name__ == "__main__":
    main()
