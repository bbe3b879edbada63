"""Threads that libc knows nothing of: found, covered, and left alone otherwise."""

import math
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import recording_dump
from e2e import LIBRARY, Folded, Skip, case, check, check_equal, clean_environment, main, need, run, sampler_run, test_program

FREQUENCY = 999


def record(argv, **settings):
    """What a program's recording says: (result, recording)."""
    folder = os.path.join(os.getcwd(), "rec-%d" % time.monotonic_ns())
    os.mkdir(folder)
    env = clean_environment(LD_PRELOAD=LIBRARY, SAMPLER_RECORDING_DIR=folder, **settings)
    result = run(argv, env=env)
    recordings = [one for name in os.listdir(folder) for one in recording_dump.read_all(os.path.join(folder, name))]
    check_equal(len(recordings), 1, "recordings (stderr: %s)" % result.stderr)
    return result, recordings[0]


def check_covered(recording, n_threads, n_found, clock):
    """All threads are there under their name, and the CPU time is explained within 99 % to 100.5 %, give or take
    what chance does. With a timer a thread that ends by itself keeps what it used since its last tick: of those,
    up to two ticks of the kernel (4 ms; more where others want the processor)."""
    summary = recording.summary()
    print("  %s: %s of the CPU time, %d samples, %s" %
          (clock, summary["explained"], summary["n_samples"], summary["clocks"]))
    check_equal(summary["missed"], 0, "threads without a clock")
    check_equal(recording.n_threads, n_threads, "threads")
    check_equal(recording.n_threads_found, n_found, "threads found")
    check_equal(len({thread.tid for thread in recording.threads}), n_threads, "thread ids")
    # What a thread used between its last sample and an end without a word may be a point of its grid.
    check(set(summary["lost"]) <= {"tail"} and summary["lost"].get("tail", 0) <= 3, "lost: %r", summary["lost"])
    chance_s = 3 * 0.5 * math.sqrt(n_threads) / FREQUENCY
    tail_s = n_found * 0.008 if clock == "timer" else 0
    least, most = 0.99 * summary["cpu_s"] - chance_s - tail_s, 1.005 * summary["cpu_s"] + chance_s
    check(summary["weight_s"] >= least, "only %.4f of %.4f s explained", summary["weight_s"], summary["cpu_s"])
    check(summary["weight_s"] <= most, "%.4f s explained of %.4f s used", summary["weight_s"], summary["cpu_s"])


def covered(how, storage, wait_ms=None):
    argv = [test_program("raw_threads"), how, storage, "3", "400"] + ([str(wait_ms)] if wait_ms else [])
    for clock in ("auto", "timer"):
        result, recording = record(argv, SAMPLER_CLOCK=clock)
        check_equal(result.status, 0, "status (%r, %s)" % (result.stdout, result.stderr))
        check_covered(recording, 4, 3, clock)
        work = [thread for thread in recording.threads if thread.tid != recording.pid]
        for thread in work:
            check_equal(thread.name, "raw_threads", "name")
            check(thread.steps * recording.period / 1e9 > 0.36, "a thread of 0.4 s has %d samples", thread.n_samples)


@case
def clone_shares_storage(_scratch):
    covered("libc", "shared")


@case
def clone_own_storage(_scratch):
    covered("libc", "own")


@case
def clone_no_storage(_scratch):
    covered("libc", "none")


@case
def raw_shares_storage(_scratch):
    covered("raw", "shared")


@case
def raw_own_storage(_scratch):
    covered("raw", "own")


@case
def raw_no_storage(_scratch):
    covered("raw", "none")


@case
def raw_while_all_wait(_scratch):
    """No thread that is known uses any CPU time: the timer of the process finds them. And the call the first thread
    waits in lasts as long as it should."""
    covered("raw", "own", 600)


@case
def stacks_have_names(_scratch):
    result = sampler_run(["-o", "raw.folded"], [test_program("raw_threads"), "raw", "shared", "2", "300"])
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    with open("raw.folded", encoding="utf-8") as file:
        stacks = [line.rpartition(" ") for line in file]
    measured = ("[start-up]", "[process exit]", "[thread start]", "[thread exit]")  # not sampled; much on a loaded machine
    stacks = [(stack, int(n)) for stack, _, n in stacks if not stack.endswith(measured)]
    work = sum(n for stack, n in stacks if stack.startswith("raw_clone;raw_run"))
    total = sum(n for _, n in stacks)
    check(work >= 0.98 * total > 0, "%d of %d in whole stacks of the threads", work, total)


