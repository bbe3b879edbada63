"""Plain LD_PRELOAD: a program and all that it starts end in one profile, made when the first process ends."""
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))

from e2e import (LIBRARY, SAMPLER, SAMPLER_RUN, Folded, Skip, case, check, check_equal, clean_environment, main, run, sampler,
                 test_program)

BURN = test_program("burn")
CLOSING = re.compile(r"sampler: accounts for ([0-9.]+) of ([0-9.]+) s CPU .*; wrote (\S+), (\S+)")


def plain(argv, **variables):
    return run(argv, env=clean_environment(LD_PRELOAD=LIBRARY, **variables))


def shell(script, **variables):
    return plain(["sh", "-c", script, "sh", BURN], **variables)


def profiles():
    """Seconds in each folded file of the folder; there is nothing else in it but their .sprofile."""
    folded = sorted(name for name in os.listdir(".") if name.endswith(".folded"))
    others = sorted(set(os.listdir(".")) - set(folded))
    check_equal(others, [name.replace(".folded", ".sprofile") for name in folded], "other files")
    return {name: Folded(name).total / 999 for name in folded}


def one_profile(result, least_s, most_s, name):
    check_equal(len(CLOSING.findall(result.stderr)), 1, "closing lines in %r" % result.stderr)
    [(found, used_s)] = profiles().items()
    check(re.fullmatch(name + r"\.[0-9]+\.folded", found), "the file is called %s", found)
    check(least_s <= used_s <= most_s, "%.3f s in it", used_s)


@case
def children(_scratch):
    """By exec, by fork, both, and children of children."""
    result = shell('$1 0.2; ($1 0.1; :); sh -c "$1 0.1; exec env $1 0.2"; :')
    check_equal(result.status, 0, "status")
    one_profile(result, 0.57, 0.66, "sh")
    explained_s, used_s = map(float, CLOSING.search(result.stderr).groups()[:2])
    check(explained_s >= 0.95 * used_s, "%.3f of %.3f s explained", explained_s, used_s)


@case
def orphans(_scratch):
    """One that ends while the first process is the only other one leaves the profile to that; one without a sample
    that outlives it leaves nothing."""
    result = shell("($1 0.1 &); i=0; while [ $i -lt 800000 ]; do i=$((i + 1)); done")
    one_profile(result, 0.1, 10, "sh")
    for _ in range(4):  # one in ten times it has a sample, and so makes a profile of its own
        for name in os.listdir("."):
            os.unlink(name)
        result = shell("$1 0.6; (sleep 0.6 &)", SAMPLER_FREQUENCY="50")
        time.sleep(1.2)
        if len(profiles()) == 1:
            break
    one_profile(result, 0, 0.1, "sh")


@case
def past_the_environment(_scratch):
    """Children that get an environment of their program's own making are in it."""
    result = plain([sys.executable, "-c", "import os, subprocess, sys\n"
                    "assert 'SAMPLER_TREE' not in os.environ, 'our variable is in the program'\n"
                    "subprocess.check_call([sys.argv[1], '0.2'], env={})", BURN])
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    [used_s] = profiles().values()
    check(used_s >= 0.19, "%.3f s in it", used_s)


@case
def exec_of_the_first(_scratch):
    """What it was before is in the profile of what it becomes, and that has the name."""
    result = shell("exec $1 0.2")
    one_profile(result, 0.19, 0.23, "burn")
    for name in os.listdir("."):
        os.unlink(name)
    result = shell("$1 0.1; exec $1 0.2")
    one_profile(result, 0.28, 0.35, "burn")
    for name in os.listdir("."):
        os.unlink(name)
    result = plain([sys.executable, "-c", "import os, sys, time\nwhile time.process_time() < 0.3: pass\n"
                    "os.execv(sys.argv[1], sys.argv[1:])", BURN, "0.5"])
    one_profile(result, 0.45, 0.6, "burn")


