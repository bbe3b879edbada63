#!/usr/bin/env python3
"""refusals.py CHECK_LAYERS: does scripts/check_layers refuse what it is there to refuse?

Builds a project of a few functions with the rooms of a component, plants one fault after another, and compares what the
check says. Without a fault it has to pass.
"""
import json
import os
import subprocess
import sys
import tempfile

CHECK = os.path.abspath(sys.argv[1])
ROOMS = {"base": [], "output": ["text", "formats/one", "formats/two", "formats/two/low", "formats/two/top"], "symbolize": [], "cli": [], "preload": ["sys", "hooks"]}
CLEAN = {
    "base/err.c": "void err_fail(void) {}",
    "output/text/json.c": "void err_fail(void); void json_write(void) { err_fail(); }",
    "output/formats/one/one.c": "void json_write(void); void one_write(void) { json_write(); }",
    "output/formats/two/two.c": "void two_write(void) {}",
    "cli/main.c": "void one_write(void); void two_write(void); void cli_run(void) { one_write(); two_write(); }",
    "preload/sys/os.c": "void os_exit(void) {}",
    "preload/hooks/exit.c": "void os_exit(void); void sampler_exit(void) { os_exit(); }",
}
# What is planted, and a line that the check has to print.
FAULTS = [
    ({}, None),
    ({"output/text/json.c": "void two_write(void); void json_write(void) { two_write(); }"},
     "upward: output/text/json.c uses two_write of output/formats/two/two.c"),
    ({"base/err.c": "void one_write(void); void err_fail(void) { one_write(); }"},
     "upward: base/err.c uses one_write of output/formats/one/one.c"),
    ({"output/formats/two/two.c": "void one_write(void); void two_write(void) { one_write(); }"},
     "upward: output/formats/two/two.c uses one_write of output/formats/one/one.c"),
    ({"output/formats/two/low/low.c": "void low(void) {}", "output/formats/two/top/top.c": "void low(void); void top(void) { low(); }"},
     None),
    ({"output/formats/two/low/low.c": "void top(void); void low(void) { top(); }", "output/formats/two/top/top.c": "void top(void) {}"},
     "upward: output/formats/two/low/low.c uses top of output/formats/two/top/top.c"),
    ({"output/formats/two/low/low.c": "void one_write(void); void low(void) { one_write(); }"},
     "upward: output/formats/two/low/low.c uses one_write of output/formats/one/one.c"),
    ({"preload/sys/os.c": "void err_fail(void); void os_exit(void) { err_fail(); }"},
     "upward: preload/sys/os.c uses err_fail of base/err.c"),
    ({"output/text/a.c": "void b(void); void a(void) { b(); }", "output/text/b.c": "void a(void); void b(void) { a(); }"},
     "circle in output of 2: text/a.c text/b.c"),
    ({"preload/sys/os.c": "void sampler_exit(void); void os_exit(void) { sampler_exit(); }"},
     "exported: preload/sys/os.c calls sampler_exit, which libsampler.so exports"),
    ({"base/many/%d.h" % i: "" for i in range(26)}, "folder: base/many holds 26 files, 25 are the most"),
    ({"base/up.h": '#include "../cli/options.h"\n'}, "include: base/up.h names a file by .."),
]


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def verdict(root, sources):
    build = os.path.join(root, "build", "release")
    commands = []
    for name, text in sources.items():
        write(os.path.join(root, name), text)
    for component, rooms in ROOMS.items():
        write(os.path.join(root, component, "CMakeLists.txt"), "".join("sampler_room(%s %s)\n" % (component, room) for room in rooms))
    for name in sorted(sources):
        if name.endswith(".c"):
            out = os.path.join("objects", name + ".o")
            os.makedirs(os.path.dirname(os.path.join(build, out)), exist_ok=True)
            command = "cc -fPIC -o %s -c %s" % (out, os.path.join(root, name))
            subprocess.check_call(command.split(), cwd=build)
            commands.append({"directory": build, "command": command, "file": os.path.join(root, name)})
    write(os.path.join(build, "compile_commands.json"), json.dumps(commands))
    os.makedirs(os.path.join(build, "lib"))
    subprocess.check_call(["cc", "-shared", "-o", "lib/libsampler.so", "objects/preload/hooks/exit.c.o"], cwd=build)
    for git in ("init -q", "add base output cli preload"):
        subprocess.check_call(["git", *git.split()], cwd=root)
    done = subprocess.run([CHECK, "--root", root], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


failed = 0
for planted, wanted in FAULTS:
    with tempfile.TemporaryDirectory(prefix="sampler-layers-") as root:
        status, text = verdict(os.path.realpath(root), {**CLEAN, **planted})
    right = status == 0 if wanted is None else status == 1 and wanted in text.splitlines()
    if not right:
        failed += 1
        print("wanted %r, got status %d:\n%s" % (wanted, status, text))
print("%d of %d verdicts as wanted" % (len(FAULTS) - failed, len(FAULTS)))
sys.exit(failed != 0)