@case
def many_short_ones(_scratch):
    """Slots of threads that ended without a word go to others, and none is counted twice."""
    argv = [test_program("raw_threads"), "raw", "own", "48", "40"]
    result, recording = record(argv)
    check_equal(result.status, 0, "status (%r)" % result.stdout)
    summary = recording.summary()
    print("  %s explained, %d found" % (summary["explained"], recording.n_threads_found))
    check(recording.n_threads_found >= 24, "%d of 48 threads found", recording.n_threads_found)
    check(recording.n_threads_found <= 48, "%d threads found of 48", recording.n_threads_found)
    check(summary["explained"] <= 1.02, "%s of the CPU time explained", summary["explained"])


@case
def clone_short_ones(_scratch):
    """Made by clone() they need not be looked for; and who ended gives its stream to who comes."""
    argv = [test_program("raw_threads"), "libc", "own", "60", "5", "0", "2"]
    result, recording = record(argv)
    check_equal(result.status, 0, "status (%r)" % result.stdout)
    summary = recording.summary()
    print("  %s explained, %d found, %d streams" %
          (summary["explained"], recording.n_threads_found, summary["n_streams"]))
    check_equal(recording.n_threads_found, 60, "threads found")
    check(0.9 <= summary["explained"] <= 1.1, "%s of the CPU time explained", summary["explained"])
    check(summary["n_streams"] <= 30, "%d streams for 60 threads, two at once", summary["n_streams"])


LOADED_LATER = """
import ctypes, sys, threading, time
def spin(ms):
    end = time.thread_time() + ms / 1000
    while time.thread_time() < end:
        sum(range(2000))
threads = [threading.Thread(target=spin, args=(600,)) for _ in range(2)]
for thread in threads:
    thread.start()
spin(100)
ctypes.CDLL(sys.argv[1])
print("loaded", flush=True)
for thread in threads:
    thread.join()
"""


@case
def loaded_into_a_program_that_runs(_scratch):
    """By dlopen: the threads that are there are covered, from then on."""
    env = clean_environment(SAMPLER_RECORDING_DIR=os.getcwd())
    result = run([need("python3"), "-c", LOADED_LATER, LIBRARY], env=env)
    check_equal((result.status, result.stdout), (0, b"loaded\n"), "status (%s)" % result.stderr)
    [name] = [name for name in os.listdir(".") if name.endswith(".sampler")]
    recording = recording_dump.Recording(name)
    check_equal((recording.n_threads, recording.n_threads_found), (3, 2), "threads, found")
    print("  %s explained" % recording.summary()["explained"])
    for thread in recording.threads[1:]:
        check(thread.start_cpu_ns > 0, "CPU time from before is counted")
        check(thread.n_samples > 20, "%d samples of a thread", thread.n_samples)
    check(0.97 <= recording.summary()["explained"] <= 1.01, "explained: %s", recording.summary()["explained"])


@case
def threads_of_libc_are_not_found(_scratch):
    """Looks at the folder come while threads begin and end by the hundred: none is taken for another's."""
    for _ in range(3):
        _, recording = record([test_program("short_threads"), "400", "20", "2"], SAMPLER_FREQUENCY="4999")
        check_equal(recording.n_threads_found, 0, "threads found")


def notified(how, microseconds, n):
    """The function's time stands where it measured it itself, and to the program all is as without us."""
    argv = [test_program("notify_work"), how, str(microseconds), str(n)]
    bare = run(argv)
    if bare.status == 77:
        raise Skip(bare.stdout.decode())
    check_equal(bare.status, 0, "without us: status")
    for clock in ("auto", "timer"):
        result = sampler_run(["-F", str(FREQUENCY), "--clock", clock, "--count", "ns", "-o", "notified.folded"], argv)
        check_equal(result.status, 0, "status (%s)" % result.stderr)
        own_ns, blocked = (int(word) for word in result.stdout.split())
        check_equal(blocked, int(bare.stdout.split()[1]), "calls with the signal blocked")
        got_ns = Folded("notified.folded").total_of("work_notified")
        chance_ns = 3 * math.sqrt(own_ns / 1e9 * FREQUENCY) * 1e9 / FREQUENCY
        print("  %s, %s: %.3f of %.3f s" % (how, clock, got_ns / 1e9, own_ns / 1e9))
        check(abs(got_ns - own_ns) < chance_ns, "%s, %s: %d of %d ns", how, clock, got_ns, own_ns)


