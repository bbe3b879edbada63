"""What the build makes for users: the folders bin and lib, a build without tests, what is installed, hardened tools."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import BUILD, SAMPLER, SAMPLER_RUN, TOP, Skip, case, check, check_equal, main, need, run


def cache(name):
    """A variable of the build, from CMakeCache.txt."""
    with open(os.path.join(BUILD, "CMakeCache.txt"), encoding="utf-8") as file:
        found = re.search(r"^%s:\w+=(.*)$" % name, file.read(), re.M)
    return found.group(1) if found else ""


def configure(folder, *options):
    """A build folder of its own, configured as ours is; nothing is compiled but what cmake tries."""
    argv = [need("cmake"), "-S", TOP, "-B", folder, "-G", cache("CMAKE_GENERATOR"),
            "-DCMAKE_C_COMPILER=" + cache("CMAKE_C_COMPILER"), "-DCMAKE_CXX_COMPILER=" + cache("CMAKE_CXX_COMPILER")]
    result = run(argv + list(options))
    check_equal(result.status, 0, "status of cmake (%s)" % result.stderr)


@case
def bin_and_lib(_scratch):
    """Who puts build/release/bin into PATH gets two programs more."""
    check_equal(sorted(os.listdir(os.path.join(BUILD, "bin"))), ["sampler", "sampler-run"], "bin")
    others = [name for name in os.listdir(os.path.join(BUILD, "lib")) if not re.fullmatch(r"libsampler\.so(\.[0-9]+)*", name)]
    check_equal(others, [], "lib holds besides libsampler.so")
    check(os.path.exists(os.path.join(BUILD, "lib", "libsampler.so")), "no libsampler.so in lib")


@case
def without_tests(scratch):
    """-DBUILD_TESTING=OFF: no target of the tests, and none of the packages only they need."""
    if cache("CMAKE_GENERATOR") != "Ninja":
        raise Skip("the build is not Ninja's")
    configure("build", "-DBUILD_TESTING=OFF")
    targets = run([need("ninja"), "-C", "build", "-t", "targets", "all"])
    check_equal(targets.status, 0, "status of ninja (%s)" % targets.stderr)
    names = re.findall(r"^([^:\n]+): ", targets.stdout.decode(), re.M)
    check("bin/sampler" in names, "bin/sampler is no target")
    for name in names:
        check(not name.startswith(("tests/", "scripts/")), "a target of the tests: %s", name)
    with open(os.path.join("build", "CMakeCache.txt"), encoding="utf-8") as file:
        wanted = re.findall(r"^(CMOCKA|JANSSON|_?Python3_EXECUTABLE|PYTHON3)\w*:", file.read(), re.M)
    check_equal(wanted, [], "looked for")


def flags_of(folder):
    """What pkg-config gives a user of sampler.pc below folder."""
    [found] = [os.path.join(at, "sampler.pc") for at, _, names in os.walk(folder) if "sampler.pc" in names]
    env = dict(os.environ, PKG_CONFIG_PATH=os.path.dirname(found))
    env.pop("PKG_CONFIG_SYSROOT_DIR", None)
    result = run([need("pkg-config"), "--cflags", "--libs", "sampler"], env=env)
    check_equal(result.status, 0, "status of pkg-config (%s)" % result.stderr)
    return result.stdout.decode().split()


@case
def pkg_config(scratch):
    """sampler.pc names the place it lies in: after --prefix, DESTDIR, and when the folder was moved."""
    def check_place(place, stage=""):
        words = flags_of(stage + place)
        paths = [os.path.realpath(word[2:]) for word in words if word[:2] in ("-I", "-L")]
        check_equal(len(paths), 2, "paths of %s" % words)
        for path, name in zip(paths, ("sampler.h", "libsampler.so")):
            check(path.startswith(os.path.realpath(stage + place) + "/"), "%s is not in %s", path, place)
            check(os.path.exists(os.path.join(path, name)), "no %s in %s", name, path)

    prefix = os.path.join(scratch, "one")
    installed = run(["cmake", "--install", BUILD, "--prefix", prefix])
    check_equal(installed.status, 0, "status of the installation (%s)" % installed.stderr)
    check_place(prefix)
    moved = os.path.join(scratch, "another", "folder")
    os.mkdir(os.path.dirname(moved))
    os.rename(prefix, moved)
    check_place(moved)
    stage = os.path.join(scratch, "stage")
    installed = run(["cmake", "--install", BUILD], env=dict(os.environ, DESTDIR=stage))
    check_equal(installed.status, 0, "status of the installation (%s)" % installed.stderr)
    check_place(cache("CMAKE_INSTALL_PREFIX"), stage)


@case
def hardened(_scratch):
    """The tools read files of strangers."""
    need("readelf")
    # The linker marks a program only if each object has the mark, those of libc's start among them: Debian 12's have not.
    start = run([need("cc"), "-print-file-name=Scrt1.o"]).stdout.decode().strip()
    libc_is_marked = b"SHSTK" in run(["readelf", "-nW", start]).stdout
    for tool in (SAMPLER, SAMPLER_RUN):
        def read(*options):
            return run(["readelf", "-W", *options, tool]).stdout.decode()
        name = os.path.basename(tool)
        dynamic = read("-d")
        check(re.search(r"\(FLAGS\).*BIND_NOW", dynamic), "%s is bound lazily", name)
        check(re.search(r"\(FLAGS_1\).*PIE", dynamic), "%s lies at a fixed place", name)
        check("GNU_RELRO" in read("-l"), "%s: the GOT stays writable", name)
        undefined = re.findall(r" UND (\w+)", read("--dyn-syms"))
        check("__stack_chk_fail" in undefined, "%s has no stack protector", name)
        if cache("CMAKE_BUILD_TYPE") in ("Release", "RelWithDebInfo", "MinSizeRel"):
            check(any(word.endswith("_chk") for word in undefined), "%s is not built with _FORTIFY_SOURCE", name)
        if libc_is_marked:
            check(re.search(r"x86 feature:.*IBT.*SHSTK", read("-n")), "%s has no marks of control-flow protection", name)


@case
def compile_flags(_scratch):
    """Every command that compiles what goes into the tools has the flags, those without a trace in the file too."""
    path = os.path.join(BUILD, "compile_commands.json")
    if not os.path.exists(path):
        raise Skip("no compile_commands.json")
    with open(path, encoding="utf-8") as file:
        commands = json.load(file)
    checked = 0
    marks = ["-fcf-protection=full"] if os.uname().machine == "x86_64" else []
    for command in commands:
        component = os.path.relpath(command["file"], TOP).split(os.sep)[0]
        if component in ("base", "output", "symbolize", "cli"):
            checked += 1
            for flag in ("-fstack-clash-protection", "-fstack-protector-strong", "-fPIE", *marks):
                check(flag in command["command"].split(), "%s is compiled without %s", command["file"], flag)
    check(checked > 50, "only %d files", checked)


if __name__ == "__main__":
    main()
