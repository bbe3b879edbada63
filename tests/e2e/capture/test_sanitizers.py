"""Programs built with a compiler's sanitizer, whose runtime has to be loaded before any library of ours."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import Folded, Skip, case, check, check_equal, main, need, run, sampler_run

WORK = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static volatile unsigned sink[2];
__attribute__((noinline)) static void *work(void *at) {
    clock_t end = clock() + CLOCKS_PER_SEC * 4 / 10;
    while (clock() < end) ++*(volatile unsigned *)at;
    return NULL;
}
int main(int argc, char **argv) {
    const char *preload = getenv("LD_PRELOAD");
    pthread_t t;
    pthread_create(&t, NULL, work, (void *)&sink[0]);
    work((void *)&sink[1]);
    pthread_join(t, NULL);
    printf("%s\\n", preload == NULL || strstr(preload, "san") == NULL ? "done" : preload);
    fflush(stdout);
    return argc > 1 ? system(argv[1]) != 0 : 6;
}
"""
# Not a sanitizer's program: the runtime of one would check it for leaks, too.
PLAIN = "echo plain; case $LD_PRELOAD in *san*) echo $LD_PRELOAD;; esac; grep -cE 'lib(a|t)san|clang_rt' /proc/self/maps"


def build(compiler, *flags):
    path = "program-of-" + compiler
    with open("work.c", "w", encoding="utf-8") as file:
        file.write(WORK)
    done = subprocess.run([need(compiler), "-O1", "-g", "-pthread", *flags, "-o", path, "work.c"], capture_output=True, check=False)
    if done.returncode != 0:
        raise Skip("%s %s: %s" % (compiler, flags, done.stderr.decode()[-200:]))
    return "./" + path


def check_profile(name):
    profile = Folded("out.folded")
    check(profile.total > 300, "%s: only %d samples", name, profile.total)
    share = profile.total_of("work") / profile.total
    check(share > 0.8, "%s: %.3f in work", name, share)


def check_program(path):
    """As the command; as what a shell starts; in an environment of its own; and what it starts itself has no part of it."""
    for argv, output in (([path], "done\n"), (["sh", "-c", path + "; exit 6"], "done\n"), (["env", "-i", path], "done\n")):
        result = sampler_run(["-F", "2000", "-o", "out.folded"], ["setarch", "-R", *argv])
        check_equal((result.status, result.stdout), (6, output.encode()), "%s: %s" % (argv, result.stderr))
        check_profile(" ".join(argv))
    result = sampler_run(["-F", "2000", "-o", "out.folded"], [path, PLAIN])
    check_equal(result.stdout, b"done\nplain\n0\n", "%s: %s" % (path, result.stderr))
    check_profile(path)
    result = sampler_run(["-F", "2000", "-o", "out.folded", "--follow", "none"], [path, PLAIN])
    check_equal(result.stdout, b"done\nplain\n0\n", "%s, not followed: %s" % (path, result.stderr))


@case
def address(_scratch):
    check_program(build("gcc", "-fsanitize=address"))


@case
def thread(_scratch):
    """Its runtime does not take every layout of addresses: setarch."""
    path = build("gcc", "-fsanitize=thread")
    result = sampler_run(["-F", "2000", "-o", "out.folded"], ["setarch", "-R", path])
    check_equal((result.status, result.stdout), (6, b"done\n"), result.stderr)
    check_profile(path)


@case
def shared_of_clang(_scratch):
    """Where the program itself finds the runtime, by its RUNPATH."""
    library = run([need("clang"), "-print-file-name=libclang_rt.asan-x86_64.so"]).stdout.decode().strip()
    if not os.path.exists(library):
        raise Skip("clang without a shared runtime")
    check_program(build("clang", "-fsanitize=address", "-shared-libasan", "-Wl,-rpath," + os.path.dirname(library)))


@case
def of_the_user(_scratch):
    """A runtime that the user preloads, as for a plug-in built with it, stays first, in all programs."""
    name = run([need("readelf"), "-d", build("gcc", "-fsanitize=address")]).stdout.decode().split("[", 1)[1].split("]")[0]
    check(name.startswith("libasan.so"), "what it needs first: %s", name)
    result = sampler_run(["-F", "2000", "-o", "out.folded"], ["sh", "-c", "sh -c 'echo $LD_PRELOAD'"], env=dict(os.environ, LD_PRELOAD=name))
    check(result.stdout.startswith(name.encode() + b":/"), "%s, %s", result.stdout, result.stderr)
    check(b"libsampler.so" in result.stdout, "%s", result.stdout)


if __name__ == "__main__":
    main()
