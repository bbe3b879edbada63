"""What is kept of debug information: the second report has its names from there, with the same result; `sampler cache`
shows it and makes it go; --no-cache does without."""

import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import SAMPLER, case, check, check_equal, clean_environment, main, need, run, sampler, sampler_run

N_FUNCTIONS = 3000  # so many that an index of them is kept


def program_make():
    with open("large.c", "w", encoding="ascii") as file:
        for n in range(N_FUNCTIONS):
            file.write("static inline __attribute__((always_inline)) int inner_%d(int x)\n{\n    return x * %d + 1;\n}\n"
                       "int work_%d(int x)\n{\n    return inner_%d(x) ^ inner_%d(x + 1);\n}\n" % (n, n + 3, n, n, n))
        file.write("int main(void)\n{\n    volatile int sum = 0;\n    for (int n = 0; n < 40000000; n++)\n"
                   "        sum += work_17(n);\n    return 0;\n}\n")
    subprocess.run([need("gcc"), "-g", "-O0", "large.c", "-o", "large"], check=True)


def recording_make():
    result = sampler_run(["--keep", "-o", "out.sprofile"], ["./large"])
    check_equal(result.status, 0, "status of sampler-run (%s)" % result.stderr)
    found = [name for name in os.listdir(".") if name.endswith(".sampler")]
    check_equal(len(found), 1, "recordings")
    return found[0]


def lines_of(recording, *options, env=None):
    """The lines that took time, as they are in the profile."""
    result = run([SAMPLER, "report", recording, "-q", *options, "-o", "again.sprofile"], env=env)
    check_equal(result.status, 0, "status of sampler report (%s)" % result.stderr)
    dump = json.loads(sampler("top", "again.sprofile", "--by", "line", "--json", "-n", "0").stdout)
    return sorted((row["name"], row.get("file"), row.get("line")) for row in dump["rows"])


def kept():
    return json.loads(sampler("cache", "--json").stdout)


def debug_information_spoil(path):
    """Nothing of .debug_info is left; the file is as long, its build id the same."""
    sections = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True).stdout
    match = re.search(r" \.debug_info +PROGBITS +[0-9a-f]+ ([0-9a-f]+) ([0-9a-f]+)", sections)
    with open(path, "r+b") as file:
        file.seek(int(match[1], 16))
        file.write(bytes(int(match[2], 16)))


@case
def second_report_has_it(_scratch):
    program_make()
    recording = recording_make()
    files = [file for file in kept()["files"] if file["path"].endswith("/large")]
    check_equal(len(files), 1, "indexes of the program that are kept")
    notes = subprocess.run(["readelf", "-n", "large"], check=True, capture_output=True, text=True).stdout
    check_equal(files[0]["build_id"], re.search("Build ID: ([0-9a-f]+)", notes)[1], "build id")
    check(time.time() - files[0]["used_s"] < 100, "used at %d", files[0]["used_s"])
    whole = lines_of(recording, "--no-cache")
    check(any(file is not None and file.endswith("/large.c") and line for _, file, line in whole), "no lines of the program: %s", whole)
    check_equal(lines_of(recording), whole, "lines by what is kept")
    debug_information_spoil("large")
    check_equal(lines_of(recording), whole, "lines by what is kept, the file spoiled")
    check(lines_of(recording, "--no-cache") != whole, "--no-cache used what is kept")
    check(lines_of(recording, env=clean_environment(SAMPLER_NO_CACHE=1)) != whole, "SAMPLER_NO_CACHE=1 did")
    sampler("cache", "--clear")
    check(lines_of(recording) != whole, "it is still used after --clear")


@case
def damage_is_told_by_nothing(_scratch):
    """A damaged entry is made anew; the answer is the same."""
    program_make()
    recording = recording_make()
    whole = lines_of(recording, "--no-cache")
    folder = kept()["folder"]
    (name,) = [name for name in os.listdir(folder) if kept()["files"][0]["build_id"] in name]
    path = os.path.join(folder, name)
    with open(path, "r+b") as file:
        good = file.read()
        file.seek(len(good) // 2)
        file.write(b"damaged!")
    check_equal(lines_of(recording), whole, "lines with a damaged entry")
    with open(path, "rb") as file:
        check(file.read() == good, "the damaged entry was not replaced")


@case
def shown_and_cleared(scratch):
    env = clean_environment(XDG_CACHE_HOME=os.path.join(scratch, "no such"))
    empty = run([SAMPLER, "cache"], env=env)
    check_equal((empty.status, empty.stderr), (0, ""), "of no cache")
    check("no such/sampler: 0.0 MB of at most 1074 MB, 0 files" in empty.stdout.decode(), "shown: %s", empty.stdout)
    check_equal(run([SAMPLER, "cache", "--clear"], env=env).status, 0, "status of clearing no cache")
    program_make()
    recording_make()
    shown = sampler("cache").stdout.decode().splitlines()
    check(re.search(r"\d\.\d MB  \d{4}-\d\d-\d\d \d\d:\d\d  [0-9a-f]{12}  /.*/large$", "\n".join(shown), re.M),
          "shown: %s", shown)
    n_files = len(kept()["files"])
    check_equal(len(shown), 2 + n_files, "lines")
    cleared = sampler("cache", "--clear").stdout.decode()
    check(": %d file%s removed, " % (n_files, "" if n_files == 1 else "s") in cleared, "cleared: %s", cleared)
    check_equal(kept()["files"], [], "files after --clear")
    check_equal(sampler("cache", "file").status, 2, "status with an operand")


@case
def folder_of_another_user(_scratch):
    """Is not used, and `sampler cache` says so; a report does without, and says nothing."""
    if os.geteuid() != 0:
        return
    program_make()
    recording = recording_make()
    whole = lines_of(recording)
    folder = kept()["folder"]
    os.chown(folder, 65534, -1)
    debug_information_spoil("large")
    check(lines_of(recording) != whole, "an entry of another user's folder was used")
    refused = sampler("cache")
    check_equal(refused.status, 1, "status of sampler cache")
    check("belongs to another user" in refused.stderr, "said: %s", refused.stderr)
    os.chown(folder, 0, -1)
    shutil.rmtree(folder)


main()
