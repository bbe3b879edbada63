"""--debug-dir: where in these folders debug information is found, and which file is taken."""

import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from debug_files import LINES, NOTHING, SOURCE, SYMBOLS, alt_link_make, build_id_path, command, named, program_make, put, record, report
from e2e import LIBRARY, case, check, check_equal, clean_environment, main, run, sampler, sampler_run


def in_root(root):
    return report("-q", "--debug-dir", root)[0]


@case
def places(_scratch):
    """A file is found in each of them, and is not believed if it is another one."""
    program_make()
    command("objcopy", "--add-gnu-debuglink=work.debug", "work")
    record()
    check_equal(report("-q")[0], LINES, "beside the program")
    os.rename("work.debug", "debug")
    check_equal(report("-q")[0], NOTHING, "nowhere")
    folder = os.getcwd()[1:]
    for i, place in enumerate((build_id_path("work"), "usr/lib/debug/" + build_id_path("work"), folder + "/work", "usr/lib/debug/%s/work.debug" % folder,
                               folder + "/work.debug", "work.debug", "usr/lib/debug/work.debug", "work")):
        put("debug", os.path.join("root%d" % i, place))
        check_equal(in_root("root%d" % i), LINES, place)
        check_equal(in_root("nowhere:root%d/:" % i), LINES, place + ", in the second folder")
    roots = [name for name in os.listdir(".") if name.startswith("root")]
    os.rename("work", "the_one")
    program_make(source=SOURCE.replace("2000", "3000"))  # another build id
    for root in roots:
        for base, _, files in os.walk(root):
            for name in files:
                shutil.copy("work.debug", os.path.join(base, name))
    os.remove("work.debug")
    os.rename("the_one", "work")
    for root in roots:
        check_equal(in_root(root), NOTHING, "another one in " + root)


@case
def a_link(_scratch):
    """Without a build id the checksum of the link is the proof."""
    program_make("-Wl,--build-id=none")
    command("objcopy", "--add-gnu-debuglink=work.debug", "work")
    record()
    put("work.debug", "root/work.debug")
    os.remove("work.debug")
    check_equal(in_root("root"), LINES, "the one that was linked")
    with open("root/work.debug", "ab") as file:
        file.write(b"\n")
    check_equal(in_root("root"), NOTHING, "another one")


@case
def the_best_is_taken(_scratch):
    """Lines before names without lines, wherever they are; but the user's folders before the system's."""
    program_make()
    command("objcopy", "--add-gnu-debuglink=work.debug", "work")
    record()
    command("strip", "-g", "-o", "symbols", "work.whole")
    put("symbols", "names/work")
    check_equal(in_root("names"), LINES, "beside the program are lines")
    os.rename("work.debug", "debug")
    check_equal(in_root("names"), SYMBOLS, "there are none")
    put("debug", os.path.join("lines", build_id_path("work")))
    check_equal(in_root("names:lines"), LINES, "in the second folder are lines")
    command("objcopy", "--only-keep-debug", "--redefine-sym", "hot_part=hotter_part", "symbols", "work.debug")
    check_equal(in_root("names"), SYMBOLS, "both have names only")


@case
def what_dwz_split_off(_scratch):
    """The path in .gnu_debugaltlink is one below the folder, too."""
    program_make()
    alt = alt_link_make()
    record()
    for place in ("root/.dwz/work.debug", "root/usr/lib/debug/.dwz/work.debug", "root/.build-id/%s/%s.debug" % (alt[:2], alt[2:])):
        shutil.rmtree("root", ignore_errors=True)
        put("work.debug", "root/work")
        missing = "split off from root/work is missing"
        check(missing in account(), "nothing is missing without it")
        put("alt", place)
        check(missing not in account(), "%s is not seen", place)
        put("work.whole", place)
        check(missing in account(), "another file at %s is taken", place)


def account():
    result = sampler("report", "--account", "--json", "--debug-dir", "root", "recording")
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    return result.stdout.decode()


@case
def a_folder_that_is_none(_scratch):
    program_make()
    record()
    with open("file", "wb"):
        pass
    found, said = report("--debug-dir", "nowhere:file:.")
    check_equal(found, LINES, "what was found in the third")
    check_equal([line for line in said.splitlines() if "--debug-dir" in line],
                ["sampler: --debug-dir: nowhere: no such folder", "sampler: --debug-dir: file: no such folder"], "what was said")
    check_equal(report("-q", "--debug-dir", "nowhere:.")[1], "", "what was said, quiet")


@case
def who_takes_it(_scratch):
    """All that read recordings or code, and the profiled program by its environment."""
    program_make()
    put("work.debug", "root/work")
    os.remove("work.debug")
    work = os.path.abspath("work")
    variable = clean_environment(SAMPLER_DEBUG_PATH=os.path.abspath("root"))

    def taken(result, what):
        check_equal(result.status, 0, "status of %s (%s)" % (what, result.stderr))
        check_equal(named(), LINES, what)
        os.remove("x.sprofile")

    taken(sampler_run(["-q", "--debug-dir", "root", "-o", "x.sprofile"], [work]), "sampler-run --debug-dir")
    taken(sampler_run(["-q", "-o", "x.sprofile"], [work], env=variable), "sampler-run, by the variable")
    taken(run([work], env={**variable, "LD_PRELOAD": LIBRARY, "SAMPLER_OUTPUT": "x.sprofile", "SAMPLER_QUIET": "1"}), "plain preload")
    record()
    taken(sampler("report", "-q", "recording", "-o", "x.sprofile", env=variable), "report, by the variable")
    for words in (["top"], ["tree"], ["list", "inlined_part"]):
        shown = sampler(*words, "--debug-dir", "root", "recording")
        check(b"inlined_part" in shown.stdout, "%r: %s %s", words, shown.stdout.decode(), shown.stderr)
    check(b"inlined_part" not in sampler("top", "recording").stdout, "found without it")
    shown = sampler("list", "--asm", "--debug-dir", "root", "hot_part", "recording").stdout.decode()
    check("work.c:3" in shown, "no lines of instructions: %s", shown)


if __name__ == "__main__":
    main()
