"""test_capture.py CASE LIBRARY PROGRAMS: libsampler.so in real programs.

Shares are not asserted here, only what must hold in every run: the program's own behaviour, complete
recordings, and weights that add up to the CPU time used.
"""
import glob
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import capture
from capture import Run, Skipped, check, check_explained, program, read, refusing


def weights(clock):
    for hz in (100, 999, 5000):
        for arguments in (["spin", 700], ["threads", 4, 4, 250000]):
            run = Run(program(*arguments), CLOCK=clock, FREQUENCY=hz)
            summary = check_explained(run.recording())
            check(summary["clocks"] == ["perf" if clock == "auto" else clock] or clock == "auto", str(summary))
            print(hz, arguments[0], summary["explained"], summary["n_samples"], summary["clocks"])


def case_weights_perf():
    weights("auto")


def case_weights_timer():
    weights("timer")


def case_perf_refused():
    for error in (1, 13, 38):
        run = Run(program("spin", 500), launcher=refusing("perf_event_open=%d" % error))
        summary = check_explained(run.recording())
        check(summary["clocks"] == ["timer"], str(summary))
        check("perf_event_open" in summary["fallback"], "the reason is not told: %s" % summary)
        check(run.err == "", "it says something: " + run.err)
    run = Run(program("spin", 100), launcher=refusing("perf_event_open=1", "timer_create=1"))
    recording = run.recording()
    check(recording.n_threads_missed == 1, "no clock at all is not counted")


def case_real_programs():
    """stdout and status are the program's own."""
    library = sorted(glob.glob("/usr/lib/*/libstdc++.so.6"))
    commands = [
        [sys.executable, "-c", "print(sum(i * i for i in range(1500000)))"],
        ["xz", "-T2", "-1", "-c", sys.executable],
        ["perl", "-e", "my $x = 0; $x += $_ * $_ for 1 .. 3000000; print $x"],
        ["sh", "-c", "echo $((1 + 1)) | cat; exit 5"],
    ]
    if library:
        commands.append(["objdump", "-d", library[0]])
    for command in commands:
        if shutil.which(command[0]) is None:
            continue
        before = Run(command, preload=False, status=None)
        after = Run(command, status=before.status)
        check(after.out == before.out, "%s: stdout changed" % command[0])
        check(after.err == before.err, "%s: stderr changed: %r" % (command[0], after.err))
        for recording in after.recordings():
            summary = recording.summary()
            if summary["cpu_s"] > 0.3:
                check_explained(recording)
            print(command[0], summary["explained"], summary["n_samples"], summary["bytes_per_sample"])


READS_ITS_CLOCK = """
import ctypes, os, time
by_number = (~os.getpid() << 3) | 2
in_us = ctypes.CDLL(None).clock
for read in time.process_time_ns, lambda: time.clock_gettime_ns(by_number), lambda: in_us():
    times, end = [], time.monotonic() + 0.2
    while time.monotonic() < end:
        times.append(read())
    print(len(set(times)) / len(times))
"""


def case_own_cpu_clock():
    """A timer of ours on the CPU clock of the process must not make that stand still between the kernel's ticks."""
    for options in ({"CLOCK": "auto"}, {"CLOCK": "timer"}, {"EVENT": "wall"}):
        run = Run([sys.executable, "-c", READS_ITS_CLOCK], **options)
        shares = [float(share) for share in run.out.split()]
        check(len(shares) == 3 and min(shares) > 0.5, "%s: shares of times that are new: %s" % (options, shares))


def case_short_threads():
    for clock in ("auto", "timer"):
        run = Run(program("threads", 1000, 20, 500), CLOCK=clock)
        recording = run.recording()
        summary = recording.summary()
        check(recording.n_threads == 1001, "%d threads" % recording.n_threads)
        check(summary["n_streams"] < 100, "streams are not recycled: %d" % summary["n_streams"])
        # 1000 threads of 0.5 ms: as many grid points as their time is worth, by chance.
        check(350 <= summary["steps"] <= 1100, str(summary))
        print(clock, summary["explained"], summary["steps"], summary["n_streams"])
    run = Run(program("threads", 600, 600, 500))
    check(run.recording().n_threads == 601, "threads at once")