@case
def exec_to_what_takes_no_library(_scratch):
    """Nobody is left to make the profile: one line states how to."""
    static = test_program("static_program")
    result = plain([sys.executable, "-c", "import os, sys, time\nwhile time.process_time() < 0.3: pass\n"
                    "os.execv(sys.argv[1], sys.argv[1:])", static, "0.05"])
    found = re.search(r"to make the profile: (sampler report (\S+) -o (\S+))\n", result.stderr)
    check(found, "stderr: %r", result.stderr)
    check_equal(sampler("report", found.group(2), "-o", found.group(3), "-q").status, 0, "status of report")
    check(Folded(found.group(3)).total > 250, "%d samples", Folded(found.group(3)).total)


def first_and_last(until):
    """Seconds in the profile of the first process and in that of the last one, once that is written."""
    give_up = time.monotonic() + 60
    while not until() and time.monotonic() < give_up:
        time.sleep(0.05)
    (_, first_s), (_, last_s) = sorted(profiles().items(), key=lambda item: len(item[0]))
    return first_s, last_s


def no_folder():
    return not any(name.endswith(".children") for name in os.listdir("."))


@case
def outlived(_scratch):
    """Children that outlive the first process are in its profile up to then, and the last of them makes another one,
    of their children, too."""
    result = shell("($1 0.5; $1 0.3; :) >/dev/null 2>&1 & $1 0.3 & $1 0.1")
    check("still running: in the profile up to now" in result.stderr, "stderr: %r", result.stderr)
    first_s, last_s = first_and_last(no_folder)
    check(0.09 <= first_s <= 0.8, "%.3f s in the first one", first_s)  # of the others as much as they got by then
    check(1.06 <= last_s <= 1.2, "%.3f s in the last one", last_s)


@case
def ended_during_the_report(scratch):
    """A child that ends while the first process reports is no longer running, and nobody has it in a profile yet: it
    waits for its turn."""
    tool = os.path.join(scratch, "slow")
    with open(tool, "w") as file:
        file.write("#!/bin/sh\n%s \"$@\"\nsleep 1\n" % SAMPLER)
    os.chmod(tool, 0o755)
    os.mkdir("out")
    os.chdir("out")
    result = shell("$1 0.6 2>/dev/null & $1 0.1", SAMPLER_TOOL=tool)
    check("still running: in the profile up to now" in result.stderr, "stderr: %r", result.stderr)
    first_s, last_s = first_and_last(no_folder)
    check(0.09 <= first_s <= 0.7, "%.3f s in the first one", first_s)
    check(0.57 <= last_s <= 0.7, "%.3f s in the last one", last_s)


@case
def outlived_by_an_idle_one(_scratch):
    """It has (nearly always) nothing to show when the first process ends: its folder is gone when it has."""
    shell("(sleep 0.8; i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done) >/dev/null 2>&1 & $1 0.1",
          SAMPLER_FREQUENCY="50")
    first_s, last_s = first_and_last(lambda: no_folder() and len(os.listdir(".")) == 4)
    check(0 < first_s < last_s, "%d samples in the first one, %d in the last one", first_s * 999, last_s * 999)


@case
def first_is_killed(_scratch):
    """The last of the others makes the profile; nothing of the first is lost."""
    result = shell("$1 0.4 2>last & $1 30 & $1 0.1; kill -9 $! $$")
    check_equal(result.status, -signal.SIGKILL, "status")
    give_up = time.monotonic() + 60
    while "wrote" not in open("last").read() and time.monotonic() < give_up:
        time.sleep(0.05)
    time.sleep(0.2)
    os.unlink("last")
    [used_s] = profiles().values()
    check(0.52 <= used_s <= 0.85, "%.3f s in it", used_s)


