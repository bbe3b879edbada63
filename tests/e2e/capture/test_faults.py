"""test_faults.py CASE LIBRARY PROGRAMS: limits, cages, small stacks and crashes.

In each the program prints and ends as it does without us, and what was recorded before survives.
"""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import capture
from capture import Run, Skipped, check

CLOCKS = ("auto", "timer")


def faults(work):
    return [os.path.join(capture.PROGRAMS, "capture_faults"), work]


def same(argv, launcher=(), least_s=0.03, clocks=CLOCKS, recorded=True, **options):
    """Runs it without and with us; returns the recordings of the last run."""
    before = Run(argv, preload=False, status=None, launcher=launcher)
    for clock in clocks:
        after = Run(argv, status=None, launcher=launcher, CLOCK=clock, FREQUENCY=5000, **options)
        check(after.status == before.status, "%s: status %d, without us %d; %r %s" % (clock, after.status, before.status, after.out, after.err))
        check(after.out == before.out, "%s: it says %r, without us %r" % (clock, after.out, before.out))
        recordings = after.recordings()
        if recorded:
            check(any(r.summary()["weight_s"] >= least_s for r in recordings),
                  "%s: what was recorded: %s" % (clock, [r.summary()["weight_s"] for r in recordings]))
    return recordings


def case_tiny_stacks():
    [recording] = same(faults("tiny-stacks"), least_s=0.25)
    check(len(recording.threads) == 9, "threads")


def case_full_stacks():
    for event in ("cpu", "wall"):
        [recording] = same(faults("full-stacks"), least_s=0.4, EVENT=event)
        check(len(recording.threads) == 5, "threads")


def case_small_altstack():
    same(faults("small-altstack"), least_s=0.15)
    same(faults("full-altstack"), least_s=0.15)


def case_overflow():
    for work in ("overflow", "overflow-handled"):
        same(faults(work))


def case_crash_handler():
    same(faults("crash-handler"), least_s=0.05)


def case_few_files():
    for limit in ("-n 1024", "-Sn 40", "-n 200"):
        same(faults("few-files"), launcher=["sh", "-c", 'ulimit %s; exec "$@"' % limit, "sh"], least_s=0.0)


def case_no_files():
    """Where there are hardly any the program may have them all."""
    same(faults("few-files"), launcher=["sh", "-c", 'ulimit -n 10; exec "$@"', "sh"], recorded=False)


def case_memory():
    same(faults("memory"), launcher=["sh", "-c", 'ulimit -v 60000; exec "$@"', "sh"])
    # Too little even for us: nothing is sampled, the program runs.
    for kib in (5000, 6000, 8000, 12000, 30000):
        same(["/bin/true"], launcher=["sh", "-c", 'ulimit -v %d; exec "$@"' % kib, "sh"], recorded=False)


def case_chroot():
    if os.getuid() != 0:
        raise Skipped("not root")
    argv = ["sh", "-c", 'mkdir -p root; exec "$@"', "sh", *faults("chroot")]
    same(argv, least_s=0.15)
    # Its root is another one before its first sample is due: what can be found out then, is found out before.
    late = Run(argv, FREQUENCY=1)
    infos = [r.infos for r in late.recordings() if r.infos["command"].endswith(b"faults\0chroot") and r.end == 1][0]
    check(infos.get("exe") == os.fsencode(faults("")[0]), "it is %r" % infos)
    check(infos.get("cwd") == os.fsencode(os.path.realpath(late.folder)), "it ran in %r" % infos)
    run = Run(argv, plain=True, status=0)
    # One line of the shell, which replaces itself, if it had a sample; one of the program that cannot reach the tool.
    check(run.err.count("\n") <= 2, "what is said: %r" % run.err)


def case_clear_environment():
    same(faults("clear-environment"), least_s=0.08)


def case_daemon():
    recordings = same(faults("daemon"), least_s=0.08)
    check(len(recordings) >= 2 and all(r.end == 1 for r in recordings), "ends")


def case_read_only_folder():
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        raise Skipped("not root")
    capture.LIBRARY = shutil.copy(capture.LIBRARY, capture.FOLDER)
    os.mkdir(capture.FOLDER + "/empty", 0o555)
    run = Run(["/bin/sh", "-c", "echo 3"], plain=True, TOOL="/bin/true", OUTPUT=capture.FOLDER + "/empty/x.folded",
              launcher=["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"])
    check(run.out == b"3\n", "stdout %r" % run.out)
    check("nothing is sampled" in run.err, "what is said: %r" % run.err)