def case_existing_options():
    run = Run(program("spin", 200), FREQUENCY=200, UNWINDER="fp", HANDLER="sample")
    recording = run.recording()
    check(recording.frequency_hz == 200 and recording.period == 5000000, "frequency")
    check(recording.infos["unwinder"] == b"fp", "unwinder")
    empty = Run(program("spin", 200), HANDLER="empty").recording()
    # The end is settled at exit and once more after the last destructor: a point in between is credited as a last one is.
    check(empty.n_ticks > 20 and sum(empty.weights.values()) <= 1,
          "the empty handler: %d ticks, weights %s" % (empty.n_ticks, empty.weights))


def case_stacks_forgotten():
    """A thread that remembers 64 frames, of a program with many hundreds: none of its stacks is cut, at either end."""
    recording = Run([sys.executable, "-c", "import json, re, ast; [ast.dump(ast.parse('1+%d' % i)) for i in range(12000)]"],
                    MAX_NODES=64).recording()
    check("nodes" not in recording.summary()["lost"], "lost: %s" % recording.summary()["lost"])
    check(max(len(nodes) for nodes in recording.nodes.values()) > 1000, "no frame is forgotten")
    stacks = {stack: recording.stack(*stack) for stack in recording.weights}
    of_python = sum(weight for stack, weight in recording.weights.items() if len(stacks[stack]) > 10)
    check(of_python > 0.5 * sum(recording.weights.values()), "stacks are short")
    begins = {tuple(frames[:2]) for frames in stacks.values() if len(frames) > 10}
    check(len(begins) == 1, "stacks begin at %s" % begins)
    check_explained(recording, low=0.98)


def case_masks_blocked():
    for clock in ("auto", "timer"):
        recording = Run(program("blocked", 300), CLOCK=clock).recording()
        check_explained(recording)
        workers = [t for t in recording.threads if t.name == "worker"]
        check(len(workers) == 2 and all(t.n_samples > 30 for t in workers), "workers are not sampled")


def case_mask_reads():
    check_explained(Run(program("masks")).recording())


def case_sigwait():
    check_explained(Run(program("sigwait")).recording())


def case_own_signal():
    for clock in ("auto", "timer"):
        check_explained(Run(program("own-signal"), CLOCK=clock).recording())
    Run(program("own-signal"), SIGNAL=10)


def case_eintr():
    for clock, ticks in (("perf", 300), ("timer", 10)):
        n_ticks = 0
        for _ in range(16):  # a program that mostly waits gets 2 to 12 ticks of a timer in a run
            n_ticks += Run(program("eintr", 300), CLOCK=clock, FREQUENCY=5000).recording().n_ticks
            if n_ticks > ticks:
                break
        check(n_ticks > ticks, "ticks: %d" % n_ticks)


def case_own_eintr():
    # The program's own signals end its waits, also when our tick comes while its handler returns.
    for clock in ("auto", "timer"):
        run = Run(program("own-eintr", 20000), CLOCK=clock, FREQUENCY=10000, timeout=60)
        check(run.out == b"20000 alarms\n", "alarms: %r" % run.out)


def case_fork():
    run = Run(program("fork", 5, 60))
    recordings = run.recordings()
    check(len(recordings) == 6, "%d recordings" % len(recordings))
    parent = [r for r in recordings if r.n_forks == 5]
    check(len(parent) == 1 and len({r.pid for r in recordings}) == 6, "forks")
    for recording in recordings:
        check(recording.end == 1, "an end is missing")
        check(recording is parent[0] or recording.exit_status == 7, "exit status of a child")
        check_explained(recording, low=0.97)
    run = Run(program("fork", 3, 60), FOLLOW="none")
    check(len(run.files()) == 1, "children are followed")


def case_fork_big():
    for clock in ("auto", "timer"):
        run = Run(program("fork-big", 1500, 60), FREQUENCY=20000, CLOCK=clock)
        check(len(run.files()) == 2, "recordings")


def case_throw():
    path = os.path.join(capture.PROGRAMS, "capture_throw")
    if not os.path.exists(path):
        raise Skipped("no C++ compiler")
    for clock in ("auto", "timer"):
        run = Run([path, "15000"], FREQUENCY=5000, CLOCK=clock)
        check(run.out == b"15000 caught, 0 open\n", "result")
        check_explained(run.recording())


