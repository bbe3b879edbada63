"""`sampler dump` on every file of the corpus: good ones give the expected content, bad ones what their README wants.

A build with sanitizers is asked to end at what they find, with a status of its own. Each file is read as a profile as
well, and written as one that keeps all of it: that must end in the same way.

The corpus stands in SHARED/corpus, where SHARED is $SAMPLER_SHARED or the folder `shared` beside the project; the copies
in tests/data serve where it does not.
"""

import collections
import itertools
import json
import math
import os
import re
import resource
import string
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "lib"))
from e2e import SAMPLER, SHARED, TOP, Skip, case, check, check_equal, main

DATA = os.path.join(TOP, "tests", "data")


def folders(name, own_name=None):
    """The corpus of a format, else our copy of a part."""
    whole = os.path.join(SHARED, "corpus", name)
    base = whole if os.path.isdir(whole) else os.path.join(DATA, own_name or name)
    if not os.path.isdir(base):
        raise Skip("no " + base)
    return os.path.abspath(base)


def files(base, part, extension):
    found = []
    for folder, _, names in os.walk(os.path.join(base, part)):
        found += [os.path.join(folder, name) for name in names if name.endswith(extension)]
    return sorted(found)


# Not 1, which says that a file is refused.
ENVIRONMENT = dict(os.environ, ASAN_OPTIONS="exitcode=99", LSAN_OPTIONS="exitcode=99",
                   UBSAN_OPTIONS="halt_on_error=1:exitcode=99:print_stacktrace=1")


