"""Under root's sampler-run: programs that become another user are recorded to the end, wherever the run's folder is."""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import (BUILD, Folded, Skip, case, check, check_equal, clean_environment, main, run, test_program)  # noqa: E402

USER = 65534
SETPRIV = ["setpriv", "--reuid=%d" % USER, "--regid=%d" % USER, "--clear-groups"]


def setup(mode=0o755):
    """(sampler-run, burn) where the other user can load them; we go to a folder of ours with this mode."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        raise Skip("needs root and setpriv")
    for folder in ("bin", "lib"):
        shutil.copytree(os.path.join(BUILD, folder), os.path.join("home", folder))
    burn = shutil.copy(test_program("burn"), "home/burn")
    for folder in (".", "home"):
        os.chmod(folder, 0o755)
    words = os.path.abspath("home/bin/sampler-run"), os.path.abspath(burn)
    os.mkdir("own")
    os.chmod("own", mode)
    os.chdir("own")
    return words


def explained(result, *words, least=97.0):
    """The closing line's percentage, where nothing else than that and what comes next is said."""
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    check("cannot create" not in result.stderr and "not recorded" not in result.stderr, "stderr: %s", result.stderr)
    found = re.search(r"\(([0-9.]+) %\)", result.stderr)
    check(found, "no percentage: %s", result.stderr)
    check(least <= float(found.group(1)) <= 101.5, "%s: %s", words, result.stderr)


@case
def commands(_scratch):
    """Each way to become another user and to start a program, each clock; time is where it was spent.
    Of the second, up to 0.15 s go to the way there on a slow machine: loading programs, asking who the user is."""
    launcher, burn = setup()
    ways = [SETPRIV + [burn, "1"], ["setpriv", "--reuid=%d" % USER, "--keep-groups", "sh", "-c", burn + " 1; exit 0"],
            ["runuser", "-u", "nobody", "--", burn, "1"], ["su", "-s", "/bin/sh", "nobody", "-c", burn + " 1"],
            ["chroot", "--userspec=%d:%d" % (USER, USER), "/", burn, "1"]]
    for way in ways:
        if shutil.which(way[0]) is None:
            continue
        for clock in (["--clock", "perf"], ["--clock", "timer"], ["-e", "wall"]):
            result = run([launcher, *clock, "-o", "out.folded", *way], env=clean_environment())
            explained(result, way[0], *clock)
            share = Folded("out.folded").total_of("work") / Folded("out.folded").total
            print("  %-8s %-14s %s: work %.1f %%" % (way[0], " ".join(clock), result.stderr.split(",")[0], 100 * share))
            if clock[0] != "-e":  # su and runuser wait for their child
                check(share > 0.8, "%s: only %.3f in work", way, share)
    check_equal(os.listdir("."), ["out.folded"], "files left")


@case
def workers(_scratch):
    """Children that a process makes by fork once it is another user, as servers do; one brief, the others not."""
    launcher, _ = setup()
    code = ("import os, time\nos.setgid(%d)\nos.setuid(%d)\n"
            "for i in range(9):\n"
            "    if os.fork() == 0:\n"
            "        end = time.process_time() + (0.3 if i < 3 else 0)\n"
            "        while time.process_time() < end: pass\n"
            "        os._exit(0)\n"
            "for i in range(9): os.wait()\n" % (USER, USER))
    # A fork may take 10 ms: at this rate some of the short ones are not sampled.
    result = run([launcher, "-F", "50", "--keep", "-o", "out.folded", "--account-file", "account.json", "/usr/bin/python3", "-E",
                  "-c", code], env=clean_environment())
    explained(result)
    with open("account.json", encoding="ascii") as file:
        account = json.load(file)
    check_equal(account["processes_recorded"], 10, "processes")
    long_ones = [process for process in account["processes"] if process["cpu_ns"] > 250e6]
    check_equal(len(long_ones), 3, "children with 0.3 s")
    check_equal(len(glob.glob("python3.*.brief.sampler")), 1, "files of brief recordings")


@case
def no_way_in(_scratch):
    """The folder of the run, and of the output, is one that the other user may not even enter."""
    launcher, burn = setup(mode=0o700)
    result = run([launcher, "-o", "out.folded", *SETPRIV, burn, "0.4"], env=clean_environment())
    explained(result)
    # Its 0.4 s begin with setpriv's, and with its own loading.
    check(Folded("out.folded").total_of("work") >= 320, "%d periods in work", Folded("out.folded").total_of("work"))


@case
def kept(_scratch):
    """--keep brings the recordings of both users to the output, ours by then, none over another."""
    launcher, burn = setup()
    script = "%s 0.2; exec %s %s 0.2" % (burn, " ".join(SETPRIV), burn)
    result = run([launcher, "-q", "--keep", "-o", "out.folded", "sh", "-c", script], env=clean_environment())
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    recordings = [name for name in os.listdir(".") if name.endswith(".sampler")]
    check(any(re.fullmatch(r"sh\.[0-9]+\.1\.sampler", name) for name in recordings),
          "the same process under both users: %s", recordings)
    check_equal({(os.stat(name).st_uid, os.stat(name).st_mode & 0o777) for name in recordings}, {(0, 0o600)}, "owner, mode")
    result = run([os.path.join(os.path.dirname(launcher), "sampler"), "report", *recordings, "-q", "-o", "again.folded"],
                 env=clean_environment())
    check_equal((result.status, result.stderr), (0, ""), "report: status, stderr")
    # What the kernel took to remove the command's process is known to sampler-run alone.
    check(0 <= Folded("out.folded").total - Folded("again.folded").total <= 5, "weight of the kept ones: %d, %d",
          Folded("again.folded").total, Folded("out.folded").total)


