"""A program and the debug information split off from it, for tests of where that is looked for.

`work` spends its time in hot_part, which it does not export; only the debug information knows its name, and
that the loop within it is `inlined_part` of work.c."""

import os
import shutil
import subprocess

from e2e import check_equal, need, sampler, sampler_run
from views import json_of

SOURCE = """
static volatile unsigned long n;
static inline __attribute__((always_inline)) void inlined_part(void) { while (n < 200000000) n++; }
static __attribute__((noinline)) void hot_part(void) { inlined_part(); }
int main(void) { hot_part(); return 0; }
"""
LINES, SYMBOLS, NOTHING = "lines", "names without lines", "no names"


def command(*words):
    subprocess.run([need(words[0]), *words[1:]], check=True, capture_output=True)


def program_make(*options, source=SOURCE):
    """work.whole, as it was built; work.debug; work, stripped of everything."""
    with open("work.c", "w", encoding="ascii") as file:
        file.write(source)
    command("gcc", "-O2", "-g", *options, "work.c", "-o", "work.whole")
    command("objcopy", "--only-keep-debug", "work.whole", "work.debug")
    command("strip", "-o", "work", "work.whole")


def alt_link_make():
    """`alt`, a file that work.debug refers to as what dwz split off from it; its build id."""
    alt = bytes(range(20))
    command("gcc", "-g", "-Wl,--build-id=0x" + alt.hex(), "-o", "alt", "work.c")
    with open("link", "wb") as file:
        file.write(b"/usr/lib/debug/.dwz/work.debug\0" + alt)
    command("objcopy", "--add-section", ".gnu_debugaltlink=link", "work.debug")
    return alt.hex()


def build_id(path):
    text = subprocess.run(["readelf", "-n", path], check=True, capture_output=True, text=True).stdout
    return text.split("Build ID: ")[1].split()[0]


def build_id_path(path):
    """Where the debug file of a program lies below the root of debug files."""
    whole = build_id(path)
    return os.path.join(".build-id", whole[:2], whole[2:] + ".debug")


def put(source, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    shutil.copy(source, path)


def record(*words, program=("./work",)):
    """Runs it; the recording."""
    result = sampler_run(["-q", "--keep", *words, "-o", "kept.sprofile"], [os.path.abspath(program[0]), *program[1:]])
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    path, = [name for name in os.listdir(".") if name.endswith(".sampler")]
    os.rename(path, "recording")
    return "recording"


def named():
    """How much is known of the hottest code of x.sprofile: its row's name, and what that tells."""
    row = json_of("top")["rows"][0]
    if row["name"] == "inlined_part" and os.path.basename(row["file"]) == "work.c":
        return LINES
    return SYMBOLS if row["name"] == "hot_part" and not row.get("file") else \
        NOTHING if row["name"].startswith("[work+0x") else row


def report(*words, **how):
    """What of the recording is known by these options, and what is said."""
    result = sampler("report", *words, "recording", "-o", "x.sprofile", **how)
    check_equal(result.status, 0, "status of %r (%s)" % (words, result.stderr))
    return named(), result.stderr
