#!/usr/bin/env python3
"""The dumps of .prof files against their expected content.

  compare_easyprofiler.py FORMAT_TOOL FOLDER SHARED TEST_WRITE

SHARED is a folder with the whole corpus and independent checkers below it, used if it exists; the environment's
SAMPLER_SHARED goes before it. FOLDER is a part of the corpus, for where SHARED is not.

Every made/ and found/ X.prof must give X.expected.json, all keys but `raw`. Every bad/ X.prof must be refused with
an offset or read with a note, as `want` says, and neither crash nor hang. What TEST_WRITE wrote, every good file
written anew, and folded files converted must please SHARED/oracles/easyprofiler.py, whose idea of the content must
be that of our dump. Files made to need memory must not get more than 50 times their size.

Numbers are compared by type, so that true is not 1 and 1.5 is not 1.
"""
import importlib.util
import json
import os
import struct
import subprocess
import sys
import tempfile

failures = []
seen = 0


def differs(got, want, path=""):
    """Where two values differ; None if they do not."""
    number = (int, float)
    both_numbers = isinstance(got, number) and isinstance(want, number)
    if isinstance(got, bool) != isinstance(want, bool) or (type(got) is not type(want) and not both_numbers):
        return "%s: %.80r, expected %.80r" % (path, got, want)
    if isinstance(want, dict):
        if set(got) != set(want):
            return "%s: keys %s, expected %s" % (path, sorted(got), sorted(want))
        pairs = [(got[key], want[key], "%s.%s" % (path, key)) for key in want]
    elif isinstance(want, list):
        if len(got) != len(want):
            return "%s: %d items, expected %d" % (path, len(got), len(want))
        pairs = [(a, b, "%s[%d]" % (path, i)) for i, (a, b) in enumerate(zip(got, want))]
    else:
        return None if got == want else "%s: %.80r, expected %.80r" % (path, got, want)
    for a, b, where in pairs:
        where = differs(a, b, where)
        if where:
            return where
    return None


def run(tool, command, path):
    return subprocess.run([tool, command, "easyprofiler", path], capture_output=True, timeout=60)


def check_good(tool, path):
    result = run(tool, "dump", path)
    if result.returncode != 0:
        return "dump: status %d, %s" % (result.returncode, result.stderr.decode(errors="replace"))
    with open(path[:-5] + ".expected.json", encoding="utf-8") as file:
        want = json.load(file)
    want.pop("raw", None)
    where = differs(json.loads(result.stdout), want)
    if where:
        return where
    result = run(tool, "check", path)
    return None if result.returncode == 0 else "read: %s" % result.stderr.decode(errors="replace")


def check_bad(tool, path):
    with open(path[:-5] + ".expected.json", encoding="utf-8") as file:
        want = json.load(file)["want"]
    results = [run(tool, command, path) for command in ("dump", "check")]
    for result in results:
        stderr = result.stderr.decode(errors="replace")
        if result.returncode not in (0, 1):
            return "status %d, %s" % (result.returncode, stderr)
        if result.returncode == 0 and want == "reject":
            return "accepted, expected an error; %s" % stderr
        if result.returncode == 1 and want == "accept":
            return "refused: %s" % stderr
        if result.returncode == 0 and "note: " not in stderr:
            return "accepted without a note"
        if result.returncode == 1 and "offset" not in stderr:
            return "an error without offset: %s" % stderr
    if os.environ.get("VERBOSE"):
        print("%-45s %-7s %s" % (os.path.basename(path), want, results[0].stderr.decode().strip().split("bad/")[-1]))
    return None


def check_folder(tool, folder, check, extension=".prof"):
    global seen
    for name in sorted(os.listdir(folder)):
        if not name.endswith(extension):
            continue
        seen += 1
        failure = check(tool, os.path.join(folder, name))
        if failure:
            failures.append("%s/%s: %s" % (folder, name, failure))


