"""Programs without symbols: each of their functions has one name, which is the file and where the function begins. What is
profiled is a stripped copy of `sampler` at work; the symbol table of the one that was built says where functions begin."""

import json
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import SAMPLER, case, check, check_equal, main, need, sampler, sampler_run
from views import json_of

NAME = re.compile(r"\[work\+0x([0-9a-f]+)\]")


def symbols(path):
    """[(start, end, name)] of the functions of a file, by start; of several names one."""
    found = {}
    for line in subprocess.run(["nm", "-S", path], check=True, capture_output=True, text=True).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwWi":
            found[int(words[0], 16)] = (int(words[0], 16), int(words[0], 16) + int(words[1], 16), words[3])
    return sorted(found.values())


def tables():
    """Where `sampler`'s procedure linkage tables begin: code without symbols, one range each."""
    lines = subprocess.run(["readelf", "-SW", SAMPLER], check=True, capture_output=True, text=True).stdout
    return {int(match[1], 16) for match in re.finditer(r" \.plt\S* +PROGBITS +([0-9a-f]+) ", lines)}


def input_make():
    with open("input.folded", "w", encoding="ascii") as file:
        for i in range(200000):
            file.write("main;work_%d;leaf_%d;deep_%d %d\n" % (i % 1000, i % 7919, i % 104729, i % 17 + 1))


def recorded():
    """{name of a function of `work`: self} of a run of ./work."""
    argv = [os.path.abspath("work"), "convert", "input.folded", "-o", "output.cpuprofile"]
    check_equal(sampler_run(["-q", "-o", "x.sprofile"], argv).status, 0, "status")
    rows = json_of("top", "-n", "0")["rows"]
    return {row["name"]: row["self"] for row in rows if os.path.basename(row.get("module") or "") == "work"}


def check_names(of_work):
    """All are known by where they begin, which is where the symbol table has a function; of each there is one."""
    known = {start for start, _, _ in symbols(SAMPLER)} | tables()
    total = sum(of_work.values())
    check(len(of_work) > 10 and total > 0, "functions: %r", of_work)
    elsewhere = 0
    for name, weight in of_work.items():
        match = NAME.fullmatch(name)
        check(match is not None or name.endswith("@plt"), "a name: %r", name)
        elsewhere += weight if match and int(match[1], 16) not in known else 0
    check(elsewhere <= total / 100, "%d of %d in what is no function: %r", elsewhere, total, of_work)


@case
def functions_have_one_name_each(_scratch):
    shutil.copy(SAMPLER, "work")
    subprocess.run([need("strip"), "work"], check=True)
    input_make()
    first = recorded()
    check_names(first)
    hottest = max(first, key=first.get)
    second = recorded()
    for one, other in ((first, second), (second, first)):  # which of them comes first is chance: two are as hot as each other
        gone = [name for name, weight in one.items() if weight > 0.05 * sum(one.values()) and name not in other]
        check_equal(gone, [], "hot in one of two runs, without that name in the other")
    check(any(hottest in line for line in sampler("top", "x.sprofile").stdout.decode().splitlines()), "%s in top", hottest)


@case
def the_account_says_how_much(_scratch):
    shutil.copy(SAMPLER, "work")
    subprocess.run([need("strip"), "work"], check=True)
    input_make()
    argv = [os.path.abspath("work"), "convert", "input.folded", "-o", "output.cpuprofile"]
    result = sampler_run(["--account-file", "account.json", "-o", "x.folded"], argv)
    check_equal(result.status, 0, "status")
    with open("account.json", encoding="utf-8") as file:
        account = json.load(file)
    (work,) = [module for module in account["modules"] if os.path.basename(module["path"]) == "work"]
    in_folded = in_all = 0
    with open("x.folded", encoding="utf-8") as file:
        for line in file:
            stack, number = line.rsplit(" ", 1)
            in_all += int(number)
            in_folded += int(number) if NAME.fullmatch(stack.split(";")[-1]) else 0
    check(work["nameless_ns"] > 0.5 * work["self_ns"], "of the module: %r", work)
    check(work["nameless_ns"] <= account["total"]["nameless_ns"] <= account["total"]["explained_ns"], "in all")
    share = work["nameless_ns"] / account["total"]["explained_ns"]
    check(abs(share - in_folded / in_all) < 0.01, "of the module %.3f, in the profile %.3f", share, in_folded / in_all)
    told = re.search(r"([0-9.]+) % in functions without a name", result.stderr)
    check(told and abs(float(told[1]) - 100 * share) < 0.2, "%.3f, told: %s", share, result.stderr)


@case
def without_section_headers(_scratch):
    """What `sstrip` leaves: .eh_frame is found by its segment."""
    shutil.copy(SAMPLER, "work")
    subprocess.run([need("strip"), "work"], check=True)
    with open("work", "r+b") as file:
        file.seek(40)
        file.write(struct.pack("<Q", 0))  # e_shoff
        file.seek(60)
        file.write(struct.pack("<HH", 0, 0))  # e_shnum, e_shstrndx
    input_make()
    check_names(recorded())


@case
def a_label_does_not_reach_on(_scratch):
    """An exported label without a size is followed by a function that is not exported."""
    with open("work.c", "w", encoding="ascii") as file:
        file.write("""
static volatile unsigned long n;
static void spin(void);
int main(void) { spin(); return 0; }
__asm__(".globl label\\nlabel: ret\\n");
static void spin(void) { while (n < 300000000) n++; }
""")
    subprocess.run([need("gcc"), "-O0", "-fno-toplevel-reorder", "-rdynamic", "work.c", "-o", "work"], check=True)
    (spin,) = [start for start, _, name in symbols("work") if name == "spin"]
    subprocess.run([need("strip"), "work"], check=True)
    check_equal(sampler_run(["-q", "-o", "x.sprofile"], [os.path.abspath("work")]).status, 0, "status")
    check_equal(json_of("top")["rows"][0]["name"], "[work+0x%x]" % spin, "the hottest")


if __name__ == "__main__":
    main()
