"""test_follow.py CASE LIBRARY PROGRAMS: children and the programs that come by exec."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import capture
from capture import Run, check

WAYS = ("execve", "execle", "execvpe", "fexecve", "execveat", "syscall", "clearenv", "other-preload", "posix_spawn", "posix_spawnp",
        "vfork")


def fresh(how):
    return [os.path.join(capture.PROGRAMS, "capture_fresh"), how]


def case_fresh_environment():
    for how in WAYS:
        run = Run(fresh(how), FREQUENCY=1000, CLOCK="timer")
        check(run.out == b"MINE=1\n", "%s: %r %s" % (how, run.out, run.err))
        check(run.err == "", "%s: %s" % (how, run.err))
        followed = [r for r in run.recordings() if b"done" in r.infos["command"].split(b"\0")]
        check(len(followed) == 1 and followed[0].summary()["weight_s"] > 0.03, "%s: not followed" % how)
        check(followed[0].summary()["clocks"] == ["timer"] and followed[0].frequency_hz == 1000, "%s: without its options" % how)


def case_fresh_not_followed():
    for how in WAYS:
        run = Run(fresh(how), FOLLOW="none")
        check(run.out == b"MINE=1\n", "%s: %r %s" % (how, run.out, run.err))
        check(not [r for r in run.recordings() if b"done" in r.infos["command"].split(b"\0")], "%s: followed" % how)


STATE = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
    const char *list = getenv("LD_PRELOAD");
    printf("%s\\n", list != NULL ? list : "none");
    return 5;
}
"""

# Ends with 4, or with 9 if it has an LD_PRELOAD.
STATE_32 = """
.globl _start
_start: mov (%esp), %ecx
        lea 8(%esp, %ecx, 4), %esi
next:   lodsl
        test %eax, %eax
        jz none
        cmpl $0x505f444c, (%eax)
        jne next
        cmpl $0x4f4c4552, 4(%eax)
        jne next
        mov $9, %ebx
        jmp end
none:   mov $4, %ebx
end:    mov $1, %eax
        int $0x80
"""


def foreign_programs():
    """Programs that our library cannot be loaded into, as (what, path)."""
    folder = capture.FOLDER
    with open(folder + "/state.c", "w") as file:
        file.write(STATE)
    with open(folder + "/state.s", "w") as file:
        file.write(STATE_32)
    loader = os.path.realpath("/lib64/ld-linux-x86-64.so.2")
    shutil.copy(loader, folder + "/ld-other.so.1")
    builds = [("another loader", ["gcc", "-o", folder + "/other", folder + "/state.c", "-Wl,--dynamic-linker=" + folder + "/ld-other.so.1"]),
              ("musl", ["musl-gcc", "-o", folder + "/musl", folder + "/state.c"])]
    for what, command in builds:
        if shutil.which(command[0]) is not None and subprocess.run(command, capture_output=True).returncode == 0:
            yield what, command[2]
    if all(subprocess.run(command, cwd=folder, capture_output=True).returncode == 0
           for command in (["as", "--32", "-o", "state.o", "state.s"], ["ld", "-m", "elf_i386", "-o", "small", "state.o"])):
        try:
            if subprocess.run([folder + "/small"], env={}).returncode == 4:
                yield "32 bits", folder + "/small"
        except OSError:
            print("this kernel runs no programs of 32 bits")


def case_foreign():
    """They start as without us, with the rest of LD_PRELOAD, if there is one."""
    programs = list(foreign_programs())
    check(programs != [], "no compiler")
    for what, path in programs:
        script = os.path.join(capture.FOLDER, "script")
        with open(script, "w") as file:
            file.write("#!%s\n" % path)
        os.chmod(script, 0o755)
        for how in ("same", "same-fd", "same-syscall", "same-spawn", "same-vfork", "execve"):
            for target in (path, script):
                if how == "same-fd" and target == script:
                    continue  # the descriptor is closed when the interpreter looks for the script
                before = Run(fresh(how) + [target], preload=False, status=None)
                run = Run(fresh(how) + [target], status=before.status)
                told = (what, how, os.path.basename(target))
                check((run.out, run.err) == (before.out, before.err), "%s: %r %r, without us %r" % (told, run.out, run.err, before.out))
                if how != "same-fd":
                    check(sum(r.n_children_missed for r in run.recordings()) == 1, "%s is counted" % (told,))
    kept, capture.LIBRARY = capture.LIBRARY, "libm.so.6:" + capture.LIBRARY + ":libdl.so.2"
    try:
        run = Run(fresh("same") + [programs[0][1]], status=5)
    finally:
        capture.LIBRARY = kept
    check(run.out == b"libm.so.6:libdl.so.2\n", "the rest of the list: %r" % run.out)


def case_exec_by_syscall():
    """A tick pending at an exec past libc's functions would end the new program."""
    for _ in range(25):
        Run(fresh("syscall"), FREQUENCY=20000)


def case_exec_beside_ends():
    """One thread tries exec again and again while others come to their end."""
    for clock in ("auto", "timer"):
        run = Run([os.path.join(capture.PROGRAMS, "capture_own_signal"), "exec-beside-ends"], CLOCK=clock, FREQUENCY=40000)
        recording = run.recording()
        # Threads that begin while an exec is tried have no clock. What counts: the streams are whole.
        check(recording.end == 1 and recording.n_threads > 10, "end, or threads: %d" % recording.n_threads)


if __name__ == "__main__":
    sys.exit(capture.main(globals()))
