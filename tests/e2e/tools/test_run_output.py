"""Where profiles go, how they are called, and that nothing else is left."""

import glob
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import (BUILD, LIBRARY, SAMPLER_RUN, Folded, Skip, case, check, check_equal, clean_environment,
                 main, run, sampler, sampler_run, test_program)

ACCOUNT = re.compile(r"sampler: accounts for ([0-9.]+) of ([0-9.]+) s CPU \(([0-9.]+) %\), [0-9]+ Hz; wrote (.*)")


@case
def default_name(scratch):
    result = sampler_run([], [test_program("burn"), "0.5"])
    check_equal(result.status, 0, "exit status")
    files = sorted(os.listdir(scratch))
    check(len(files) == 2 and re.fullmatch(r"burn\.[0-9]+\.folded", files[0]), "files: %r", files)
    check_equal(files[1], files[0].replace(".folded", ".sprofile"), "the second file")
    lines = result.stderr.splitlines()
    match = ACCOUNT.fullmatch(lines[0])
    check(match is not None, "the account line is %r", lines[0])
    check_equal(match.group(4), ", ".join(files), "the files the account names")
    check(99.0 <= float(match.group(3)) <= 101.0, "explained: %s %%", match.group(3))
    profile = Folded(files[0])
    check(450 <= profile.total <= 530, "%d periods of 1/999 s in half a second", profile.total)


@case
def plain_preload(scratch):
    """Without the launcher: the same file and the same closing line; quiet when asked."""
    folder = os.path.join(scratch, "100% %p")  # a percent sign in a folder's name is just that
    os.mkdir(folder)
    result = run([test_program("burn"), "0.5", "exit", "3"], cwd=folder,
                 env=clean_environment(LD_PRELOAD=LIBRARY))
    check_equal(result.status, 3, "exit status")
    files = sorted(os.listdir(folder))
    check(len(files) == 2 and re.fullmatch(r"burn\.[0-9]+\.folded", files[0]), "files: %r", files)
    check_equal(files[1], files[0].replace(".folded", ".sprofile"), "the second file")
    match = ACCOUNT.fullmatch(result.stderr.splitlines()[0])
    check(match is not None, "stderr: %r", result.stderr)
    check(match.group(4).endswith(files[1]) and files[0] in match.group(4), "the account names %s", match.group(4))
    check(450 <= Folded(os.path.join(folder, files[0])).total <= 530, "%d periods",
          Folded(os.path.join(folder, files[0])).total)
    result = run([test_program("burn"), "0.2"],
                 env=clean_environment(LD_PRELOAD=LIBRARY, SAMPLER_OUTPUT="out.folded",
                                       SAMPLER_QUIET="1", SAMPLER_COUNT="ns"))
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    check(0.19e9 <= Folded("out.folded").total <= 0.22e9, "%d ns", Folded("out.folded").total)


@case
def what_to_type_next(scratch):
    """The last line is a command for a shell, in the very words, that shows the profile just written."""
    quoted = os.path.join(scratch, "it's a folder")
    os.mkdir(quoted)
    folder = os.path.dirname(SAMPLER_RUN)
    work = [test_program("burn"), "0.2"]
    for options, files, path, wanted in (
            ([], None, folder, "sampler top"),
            (["-o", "x.folded"], "x.folded", folder, "sampler top x.folded"),
            (["-o", "x.folded", "-o", "x.sprofile", "-o", "y.cpuprofile"], "x.sprofile", folder, "sampler top"),
            (["-o", quoted + "/x y.folded"], None, "/bin", folder + "/sampler top '" + scratch +
             "/it'\\''s a folder/x y.folded'"),
            (["-o", scratch + "/x.folded"], "x.folded", "/bin", os.path.basename(folder) + "/sampler top " + scratch +
             "/x.folded"),
            (["-o", "-", "-f", "folded"], None, folder, None)):
        env = clean_environment(PATH=path + ":/usr/bin:/bin")
        if wanted is not None and wanted.startswith("bin/"):
            os.chdir(os.path.dirname(folder))
        result = run([SAMPLER_RUN] + options + work, env=env)
        check_equal(result.status, 0, "status (%s)" % result.stderr)
        command = result.stderr.splitlines()[-1].partition("next: ")[2] or None
        check_equal(command, wanted, "after %r" % options)
        if command is None:
            continue
        shown = run(["sh", "-c", command], env=env)
        check(shown.status == 0 and b"main" in shown.stdout, "%s: %d, %r", command, shown.status, shown.stderr)
        check(files is None or files in shown.stderr or command.endswith(files), "of another file: %r", shown.stderr)


@case
def naming(scratch):
    env = clean_environment(OMPI_COMM_WORLD_RANK="12")
    result = run([SAMPLER_RUN, "-q", "-o", "%n-%r-%%.%p.folded", test_program("burn"), "0.1"],
                 env=env)
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    files = os.listdir(scratch)
    check(len(files) == 1 and re.fullmatch(r"burn-12-%\.[0-9]+\.folded", files[0]), "%r", files)