def case_close_all():
    for clock in ("auto", "timer"):
        recording = Run(program("close-all", 150), CLOCK=clock).recording()
        summary = recording.summary()
        lost = summary["lost"].get("tail", 0) * recording.period / 1e9
        check(summary["weight_s"] > 0.28, "hooked closes stop the clock: %s" % summary)
        check(abs(summary["weight_s"] + lost - summary["cpu_s"]) < 0.02, "unseen CPU is not counted: %s" % summary)


def case_file_limit():
    limited = ["sh", "-c", 'ulimit -f 40; exec "$@"', "sh"]  # of 512 bytes
    run = Run([*limited, sys.executable, "-c", "print(sum(i * i for i in range(8000000)))"], FREQUENCY=20000)
    recording = run.recording()
    check(recording.lost[1] > 0, "nothing was lost: %s" % recording.summary())
    check(all(os.path.getsize(path) <= 20480 for path in run.files()), "size")
    # python3 ignores SIGXFSZ, this program does not.
    run = Run(program("file-limit", 1200, 10), FREQUENCY=20000)
    check(run.recording().lost[1] > 0, "the recording did not have to grow: %s" % run.recording().summary())


def case_disk_full():
    folder = tempfile.mkdtemp(dir=capture.FOLDER)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], capture_output=True).returncode != 0:
        raise Skipped("cannot mount")
    try:
        run = Run([sys.executable, "-c", "import json\nprint(len(json.dumps([list(range(50)) for i in range(20000)])))"], RECORDING_DIR=folder, FREQUENCY=20000)
        [path] = glob.glob(folder + "/*.sampler")
        recording = read(path)
        check(recording.lost[1] > 0 and recording.end == 1, "nothing was lost: %s" % recording.summary())
        print(recording.summary()["lost"])
        subprocess.run(["dd", "if=/dev/zero", "of=" + folder + "/fill", "bs=4k"], capture_output=True)
        run = Run(program("spin", 50), RECORDING_DIR=folder)
        check(run.err.count("\n") == 1 and "cannot create the recording" in run.err, "what is said: %r" % run.err)
    finally:
        subprocess.run(["umount", folder])


def case_ends():
    for how in ("return", "exit", "_exit", "_Exit", "quick_exit", "abort", "segv"):
        died = {"abort": -signal.SIGABRT, "segv": -signal.SIGSEGV}.get(how)
        recording = Run(program("end", 100, how), status=died if died else 3).recording()
        summary = recording.summary()
        check(summary["weight_s"] > 0.09, how + ": samples are missing")
        check(recording.end == (0 if died else 1), how + ": end")
        if not died:
            check(recording.exit_status == (3 if how != "quick_exit" else 0), how + ": exit status")
            check_explained(recording, low=0.98)


def case_killed():
    for clock in ("auto", "timer"):
        recording = Run(program("end", 300, "kill"), status=-signal.SIGKILL, CLOCK=clock).recording()
        # What was used since the last tick is gone; the timer's ticks come late where others have the processors.
        least_s = 0.28 if clock == "auto" else 0.2
        check(recording.end == 0 and recording.summary()["weight_s"] > least_s, "killed: %s" % recording.summary())


def case_late_threads():
    recording = Run(program("late-threads"), FREQUENCY=5000).recording()
    check(recording.end == 1 and len(recording.threads) == 5, "threads")
    check_explained(recording, low=0.95)


def case_exec():
    run = Run(program("exec", 80, *program("spin", 80)))
    recordings = sorted(run.recordings(), key=lambda r: r.start_time_ns)
    check([r.end for r in recordings] == [2, 1], "ends: %s" % [r.end for r in recordings])
    check(len({r.pid for r in recordings}) == 1, "pids")
    check(all(r.summary()["weight_s"] > 0.07 for r in recordings), "weights")
    # A tick pending at the exec would kill the new program.
    for _ in range(15):
        Run(program("exec", 5, *program("exec", 5, "true")), FREQUENCY=20000)


def case_exec_fails():
    recording = Run(program("exec-fails", 100)).recording()
    check(recording.end == 1, "end")
    check_explained(recording, low=0.98)
    # Plain, where a recording without samples is given up for the exec.
    run = Run(program("exec-fails", 100), plain=True, KEEP=1, TOOL="/bin/true")
    [path] = glob.glob(run.folder + "/*.sampler")
    check_explained(read(path), low=0.98)