def case_seccomp():
    for work in ("seccomp-kill", "seccomp-strict"):
        for recording in same(faults(work), least_s=0.05):
            check(recording.end == 1 and "stopped" in recording.infos, "why it stops is told: %s" % recording.infos.keys())


def case_seccomp_refuses():
    """A filter that comes before the first tick takes no event from who put it up; threads begun later get the timer."""
    [before] = Run(["/bin/sh", "-c", "i=0; while [ $i -lt 50000 ]; do i=$((i + 1)); done"], FREQUENCY=5000).recordings()
    if before.threads[0].clock != 1:
        raise Skipped("no events of ours here")
    recording = Run(faults("seccomp-refuse"), status=5, FREQUENCY=20).recording()
    clocks = [(thread.clock, thread.why_errno) for thread in recording.threads]
    check(clocks == [(1, 0), (3, 1)], "clocks: %s" % clocks)


EVENTS = """
import os, time
def events():
    paths = ["/proc/self/fd/" + name for name in os.listdir("/proc/self/fd")]
    return sum("perf_event" in os.readlink(path) for path in paths if os.path.islink(path))
before = events()
while time.process_time() < 1.2: pass
print(before, events())
"""


def case_event_at_first_tick():
    """What ends sooner needs none. A tick may come in the first moments of the second that it has."""
    for _ in range(4):
        run = Run([sys.executable, "-c", EVENTS], FREQUENCY=1)
        before, after = map(int, run.out.split())
        if after == 0:
            raise Skipped("no events of ours here")
        if before == 0:
            break
    check((before, after) == (0, 1), "events before and after the first tick: %d, %d" % (before, after))


TIMERS = 'while read -r key value; do [ "$key" = ClockID: ] && echo "$value"; done </proc/self/timers; :'


def timers(script):
    """The clocks of its timers: 1 is elapsed time, a negative one CPU time."""
    run = Run(["/bin/sh", "-c", script + TIMERS], FREQUENCY=60)
    return [int(clock) for clock in run.out.split()]


def case_timer_at_first_tick():
    """Before that there is one of elapsed time only; that for looks is made before a limit that may refuse it."""
    if not os.path.exists("/proc/self/timers"):
        raise Skipped("the kernel does not list timers")
    for _ in range(8):
        before = timers("ulimit -c 0;")
        if before == [1]:
            break
    check(before == [1], "clocks of timers before the first tick: %s" % before)
    for _ in range(3):
        after = timers("ulimit -n 900;")
        check(any(clock < 0 for clock in after), "after a limit: %s" % after)


def case_fenced_clock():
    """The clock is read by system calls then; the report's own process has no fence."""
    for event in ("cpu", "wall"):
        recordings = same(faults("fenced-clock"), least_s=0.25, EVENT=event)
        check(len(recordings) == 2, "recordings: %d" % len(recordings))
        for recording in recordings if event == "cpu" else ():
            capture.check_explained(recording, low=0.98)
    run = Run(faults("fenced-clock"), plain=True)
    check("accounts for" in run.err, "the report reads clocks: %r" % run.err)


def case_dispatch():
    for recording in same(faults("dispatch"), least_s=0.05) + same(faults("dispatch"), least_s=0.05, EVENT="wall"):
        check(recording.end == 1 and "stopped" in recording.infos, "why it stops is told: %s" % recording.infos.keys())
    run = Run(faults("dispatch"), plain=True)
    check("ended before the program did" in run.err and "DISPATCH" in run.err, "what is said: %r" % run.err)


def case_close_raw():
    for clock in CLOCKS:
        [recording] = Run(faults("close-raw"), CLOCK=clock).recordings()
        capture.check_explained(recording, low=0.98)


def case_spawn():
    same(faults("spawn"), least_s=0.05)


def compiled(source, *flags):
    compiler = shutil.which("gcc")
    if compiler is None:
        raise Skipped("no gcc")
    path = tempfile.mktemp(dir=capture.FOLDER)
    with open(path + ".c", "w") as file:
        file.write(source)
    done = subprocess.run([compiler, "-O1", "-g", *flags, "-o", path, path + ".c", "-pthread"], capture_output=True)
    if done.returncode != 0:
        raise Skipped("%s: %s" % (flags, done.stderr.decode()[-200:]))
    return path


