"""Stacks through code that is not where, or not as, code usually is: the vdso, plugins that take each
other's place, code made at run time, programs whose segments lie apart."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import (BUILD, Folded, case, check, check_equal, main, need, run, sampler_run, test_program)

ROOT = ("_start", "__libc_start_main", "__libc_start_call_main", "main")


def profile_of(argv, *options, **how):
    bare = run(argv)
    result = sampler_run(["-F", "2000", "-o", "out.folded", *options], argv, **how)
    check_equal(result.status, 0, "status")
    check_equal(bare.status, 0, "status without us")
    profile = Folded("out.folded")
    check(profile.total > 100, "samples: %d", profile.total)
    return result, profile


def share(profile, condition):
    return sum(n for stack, n in profile.stacks.items() if condition(stack)) / profile.total


@case
def vdso(_scratch):
    _, profile = profile_of([test_program("stack_kinds"), "vdso", "400"])
    # libc's function calls the vdso's, which goes by the same name; what that calls has none.
    inside = share(profile, lambda s: ("clock_gettime",) * 2 in (s[-2:], s[-3:-1]))
    check(inside > 0.4, "in the vdso, by name: %.3f", inside)
    check(profile.share_rooted() > 0.99, "rooted: %.4f", profile.share_rooted())


@case
def holes(_scratch):
    _, profile = profile_of([test_program("stack_kinds_holes"), "vdso", "400"])
    whole = share(profile, lambda s: s[:5] == ROOT + ("read_the_clock",))
    check(whole > 0.95, "from _start on, by name: %.3f", whole)


@case
def reload(_scratch):
    """Two plugins at one address: each sample belongs to the one that was there."""
    plugins = [os.path.join(BUILD, "tests", "programs", "stack_plugin_%s.so" % n) for n in ("one", "two")]
    argv = [test_program("stack_kinds"), "reload"] + plugins + ["400"]
    result, profile = profile_of(argv)
    n_same = int(result.stdout.split()[0])
    check(n_same >= 390, "plugins at one address: %s", result.stdout)
    burnt = share(profile, lambda s: s[-1] == "burn")
    for name in ("plugin_one", "plugin_two"):
        part = share(profile, lambda s, n=name: s == ROOT + ("reload", n, "burn")) / burnt
        check(0.45 < part < 0.55, "under %s: %.3f", name, part)
    other = share(profile, lambda s: s[-1] == "burn" and s[:5] != ROOT + ("reload",)) / burnt
    check(other < 0.005, "elsewhere: %.4f", other)


@case
def generated(_scratch):
    """No rows and no frame pointer to be had: the code says how it returns. If not, the stack is cut there, and says so."""
    _, profile = profile_of([test_program("stack_kinds"), "generated", "400"])
    whole = share(profile, lambda s: s[:4] == ROOT and s[-2:] == ("[anon]", "burn"))
    check(whole > 0.95, "whole: %.3f", whole)
    result, profile = profile_of([test_program("stack_kinds"), "generated-odd", "400"])
    told = share(profile, lambda s: s[0] == "[truncated: no unwind rule]" and s[-1] == "burn" and len(s) == 3)
    check(told > 0.95, "cut and said so: %.3f", told)
    check("in truncated stacks" in result.stderr, "not told: %s", result.stderr)


@case
def context(_scratch):
    """What makecontext makes (coroutines, as in QEMU) begins with its function, and its stack is whole there. What its function
    returns to has a name only where libc has debug information."""
    for engine in ("table", "libunwind"):
        _, profile = profile_of([test_program("stack_kinds"), "context", "400"], "--unwinder", engine)
        whole = share(profile, lambda s: s[-2:] == ("in_context", "burn") and len(s) == 3 and not s[0].startswith("[truncated"))
        check(whole > 0.95, "%s: from the context's function on: %.3f", engine, whole)


@case
def exports(_scratch):
    """Nothing the program calls goes through us that must not, and nothing comes with us: an interposed
    dlopen loses the caller's RUNPATH, a libunwind in the global scope shadows libgcc's."""
    library = os.path.join(BUILD, "lib", "libsampler.so")
    dynamic = run([need("readelf"), "-dW", library]).stdout.decode()
    needed = [line.split("[")[1].rstrip("]\n ") for line in dynamic.splitlines() if "(NEEDED)" in line]
    check(set(needed) <= {"libc.so.6", "ld-linux-x86-64.so.2"}, "it needs %s", needed)
    check("NOW" in dynamic, "not bound at start")
    symbols = run([need("nm"), "-D", "--defined-only", library]).stdout.decode()
    names = {line.split()[-1].split("@")[0] for line in symbols.splitlines()}
    check("pthread_create" in names, "no hooks seen: %s", sorted(names))
    bad = [name for name in names if name in ("dlopen", "dlmopen", "dlsym", "dl_iterate_phdr") or name.startswith(("_U", "unw_"))]
    check_equal(bad, [], "interposed")


if __name__ == "__main__":
    main()
