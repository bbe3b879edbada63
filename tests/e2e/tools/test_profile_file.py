"""The .sprofile that every run leaves: all that was measured, read without the program, and what is meant by no FILE."""

import json
import os
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import LIBRARY, case, check, check_equal, check_one_line, clean_environment, main, run, sampler, sampler_run, test_program


def only(extension, folder="."):
    names = [name for name in os.listdir(folder) if name.endswith(extension)]
    check(len(names) == 1, "files: %r", os.listdir(folder))
    return os.path.join(folder, names[0])


def content(path):
    with open(path, "rb") as file:
        return file.read()


def tables(path):
    """Rows by the name of their table, from `sampler dump`."""
    result = sampler("dump", path)
    check_equal(result.status, 0, "dump (%s)" % result.stderr)
    rows = {}
    for block in json.loads(result.stdout)["blocks"]:
        rows.setdefault(block["table"], []).extend(block["rows"])
    return rows


@case
def read_without_the_program(scratch):
    """The program is gone and the file somewhere else: lines are there, and the same folded stacks."""
    shutil.copy(test_program("burn"), "burn")
    check_equal(sampler_run(["-q"], ["./burn", "0.3"]).status, 0, "status")
    os.remove("burn")
    os.mkdir("elsewhere")
    shutil.move(only(".sprofile"), "elsewhere")
    os.chdir("elsewhere")
    result = sampler("top", "--by", "line", "-n", "100")
    check_equal(result.stderr, "sampler: reading %s, the newest here\n" % os.path.basename(only(".sprofile")), "stderr")
    check(b"burn.c:" in result.stdout, "no lines: %s", result.stdout)
    check_equal(sampler("convert", "-q", "-o", "again.folded").stderr, "", "convert")
    check_equal(content("again.folded"), content(only(".folded", scratch)), "the folded file")


@case
def plain_preload(_scratch):
    result = run([test_program("burn"), "0.2"], env=clean_environment(LD_PRELOAD=LIBRARY))
    check_equal(result.status, 0, "status")
    check(only(".sprofile")[:-9] == only(".folded")[:-7], "files: %r", os.listdir("."))
    check_equal(sampler("convert", "-q", "-o", "again").status, 2, "an output without a format")
    check_equal(sampler("convert", "-q", "-f", "folded", "-o", "again").status, 0, "convert")
    check_equal(content("again"), content(only(".folded")), "the folded file")


@case
def holds_the_account_and_the_threads(_scratch):
    check_equal(sampler_run(["-q", "-o", "x.sprofile", "--account-file", "a.json"],
                            [test_program("api_work"), "labels", "200"]).status, 0, "status")
    rows = tables("x.sprofile")
    texts = [""] + rows["texts"]
    metadata = {texts[row["key"]]: texts[row["value"]] for row in rows["metadata"]}
    with open("a.json", encoding="utf-8") as file:
        check_equal(json.loads(metadata["account"]), json.load(file), "the account")
    functions = [None] + rows["functions"]
    labels = {texts[functions[row["function"]]["name"]] for row in rows["frames"] if row["flags"] & 32}
    check(labels and not labels & {"main", "_start"}, "labels: %r", labels)
    check(all(texts[module["build_id"]] for module in rows["modules"] if texts[module["path"]].startswith("/")),
          "modules: %r", rows["modules"])
    check(all(thread["tid"] and texts[thread["name"]] for thread in rows["threads"]), "threads: %r", rows["threads"])


@case
def one_for_all_processes(_scratch):
    check_equal(sampler_run(["-q"], [test_program("forks"), "12"]).status, 0, "status")
    rows = tables(only(".sprofile"))
    check(len({row["pid"] for row in rows["processes"]}) > 2, "processes: %r", rows["processes"])