WORK = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static __thread volatile unsigned sink;
static void *work(void *p) {
    clock_t end = clock() + CLOCKS_PER_SEC / 5;
    while (clock() < end) { unsigned *m = malloc(64); for (unsigned i = 0; i < 16; i++) m[i] = i; sink += m[3]; free(m); }
    return p;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
    work(NULL);
    pthread_join(t, NULL);
    puts("done");
    return 6;
}
"""


def case_sanitizers():
    """With the sanitizer's library named first, as it demands of any preloaded library."""
    for name, library in (("address", "libasan.so"), ("undefined", "libubsan.so"), ("thread", "libtsan.so")):
        path = compiled(WORK, "-fsanitize=" + name)
        first = subprocess.run(["gcc", "-print-file-name=" + library], capture_output=True).stdout.decode().strip()
        if not os.path.exists(first):
            continue
        kept, capture.LIBRARY = capture.LIBRARY, first + ":" + capture.LIBRARY
        try:
            run = Run(["setarch", "-R", path], status=None, FREQUENCY=2000)
        finally:
            capture.LIBRARY = kept
        check((run.status, run.out) == (6, b"done\n"), "%s: %d %r %s" % (name, run.status, run.out, run.err[-600:]))
        check(max(r.summary()["weight_s"] for r in run.recordings()) > 0.1, name + ": what was recorded")


OWN_WORK = """
#include <time.h>
static volatile unsigned sink;
__attribute__((noinline)) static void work(void) { for (unsigned i = 0; i < 1000000; i++) sink += i; }
int main(void) {
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    while (clock() < end) work();
    return 6;
}
"""


def gprof_seconds(path, folder):
    done = subprocess.run(["gprof", "-b", "-p", path, "gmon.out"], cwd=folder, capture_output=True, text=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return max([float(row[1]) for row in rows if len(row) > 3 and row[0].replace(".", "").isdigit()], default=0)


def case_gprof():
    """Its start-up code has libc handle SIGPROF, which no hook sees: another signal is ours."""
    if shutil.which("gprof") is None:
        raise Skipped("no gprof")
    for flags in (["-no-pie"], ["-pie"], ["-pie", "-fno-plt", "-Wl,-z,now"]):
        path = compiled(OWN_WORK, "-pg", *flags)
        for clock in CLOCKS:
            run = Run([path], status=6, FREQUENCY=4999, CLOCK=clock)
            cpu = capture.check_explained(run.recording(), low=0.98)["cpu_s"]
            seconds = gprof_seconds(path, run.folder)
            check(0.5 * cpu - 0.05 < seconds < 1.2 * cpu + 0.05, "%s %s: gprof has %.2f of %.2f s" % (flags, clock, seconds, cpu))


TAKEN = """
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static void on_signal(int signo) { (void)signo; }
__attribute__((naked)) static void give_back(void) { __asm__("movl $15, %eax; syscall"); }
int main(void) {
    struct { void (*handler)(int); unsigned long flags; void (*restorer)(void); unsigned long mask; }
        action = {on_signal, 0x04000000 | SA_RESTART, give_back, 0};
    if (syscall(SYS_rt_sigaction, SIGPROF, &action, 0, 8) != 0) return 1;
    clock_t end = clock() + CLOCKS_PER_SEC / 5;
    while (clock() < end) continue;
    return 6;
}
"""


def case_signal_taken():
    """Past libc: that cannot be prevented, but it is told."""
    path = compiled(TAKEN)
    run = Run([path], status=6, plain=True)
    check("ended before the program did" in run.err and "SAMPLER_SIGNAL=16" in run.err, "what is said: %r" % run.err)
    capture.check_explained(Run([path], status=6, SIGNAL=16).recording(), low=0.98)


def case_static_pie():
    path = compiled(WORK, "-static-pie")
    run = Run([path], status=6, FREQUENCY=2000)
    check(run.out == b"done\n" and [r for r in run.recordings() if r.end != 2] == [], "a static program")


if __name__ == "__main__":
    sys.exit(capture.main(globals()))
