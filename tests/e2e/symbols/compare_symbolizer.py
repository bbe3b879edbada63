#!/usr/bin/env python3
"""Compares our function chains with llvm-symbolizer's, address by address.

  compare_symbolizer.py PROGRAM FILE... [-n COUNT] [--addresses LIST] [--require SHARE] [--show N]

PROGRAM is the built tests/programs/symbolize_addresses. For each FILE, COUNT random addresses of its
executable sections are taken (or those of LIST, one hexadecimal number a line), both programs are
asked, and each frame's function, file, line and column compared, names unmangled by neither. A chain
is equal when all of it is. What differs is sorted by what explains it:

  alias      another name of the same code in the symbol table: llvm-symbolizer takes the outermost
             function's name from there; we take it from DW_AT_linkage_name or DW_AT_name, and only
             for C the exported name with the fewest underscores
  qualified  a function of C++ without a mangled name in DWARF: we put in front of its plain name what
             encloses it, or take the mangled name of its symbol for its inlined copies too
  clone      the same but for .cold, .isra.0, .constprop.0, .part.0: we show the name as written
  dwz        llvm-symbolizer has no name because it stands in the file dwz split off, which it does
             not read; the rest is equal and our name, or its end, is among the texts of that file
  symtab     llvm-symbolizer has no name because it does not look into the symbol table of the debug
             file; that table has ours at this address
  plt        llvm-symbolizer has no names for PLT entries, or _init's; objdump prints ours at the entry's start
  no line    neither has a line; llvm-symbolizer shows the name of a STT_FILE symbol as the file
  zero line  function, file equal; one of both has line 0
  line       the same functions, other lines
  depth      one chain is the end of the other: other inlining
  other      anything else

Exit status 1 when fewer than SHARE (0.99) of the chains of a file are the same: equal, or of the first
seven kinds, each of which is checked and not assumed. Skipped (status 77) without llvm-symbolizer.
"""

import argparse
import bisect
import collections
import os
import random
import re
import shutil
import subprocess
import sys

SUFFIX = re.compile(r"(\.(cold|isra|constprop|part|lto_priv|localalias|llvm)(\.\d+)*)+$")


def code_sections(path):
    text = subprocess.run(["readelf", "-WS", path], capture_output=True, text=True, check=True).stdout
    sections = []
    for line in text.splitlines():
        fields = re.sub(r"^ *\[ *\d+\] *", "", line).split()
        if len(fields) >= 8 and "X" in fields[6] and fields[1] == "PROGBITS" and fields[0] == ".text":
            sections.append((int(fields[2], 16), int(fields[4], 16)))
    return sections