@case
def launcher_killed(scratch):
    """SIGKILL of sampler-run: its folder still stands for the recordings of all users, and goes with them."""
    launcher, burn = setup()
    child = subprocess.Popen([launcher, *SETPRIV, "sh", "-c", "%s 0.3 >/dev/null; echo half; read x; echo end" % burn],
                             env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    check_equal(child.stdout.readline(), b"half\n", "output")
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdin.write(b"\n")
    child.stdin.close()
    check_equal(child.stdout.read(), b"end\n", "output after the kill")
    folder, = glob.glob(".sampler-*")
    elsewhere = os.readlink(os.path.join(folder, "other-users"))
    result = run([os.path.join(scratch, "home/bin/sampler"), "report", folder, "--remove", "-q", "-o", "out.folded"],
                 env=clean_environment())
    check_equal(result.status, 0, "report: status (%s)" % result.stderr)
    check(Folded("out.folded").total_of("work") >= 280, "%d periods in work", Folded("out.folded").total_of("work"))
    check_equal(os.listdir("."), ["out.folded"], "files left")
    check(not os.path.exists(os.path.dirname(elsewhere)), "the other folder is left: %s", elsewhere)


@case
def planted(_scratch):
    """A pipe and a link that the other user puts there under a recording's name are not opened."""
    launcher, burn = setup()
    with open("secret", "wb") as file:
        file.write(b"SAMPLER?")
    script = 'echo "$SAMPLER_OTHERS_DIR"; cd "$SAMPLER_OTHERS_DIR" && mkfifo 1.0.sampler && ln -s %s 2.0.sampler && exec %s 0.3' % (
        os.path.abspath("secret"), burn)
    result = run([launcher, "-o", "out.folded", *SETPRIV, "sh", "-c", script], env=clean_environment(), timeout_s=60)
    explained(result)
    check("secret" not in result.stderr and "2.0" not in result.stderr, "stderr: %s", result.stderr)
    check(os.path.exists("secret"), "the link's target is gone")
    elsewhere = result.stdout.decode().splitlines()[0]
    check(not os.path.exists(os.path.dirname(elsewhere)), "the other folder is left: %s", elsewhere)


@case
def nobody_else(_scratch):
    """Who was not told the folder's name cannot find it, and its files are nobody else's to read or remove."""
    launcher, burn = setup()
    with open("../home/look", "w", encoding="ascii") as out:
        out.write('#!/bin/sh\n%s 0.1 >/dev/null\nouter=$(dirname "$SAMPLER_OTHERS_DIR")\nls "$outer"\nls "$SAMPLER_OTHERS_DIR"\n'
                  "stat -c %%a:%%u $outer $SAMPLER_OTHERS_DIR\n" % burn)
    os.chmod("../home/look", 0o755)
    result = run([launcher, "-q", "-o", "out.folded", *SETPRIV, os.path.abspath("../home/look")], env=clean_environment())
    check_equal(result.stdout, b"711:0\n1733:0\n", "what the other user can list, the modes")
    check_equal(result.stderr.count("Permission denied"), 2, "refusals (%s)" % result.stderr)


@case
def a_trap(scratch):
    """A folder with a link to somewhere else under the link's name: nothing there is read or removed."""
    launcher, burn = setup()
    run([launcher, "-q", "--keep", "-o", "out.folded", burn, "0.1"], env=clean_environment())
    recording, = [name for name in os.listdir(".") if name.endswith(".sampler")]
    sampler = os.path.join(scratch, "home/bin/sampler")
    for target in ("victim", "/var/tmp/.sampler-trap/../../../" + scratch + "/own/victim"):
        os.mkdir("run")
        os.mkdir("victim")
        shutil.copy(recording, "run/1.0.sampler")
        shutil.copy(recording, "victim/2.0.sampler")
        os.symlink(os.path.abspath(target) if target == "victim" else target, "run/other-users")
        result = run([sampler, "report", "run", "--remove", "--account", "-o", "out.folded"], env=clean_environment())
        check_equal(result.status, 0, "status (%s)" % result.stderr)
        check("processes" not in result.stderr, "two were read: %s", result.stderr)
        check_equal(os.listdir("victim"), ["2.0.sampler"], "what the link leads to")
        shutil.rmtree("run")
        shutil.rmtree("victim")


@case
def nobody_needs_it(_scratch):
    """Without another user there is no other folder; in another root it is not made either."""
    launcher, burn = setup()
    look = "ls -d \"$(dirname \"$SAMPLER_OTHERS_DIR\")\"; echo $SAMPLER_OTHERS_DIR; ls -a %s/root/var/tmp" % os.getcwd()
    os.makedirs("root/var/tmp")
    code = "import os; os.chroot('root'); os.setuid(%d)" % USER
    result = run([launcher, "-q", "-o", "out.folded", "sh", "-c", "/usr/bin/python3 -E -c \"%s\"; %s" % (code, look)],
                 env=clean_environment())
    check("No such file" in result.stderr, "made: %s %s", result.stdout, result.stderr)
    check_equal(result.stdout.decode().splitlines()[1:], [".", ".."], "in the other root")
    check(result.stdout.startswith(b"/var/tmp/.sampler-"), "the name: %s", result.stdout)


if __name__ == "__main__":
    main()