@case
def all_are_killed(_scratch):
    """`sampler report` finds what the first and the others left, and `sampler top` shows it."""
    child = subprocess.Popen(["sh", "-c", "$1 0.1; $1 30; :", "sh", BURN], start_new_session=True,
                             env=clean_environment(LD_PRELOAD=LIBRARY))
    time.sleep(0.6)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    names = ["sh.%d.children" % child.pid, "sh.%d.sampler" % child.pid]
    check_equal(sorted(os.listdir(".")), names, "files")
    for operands in [], names:
        top = sampler("top", *operands)
        check(top.status == 0 and b"work" in top.stdout, "top %r: %s", operands, top.stderr)
    for command in "convert", "dump":
        refused = sampler(command)
        check(refused.status == 1 and "sampler report" in refused.stderr, "%s: %s", command, refused.stderr)
    report = sampler("report", "--remove")
    check_equal(report.status, 0, "status of report (%s)" % report.stderr)
    [used_s] = profiles().values()
    check(used_s > 0.3, "%.3f s in it", used_s)


@case
def names_are_free(_scratch):
    """What another tree left under a name is not added to; somebody else's folder is not written to."""
    os.mkdir("out.children")
    result = shell("$1 0.1; :", SAMPLER_OUTPUT="out.folded")
    check_equal(sorted(os.listdir(".")), ["out.1.folded", "out.children"], "files (%s)" % result.stderr)
    check_equal(os.listdir("out.children"), [], "files in the other's folder")
    os.unlink("out.1.folded")
    os.rmdir("out.children")
    # It comes to be there while the first process runs.
    os.mkdir("trap")
    plain([sys.executable, "-c", "import os, subprocess, sys\nos.symlink('trap', 'out.children')\n"
           "subprocess.check_call(sys.argv[1:])", BURN, "0.1"], SAMPLER_OUTPUT="out.folded", SAMPLER_QUIET="1")
    check_equal(sorted(os.listdir(".")), ["out.1.folded", "out.children", "out.folded", "trap"], "files")
    check_equal(os.listdir("trap"), [], "files where a link leads")


def stacks_of(name):
    """Its lines, but for what is put down to beginnings and ends: how the whole was divided is known best in the run."""
    return sorted(line for line in open(name) if ";_start;[" not in line)


@case
def kept(_scratch):
    shell("$1 0.1; :", SAMPLER_OUTPUT="out.folded", SAMPLER_KEEP="1")
    check_equal(sorted(os.listdir(".")), ["out.children", "out.folded"], "files")
    report = sampler("report", "out.children", "-o", "again.folded")
    check_equal(report.status, 0, "status of report (%s)" % report.stderr)
    check_equal(stacks_of("again.folded"), stacks_of("out.folded"), "the profile of what was kept")


@case
def split(_scratch):
    """One file a process, where that is asked for."""
    shell("$1 0.1; $1 0.2; :", SAMPLER_OUTPUT="out.folded", SAMPLER_PROCESSES="split", SAMPLER_QUIET="1")
    seconds = sorted(Folded(name).total / 999 for name in os.listdir("."))
    check_equal(len(seconds), 3, "files")
    check(seconds[0] < 0.05 < seconds[1] < 0.15 < seconds[2], "%r s in them", seconds)


@case
def launcher_within(_scratch):
    """A sampler-run in the tree has its processes to itself."""
    shell("%s -q -o inner.folded sh -c '$1 0.2; :' sh $1" % SAMPLER_RUN, SAMPLER_OUTPUT="outer.folded", SAMPLER_QUIET="1")
    check(os.path.exists("inner.folded"), "files: %s", os.listdir("."))
    check(0.19 <= Folded("inner.folded").total / 999 <= 0.25, "%.3f s in it", Folded("inner.folded").total / 999)
    check(not any(line.startswith("burn;") for line in open("outer.folded")), "it is in the outer one, too")


@case
def another_user(scratch):
    """Who may not write to the folder has a tree of its own."""
    if os.geteuid() != 0:
        raise Skip("not root")
    os.chmod(scratch, 0o777)
    result = shell("$1 0.1; setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'env $1 0.2; :' sh $1",
                   SAMPLER_QUIET="1")
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    used = sorted(profiles().values())
    check(len(used) == 2 and 0.09 <= used[0] <= 0.14 and 0.19 <= used[1] <= 0.24, "%r s in profiles", used)


if __name__ == "__main__":
    main()
