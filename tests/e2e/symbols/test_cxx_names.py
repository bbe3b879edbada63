"""Functions of C++ that no other unit can call: gcc's debug information has only the last part of their names, and the
profile has all of it. What tests/programs/symbols/cxx_names.cpp is made of, compiled in several ways."""

import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import TOP, case, check, check_equal, main, need, sampler, sampler_run, test_program
from views import json_of

SOURCE = os.path.join(TOP, "tests", "programs", "symbols", "cxx_names.cpp")

# As gcc 12 compiles it; {x} is the line after the mark x.
BY_GCC = {
    "global_one", "c_one", "run(int)", "Outer::run(int)", "main",
    "Outer::defined_outside(int)", "Outer::defined_outside::{{lambda:{outside}}}::operator()",
    "Outer::run(int)::Local::go(int)", "Outer::run(int)::{{lambda(int)#1}}::operator()(int) const",
    "acme::detail::norm", "acme::detail::both(int)", "acme::detail::both_apart(int)", "acme::v2::versioned",
    "acme::(anonymous namespace)::Pair::Pair", "acme::(anonymous namespace)::Pair::operator long int",
    "acme::(anonymous namespace)::Pair::up", "acme::(anonymous namespace)::Pair::Inner::made",
    "acme::(anonymous namespace)::twice<int>", "acme::(anonymous namespace)::twice<short int>",
    "run::{{lambda:{first}}}::operator()", "run::{{lambda:{nested}}}::operator()",
    "run::{{lambda:{generic}}}::operator()<int>", "run::{{lambda:{generic}}}::operator()<short int>",
    "run::{{unnamed:{unnamed}}}::of_union",
}

# A part of them; clang has mangled names for all.
BY_CLANG = {
    "acme::(anonymous namespace)::Pair::up()", "acme::detail::both(int)", "Outer::run(int)::Local::go(int)", "run(int)",
}


def marks():
    with open(SOURCE, encoding="ascii") as file:
        return {match[1]: line + 1 for line, text in enumerate(file, 1) if (match := re.search(r"/\* mark (\w+) \*/", text))}


def frames(path, mode="--full"):
    """{(name, file, line)} of all that is at any address of the program's text."""
    sections = subprocess.run(["readelf", "-SW", path], check=True, capture_output=True, text=True).stdout
    match = re.search(r" \.text +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", sections)
    start, size = int(match[1], 16), int(match[2], 16)
    found = subprocess.run([test_program("symbolize_addresses"), mode, path], check=True, capture_output=True, text=True,
                           input="".join("%x\n" % (start + at) for at in range(size))).stdout
    return {tuple(line.split("\t")[:3]) for line in found.splitlines() if line}


def names(compiler, *options):
    subprocess.run([need(compiler), "-std=c++17", "-O2", "-g", *options, SOURCE, "-o", "program"], check=True)
    return {name for name, file, _ in frames("program") if file.endswith("cxx_names.cpp") and name != "??"}  # ??: padding


@case
def all_that_encloses_is_in_the_name(_scratch):
    lines = marks()
    check_equal(names("g++"), {name.format(**lines) for name in BY_GCC}, "names")


@case
def libdw_says_the_same(_scratch):
    """What our own reader leaves to libdw: here 64-bit DWARF."""
    lines = marks()
    check_equal(names("g++", "-gdwarf64"), {name.format(**lines) for name in BY_GCC}, "names")


@case
def one_function_is_one_name(_scratch):
    """Inlined in one place and called in another: by its symbol in both; where symbols are stripped, by DWARF in both."""
    both = {name for name in names("g++") if "both" in name}
    check_equal(both, {"acme::detail::both(int)", "acme::detail::both_apart(int)"}, "names")
    subprocess.run([need("objcopy"), "--strip-all", "--keep-section=.debug_*", "program", "bare"], check=True)
    bare = {name for name, _, _ in frames("bare") if "both" in name}
    check_equal(bare, {"acme::detail::both", "acme::detail::both_apart"}, "names without symbols")


@case
def clang_has_them_mangled(_scratch):
    found = names("clang++")
    check(BY_CLANG <= found, "names: %r", found)
    check(not any(name.startswith(("up", "both", "Pair", "norm")) for name in found), "names: %r", found)


OVERLOADS = """
#include <ctime>
namespace acme {
static void spin(double share)
{
    for (clock_t end = clock() + clock_t(share * CLOCKS_PER_SEC); clock() < end;)
        ;
}
template <class T> __attribute__((noinline)) T turn(T share) { spin(double(share)); return share * 2; }
__attribute__((noinline)) void overload(int share) { spin(share / 100.0); }
__attribute__((noinline)) void overload(double share) { spin(share); }
__attribute__((noinline)) void alone(const char *) { spin(0.1); }
}
int main()
{
    acme::overload(10);
    acme::overload(0.1);
    acme::alone("x");
    return int(acme::turn(0.1f) + acme::turn(0.1));
}
"""


@case
def short_ones_fall_together_and_are_counted(_scratch):
    with open("overloads.cpp", "w", encoding="ascii") as file:
        file.write(OVERLOADS)
    subprocess.run([need("g++"), "-O1", "-g", "overloads.cpp", "-o", "overloads"], check=True)
    found = {}
    for mode in "full", "short":
        result = sampler_run(["-q", "--names", mode, "--account-file", mode + ".json", "-o", "x.sprofile", "-o", mode + ".folded"],
                             [os.path.abspath("overloads")])
        check_equal(result.status, 0, "status")
        names = [row["name"] for row in json_of("top", "-n", "0")["rows"]]
        found[mode] = sorted(name for name in names if "acme::" in name and "spin" not in name)
        with open(mode + ".json", encoding="utf-8") as file:
            found[mode + " together"] = {os.path.basename(module["path"]): module["n_together"] for module in json.load(file)["modules"]}
    check_equal(found["full"], ["acme::alone(char const*)", "acme::overload(double)", "acme::overload(int)",
                                "double acme::turn<double>(double)", "float acme::turn<float>(float)"], "full")
    check_equal(found["full together"]["overloads"], 0, "together")
    check_equal(found["short"], ["acme::alone", "acme::overload", "acme::turn<...>"], "short")
    check_equal(found["short together"]["overloads"], 4, "together")
    with open("short.folded", encoding="utf-8") as file:
        check(re.search(r";acme::turn<\.\.\.>(;\S+)* \d+$", file.read(), re.M), "the folded file")
    sampler_run(["-q", "--keep", "-o", "y.folded"], [os.path.abspath("overloads")])
    recordings = [name for name in os.listdir(".") if name.endswith(".sampler")]
    told = sampler("report", "--account", "--names", "short", *recordings).stdout
    check(re.search(rb"^Short names +4 functions", told, re.M), "the account: %s", told)


main()
