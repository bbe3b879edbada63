#!/usr/bin/env python3
"""Our function chains against llvm-symbolizer's: on sample programs compiled in several ways, and on
system files whose debug information is installed. See compare_symbolizer.py, which does the work.

  test_symbolizer.py SYMBOLIZE_ADDRESSES

Skipped (status 77) without llvm-symbolizer. A compiler or a debug file that is not there leaves its
part out, and that is said."""

import os
import shutil
import subprocess
import sys
import tempfile

import compare_symbolizer

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "programs", "symbols")
CXX = os.path.join(PROGRAMS, "symbolize_sample.cpp")
RUST = os.path.join(PROGRAMS, "symbolize_sample.rs")

VARIANTS = {
    "gcc": ["g++", "-O2", "-g", "-gz", CXX],
    "gcc_dwarf4_lto": ["g++", "-O2", "-g", "-gdwarf-4", "-flto=1", CXX],
    "clang_dwarf3_sections": ["clang++", "-O2", "-g", "-gdwarf-3", "-ffunction-sections",
                              "-Wl,--gc-sections", CXX],
    "clang_line_tables_only": ["clang++", "-O2", "-gmlt", CXX],
    "rust": ["rustc", "-O", "-g", RUST],
}

SYSTEM = ["/usr/bin/x86_64-linux-gnu-objdump", "/lib/x86_64-linux-gnu/libc.so.6",
          "/usr/lib/x86_64-linux-gnu/libbfd-2.40-system.so",
          "/usr/lib/x86_64-linux-gnu/libopcodes-2.40-system.so"]


def build(folder):
    files = []
    for name, command in VARIANTS.items():
        path = os.path.join(folder, name)
        if shutil.which(command[0]) is None:
            print(f"{name}: no {command[0]} here, left out")
            continue
        done = subprocess.run(command + ["-o", path], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"{name}: {command[0]} cannot build it, left out:\n{done.stderr}")
            continue
        files.append(path)
    return files


def main():
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    if not (shutil.which("llvm-symbolizer") or shutil.which("llvm-symbolizer-14")):
        print("no llvm-symbolizer here: skipped")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        files = build(folder)
        for path in SYSTEM:
            if os.path.exists(path) and compare_symbolizer.debug_path(path):
                files.append(path)
            else:
                print(f"{path}: not here with its debug file, left out")
        if not files:
            print("nothing to compare: skipped")
            return 77
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "compare_symbolizer.py")
        return subprocess.run([sys.executable, script, sys.argv[1], *files, "--show", "1"]).returncode


if __name__ == "__main__":
    sys.exit(main())