@case
def notified_by_timers(_scratch):
    notified("timer", 2000, 250)


@case
def notified_by_a_queue(_scratch):
    notified("queue", 500, 1000)


@case
def notified_by_more_than_we_stand_in_for(_scratch):
    result = sampler_run(["-o", "many.folded"], [test_program("notify_work"), "many", "0", "60"])
    check_equal(result.status, 0, "status (%s)" % result.stderr)


@case
def all_signals_blocked(_scratch):
    """The threads of libc for aio: no tick comes through. It is not said that another signal would."""
    for clock in ("auto", "timer"):
        for frequency in (99, 999):
            result = sampler_run(["-F", str(frequency), "--clock", clock, "-o", "aio.folded"],
                                 [test_program("notify_work"), "aio", "0", "4000"])
            print("  " + result.stderr.splitlines()[0])
            check_equal(result.status, 0, "status (%s)" % result.stderr)
            check("threads that block all signals" in result.stderr, "no reason: %s", result.stderr)
            check("SAMPLER_SIGNAL" not in result.stderr, "wrong advice: %s", result.stderr)
            check("too short" not in result.stderr, "it was not too short: %s", result.stderr)
    # An event would cost them each time they wait, and bring nothing.
    _, recording = record([test_program("notify_work"), "aio", "0", "400"], SAMPLER_CLOCK="auto")
    clocks = {recording_dump.CLOCKS[thread.clock] for thread in recording.threads if thread.tid != recording.pid}
    check(clocks and clocks <= {"stand-in", "timer"}, "their clocks: %s", clocks)


GO = """package main

/*
static int add(int a, int b) { return a + b; }
*/
import "C"

import (
	"fmt"
	"sync"
)

//go:noinline
func spin(n int) (x int) {
	for i := 0; i < n; i++ {
		x += i * x
	}
	return
}

func main() {
	var wait sync.WaitGroup
	for i := 0; i < 3; i++ {
		wait.Add(1)
		go func() { defer wait.Done(); spin(400000000) }()
	}
	wait.Wait()
	fmt.Println("done", CALL)
}
"""


@case
def go_programs(scratch):
    """One with cgo, and one without: that one has no libc of its own, takes %fs of all threads for itself, and
    handles all signals by bare system calls."""
    go = need("go")
    for name, flags, cgo in (("cgo", [], "1"), ("pure", ["-buildmode=pie"], "0")):
        text = GO.replace("CALL", "C.add(1, 2)" if cgo == "1" else "3")
        if cgo == "0":
            text = text[:text.index("/*")] + text[text.index('import (\n'):]
        with open(name + ".go", "w", encoding="utf-8") as file:
            file.write(text)
        env = dict(os.environ, HOME=scratch, GOCACHE=scratch + "/cache", GOPATH=scratch + "/path", CGO_ENABLED=cgo,
                   GO111MODULE="off")
        subprocess.run([go, "build", *flags, "-o", name, name + ".go"], env=env, check=True)
        for clock in ("auto", "timer"):
            result, recording = record(["./" + name], SAMPLER_CLOCK=clock)
            check_equal((result.status, result.stdout), (0, b"done 3\n"), "result (%s)" % result.stderr)
            # It ends by a bare system call, so its recording does not tell the CPU time.
            explained_s = recording.summary()["weight_s"] + recording.start_cpu_ns / 1e9
            explained = explained_s / result.cpu_s
            print("  %s, %s: %.3f of %.3f s explained" % (name, clock, explained_s, result.cpu_s))
            check(0.97 <= explained <= 1.015, "%s, %s: %s explained", name, clock, explained)
            check(recording.n_threads >= 4, "%d threads", recording.n_threads)
    subprocess.run(["chmod", "-R", "u+w", scratch], check=False)


if __name__ == "__main__":
    main()