def check_written(tool, oracle, path):
    """An independent decoder takes the file without a word and sees what our dump sees."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        tree, info = oracle.parse(data)
    except (oracle.Bad, struct.error, IndexError) as error:
        return "the checker says: %s" % error
    if info["rest"]:
        return "the checker says: %d bytes after the end" % info["rest"]
    ours = run(tool, "dump", path)
    if ours.returncode != 0 or ours.stderr:
        return "our reader says: %s" % ours.stderr.decode(errors="replace")
    return differs(json.loads(ours.stdout), tree)


def check_rewritten(tool, oracle, path):
    with tempfile.NamedTemporaryFile(suffix=".prof") as out:
        result = subprocess.run([tool, "convert", "easyprofiler", path, "easyprofiler", out.name],
                                capture_output=True, timeout=60)
        if result.returncode != 0:
            return "convert: %s" % result.stderr.decode(errors="replace")
        return check_written(tool, oracle, out.name)


def check_folded(tool, oracle, path):
    """Self times in the file are the counts of the folded one, in periods of 1 ms."""
    with tempfile.NamedTemporaryFile(suffix=".prof") as out, tempfile.NamedTemporaryFile(suffix=".folded") as sums:
        for target, file in (("easyprofiler", out), ("folded", sums)):
            result = subprocess.run([tool, "convert", "folded", path, target, file.name], capture_output=True,
                                    timeout=60)
            if result.returncode != 0:
                empty = b"at least one block" in result.stderr
                return None if empty else result.stderr.decode(errors="replace")
        failure = check_written(tool, oracle, out.name)
        if failure:
            return failure
        want = {}
        with open(sums.name, "rb") as file:  # a new one has taken the name
            lines = file.read().splitlines()
        for line in lines:
            stack, count = line.rsplit(b" ", 1)
            leaf = stack.split(b";")[-1]
            want[leaf] = want.get(leaf, 0) + int(count) * 1000000
        if sum(want.values()) >= 1 << 64:
            return None  # more than the times of the file can say
        got = {}
        blocks = [block for thread in json.loads(run(tool, "dump", out.name).stdout)["threads"]
                  for block in thread["blocks"]]
        while blocks:
            block = blocks.pop()
            children = block.get("children", [])
            blocks += children
            own = block["end"] - block["begin"] - sum(child["end"] - child["begin"] for child in children)
            name = str(block["name"])
            got[name] = got.get(name, 0) + own
        return differs(sorted(filter(None, got.values())), sorted(filter(None, want.values())), "self times")


def written_by_test(test, folder):
    environment = dict(os.environ, SAMPLER_TEST_OUT=folder)
    subprocess.run([test], env=environment, capture_output=True, check=True, timeout=300)
    return sum(name.endswith(".prof") for name in os.listdir(folder))


def header(records, blocks_bytes, descriptors, descriptor_bytes, threads):
    return struct.pack("<IIQqQQQQIIIHH", 0x45617379, 0x02010000, 1, 0, 0, 10, blocks_bytes, descriptor_bytes,
                       records, descriptors, threads, 0, 0)


def hungry_files():
    """What takes the most memory per byte: small records of each kind, about 1 MB each."""
    descriptor = struct.pack("<HIiIBBH", 18, 0, 1, 0xffffffff, 1, 1, 1) + b"\0\0"
    value = struct.pack("<HIiIBBH", 18, 0, 1, 0xffffffff, 2, 1, 1) + b"\0\0"
    mark = struct.pack("<I", 0x45617379)
    n = 500000
    yield "holes", header(1, 21, n + 1, 18, 1) + descriptor + bytes(2 * n) + struct.pack("<QHII", 1, 0, 0, 1) + \
        struct.pack("<HQQI", 21, 0, 1, 0) + b"\0" + mark
    n = 55000
    yield "threads", header(1, 21, 1, 18, n) + descriptor + b"".join(
        struct.pack("<QHII", i + 1, 0, 0, 0) for i in range(n)) + mark
    n = 45000
    blocks = b"".join(struct.pack("<HQQI", 21, i, i + 1, 0) + b"\0" for i in range(n))
    yield "blocks", header(n, 21 * n, 1, 18, 1) + descriptor + struct.pack("<QHII", 1, 0, 0, n) + blocks + mark
    nested = b"".join(struct.pack("<HQQI", 21, n - i, n + i + 1, 0) + b"\0" for i in range(n))
    yield "nested", header(n, 21 * n, 1, 18, 1) + descriptor + struct.pack("<QHII", 1, 0, 0, n) + nested + mark
    names = b"".join(struct.pack("<HQQI", 25, i, i + 1, 0) + b"%04x\0" % (i % 65536) for i in range(n))
    yield "names", header(n, 25 * n, 1, 18, 1) + descriptor + struct.pack("<QHII", 1, 0, 0, n) + names + mark
    n = 30000
    values = b"".join(struct.pack("<HQQIBBHBBQ", 34, i, i, 0, 0, 0, 0, 6, 1, 0) for i in range(n))
    yield "values", header(n, 34 * n, 1, 18, 1) + value + struct.pack("<QHII", 1, 0, 0, n) + values + mark
    n = 40000
    switches = b"".join(struct.pack("<HQQQ", 25, i, i + 1, 1) + b"\0" for i in range(n))
    yield "switches", header(n, 25 * n, 1, 18, 1) + descriptor + struct.pack("<QHI", 1, 0, n) + switches + \
        struct.pack("<I", 0) + mark


def peak_bytes(tool, command, path):
    environment = dict(os.environ, FORMAT_TOOL_PEAK="1")
    environment["ASAN_OPTIONS"] = "quarantine_size_mb=1:" + environment.get("ASAN_OPTIONS", "")
    result = subprocess.run([tool, command, "easyprofiler", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            env=environment, timeout=60)
    return result.returncode, int(result.stderr.split(b"peak: ")[-1].split()[0]) * 1024


def check_memory(tool):
    global seen
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.prof")
        with open(path, "wb") as file:
            file.write(b"not a profile")
        _, idle = peak_bytes(tool, "dump", path)
        for name, data in hungry_files():
            with open(path, "wb") as file:
                file.write(data)
            for command in ("dump", "check"):
                seen += 1
                status, peak = peak_bytes(tool, command, path)
                times = (peak - idle) / len(data)
                if os.environ.get("VERBOSE"):
                    print("%s %s: status %d, %.1f times" % (command, name, status, times))
                if status != 0 or times > 50:
                    failures.append("%s %s: status %d, memory %.1f times the file" % (command, name, status, times))


def load_checker(path):
    if not os.path.exists(path):
        return None
    spec = importlib.util.spec_from_file_location("checker", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main():
    sys.setrecursionlimit(10000)
    sys.dont_write_bytecode = True
    tool, folder, test = sys.argv[1], sys.argv[2], sys.argv[4]
    shared = os.environ.get("SAMPLER_SHARED") or sys.argv[3]
    oracle = load_checker(os.path.join(shared, "oracles", "easyprofiler.py"))
    whole = os.path.join(shared, "corpus", "easyprofiler")
    base = whole if os.path.isdir(whole) else folder
    for part, check in (("made", check_good), ("found", check_good), ("bad", check_bad)):
        path = os.path.join(base, part)
        if os.path.isdir(path):
            check_folder(tool, path, check)
        if os.path.isdir(path) and part != "bad" and oracle:
            check_folder(tool, path, lambda t, p: check_rewritten(t, oracle, p))
    folded = os.path.join(shared, "corpus", "folded", "made")
    if oracle and os.path.isdir(folded):
        check_folder(tool, folded, lambda t, p: None if ".diff." in p else check_folded(t, oracle, p), ".folded")
    if oracle:
        with tempfile.TemporaryDirectory() as written:
            if written_by_test(test, written) == 0:
                failures.append("%s wrote nothing" % test)
            check_folder(tool, written, lambda t, p: check_written(t, oracle, p))
    check_memory(tool)
    print("%d checks, %d failures" % (seen, len(failures)))
    print("\n".join(failures))
    return 1 if failures or seen == 0 else 0


sys.exit(main())