def case_stderr_reused():
    run = Run(program("stderr", 50, "innocent"), plain=True, TOOL="/nowhere/sampler")
    check(os.path.getsize(run.folder + "/innocent") == 0, "our words went into a file of the program's")
    run = Run(["sh", "-c", 'exec "$@" 0<&- 1>&- 2>&-', "sh", *program("spin", 50)], plain=False)
    check(run.recording().summary()["n_samples"] > 10, "closed standard descriptors")


def tool(folder, text):
    path = os.path.join(folder, "tool.sh")
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


def case_report():
    script = tool(capture.FOLDER, 'echo "$@"; echo "preload=$LD_PRELOAD" >&2; cat; cp "$2" "$4"; case "$*" in *--remove) rm "$2";; esac; grep Sig[BI] /proc/self/status; true\n')
    run = Run(program("end", 60, "exit"), plain=True, status=3, TOOL=script)
    check(run.out == b"", "stdout is touched: %r" % run.out)
    [output] = glob.glob(run.folder + "/capture_program.*.folded")
    check(read(output).end == 1, "what the tool got")
    check(not glob.glob(run.folder + "/*.sampler"), "the recording was not to be kept")
    check(("-o %s --remove" % output.replace(".folded", ".sprofile")) in run.err, "the second output: %r" % run.err)
    check("preload=\n" in run.err and "--remove" in run.err, "the tool's surroundings: %r" % run.err)
    check("SigBlk:\t0000000000000000" in run.err and "SigIgn:\t0000000000000000" in run.err, "signals of the tool: %r" % run.err)
    run = Run(program("end", 60, "exit"), plain=True, status=3, TOOL=script, KEEP=1)
    check("--remove" not in run.err and glob.glob(run.folder + "/*.sampler"), "KEEP")
    # Forked children are in the same profile, and idle ones make none of their own.
    script = tool(capture.FOLDER, 'cp -r "$2" "$4"; rm -r "$2"\n')
    run = Run(program("fork", 2, 60), plain=True, TOOL=script, OUTPUT="all.folded")
    files = glob.glob(run.folder + "/all*/**", recursive=True)
    check(len([name for name in files if name.endswith(".sampler")]) == 3 and os.path.exists(run.folder + "/all.folded"), "files: %s" % files)
    run = Run(["sh", "-c", "true; (true); env true"], plain=True, TOOL=script, FREQUENCY=5)
    check(len(glob.glob(run.folder + "/*.*")) == 1, "files of idle children: %s" % os.listdir(run.folder))


def case_children_unseen():
    script = tool(capture.FOLDER, "sleep 0.2\n")
    run = Run(program("children"), plain=True, TOOL=script)
    check(run.out == b"", "the program saw a child: %r" % run.out)


def case_follow_none():
    run = Run(["sh", "-c", 'echo "preload=$LD_PRELOAD"; env | grep -c LD_PRELOAD; exit 0'], FOLLOW="none")
    check(run.out == b"preload=\n0\n", "LD_PRELOAD is still there: %r" % run.out)


def case_bad_values():
    run = Run(program("spin", 60), FREQUENCY="fast", CLOCK="sundial", UNWINDER="", MAX_NODES="0", SIGNAL="9")
    lines = run.err.splitlines()
    check(len(lines) == 4 and all(line.startswith("sampler: SAMPLER_") for line in lines), "what is said: %r" % run.err)
    check(run.recording().frequency_hz == 999, "default")
    run = Run(program("spin", 20), RECORDING_DIR="/nowhere/at/all")
    check(run.err.count("\n") == 1 and "/nowhere/at/all" in run.err, "what is said: %r" % run.err)


