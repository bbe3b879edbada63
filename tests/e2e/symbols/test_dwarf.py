#!/usr/bin/env python3
"""Our own index of DWARF against libdw, each field of each frame of every address of programs compiled in all the ways
that are usual, and a few that are not: those must be left to libdw.

  test_dwarf.py COMPARE_DWARF gcc|clang

compare_dwarf (tests/programs/symbols) compares; here is what it is given, and what it must have seen in it. Skipped
(status 77) when there is no compiler; one that is not there leaves its part out, and that is said."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "programs")
C = [os.path.join(PROGRAMS, "capture", "burn.c"), "-lpthread"]
CXX = [os.path.join(PROGRAMS, "symbols", "symbolize_sample.cpp")]

COMPILERS = {"gcc": ("gcc", "g++"), "clang": ("clang", "clang++")}


def variants(name):
    """name, command, (least number of inlined frames, None: left to libdw), what is done to the file"""
    cc, cxx = COMPILERS[name]
    for version in "2345":
        dwarf = "-gdwarf-" + version
        yield "c_" + version, [cc, "-O2", "-g", dwarf, *C], 100, None
        yield "cxx_" + version, [cxx, "-O2", "-g", dwarf, *CXX], 10000, None
    yield "packed", [cxx, "-O2", "-g", "-gz=zlib", *CXX], 10000, None
    yield "not_optimized", [cxx, "-O0", "-g", *CXX], 0, None
    yield "few", [cxx, "-O2", "-g1", *CXX], 10000, None
    yield "type_units", [cxx, "-O2", "-g", "-fdebug-types-section", *CXX], 10000, None
    yield "sections", [cxx, "-O2", "-g", "-ffunction-sections", "-Wl,--gc-sections", *CXX], 10000, None
    yield "split", [cxx, "-O2", "-g", "-gsplit-dwarf", *CXX], None, None
    yield "zdebug", [cxx, "-O2", "-g", *CXX], None, ["objcopy", "--compress-debug-sections=zlib-gnu"]
    if name == "clang":
        yield "lto", [cxx, "-O2", "-g", "-flto", *CXX], 10000, None


def check(name, command, n_inlined, change, folder, compare):
    """What is wrong, None if nothing is; "" if it is left out."""
    path = os.path.join(folder, name)
    for step in [command + ["-o", path], change + [path] if change else None]:
        if step is None:
            continue
        if shutil.which(step[0]) is None:
            print("%s: no %s here, left out" % (name, step[0]))
            return ""
        done = subprocess.run(step, capture_output=True, text=True, cwd=folder)
        if done.returncode != 0:
            print("%s: %s cannot build it, left out:\n%s" % (name, step[0], done.stderr))
            return ""
    run = subprocess.run([compare, path], capture_output=True, text=True)
    print("%s: %s" % (name, run.stdout.strip()))
    if run.returncode != 0:
        return "differs"
    if n_inlined is None:
        return None if run.stdout == "not for us\n" else "is not left to libdw"
    seen = re.fullmatch(r"ours: (\d+) addresses, (\d+) frames, (\d+) inlined, 0 differ, 0 damaged\n", run.stdout)
    if seen is None:
        return "is not read by us, or not all of it"
    if int(seen[2]) < int(seen[1]) // 2 or int(seen[3]) < n_inlined:
        return "has hardly any frames"
    return None


def main():
    if len(sys.argv) != 3 or sys.argv[2] not in COMPILERS:
        print(__doc__)
        return 2
    wrong = []
    n_checked = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, *rest in variants(sys.argv[2]):
            said = check(name, *rest, folder, sys.argv[1])
            n_checked += said != ""
            if said:
                wrong.append("%s %s" % (name, said))
    print("%d checked" % n_checked, *wrong, sep="\n")
    if n_checked == 0:
        return 77
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
