"""sampler list --asm: the instructions are objdump's, each has the weight of its address, and code that is not the one that
ran is not shown."""

import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import case, check, check_equal, check_one_line, main, sampler, test_program
from sprofile import Sprofile
from views import json_of, on_terminal, profile_of_labels

MS = 1000000
INLINED = 1


def tool(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def symbols_of(path):
    """name -> address."""
    return {words[2]: int(words[0], 16) for words in map(str.split, tool("nm", path).splitlines()) if len(words) == 3}


def build_id_of(path):
    return re.search(r"Build ID: ([0-9a-f]+)", tool("readelf", "-n", path)).group(1)


def objdump(path, start, end):
    """(address, mnemonic, name of the target) of each instruction."""
    found = []
    text = tool("objdump", "-d", "--no-show-raw-insn", "--start-address=%d" % start, "--stop-address=%d" % end, path)
    for address, words in re.findall(r"^ *([0-9a-f]+):\t(.*)$", text, re.M):
        target = re.search(r" ([0-9a-f]+) <([^>+@]+)", words)
        found.append((int(address, 16), words.split()[0], target.group(2) if target and "#" not in words else None))
    return found


def made(path="", build_id=None, **options):
    """x.sprofile: code_outer of the program of that name, with `inner` inlined into it, calls code_called."""
    program = test_program("code_pieces")
    path = path or program
    at = symbols_of(program)["code_outer"]
    profile = Sprofile(**options)
    of_it = {"module": path, "build_id": build_id_of(program) if build_id is None else build_id}
    outer, inner, called = (profile.function(name, **of_it) for name in ("code_outer", "inner", "code_called"))
    profile.add([(outer, 0, "", at + 6), (called, 0, "", symbols_of(program)["code_called"])], 8 * MS)
    profile.add([(outer, 0, "", at + 8)], 1 * MS)
    profile.add([(outer, 0, "", at + 12), (inner, 0, "", at + 12, INLINED)], 2 * MS)
    profile.add([(outer, 0, "", at + 12)], 4 * MS)
    profile.add([(outer, 0, "", at + 54)], 16 * MS)
    profile.write("x.sprofile")
    return at


def listed(*words):
    result = sampler("list", "--asm", *words, "x.sprofile")
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    return result.stdout.decode().splitlines()


def weights_of(piece):
    """(address from the start of the function, self, total) of the instructions that have any."""
    return [(row["address"] - piece["start"], row["self"], row["total"]) for row in piece["instructions"] if row["self"] or row["total"]]


@case
def weights_of_instructions(_scratch):
    at = made()
    outer = json_of("list", "--asm", "code_outer")["functions"][0]
    (piece,) = outer["code"]
    check_equal((piece["start"], piece["end"], piece["symbol"], piece["self"]), (at, at + 55, "code_outer", 23 * MS), "the piece")
    check_equal(outer["self"], 21 * MS, "without what is inlined")
    check_equal(weights_of(piece), [(1, 0, 8 * MS), (6, 1 * MS, 1 * MS), (12, 6 * MS, 6 * MS), (54, 16 * MS, 16 * MS)], "weights")
    (piece,) = json_of("list", "--asm", "inner")["functions"][0]["code"]
    check_equal((piece["inlined_into"], piece["symbol"], piece["self"]), ("code_outer", "code_outer", 2 * MS), "inlined")
    check_equal(weights_of(piece), [(12, 2 * MS, 2 * MS)], "weights where it is inlined")
    check_equal([function["name"] for function in json_of("list", "--asm")["functions"]], ["code_outer", "code_called", "inner"], "most self first")


@case
def call_at_the_end(_scratch):
    """Of a call that does not return the address behind it is another function's."""
    program = test_program("code_pieces")
    end = symbols_of(program)["code_called"]
    profile = Sprofile()
    outer = profile.function("code_outer", module=program, build_id=build_id_of(program))
    profile.add([(outer, 0, "", end), (profile.function("leaf"), 0)], 1 * MS)
    profile.write("x.sprofile")
    (piece,) = json_of("list", "--asm", "code_outer")["functions"][0]["code"]
    check_equal((piece["symbol"], weights_of(piece)[0][2]), ("code_outer", 1 * MS), "function and total")


@case
def on_paper(_scratch):
    """What is printed: the hot ones marked, long stretches without weight left out with what they have."""
    at = made()
    program = test_program("code_pieces")
    row = lambda own, total, offset, mark, text: "%14s  %14s  %7x %s %s" % (own, total, at + offset, mark, text)
    lines = listed("code_outer")
    check_equal(lines[:6], ["CPU time: 31.0 ms", "", "code_outer", "self 21.0 ms (67.7%), total 31.0 ms (100.0%)", program,
                            "%x to %x, self 23.0 ms (74.2%%) with what is inlined" % (at, at + 55)], "above")
    rows = [line for line in lines[7:] if "code_pieces.S" not in line]
    check_equal(rows[:5], [row(".", ".", 0, " ", "pushq  %rbp"),
                           row(".", " 25.8%  8.0 ms", 1, " ", "callq  %x <code_called>" % symbols_of(program)["code_called"]),
                           row("  3.2%  1.0 ms", "  3.2%  1.0 ms", 6, " ", "syscall"),
                           row(".", ".", 8, " ", "imulq  %rdx, %rax"),
                           row(" 19.4%  6.0 ms", " 19.4%  6.0 ms", 12, ">", "nop")], "rows")
    check_equal(rows[10:12], ["%14s  %14s  %7s   30 instructions" % (".", "", "..."), row(".", ".", 48, " ", "nop")], "left out")
    check_equal(rows[-2:], [row(".", ".", 52, " ", "jne    %x <code_outer>" % at),
                            row(" 51.6% 16.0 ms", " 51.6% 16.0 ms", 54, ">", "retq")], "the end")
    check(any(line.strip().startswith("code_pieces.S:") for line in lines), "lines of the source: %r", lines)
    intel = sampler("list", "--intel", "code_outer", "x.sprofile").stdout.decode().splitlines()
    check(row(".", ".", 8, " ", "imul   rax, rdx") in intel, "as Intel writes it: %r", intel)
    lines = listed("inner")
    check_equal(lines[5:7], ["%x to %x in code_outer" % (at, at + 55), "self 2.0 ms (6.5%)"], "inlined")
    for columns in (60, 80, 130):
        lines = on_terminal(columns, 200, "list", "--asm", "code_outer", "x.sprofile").splitlines()
        check(max(map(len, lines)) <= columns, "too wide for %d: %r", columns, lines)
        check(any("imulq" in line for line in lines), "instructions at %d: %r", columns, lines)


@case
def same_as_objdump(_scratch):
    """Of a real run: addresses and names of all instructions, and sums that are those of `top`."""
    profile_of_labels()
    tops = {row["name"]: row["self"] for row in json_of("top", "-n", "0")["rows"]}
    found = json_of("list", "--asm", "-n", "0", "^(spin|main|work.*)$")["functions"]
    check("spin" in [function["name"] for function in found], "functions: %r", [function["name"] for function in found])
    for function in found:
        check_equal(function["self"], tops[function["name"]], "self of " + function["name"])
        check("not_here" not in function and function["code"], "code of " + function["name"])
        sum_of_pieces = sum(piece["self"] for piece in function["code"])
        check(sum_of_pieces >= function["self"], "%s: %d of %d ns", function["name"], sum_of_pieces, function["self"])
        for piece in function["code"]:
            rows = piece["instructions"]
            check_equal(sum(row["self"] for row in rows), piece["self"], "self of the instructions of " + function["name"])
            wanted = objdump(piece["module"], piece["start"], piece["end"])
            check_equal([row["address"] for row in rows], [row[0] for row in wanted], "addresses of " + function["name"])
            for row, (_, mnemonic, target) in zip(rows, wanted):
                if target and not piece["start"] < int(row["text"].split()[1], 16) < piece["end"]:
                    check("<" + target in row["text"], "target %s: %r", target, row["text"])
                if mnemonic in ("call", "ret", "jmp", "syscall"):
                    check(row["text"].startswith(mnemonic), "%s: %r", mnemonic, row["text"])
        if function["name"] == "spin":
            check_equal({os.path.basename(row["file"]) for row in rows if "file" in row}, {"api_work.c"}, "files of spin")


@case
def without_symbols(_scratch):
    """A stripped program: call frame information says where functions begin."""
    program = os.path.abspath("stripped")
    shutil.copy(test_program("code_pieces"), program)
    tool("strip", program)
    at = made(program)
    (piece,) = json_of("list", "--asm", "code_outer")["functions"][0]["code"]
    check_equal((piece["start"], "symbol" in piece, piece["self"]), (at, False, 23 * MS), "the piece")
    check_equal(piece["end"], at + 55, "it ends where the next begins")


@case
def code_that_is_not_the_one(_scratch):
    made("/nonexistent/app")
    result = sampler("list", "--asm", "code_outer", "x.sprofile")
    check_one_line(result, 1, "/nonexistent/app", "cannot open")
    made(build_id="00" * 20)
    check_one_line(sampler("list", "--asm", "code_outer", "x.sprofile"), 1, "changed since the program ran", "build id")
    found = sampler("list", "--asm", "--json", "code_outer", "x.sprofile")
    check_equal((found.status, found.stdout), (1, b""), "as JSON")
    os.utime(shutil.copy(test_program("code_pieces"), "copy"), (3000, 3000))
    made(os.path.abspath("copy"), build_id="", start_realtime_ns=2000 * 10 ** 9)
    check_one_line(sampler("list", "--asm", "code_outer", "x.sprofile"), 1, "changed after the run began", "no build id")
    made(os.path.abspath("copy"), build_id="", start_realtime_ns=4000 * 10 ** 9)
    check("code_outer" in listed("code_outer"), "an older file")
    made("[vdso]", build_id="")
    check_one_line(sampler("list", "--asm", "code_outer", "x.sprofile"), 1, "[vdso]", "no file")


@case
def one_of_two_not_here(_scratch):
    """Of the functions shown the code of one is not here: said below it, the other is shown."""
    program = test_program("code_pieces")
    profile = Sprofile()
    here = profile.function("code_outer", module=program, build_id=build_id_of(program))
    gone = profile.function("gone", module="/nonexistent/lib.so")
    profile.add([(gone, 0, "", 64)], 3 * MS)
    profile.add([(here, 0, "", symbols_of(program)["code_outer"])], 1 * MS)
    profile.write("x.sprofile")
    lines = listed()
    below = lines.index("gone")
    check_equal(lines[below + 2:below + 4], ["self in code that is not here 3.0 ms (75.0%)", "/nonexistent/lib.so: cannot open: No such file or directory"], "said")
    check(any("pushq" in line for line in lines), "the other: %r", lines)
    functions = json_of("list", "--asm")["functions"]
    check_equal([(row["name"], len(row["code"]), row.get("self_elsewhere")) for row in functions],
                [("gone", 0, 3 * MS), ("code_outer", 1, None)], "as JSON")


@case
def refusals(_scratch):
    with open("a.folded", "w", encoding="utf-8") as out:
        out.write("main;f 3\n")
    check_one_line(sampler("list", "--asm", "f", "a.folded"), 1, "a.folded", "no addresses are known of f", ".sprofile")
    made()
    check_one_line(sampler("list", "--asm", "nobody", "x.sprofile"), 1, "x.sprofile", "list 'nobody'", "no function")
    check_one_line(sampler("top", "--asm", "x.sprofile"), 2, "--asm")


if __name__ == "__main__":
    main()
