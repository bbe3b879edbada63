#!/usr/bin/env python3
"""The dumps of .prof files against their expected content.

  compare_easyprofiler.py FORMAT_TOOL FOLDER SHARED

SHARED is a folder with the whole corpus below it, used as well if it exists; the environment's SAMPLER_SHARED
goes before it. Of FOLDER and SHARED/corpus/easyprofiler: every made/ and found/ X.prof must give X.expected.json, all
keys but `raw`; every bad/ X.prof must be refused with an offset or read with a note, as `want` says, and
neither crash nor hang. Numbers are compared by type, so that true is not 1 and 1.5 is not 1.
"""
import json
import os
import subprocess
import sys

failures = []
seen = 0


def differs(got, want, path=""):
    """Where two values differ; None if they do not."""
    number = (int, float)
    both_numbers = isinstance(got, number) and isinstance(want, number)
    if isinstance(got, bool) != isinstance(want, bool) or (type(got) is not type(want) and not both_numbers):
        return "%s: %.80r, expected %.80r" % (path, got, want)
    if isinstance(want, dict):
        if set(got) != set(want):
            return "%s: keys %s, expected %s" % (path, sorted(got), sorted(want))
        pairs = [(got[key], want[key], "%s.%s" % (path, key)) for key in want]
    elif isinstance(want, list):
        if len(got) != len(want):
            return "%s: %d items, expected %d" % (path, len(got), len(want))
        pairs = [(a, b, "%s[%d]" % (path, i)) for i, (a, b) in enumerate(zip(got, want))]
    else:
        return None if got == want else "%s: %.80r, expected %.80r" % (path, got, want)
    for a, b, where in pairs:
        where = differs(a, b, where)
        if where:
            return where
    return None


def run(tool, command, path):
    return subprocess.run([tool, command, "easyprofiler", path], capture_output=True, timeout=60)


def check_good(tool, path):
    result = run(tool, "dump", path)
    if result.returncode != 0:
        return "dump: status %d, %s" % (result.returncode, result.stderr.decode(errors="replace"))
    with open(path[:-5] + ".expected.json", encoding="utf-8") as file:
        want = json.load(file)
    want.pop("raw", None)
    where = differs(json.loads(result.stdout), want)
    if where:
        return where
    result = run(tool, "check", path)
    return None if result.returncode == 0 else "read: %s" % result.stderr.decode(errors="replace")


def check_bad(tool, path):
    with open(path[:-5] + ".expected.json", encoding="utf-8") as file:
        want = json.load(file)["want"]
    results = [run(tool, command, path) for command in ("dump", "check")]
    for result in results:
        stderr = result.stderr.decode(errors="replace")
        if result.returncode not in (0, 1):
            return "status %d, %s" % (result.returncode, stderr)
        if result.returncode == 0 and want == "reject":
            return "accepted, expected an error; %s" % stderr
        if result.returncode == 1 and want == "accept":
            return "refused: %s" % stderr
        if result.returncode == 0 and "note: " not in stderr:
            return "accepted without a note"
        if result.returncode == 1 and "offset" not in stderr:
            return "an error without offset: %s" % stderr
    if os.environ.get("VERBOSE"):
        print("%-45s %-7s %s" % (os.path.basename(path), want, results[0].stderr.decode().strip().split("bad/")[-1]))
    return None


def check_folder(tool, folder, check):
    global seen
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".prof"):
            continue
        seen += 1
        failure = check(tool, os.path.join(folder, name))
        if failure:
            failures.append("%s/%s: %s" % (folder, name, failure))


def main():
    tool = sys.argv[1]
    shared = os.environ.get("SAMPLER_SHARED") or sys.argv[3]
    for base in (sys.argv[2], os.path.join(shared, "corpus", "easyprofiler")):
        for folder, check in (("made", check_good), ("found", check_good), ("bad", check_bad)):
            path = os.path.join(base, folder)
            if os.path.isdir(path):
                check_folder(tool, path, check)
    print("%d files, %d failures" % (seen, len(failures)))
    print("\n".join(failures))
    return 1 if failures or seen == 0 else 0


sys.exit(main())
