"""What is said of a program without debug information: what its owner is to do, by the name of its package if it is in one."""

import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from debug_files import command, program_make, record
from e2e import Skip, case, check, check_equal, clean_environment, main, sampler

OWN = "build it with -g, or name the folder of its debug file by --debug-dir"


def advice(**variables):
    """The closing line about the heaviest module of the recording, and the advice of it in the account. Other modules have lines of their own."""
    result = sampler("report", "recording", "-o", "x.sprofile", "--account-file", "account.json", env=clean_environment(**variables))
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    with open("account.json", encoding="utf-8") as file:
        module = max(json.load(file)["modules"], key=lambda module: module["self_ns"])
    start = "%% is in %s (" % os.path.basename(module["path"])
    line, = [line for line in result.stderr.splitlines() if start in line]
    return line, module["advice"]


def in_a_package():
    """Records perl, whose package has none with debug information among those that apt knows by itself."""
    if not os.path.exists("/usr/bin/perl") or not os.path.exists("/var/lib/dpkg/status"):
        raise Skip("no perl from a package of Debian's")
    owner = subprocess.run(["dpkg-query", "--search", "/usr/bin/perl"], capture_output=True, text=True, check=False).stdout.split(":")[0]
    lists = subprocess.run(["apt-cache", "show", owner + "-dbg", owner + "-dbgsym"], capture_output=True, check=False).stdout
    if owner != "perl-base" or lists:
        raise Skip("perl is not perl-base, or its debug package is known here")
    record(program=["/usr/bin/perl", "-e", "$i += $_ * $_ for 1 .. 5000000"])
    return owner


@case
def a_package(_scratch):
    owner = in_a_package()
    line, said = advice()
    check(re.fullmatch(r"set DEBUGINFOD_URLS=https://debuginfod\.\w+\.\w+, or apt install %s-dbgsym \(archive: \S+\)" % owner, said), "advice: %s", said)
    check(line.endswith("% is in perl (exported names only); for lines and inlined functions: " + said) or
          re.search(r"% is in perl \(exported names only\), [\d.]+ % in functions without a name; for lines and inlined functions: ", line), "line: %s", line)
    check(line.endswith(said), "line: %s", line)


@case
def a_package_and_servers_that_fail(_scratch):
    """Who has servers is not told of servers, but why they did not help."""
    owner = in_a_package()
    line, said = advice(DEBUGINFOD_URLS="http://127.0.0.1:9")
    check(re.fullmatch(r"apt install %s-dbgsym \(archive: \S+\)" % owner, said), "advice: %s", said)
    check(": the servers of DEBUGINFOD_URLS: Connection refused; for lines and inlined functions: apt" in line, "line: %s", line)


@case
def a_program_of_ones_own(_scratch):
    program_make()
    os.remove("work.debug")
    record()
    line, said = advice()
    check_equal(said, OWN, "advice")
    check(line.endswith("; for lines and inlined functions: " + OWN), "line: %s", line)


@case
def a_part_of_a_program(_scratch):
    """Its hot function was built without -g, what else it is made of with it, as programs in Rust are by default."""
    command("gcc", "-O2", "-g", "-c", write("rest.c", "int rest = 1;\nint main(void) { extern void hot(void); hot(); return !rest; }\n"))
    command("gcc", "-O2", "-c", write("hot.c", "static volatile unsigned long n;\nvoid hot(void) { while (n < 200000000) n++; }\n"))
    command("gcc", "rest.o", "hot.o", "-o", "work")
    record()
    line, said = advice()
    check_equal(said, OWN, "advice")
    check(re.search(r"^sampler: [89]\d\.\d % is in work \(names, no lines\); for lines", line), "line: %s", line)
    command("gcc", "-O2", "-g", "-c", "hot.c")
    command("gcc", "rest.o", "hot.o", "-o", "work")
    record()
    result = sampler("report", "recording", "-o", "x.sprofile")
    check("for lines and inlined functions" not in result.stderr, "said: %s", result.stderr)


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


@case
def what_is_followed_helps(_scratch):
    """Then there is nothing to say."""
    program_make()
    os.makedirs("folder")
    os.rename("work.debug", "folder/work.debug")
    record()
    result = sampler("report", "recording", "-o", "x.sprofile", "--debug-dir", "folder")
    check("for lines and inlined functions" not in result.stderr, "said: %s", result.stderr)


if __name__ == "__main__":
    main()
