"""Modules whose file a reader does not find: deleted, replaced, without a name. Their names come from what the recording kept."""

import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import BUILD, Skip, case, check, check_equal, clean_environment, main, run, sampler_run, test_program
from views import json_of

MS = 400
WHOLE = {"exported_part", "hidden_part"}


def copy_library(path="lib.so"):
    shutil.copy(test_program("libgone_library.so"), path)
    return os.path.abspath(path)


def work(library, how, status=0, words=(), **variables):
    """What was said of a run whose profile is x.sprofile."""
    result = sampler_run([*words, "-o", "x.sprofile"], [test_program("gone_work"), library, how, str(MS)], env=clean_environment(**variables))
    check_equal(result.status, status, "status (%s)" % result.stderr)
    return result.stderr


def parts():
    """{function of the library: its row} of the two that work, whatever the second is called; they have most of the time."""
    top = json_of("top", "-n", "0")
    rows = {row["name"]: row for row in top["rows"] if row["self"] > top["total"] / 10}
    check_equal(len(rows), 2, "functions with time (%r)" % rows)
    check(sum(row["self"] for row in rows.values()) > 0.8 * top["total"], "time: %r", rows)
    return rows


def check_whole(stderr):
    """All names, with lines, as if the file was there."""
    rows = parts()
    check_equal(set(rows), WHOLE, "names")
    check(all(row["file"].endswith("gone_library.c") for row in rows.values()), "files: %r", rows)
    check("the recording kept" not in stderr, "said: %s", stderr)


def check_exported(stderr, module):
    """The names it exports; the rest by where it begins, which is where the symbol table has it."""
    rows = parts()
    hidden, = set(rows) - {"exported_part"}
    symbols = subprocess.run(["nm", test_program("libgone_library.so")], check=True, capture_output=True, text=True).stdout
    start, = [line.split()[0] for line in symbols.splitlines() if " t hidden_part" in line]
    check_equal(hidden, "[%s+0x%x]" % (module, int(start, 16)), "the other one")
    check("the recording kept the names that it exports" in stderr, "said: %s", stderr)


@case
def stays(_scratch):
    """The file is read where it is there, whatever else was kept."""
    check_whole(work(copy_library(), "stays"))


@case
def deleted(_scratch):
    """As root the file is read as long as it is mapped; a temporary one that goes after the program was mapped only."""
    if os.getuid() != 0:
        raise Skip("needs root")
    check_whole(work(copy_library(), "deleted"))
    check_whole(work(copy_library(), "late"))
    library = copy_library()
    script = "%s %s stays %d; rm %s" % (test_program("gone_work"), library, MS, library)
    result = sampler_run(["-o", "x.sprofile"], ["sh", "-c", script])
    check_exported(result.stderr, "lib.so")


def as_nobody(argv, **variables):
    return run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *argv], env=clean_environment(**variables))


@case
def deleted_by_others(_scratch):
    """An ordinary user gets what is mapped."""
    if os.getuid() != 0 or shutil.which("setpriv") is None:
        raise Skip("needs root and setpriv")
    for folder in ("bin", "lib"):
        shutil.copytree(os.path.join(BUILD, folder), folder)
    shutil.copy(test_program("gone_work"), "bin")
    os.mkdir("theirs")
    os.chown("theirs", 65534, 65534)
    os.chmod(".", 0o755)
    for how in ("deleted", "late"):
        library = copy_library("theirs/lib.so")
        os.chmod(library, 0o755)
        result = as_nobody([os.path.abspath("bin/sampler-run"), "-o", "theirs/x.sprofile", os.path.abspath("bin/gone_work"), library, how, str(MS)])
        check_equal(result.status, 0, "status (%s)" % result.stderr)
        os.replace("theirs/x.sprofile", "x.sprofile")
        check_exported(result.stderr, "lib.so")


@case
def memfd(_scratch):
    """A file without a name: as root, or while its descriptor is open, all of it."""
    if os.getuid() != 0:
        raise Skip("needs root")
    library = copy_library()
    check_whole(work(library, "memfd-open"))
    check_whole(work(library, "memfd"))


@case
def replaced(_scratch):
    """By another build of it: names are never those of the other one."""
    if os.getuid() != 0:
        raise Skip("needs root")
    shutil.copy(test_program("gone_work"), "other")
    check_whole(work(copy_library(), "replaced", OTHER=os.path.abspath("other")))


@case
def killed(_scratch):
    """Nothing is kept then; no wrong names, and the reason is said."""
    stderr = work(copy_library(), "killed", status=137)
    rows = [row for row in json_of("top", "-n", "0")["rows"] if (row.get("module") or "").endswith("lib.so")]
    check(rows and all(row["name"].startswith("[lib.so+0x") for row in rows), "names: %r", rows)
    check("lib.so" in stderr and "No such file" in stderr, "said: %s", stderr)


@case
def another_root(_scratch):
    """A program that has given up its root finds no file of its own, but others do: nothing is kept of all those."""
    if os.getuid() != 0:
        raise Skip("needs root")
    program = "import os, time\nos.mkdir('root')\nos.chroot('root')\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    result = sampler_run(["--keep", "-o", "x.sprofile"], [sys.executable, "-c", program])
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    size = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(".") for name in names if name.endswith(".sampler"))
    check(0 < size < 1 << 20, "bytes of the recording: %d", size)


if __name__ == "__main__":
    main()
