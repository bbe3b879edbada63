"""Processes that end before their first sample: one file for all of them, and nothing of their time is lost."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import recording_dump  # noqa: E402: the path comes first
from e2e import (LIBRARY, Folded, Skip, case, check, check_equal, clean_environment, main, run, sampler,  # noqa: E402
                 sampler_run, test_program)


def record(argv, frequency, **settings):
    """(result, {name: recordings in the file}, account) of a run at `frequency`."""
    os.mkdir("recordings")
    env = clean_environment(LD_PRELOAD=LIBRARY, SAMPLER_RECORDING_DIR=os.path.abspath("recordings"),
                            SAMPLER_FREQUENCY=frequency, **settings)
    result = run(argv, env=env)
    files = {name: recording_dump.read_all(os.path.join("recordings", name)) for name in os.listdir("recordings")}
    told = sampler("report", "--account", "--json", "recordings")
    check_equal((told.status, told.stderr), (0, ""), "sampler report --account")
    return result, files, json.loads(told.stdout)


@case
def many_short_ones(_scratch):
    """At 10 Hz hardly one of 200 commands has a sample; each is in the account with all its CPU time."""
    script = "i=0; while [ $i -lt 200 ]; do /bin/true; i=$((i+1)); done"
    result, files, account = record(["sh", "-c", script], 10)
    brief = files.get("brief.sampler", [])
    total = account["total"]
    print("  %d files, %d brief recordings; %.4f of %.4f s" % (
        len(files), len(brief), total["explained_ns"] / 1e9, result.cpu_s))
    check_equal(account["processes_recorded"], sum(len(all_of) for all_of in files.values()), "recordings in the account")
    check(account["processes_recorded"] >= 201, "%d recordings", account["processes_recorded"])
    check(len(brief) > 0.8 * account["processes_recorded"], "only %d of %d are brief", len(brief),
          account["processes_recorded"])
    check({recording.end for recording in brief} <= {1, 2}, "one has no end")
    check_equal(max(recording.summary()["n_samples"] for recording in brief), 0, "samples of a brief recording")
    pids = [process["pid"] for process in account["processes"]]
    check_equal(pids, sorted(pids), "order of the processes")
    # What is left out of each is its last microseconds, and its grid's point is in its time once in a hundred.
    check(0.8 * result.cpu_s - 0.1 <= total["explained_ns"] / 1e9 <= 1.02 * result.cpu_s + 0.6, "explained %.4f of %.4f s",
          total["explained_ns"] / 1e9, result.cpu_s)
    check(total["cpu_ns"] / 1e9 >= 0.8 * result.cpu_s, "known %.4f of %.4f s", total["cpu_ns"] / 1e9, result.cpu_s)


@case
def exec_that_fails(_scratch):
    """What a process left before an exec that failed is not counted again when it goes on."""
    with open("not_a_program", "w", encoding="ascii") as file:
        file.write("\x7fELF, but not quite\n")
    os.chmod("not_a_program", 0o755)
    code = ("import os, sys, time\n"
            "for i in range(3):\n"
            "    try: os.execv('./not_a_program', ['x'])\n"
            "    except OSError as error: print(error.errno)\n"
            "end = time.process_time() + 0.7\n"
            "while time.process_time() < end: pass\n")
    result, files, account = record([sys.executable, "-S", "-E", "-c", code], 5)
    check_equal(result.stdout, b"8\n8\n8\n", "what the program saw")
    # A recording with a sample, of python's own start, goes on after the exec that failed.
    ends = [process["end"] for process in account["processes"]]
    check(ends[-1] == "exit" and set(ends[:-1]) <= {"exec"}, "ends: %s", ends)
    check_equal(len(files.get("brief.sampler", ())), len(ends) - 1, "brief ones")
    total = account["total"]
    check(abs(total["cpu_ns"] / 1e9 - result.cpu_s) < 0.02, "%.4f s known of %.4f", total["cpu_ns"] / 1e9, result.cpu_s)


@case
def threads_make_a_file(_scratch):
    """A second thread has no place in memory."""
    _, files, account = record([test_program("account_shares"), "2", "1", "1000"], 5)
    check_equal(len(files), 1, "files")
    check("brief.sampler" not in files, "a process with threads is brief")
    check_equal(account["total"]["threads"]["sampled"], 3, "threads")


@case
def one_among_others(_scratch):
    """A single brief process is put in its place: the profile is not named after it."""
    code = "import subprocess, time\nsubprocess.run(['/bin/true'])\nend = time.process_time() + 0.5\nwhile time.process_time() < end: pass"
    _, files, account = record([sys.executable, "-S", "-E", "-c", code], 5)
    check_equal(len(files.get("brief.sampler", ())), 1, "brief ones")
    own = [recording for name, all_of in files.items() if name != "brief.sampler" for recording in all_of]
    check(all(recording.pid < files["brief.sampler"][0].pid for recording in own), "pids start again")
    pids = [process["pid"] for process in account["processes"]]
    check_equal(pids, sorted(pids), "order of the processes")


@case
def rights_are_given_up(scratch):
    """What was in memory still gets its file: in a folder that the new user cannot enter, outside of the new root ..."""
    if os.getuid() != 0:
        raise Skip("not root")
    steps = {"user": "os.setgid(65534); os.setuid(65534)", "root": "os.chroot(%r)" % scratch,
             "call": "ctypes.CDLL(None).syscall(117, 65534, 65534, 65534)",
             "descriptors": "resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))"}
    for name, step in steps.items():
        os.mkdir(name)
        os.chmod(name, 0o700)
        code = ("import ctypes, os, resource, time\n%s\nend = time.process_time() + 0.7\n"
                "while time.process_time() < end: pass\n" % step)
        result = run([sys.executable, "-E", "-c", code], env=clean_environment(
            LD_PRELOAD=LIBRARY, SAMPLER_RECORDING_DIR=os.path.join(scratch, name), SAMPLER_FREQUENCY=5))
        check_equal((result.status, result.stderr), (0, ""), name)
        found = [one for file in os.listdir(name) for one in recording_dump.read_all(os.path.join(name, file))]
        check_equal(len(found), 1, "%s: recordings" % name)
        check(found[0].summary()["n_samples"] >= 1 and found[0].end == 1, "%s: %s", name, found[0].summary())


@case
def killed_before_a_sample(_scratch):
    """Nothing of it is recorded, and its CPU time (more than what ends a process may take) is counted all the same."""
    script = "/bin/sh -c 'i=0; while [ $i -lt 2500 ]; do i=$((i+1)); done; kill -9 $$'; /bin/true; exit 0"
    for _ in range(5):
        result = sampler_run(["-F", "1", "-o", "out.folded", "--account-file", "account.json"], ["sh", "-c", script])
        if "too short to sample: 0 samples" in result.stderr and "2 processes" in result.stderr:
            break  # as nearly always: one has a sample in a hundred, and a recording after 10 ms of CPU time
    check_equal(result.status, 0, "status: %s" % result.stderr)
    check("cut" not in result.stderr and "damaged" not in result.stderr, "stderr: %s", result.stderr)
    said = [line for line in result.stderr.splitlines() if line != "Killed"]
    check("too short to sample: 0 samples" in said[0] and "2 processes" in said[0], "lines: %r", said)
    with open("account.json", encoding="ascii") as file:
        account = json.load(file)
    check(account["run_cpu_ns"] > account["total"]["cpu_ns"] + 1000000, "run %d, recorded %d", account["run_cpu_ns"],
          account["total"]["cpu_ns"])


@case
def told_apart(scratch):
    """Of a process without a sample the recording has its command and the path it was executed by; of one with samples,
    all that people ask about."""
    script = "/usr/bin/true one two; i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"
    for n in range(20):
        os.mkdir("run%d" % n)
        os.chdir("run%d" % n)
        _, files, _ = record(["/bin/sh", "-c", script], 99)
        if "brief.sampler" in files:
            break  # as all but one in ten: true had no sample
        os.chdir(scratch)
    short = files.pop("brief.sampler")[0].infos
    check_equal(sorted(short), ["command", "exe"], "what is known of true")
    check_equal((short["command"], short["exe"]), (b"/usr/bin/true\0one\0two", b"/usr/bin/true"), "of true")
    shell = list(files.values())[0][0].infos
    check_equal(sorted(shell), ["command", "cwd", "exe", "host", "uid", "unwinder", "version"], "what is known of the shell")
    check_equal((shell["cwd"], shell["exe"]), (os.fsencode(os.getcwd()), os.fsencode(os.path.realpath("/bin/sh"))), "of sh")


def without_exits(file):
    """Its weight without what the kernel used to remove processes: sampler-run knows more of that than a later report."""
    return sum(n for stack, n in Folded(file).stacks.items() if stack[-1] != "[process exit]")


@case
def kept(scratch):
    """--keep leaves the brief ones too, and the profile can be made again from what it left."""
    runs_ns = 0
    for n in (1, 2):
        result = sampler_run(["-q", "-F", "5", "--keep", "-o", "out.folded", "--count", "ns"],
                             ["sh", "-c", "/bin/true; /bin/true"])
        check_equal(result.status, 0, "status: %s" % result.stderr)
        brief = sorted(name for name in os.listdir(scratch) if name.endswith(".brief.sampler"))
        check_equal(len(brief), n, "kept: %s" % os.listdir(scratch))
        runs_ns += without_exits("out.folded")
    names = sorted(name for name in os.listdir(scratch) if name.endswith(".sampler"))
    check_equal(sampler("report", "-q", "-o", "again.folded", "--count", "ns", *names).status, 0, "report")
    check_equal(without_exits("again.folded"), runs_ns, "of both runs")


if __name__ == "__main__":
    main()