def recorded(file):
    """The stacks of a folded file without what the kernel did before and after the recording: sampler-run knows more of
    that than a later report."""
    return {stack: n for stack, n in Folded(file).stacks.items() if stack[-1] not in ("[start-up]", "[process exit]")}


@case
def keep(scratch):
    result = sampler_run(["-q", "--keep", "-o", "out.folded"], [test_program("burn"), "0.3"])
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    files = sorted(os.listdir(scratch))
    check(len(files) == 2 and re.fullmatch(r"burn\.[0-9]+\.sampler", files[0]), "%r", files)
    again = sampler("report", files[0], "-o", "again.folded", "-q")
    check_equal((again.status, again.stderr), (0, ""), "report: status, stderr")
    check_equal(recorded("again.folded"), recorded("out.folded"), "the profile again")
    check(abs(Folded("again.folded").total - Folded("out.folded").total) <= 5, "the profile again: its weight")
    removed = sampler("report", files[0], "-o", "once.folded", "-q", "--remove")
    check_equal(removed.status, 0, "report --remove: status")
    check(not os.path.exists(files[0]), "the recording is still there")


@case
def processes_split(scratch):
    result = sampler_run(["-q", "--processes", "split", "--account-file", "account.json", "-o", "out.folded"],
                         [test_program("forks"), "12"])
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    files = glob.glob("*.folded")
    check("out.folded" in files, "the command's own file is missing: %r", files)
    others = [name for name in files if name != "out.folded"]
    check(len(others) >= 8, "%d files of 12 children that work 4 ms each", len(others))
    for name in others:
        check(re.fullmatch(r"out\.[0-9]+\.folded", name), "odd name %r", name)
        check(Folded(name).total > 0, "%s is empty", name)
    with open("account.json", encoding="utf-8") as file:
        explained_ns = json.load(file)["total"]["explained_ns"]
    split = sum(Folded(name).total for name in files)
    # What a start-up used is known to the nanosecond: the account has that, the files a number of whole periods.
    check(abs(split - explained_ns / 1001001) < 4, "%d periods in all files, %d ns accounted for", split, explained_ns)
    check_equal(sampler_run(["-q", "-o", "m.folded"], [test_program("forks"), "12"]).status, 0, "status")
    check_equal(glob.glob("m*.folded"), ["m.folded"], "files when merged")


@case
def write_failure(scratch):
    """The output's place is gone at the end: the recordings are kept, the status is the command's.
    """
    os.mkdir("sub")
    result = sampler_run(["-o", "keep.folded", "-o", "sub/out.folded"],
                         ["sh", "-c", "rmdir sub; exit 4"])
    check_equal(result.status, 4, "exit status")
    check("sampler report" in result.stderr and "sub/out.folded" in result.stderr, "stderr: %s",
          result.stderr)
    kept = glob.glob(os.path.join(scratch, ".sampler-*", "*.sampler"))
    check(kept, "no recording was kept: %r", os.listdir(scratch))
    check(".sampler-" in result.stderr, "the place is not told: %s", result.stderr)
    again = sampler("report", *kept, "-o", "later.folded", "-q")
    check_equal(again.status, 0, "report of what was kept (%s)" % again.stderr)


@case
def two_sampler_runs(scratch):
    """One inside the other: the inner one's command belongs to the inner profile."""
    result = sampler_run(["-q", "-o", "outer.folded"],
                         [SAMPLER_RUN, "-q", "-o", "inner.folded", test_program("burn"), "0.3"])
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    check_equal(sorted(os.listdir(scratch)), ["inner.folded", "outer.folded"], "files")
    check(Folded("inner.folded").total_of("work") > 200, "inner profile without its program")


@case
def ordinary_user(_scratch):
    """Without any right: the perf clock must work as far as the kernel lets it."""
    if os.getuid() != 0:
        raise Skip("this is an ordinary user already")
    if shutil.which("setpriv") is None:
        raise Skip("no setpriv here")
    home = "home"
    for folder in ("bin", "lib"):
        shutil.copytree(os.path.join(BUILD, folder), os.path.join(home, folder))
    shutil.copy(test_program("burn"), os.path.join(home, "burn"))
    os.chmod(".", 0o755)
    os.chmod(home, 0o755)
    os.mkdir("own")
    os.chown("own", 65534, 65534)
    result = run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                  os.path.abspath("home/bin/sampler-run"), "-o", "out.folded",
                  os.path.abspath("home/burn"), "0.5"], cwd="own")
    check_equal(result.status, 0, "exit status (%s)" % result.stderr)
    check_equal(os.listdir("own"), ["out.folded"], "files")
    check(450 <= Folded("own/out.folded").total <= 530, "%d periods of half a second",
          Folded("own/out.folded").total)
    print("  " + result.stderr.strip())


if __name__ == "__main__":
    main()