def case_ordinary_user():
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        raise Skipped("not root")
    capture.LIBRARY, capture.PROGRAMS = shutil.copy(capture.LIBRARY, capture.FOLDER), capture.FOLDER + "/programs"
    os.makedirs(capture.PROGRAMS, exist_ok=True)
    shutil.copy(os.path.join(os.path.abspath(sys.argv[3]), "capture_program"), capture.PROGRAMS)
    with open("/proc/sys/kernel/perf_event_paranoid") as file:
        paranoid = int(file.read())
    for clock in ("auto", "timer"):
        run = Run(program("threads", 4, 4, 200000), launcher=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"], CLOCK=clock)
        summary = check_explained(run.recording())
        print(paranoid, summary["clocks"], summary["explained"], summary["fallback"])
        # Kernel time goes to the calls that used it.
        run = Run(["/usr/bin/python3", "-c", "f = open('/dev/zero', 'rb', 0)\nb = bytearray(1 << 20)\nfor i in range(3000): f.readinto(b)"],
                  launcher=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"], CLOCK=clock)
        check_explained(run.recording())


def case_static_and_secure():
    """Nothing happens in a program that runs with more rights than its caller."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        raise Skipped("not root")
    path = os.path.join(capture.FOLDER, "secure")
    shutil.copy(program()[0], path)
    os.chmod(path, 0o4755)
    run = Run([path, "spin", "50"], launcher=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
    check(run.files() == [], "a recording of a program with more rights")


def case_no_tool():
    run = Run(program("spin", 60), plain=True, TOOL="/nowhere/sampler")
    check(run.err.count("\n") == 1 and "sampler report " in run.err, "what is said: %r" % run.err)
    [path] = glob.glob(run.folder + "/*.sampler")
    check(path in run.err and stat.S_IMODE(os.stat(path).st_mode) == 0o600, "the recording: %r" % run.err)
    check_explained(read(path), low=0.97)


def case_output_pattern():
    script = tool(capture.FOLDER, 'cp "$2" "$4"; rm "$2"\n')
    run = Run(program("spin", 30), plain=True, TOOL=script, OUTPUT="sub/%n-%r-100%%-%p.cpuprofile", preload=True, status=0)
    check("cannot create the recording" in run.err, "a folder that is not there: %r" % run.err)
    script = tool(capture.FOLDER, 'cp -r "$2" "$4"; rm -r "$2"\n')
    run = Run(["sh", "-c", 'mkdir sub; cd sub; exec "$@"', "sh", *program("spin", 30)], plain=True, TOOL=script,
              OUTPUT="%n-%r-100%%-%h.cpuprofile")
    check(os.listdir(run.folder + "/sub") == ["capture_program-0-100%%-%s.cpuprofile" % os.uname().nodename],
          "files: %s" % os.listdir(run.folder + "/sub"))


def odd(work):
    return [os.path.join(capture.PROGRAMS, "capture_odd"), work]


def case_join_at_fork():
    Run(odd("join-at-fork"), timeout=20)


def case_old_signals():
    Run(odd("old-signals"))


def case_own_names():
    """A program with a syscall, write, memcpy, clock_gettime ... of its own, which none of our code may call."""
    run = Run([os.path.join(capture.PROGRAMS, "capture_own_names"), "600"], status=7)
    check(run.out == b"0 writes\n", "output: %r" % run.out)
    check(run.err == "", "it says something: " + run.err)
    check_explained(run.recording(), low=0.97)


def case_vfork_child():
    Run(odd("vfork-child"))


def case_exec_refused():
    """A program that forbids itself what we stop its clock with, and then goes on by exec (as man does)."""
    for _ in range(10):
        Run(program("spin", 1), launcher=refusing("ioctl=1"), FREQUENCY=20000)
    for _ in range(40):
        Run(program("spin", 1), launcher=refusing("timer_delete=1"), FREQUENCY=20000, CLOCK="timer")


def case_long_writes():
    """A blocking write is as long as it was asked to be."""
    code = "import os; b = bytes(1 << 24); print([os.write(1, b) for i in range(4)] == [1 << 24] * 4, file=open('result', 'w'))"
    for clock in ("auto", "timer"):
        run = Run([sys.executable, "-c", code], CLOCK=clock, FREQUENCY=5000)
        with open(run.folder + "/result") as file:
            check(file.read() == "True\n" and len(run.out) == 4 << 24, "a short write")


def case_exec_euid():
    """A tick pending at the exec would kill the new program, whatever the real user may run."""
    if os.getuid() != 0:
        raise Skipped("not root")
    path = shutil.copy(odd("")[0], capture.FOLDER)
    os.chmod(path, 0o700)
    Run([path, "exec-euid"], FREQUENCY=20000)


def case_stderr_gone():
    """What we say to a pipe without a reader is no SIGPIPE of the program."""
    run = Run(["sh", "-c", 'exec 3>&1; { sleep 0.2; "$@" >&3; echo $? >&3; } 2>&1 >/dev/null | true', "sh", *program("spin", 60)],
              plain=True, TOOL="/nowhere/sampler")
    check(run.out == b"1\n0\n", "status: %r" % run.out)


if __name__ == "__main__":
    sys.exit(capture.main(globals()))
