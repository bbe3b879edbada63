"""MiniDebugInfo: names of functions that a stripped file carries along, packed, as Fedora's do."""

import lzma
import os
import resource
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from debug_files import NOTHING, SYMBOLS, command, program_make, put, record, report
from e2e import case, check, check_equal, main, sampler
from views import json_of

# The hottest is hidden; what it calls is exported, so not in the packed table.
SOURCE = """
static volatile unsigned long n;
__attribute__((noinline)) void exported_part(void) { for (unsigned i = 0; i < 1000; i++) n++; }
static __attribute__((noinline)) void hot_part(void) { while (n < 400000000) { n++; if (n % 4000 == 0) exported_part(); } }
int main(void) { hot_part(); return 0; }
"""
BOMB_MB = 320


def table_make():
    """The ELF file that is to be packed: symbols of functions only, without those that are exported."""
    def names(*options):
        lines = subprocess.run(["nm", *options, "--format=posix", "--defined-only", "work.whole"], check=True, capture_output=True, text=True)
        return {line.split()[0] for line in lines.stdout.splitlines() if line.split()[1] in "tT"}
    with open("keep", "w", encoding="ascii") as file:
        file.write("\n".join(sorted(names() - names("-D"))) + "\n")
    command("objcopy", "-S", "--remove-section", ".comment", "--keep-symbols=keep", "work.debug", "table")
    with open("table", "rb") as file:
        return file.read()


def carry(section):
    """`work` with that section."""
    with open("section", "wb") as file:
        file.write(section)
    command("strip", "-o", "work", "work.whole")
    command("objcopy", "--add-section", ".gnu_debugdata=section", "work")


@case
def names_without_lines(_scratch):
    program_make("-rdynamic", source=SOURCE)
    carry(lzma.compress(table_make()))
    os.rename("work.debug", "debug")
    record()
    found, said = report()
    check_equal(found, SYMBOLS, "found")
    check("work (names, no lines)" in said, "said: %s", said)
    names = {row["name"] for row in json_of("top")["rows"]}
    check("exported_part" in names, "what is exported has a name too: %r", names)
    shown = sampler("list", "--asm", "hot_part", "recording")
    check(b"exported_part" in shown.stdout, "calls of its code: %s %s", shown.stdout.decode(), shown.stderr)
    put("debug", "root/work")
    check_equal(report("-q", "--debug-dir", "root")[0] == NOTHING, False, "found with lines")
    row = json_of("top")["rows"][0]
    check_equal((row["name"], os.path.basename(row["file"])), ("hot_part", "work.c"), "lines are better")


@case
def damaged(_scratch):
    """Whatever the section claims: no names, and nothing else happens."""
    program_make()
    whole = table_make()
    packed = lzma.compress(whole)
    carry(packed)
    record()
    os.rename("work.debug", "debug")
    check_equal(report("-q")[0], SYMBOLS, "whole")
    bomb = lzma.LZMACompressor(preset=1)
    zeros = b"".join([bomb.compress(bytes(1 << 20)) for _ in range(BOMB_MB)] + [bomb.flush()])
    changed = bytearray(packed)
    changed[len(packed) // 2] ^= 0x10
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 28, "preset": 0}]
    for what, section in (("empty", b""), ("no xz", whole), ("cut", packed[:-1]), ("cut early", packed[:40]), ("changed", bytes(changed)),
                          ("no ELF", lzma.compress(b"no ELF file")), ("half a table", lzma.compress(whole[:len(whole) // 2])),
                          ("of lzma", lzma.compress(whole, format=lzma.FORMAT_ALONE)), ("zeros", zeros),
                          ("a large dictionary", lzma.compress(whole, filters=filters))):
        carry(section)
        found, said = report("-q")
        check_equal((found, said), (NOTHING, ""), what)
    peak_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    check(peak_mb < 200, "%d MB of memory at most", peak_mb)


if __name__ == "__main__":
    main()