@case
def newest_is_meant(_scratch):
    check_one_line(sampler("top"), 2, "no FILE", ".sprofile")
    check_equal(sampler_run(["-q", "-o", "b.sprofile", "-o", "a.sprofile"], [test_program("burn"), "0.1"]).status, 0, "status")
    os.utime("a.sprofile", (1, 1))
    os.symlink("nowhere", "z.sprofile")
    os.mkdir("y.sprofile")
    check("reading b.sprofile" in sampler("top").stderr, "the newest of two")
    os.utime("b.sprofile", (0, 0))
    check("reading a.sprofile" in sampler("dump").stderr, "the newest of two")


def wait_for_cpu(pid, seconds):
    ticks = seconds * os.sysconf("SC_CLK_TCK")
    while True:
        with open("/proc/%d/stat" % pid, encoding="ascii", errors="replace") as stat:
            if int(stat.read().rsplit(")", 1)[1].split()[11]) >= ticks:
                return
        time.sleep(0.01)


@case
def a_run_that_was_cut_off_is_the_newest(_scratch):
    """Its recording, of which sampler report makes a profile; that is the newest then."""
    check_one_line(sampler("report"), 2, "no RECORDING", ".sampler")
    check_equal(sampler_run(["-q", "-o", "old.sprofile"], [test_program("burn"), "0.1"]).status, 0, "status")
    os.utime("old.sprofile", (1, 1))
    check_one_line(sampler("report"), 2, "no RECORDING", ".sampler")
    environment = dict(clean_environment(), LD_PRELOAD=LIBRARY)
    process = subprocess.Popen([test_program("burn"), "60"], env=environment, stdout=subprocess.DEVNULL)
    wait_for_cpu(process.pid, 0.3)
    process.terminate()
    check_equal(process.wait(), -15, "status")
    name = os.path.basename(only(".sampler"))
    check("reading %s" % name in sampler("top").stderr, "the newest run is the one that was cut off")
    check(b"burn" in sampler("top").stdout, "its functions")
    check_one_line(sampler("convert", name, "-o", "x.folded"), 1, name, "is a recording", "sampler report")
    result = sampler("report")
    check(result.status == 0 and "reading %s" % name in result.stderr, "report: %r", result)
    made = name.replace(".sampler", ".sprofile")
    check_equal(sorted(os.listdir(".")), sorted([name, made, name.replace(".sampler", ".folded"), "old.sprofile"]), "files")
    check("reading %s" % made in sampler("top").stderr, "the profile is newer than its recording")


@case
def format_names_the_file(_scratch):
    """-f alone: one file, with the extension of that format."""
    check_equal(sampler_run(["-q", "-f", "cpuprofile"], [test_program("burn"), "0.1"]).status, 0, "status")
    check(len(os.listdir(".")) == 1, "files: %r", os.listdir("."))
    check(content(only(".cpuprofile")).startswith(b"{"), "the content")
    result = run([test_program("burn"), "0.1"], env=clean_environment(LD_PRELOAD=LIBRARY, SAMPLER_QUIET="1",
                                                                      SAMPLER_OUTPUT="own.folded"))
    check_equal((result.status, len(os.listdir("."))), (0, 2), "files: %r" % os.listdir("."))


@case
def damage_is_reported(_scratch):
    check_equal(sampler_run(["-q", "-o", "x.sprofile"], [test_program("burn"), "0.1"]).status, 0, "status")
    whole = content("x.sprofile")
    for n in (0, 7, 20, len(whole) - 1):
        with open("x.sprofile", "wb") as file:
            file.write(whole[:n])
        result = sampler("top", "x.sprofile")
        check("x.sprofile" in result.stderr and (n < 10 or "offset" in result.stderr or n == 20), "%d bytes: %s", n, result.stderr)
        check_equal(result.status, 0 if n == len(whole) - 1 else 1, "status with %d bytes" % n)
        if n > 20:
            check_one_line(sampler("top", "--strict", "x.sprofile"), 1, "x.sprofile", "offset")


if __name__ == "__main__":
    main()
