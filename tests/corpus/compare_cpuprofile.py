"""Compares `format_tool dump cpuprofile` with what the corpus says.

usage: compare_cpuprofile.py FORMAT_TOOL DATA_DIR SHARED_DIR

made/X.cpuprofile: the dump equals the part `plain` of X.expected.json (files of SHARED_DIR too, where it exists).
bad/X.cpuprofile: wanted.json says either "refused" or the microseconds of each leaf function.
"""
import collections
import json
import pathlib
import subprocess
import sys

TOOL, DATA, SHARED = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
failures = []


def dump(path):
    run = subprocess.run([TOOL, "dump", "cpuprofile", str(path)], capture_output=True, timeout=60)
    if run.returncode not in (0, 1):
        failures.append(f"{path.name}: exit status {run.returncode}: {run.stderr[-300:]!r}")
    return json.loads(run.stdout) if run.returncode == 0 else None, run.stderr.decode(errors="replace")


def in_one_order(plain):
    # The corpus sorts names by UTF-16 units, we by bytes.
    return {**plain, "stacks": sorted(plain["stacks"], key=lambda s: json.dumps(s))}


def compare_made(folder):
    n = 0
    for expected_path in sorted(folder.rglob("*.expected.json")):
        path = expected_path.with_name(expected_path.name.replace(".expected.json", ".cpuprofile"))
        expected = json.loads(expected_path.read_text()).get("plain")
        if expected is None or not path.exists():
            continue
        got, stderr = dump(path)
        n += 1
        if got is None:
            failures.append(f"{path}: refused: {stderr}")
        elif in_one_order(got) != in_one_order(expected):
            failures.append(f"{path}: differs\n  got      {json.dumps(got)[:2000]}\n  expected {json.dumps(expected)[:2000]}")
    return n


def leaves(plain):
    out = collections.Counter()
    for stack in plain["stacks"]:
        out[stack["stack"][-1] if stack["stack"] else ""] += stack["us"]
    return {name: round(us, 3) for name, us in out.items() if us != 0}


def compare_bad(folder):
    wanted = json.loads((folder / "wanted.json").read_text())
    for name, want in wanted.items():
        got, stderr = dump(folder / f"{name}.cpuprofile")
        if want == "refused":
            if got is not None:
                failures.append(f"bad/{name}: taken: {leaves(got)}")
            elif len(stderr.strip().splitlines()) != 1:
                failures.append(f"bad/{name}: not one line of error: {stderr!r}")
        elif got is None:
            failures.append(f"bad/{name}: refused: {stderr}")
        elif leaves(got) != {k: round(v, 3) for k, v in want.items()}:
            failures.append(f"bad/{name}: {leaves(got)} instead of {want}")
    return len(wanted)


n_made = compare_made(DATA / "made")
if (SHARED / "corpus/cpuprofile/made").is_dir():
    n_made += compare_made(SHARED / "corpus/cpuprofile/made")
n_bad = compare_bad(DATA / "bad")
print(f"{n_made} good files, {n_bad} bad ones, {len(failures)} failures")
for failure in failures:
    print(failure)
sys.exit(1 if failures or n_made < 7 or n_bad < 90 else 0)