def ask(command, path, *options):
    """(status, stdout, stderr) of a command of `sampler` on a file: neither a crash nor a hang."""
    result = subprocess.Popen([SAMPLER, command, path, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=ENVIRONMENT)
    try:
        out, said = result.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        result.kill()
        check(False, "%s %s: no end after 60 s", command, path)
    said = said.decode("utf-8", "replace")
    check(result.returncode in (0, 1), "%s %s: status %d: %s", command, path, result.returncode, said)
    if result.returncode == 1:
        check_equal(len(said.splitlines()), 1, "%s %s: lines of error (%s)" % (command, path, said))
        check(path in said, "%s %s: not named in %s", command, path, said)
    return result.returncode, out, said


def dump(path):
    """What ask gives; the file is read as a profile as well."""
    ask("convert", path, "-o", "read.htdump")
    return ask("dump", path)


def differs(got, want, path=""):
    """Where two values differ; numbers are sums of doubles: 1e-9 relative."""
    if isinstance(want, dict) and isinstance(got, dict):
        if set(got) != set(want):
            return "%s: keys %s, expected %s" % (path, sorted(set(got) - set(want)), sorted(set(want) - set(got)))
        pairs = [(got[key], want[key], "%s.%s" % (path, key)) for key in want]
    elif isinstance(want, list) and isinstance(got, list):
        if len(got) != len(want):
            return "%s: %d items, expected %d" % (path, len(got), len(want))
        pairs = [(a, b, "%s[%d]" % (path, i)) for i, (a, b) in enumerate(zip(got, want))]
    elif isinstance(want, bool) or isinstance(got, bool) or not isinstance(want, (int, float)) \
            or not isinstance(got, (int, float)):
        return None if type(got) is type(want) and got == want else "%s: %.80r, expected %.80r" % (path, got, want)
    elif isinstance(want, int) and isinstance(got, int):
        return None if got == want else "%s: %d, expected %d" % (path, got, want)
    else:
        same = math.isclose(got, want, rel_tol=1e-9, abs_tol=1e-12)
        return None if same else "%s: %r, expected %r" % (path, got, want)
    for a, b, where in pairs:
        where = differs(a, b, where)
        if where:
            return where
    return None


def check_good(base, extension, expected_of, content_of=json.loads, n_least=1, optional=()):
    n = 0
    for part in ("made", "found", "chunked"):
        for path in files(base, part, extension):
            want = expected_of(path[:-len(extension)])
            if want is None:
                continue
            status, out, said = dump(path)
            check_equal(status, 0, "%s: status (%s)" % (path, said))
            got = content_of(out)
            for key in optional:  # left out of the expected content of some files
                if isinstance(got, dict) and key not in want:
                    got.pop(key, None)
            where = differs(got, want)
            check(where is None, "%s: %s", path, where)
            n += 1
    check(n >= n_least, "only %d good files below %s", n, base)
    print("  %d good files" % n)


def load(path):
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def readme_rows(base):
    """{first cell: last cell} of the table of bad/README.md."""
    rows = {}
    path = os.path.join(base, "bad", "README.md")
    if not os.path.exists(path):
        raise Skip("no " + path)
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if line.startswith("|") and len(cells) > 2:
                rows[cells[0]] = cells[-1]
    return rows


def plain_sorted(plain):
    return {**plain, "stacks": sorted(plain["stacks"], key=json.dumps)}


def plain_of(path):
    expected = load(path + ".expected.json")
    return None if expected is None or "plain" not in expected else plain_sorted(expected["plain"])


@case
def folded(_scratch):
    base = folders("folded")
    check_good(base, ".folded", plain_of, lambda out: plain_sorted(json.loads(out)), 8)
    for name, want in readme_rows(base).items():
        path = os.path.join(base, "bad", name + ".folded")
        if not os.path.exists(path):
            continue
        status, out, said = dump(path)
        if name == "not-folded" and status == 1:
            continue  # JSON: taken for a broken file of another format
        check_equal(status, 0, "%s: status (%s)" % (name, said))
        content = json.loads(out)
        check_equal(bool(content["bad"]), "bad" in want, "%s: bad lines (wanted: %s)" % (name, want))
        total = re.search(r"(?:ok|bytes|kept), ([0-9]+)", want)
        if total:
            check_equal(content["total"], int(total.group(1)), name + ": total")


@case
def cpuprofile(_scratch):
    base = folders("cpuprofile")
    check_good(base, ".cpuprofile", plain_of, lambda out: plain_sorted(json.loads(out)), 7)
    wanted = load(os.path.join(DATA, "cpuprofile", "bad", "wanted.json"))
    for name, want in wanted.items():
        status, out, said = dump(os.path.join(base, "bad", name + ".cpuprofile"))
        check_equal(status == 1, want == "refused", "%s: refused (%s)" % (name, said))
        if status == 0:
            leaves = collections.Counter()
            for stack in json.loads(out)["stacks"]:
                leaves[stack["stack"][-1] if stack["stack"] else ""] += stack["us"]
            got = {leaf: round(us, 3) for leaf, us in leaves.items() if us != 0}
            check_equal(got, {leaf: round(us, 3) for leaf, us in want.items()}, name)


@case
def easyprofiler(_scratch):
    base = folders("easyprofiler")

    def expected(path):
        want = load(path + ".expected.json")
        if want is not None:
            want.pop("raw", None)
        return want

    check_good(base, ".prof", expected, n_least=10)
    for path in files(base, "bad", ".prof"):
        want = load(path[:-5] + ".expected.json")["want"]
        status, _, said = dump(path)
        check(status != 0 or want != "reject", "%s: accepted, expected an error", path)
        check(status != 1 or want != "accept", "%s: refused: %s", path, said)
        check("offset" in said if status else said != "", "%s: no offset, no note: %s", path, said)


@case
def htdump(_scratch):
    base = folders("hawktracer", "htdump")

    def lines(text):
        return [json.loads(line) for line in text.splitlines() if line.strip()]

    def expected(path):
        path += ".expected.jsonl"
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return lines(file.read())

    check_good(base, ".htdump", expected, lambda out: lines(out.decode("utf-8", "surrogateescape")), 10)
    for name, want in readme_rows(base).items():
        path = os.path.join(base, "bad", name + ".htdump")
        if not os.path.exists(path):
            continue
        status, _, said = dump(path)
        if want.startswith("accept") and "reject" not in want:
            check_equal(status, 0, "%s: status (%s)" % (name, said))
        elif not want.startswith("accept"):
            prefix = "prefix may" in want or "when such an event" in want
            check(status == 1 or (prefix and said), "%s: accepted, wanted: %s", name, want)
        # Text is a Chrome trace to what looks at content, and none of those are read: it has no offset to tell.
        if status == 1 and not (name == "text" and "chrome-trace can be written, not read" in said):
            check("offset" in said, "%s: no offset: %s", name, said)


NYTPROF_REFUSED = """header_no_newline header_wrong_word version_4_0 version_6_0 nv_size_16 cut_in_attribute
cut_in_call_record string_without_tag string_longer_than_file unknown_tag blank_line_after_header z_cut
z_cut_in_checksum z_wrong_checksum z_not_zlib z_inside_z killed killed_z no_ticks_per_sec empty""".split()
NYTPROF_TOLD = """time_of_undefined_fid no_process_end cut_between_records process_end_of_other_pid fid_defined_twice
attribute_without_equals version_5_1""".split()


@case
def nytprof(_scratch):
    base = folders("nytprof")

    def expected(path):
        want = load(path + ".expected.json")
        for key in ("file", "warnings", "perl_reader", "tools_error"):
            if want is not None:
                want.pop(key, None)
        return want

    check_good(base, ".nytprof", expected, n_least=20, optional=("events", "source"))
    for path in files(base, "bad", ".nytprof"):
        name = os.path.basename(path)[:-8]
        status, _, said = dump(path)
        if name in NYTPROF_REFUSED or name.startswith("chunked_"):
            check(status == 1 or said, "%s: read without a word", name)
        if name in NYTPROF_TOLD:
            check(status == 0 and said, "%s: status %d, %s", name, status, said or "not a word")


# What a start takes of its own, and this program's memory, which counts until the other one has begun.
MEMORY_FLOOR = 16 * 1024 * 1024


def check_memory(command):
    """Not more than 50 times the file and MEMORY_FLOOR."""
    path = command[1]
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.execv(SAMPLER, [SAMPLER] + command)
    _, status, usage = os.wait4(pid, 0)
    check(os.WIFEXITED(status), "%s: status %d", " ".join(command), status)
    times = (usage.ru_maxrss * 1024 - MEMORY_FLOOR) / max(1, os.path.getsize(path))
    check(times <= 50, "%s: %d kB of memory for %d bytes", " ".join(command), usage.ru_maxrss, os.path.getsize(path))
    return times


def hungry_folded():
    """Files that make the most of their bytes: (name, content)."""
    letters = string.ascii_letters + string.digits
    names = ("".join(word) for word in itertools.product(letters, repeat=4))
    yield "names", "".join("%s 1\n" % name for name in itertools.islice(names, 400000))
    yield "deep", ";".join(["a"] * 1000000) + " 1\n"
    yield "wide", "".join("%s;%s;%s 1\n" % word for word in itertools.product(letters, repeat=3))
    yield "bad", "a\n" * 500000


@case
def memory(_scratch):
    """The most that any file of the corpora takes, and files made to take much."""
    n = 0
    for name, own in (("folded", None), ("cpuprofile", None), ("easyprofiler", None), ("hawktracer", "htdump"),
                      ("nytprof", None)):
        for path in files(folders(name, own), "", ""):
            if path.endswith((".folded", ".cpuprofile", ".prof", ".htdump", ".nytprof")):
                check_memory(["dump", path])
                check_memory(["convert", path, "-o", "read.htdump"])
                n += 1
    check(n > 150, "only %d files", n)
    for name, content in hungry_folded():
        with open(name + ".folded", "w", encoding="ascii") as out:
            out.write(content)
        times = [check_memory([command, name + ".folded", *options]) for command, *options in
                 (("dump",), ("convert", "-o", "read.prof"), ("convert", "-o", "read.folded"))]
        print("  %-6s dump, .prof, .folded: %s times the file" % (name, ", ".join("%.1f" % value for value in times)))


if __name__ == "__main__":
    sys.setrecursionlimit(20000)
    main()