def random_addresses(path, count, seed):
    sections = code_sections(path)
    total = sum(size for _, size in sections)
    chance = random.Random(seed)
    addresses = set()
    while total and len(addresses) < min(count, total // 2):
        at = chance.randrange(total)
        for start, size in sections:
            if at < size:
                addresses.add(start + at)
                break
            at -= size
    return sorted(addresses)


def ask(command, addresses):
    text = "".join(f"{address:#x}\n" for address in addresses)
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


def chains_of_ours(program, path, addresses):
    chains = []
    for block in ask([program, "--raw", path], addresses).split("\n\n")[: len(addresses)]:
        chains.append([tuple(line.split("\t")) for line in block.strip("\n").split("\n")])
    return chains


def chains_of_llvm(symbolizer, path, addresses):
    out = ask([symbolizer, "--inlines", "--no-demangle", "--obj=" + path], addresses)
    chains = []
    for block in out.split("\n\n")[: len(addresses)]:
        lines = block.strip("\n").split("\n")
        chain = []
        for name, place in zip(lines[0::2], lines[1::2]):
            file, line, column = place.rsplit(":", 2)
            chain.append((name, file, line, column))
        chains.append(chain)
    return chains


def clean(frame):
    """Paths without '.' and doubled slashes; no file is '', whatever the tool calls it. Where the
    compilation folder is relative (./libio, by -fdebug-prefix-map) llvm-symbolizer puts it in twice
    for files in it."""
    name, file, line, column = frame
    file = "" if file in ("??", "") else os.path.normpath(file)
    half = re.match(r"([^/].*?)/\1/", file)
    if half:
        file = file[half.end(1) + 1:]
    if line == "0":
        column = "0"
    return name, file, line, column


def load_symbols(path, debug):
    """name -> set of addresses, and sorted (address, end) to find what encloses another."""
    names = collections.defaultdict(set)
    for file in (path, debug):
        if not file:
            continue
        out = subprocess.run(["readelf", "-Ws", file], capture_output=True, text=True, errors="replace").stdout
        for line in out.splitlines():
            fields = line.split()
            if len(fields) >= 8 and fields[3] in ("FUNC", "IFUNC", "NOTYPE") and fields[6] != "UND":
                names[fields[7].split("@")[0]].add(int(fields[1], 16))
    return names


def debug_path(path):
    out = subprocess.run(["readelf", "-n", path], capture_output=True, text=True, errors="replace").stdout
    found = re.search(r"Build ID: ([0-9a-f]+)", out)
    if not found:
        return None
    debug = f"/usr/lib/debug/.build-id/{found[1][:2]}/{found[1][2:]}.debug"
    return debug if os.path.exists(debug) else None


def is_alias(symbols, address, ours, theirs):
    """Both names stand for the same code: they share a start; or theirs is the nearest symbol at or
    before the address, and ours has none there (a static function in a stripped file)."""
    starts_theirs = symbols.get(theirs, set())
    if symbols.get(ours, set()) & starts_theirs:
        return True
    nearest = max((start for start in starts_theirs if start <= address), default=None)
    if nearest is None:
        return False
    between = bisect.bisect_right(symbols.sorted_starts, nearest)
    return between == len(symbols.sorted_starts) or symbols.sorted_starts[between] > address


def plt_entries(path):
    """start of the entry -> "name@plt", as objdump prints them."""
    out = subprocess.run(["objdump", "-d", "-j", ".plt", "-j", ".plt.sec", "-j", ".plt.got", path],
                         capture_output=True, text=True, errors="replace").stdout
    found = re.findall(r"^([0-9a-f]+) <([^>]+@plt)>:$", out, re.MULTILINE)
    return {int(start, 16): name.split("@@")[0].split("@GLIBC")[0] for start, name in found}


def is_plt(address, ours, symbols):
    start = max((start for start in symbols.plt if start <= address), default=None)
    if start is None or address >= start + 16:
        return False
    resolver = re.fullmatch(r"\*ABS\*\+0x([0-9a-f]+)@plt", symbols.plt[start])
    if resolver:  # of an IFUNC: named after the function it chooses code for
        return int(resolver[1], 16) in symbols.get(ours.removesuffix("@plt"), ())
    return symbols.plt[start] == ours


class Symbols(dict):
    sorted_starts = ()
    alt_strings = ""
    plt = {}


def alt_strings(debug):
    """The texts of the file that dwz split off from this one, each ended by a newline; linkers keep a
    text that is the end of another only there."""
    if not debug:
        return ""
    out = subprocess.run(["readelf", "-p", ".gnu_debugaltlink", debug], capture_output=True, text=True, errors="replace")
    found = re.search(r"(/\S+\.debug)", out.stdout)
    if not found or not os.path.exists(found[1]):
        return ""
    out = subprocess.run(["readelf", "-zp", ".debug_str", found[1]], capture_output=True, text=True, errors="replace")
    return "".join(line.split("]  ", 1)[1] + "\n" for line in out.stdout.splitlines() if "]  " in line)


def plain_in(ours, plain, symbols):
    """Whether our name is the plain one, qualified or mangled."""
    if ours.endswith("::" + plain):
        return True
    word = re.match(r"[~\w]+", plain)
    return (ours.startswith("_Z") and ours in symbols and word is not None
            and (word[0] == "operator" or word[0][0] == "~" or f"{len(word[0])}{word[0]}" in ours))


def with_plain_names(ours, theirs, symbols):
    """Our chain with llvm-symbolizer's names where it has the plain one and ours says more."""
    return [(b[0], *a[1:]) if not b[0].startswith("_Z") and plain_in(a[0], b[0], symbols) else a
            for a, b in zip(ours, theirs)] if len(ours) == len(theirs) else ours


def is_among(name, strings):
    ends = [name[found.end():] for found in re.finditer("::", name)]
    return any(end + "\n" in strings for end in [name, *ends])


def is_dwz(ours, theirs, strings):
    return (len(ours) == len(theirs)
            and all(a[1:] == b[1:] for a, b in zip(ours, theirs))
            and all(a[0] == b[0] or (b[0] == "??" and is_among(a[0], strings))
                    for a, b in zip(ours, theirs)))


def judge(address, ours, theirs, symbols):
    ours = [clean(frame) for frame in ours]
    theirs = [clean(frame) for frame in theirs]
    if ours == theirs:
        return "equal"
    ours = with_plain_names(ours, theirs, symbols)
    if ours == theirs:
        return "qualified"
    if len(ours) == len(theirs) and ours[:-1] == theirs[:-1] and ours[-1][1:] == theirs[-1][1:]:
        a, b = ours[-1][0], theirs[-1][0]
        if b in ("??", "_init") and is_plt(address, a, symbols):
            return "plt"
        if SUFFIX.sub("", b) == a:
            return "clone"
        if is_alias(symbols, address, a, b) or is_alias(symbols, address, a, SUFFIX.sub("", b)):
            return "alias"
        if b == "??" and len(ours) == 1 and is_alias(symbols, address, "", a):
            return "symtab"
    if is_dwz(ours, theirs, symbols.alt_strings):
        return "dwz"
    last = ours[-1], theirs[-1]
    if ours[:-1] == theirs[:-1] and last[0][0] == last[1][0] and last[0][1:] == ("", "0", "0"):
        if last[1][2] == "0" and "/" not in last[1][1]:
            return "no line"
    names = [frame[0] for frame in ours], [frame[0] for frame in theirs]
    if names[0][:-1] == names[1][:-1] and len(ours) == len(theirs):
        if any(frame[2] == "0" for frame in ours + theirs):
            return "zero line"
        return "line"
    if len(ours) != len(theirs) and (names[0][-len(names[1]):] == names[1]
                                     or names[1][-len(names[0]):] == names[0]):
        return "depth"
    return "other"


def compare(program, symbolizer, path, addresses, show):
    ours = chains_of_ours(program, path, addresses)
    theirs = chains_of_llvm(symbolizer, path, addresses)
    if not len(ours) == len(theirs) == len(addresses):
        raise SystemExit(f"{path}: {len(addresses)} asked, {len(ours)} and {len(theirs)} answered")
    symbols = Symbols(load_symbols(path, debug_path(path)))
    symbols.sorted_starts = sorted({start for starts in symbols.values() for start in starts})
    symbols.alt_strings = alt_strings(debug_path(path))
    symbols.plt = plt_entries(path)
    counts = collections.Counter()
    inlined = 0
    for address, a, b in zip(addresses, ours, theirs):
        kind = judge(address, a, b, symbols)
        counts[kind] += 1
        inlined += len(b) > 1
        if kind != "equal" and counts[kind] <= show:
            print(f"  {kind} at {address:#x}")
            print("    ours", *a, sep="\n      ")
            print("    llvm", *b, sep="\n      ")
    same = counts["equal"] + sum(counts[kind] for kind in ("qualified", "alias", "clone", "dwz", "symtab", "plt", "no line"))
    details = ", ".join(f"{kind} {n}" for kind, n in counts.most_common())
    share = same / len(addresses) if addresses else 1.0
    print(f"{os.path.basename(path)}: {len(addresses)} addresses ({inlined} with inlined functions), "
          f"{100 * share:.2f} % the same; {details}")
    return share


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("files", nargs="+")
    parser.add_argument("-n", type=int, default=1000)
    parser.add_argument("--addresses")
    parser.add_argument("--require", type=float, default=0.99)
    parser.add_argument("--show", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--symbolizer", default="llvm-symbolizer")
    options = parser.parse_args()
    symbolizer = shutil.which(options.symbolizer) or shutil.which("llvm-symbolizer-14")
    if symbolizer is None:
        print("no llvm-symbolizer here: skipped")
        return 77
    failed = False
    for path in options.files:
        if options.addresses:
            with open(options.addresses, encoding="ascii") as lines:
                addresses = sorted({int(line, 16) for line in lines if line.strip()})
        else:
            addresses = random_addresses(path, options.n, options.seed)
        if compare(options.program, symbolizer, path, addresses, options.show) < options.require:
            failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
