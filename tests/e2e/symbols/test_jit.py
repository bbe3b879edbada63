"""Code that a program makes as it runs: the names, files and lines that its runtime says, and no others."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from e2e import SAMPLER, Skip, case, check, check_equal, clean_environment, main, need, run, sampler, sampler_run, test_program
from views import json_of

MS = 400
SCRIPT = """
function heavy(n) { let sum = 0; for (let i = 0; i < n; i++) sum = (sum * 31 + i) % 1000003; return sum; }
class Box { fill(n) { return heavy(n) + heavy(n + 1); } }
const box = new Box();
const end = Date.now() + 700;
let sum = 0;
while (Date.now() < end) sum += box.fill(3000);
console.log(sum > 0);
"""


def work(ways, *words):
    """x.sprofile of jit_work, what was said on stderr, and the program's pid."""
    result = sampler_run([*words, "-o", "x.sprofile"], [test_program("jit_work"), ways, str(MS)])
    check_equal(result.status, 0, "status")
    return result.stderr, int(result.stdout)


def rows(*words):
    """Rows of the program's own code by name, of which there is one each."""
    found = {}
    for row in json_of("top", "-n", "0", *words)["rows"]:
        if row.get("module", "[jit]") == "[jit]":
            check(row["name"] not in found, "%s: two rows", row["name"])
            found[row["name"]] = row
    return found


def share(row, what="self"):
    return row[what] / json_of("top")["total"]


def map_of(pid):
    return "/tmp/perf-%d.map" % pid


@case
def nothing_is_said(_scratch):
    """[anon] as before, and the closing lines say what helps."""
    stderr, _ = work("none")
    anon = rows()["[anon]"]
    check(share(anon) > 0.9, "anon: %r", anon)
    check(re.search(r"9\d\.\d % is in code that the program made at run time, without names; sampler-run --jit has ", stderr), "stderr: %s", stderr)


@case
def by_a_map(_scratch):
    """Names as they are written, JavaScript's taken apart; what moved without a word stays [anon]."""
    stderr, pid = work("map")
    found = rows()
    os.unlink(map_of(pid))
    check(share(found["inner"]) > 0.4, "inner: %r", found["inner"])
    check_equal((found["inner"]["file"], found["inner"]["line"], found["inner"]["module"]), ("/srv/made.js", 7, "[jit]"), "inner")
    check(share(found["outer(int, Text)"], "total") > 0.3, "outer: %r", found["outer(int, Text)"])
    check(0.3 < share(found["[anon]"], "total") < 0.7, "the rest: %r", found["[anon]"])
    check("of an earlier time" not in found, "an older line about the same place was believed")
    check("code that the program made" in stderr, "stderr: %s", stderr)


@case
def by_a_dump(_scratch):
    """With moves and lines."""
    stderr, pid = work("dump")
    os.unlink("jit-%d.dump" % pid)
    found = rows()
    check("[anon]" not in found, "anon: %r", found.get("[anon]"))
    check(share(found["outer"], "total") > 0.95, "outer: %r", found["outer"])
    check_equal((found["outer"]["file"], found["outer"]["line"]), ("/srv/made.lang", 100), "outer")
    lines = {(row["file"], row["line"]): row["self"] for row in json_of("top", "--by", "line", "-n", "0")["rows"] if row["name"] == "inner"}
    check_equal(set(lines), {("/srv/made.lang", 200), ("/srv/made.lang", 201)}, "lines of inner")
    check(lines["/srv/made.lang", 200] > lines["/srv/made.lang", 201], "where the loop is: %r", lines)
    check("code that the program made" not in stderr, "stderr: %s", stderr)


@case
def raw_names(_scratch):
    _, pid = work("map", "--names", "raw")
    os.unlink(map_of(pid))
    check("JS:*inner file:///srv/made.js:7:9" in rows(), "names: %r", list(rows()))


@case
def planted_files_are_refused(_scratch):
    """A map of another user, a link, one of an earlier process: not used, and the account says why. Names as before are not lost."""
    if os.geteuid() != 0:
        raise Skip("only root can give a file away")
    os.mkdir("kept")
    result = sampler_run(["-q", "--keep", "-o", "kept/x.sprofile"], [test_program("jit_work"), "map", "300"])
    path = map_of(int(result.stdout))
    recordings = [os.path.join("kept", name) for name in os.listdir("kept") if name.endswith(".sampler")]
    if not recordings:
        recordings = [os.path.join(base, name) for base, _, names in os.walk("kept") for name in names if name.endswith(".sampler")]
    shutil.copy2(path, "good")

    def report():
        told = run([SAMPLER, "report", "-o", "x.sprofile", *recordings], env=clean_environment())
        check_equal(told.status, 0, "status")
        return rows(), told.stderr

    found, _ = report()
    check("inner" in found, "before: %r", list(found))
    os.chown(path, 12345, 12345)
    found, stderr = report()
    check("inner" not in found and "another user" in stderr and path in stderr, "of another user: %s", stderr)
    os.unlink(path)
    os.symlink(os.path.abspath("good"), path)
    found, stderr = report()
    check("inner" not in found and "symbolic link" in stderr, "a link: %s", stderr)
    os.unlink(path)
    shutil.copy2("good", path)
    long_ago = time.time() - 3600
    os.utime(path, (long_ago, long_ago))
    found, stderr = report()
    check("inner" not in found and "older than the program" in stderr, "older: %s", stderr)
    os.unlink(path)
    found, stderr = report()
    check("inner" not in found and "--jit" in stderr, "none: %s", stderr)


@case
def node(_scratch):
    """--jit: functions of JavaScript by name, file and line, nearly nothing else left in [anon], what is printed the same."""
    need("node")
    with open("work.js", "w", encoding="ascii") as file:
        file.write(SCRIPT)
    result = sampler_run(["--jit", "-q", "-o", "x.sprofile"], ["node", "work.js"], env=clean_environment(NODE_OPTIONS="--no-warnings"))
    check_equal((result.status, result.stdout, result.stderr), (0, b"true\n", ""), "status, output")
    every = json_of("top", "-n", "0")["rows"]
    own = {row["name"]: row for row in every if row.get("file", "").endswith("/work.js")}
    check(sum(map(share, own.values())) > 0.4, "JavaScript: %r", own)
    check(set(own) <= {"heavy", "fill", "(anonymous) work.js:1:1"} and "heavy" in own, "functions: %r", list(own))
    check(own["heavy"]["file"] == os.path.realpath("work.js") and own["heavy"]["line"] == 2, "heavy: %r", own["heavy"])
    check(sum(share(row) for row in every if row["name"] == "[anon]") < 0.1, "anon")
    mine = {row["name"] for row in json_of("top", "-n", "0", "--my-code")["rows"] if row["self"] > 0}
    check("heavy" in mine and mine <= set(own) | {"[hidden]", "[anon]"}, "--my-code: %r", mine)
    os.unlink(map_of(json_of("top", "--by", "process")["rows"][0]["pid"]))


JAVA = """
public class Work {
  static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
  static int heavy(int n) { int[] x = new int[n]; for (int i = 0; i < n; i++) x[i] = (i * 7919) % n; java.util.Arrays.sort(x); return x[n / 2]; }
  public static void main(String[] a) {
    long value = 0;
    for (int i = 0; i < 150; i++) value += fib(25) + heavy(100000);
    System.out.println(value);
  }
}
"""


@case
def java_without_frame_pointers(_scratch):
    """Compiled Java keeps no frame pointers by default; stacks through it are whole, and name who called."""
    need("java")
    need("javac")
    with open("Work.java", "w", encoding="ascii") as file:
        file.write(JAVA)
    subprocess.run(["javac", "Work.java"], check=True)
    options = ["-XX:-PreserveFramePointer", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit"]
    result = sampler_run(["-q", "-o", "x.sprofile", "--account-file", "account.json"], ["java", *options, "Work"])
    check_equal((result.status, result.stderr), (0, ""), "status, stderr")
    with open("account.json", encoding="utf-8") as file:
        truncated = json.load(file)["total"]["truncated_share"]
    check(truncated < 0.03, "%.1f %% truncated", 100 * truncated)
    of_sort = json_of("top", "-n", "0", "--focus", "DualPivotQuicksort.sort")["rows"]
    sort, heavy, java_main = (max((share(row, "total") for row in of_sort if name in row["name"]), default=0)
                              for name in ("DualPivotQuicksort.sort", "Work.heavy", "JavaMain"))
    check(sort > 0.2 and heavy > 0.7 * sort and java_main > 0.97 * sort, "sort %.3f, under heavy %.3f, under JavaMain %.3f", sort, heavy, java_main)
    os.unlink(map_of(json_of("top", "--by", "process")["rows"][0]["pid"]))


def python_with_names():
    """A Python that can say what it interprets: 3.12 or later."""
    known = [shutil.which("python3.%d" % minor) for minor in range(12, 20)]
    for python in [sys.executable, *known, *glob.glob(os.path.expanduser("~/.pyenv/versions/3.1[2-9]*/bin/python3"))]:
        if python and subprocess.run([python, "-c", "import sys; sys.activate_stack_trampoline('perf')"], check=False,
                                     stderr=subprocess.DEVNULL).returncode == 0:
            return python
    raise Skip("no Python 3.12 here")


@case
def python(_scratch):
    """--jit: functions of Python by name and file; what the interpreter does for them is theirs with --my-code, which `top` says."""
    interpreter = python_with_names()
    with open("work.py", "w", encoding="ascii") as file:
        file.write("import json\n"
                   "def heavy(n): return sum(i * i % 7 for i in range(n))\n"
                   "def texts(n): return len(json.dumps(list(range(n)), indent=1))\n"
                   "print(sum(heavy(100000) + texts(10000) for _ in range(40)))\n")
    check_equal(sampler_run(["-q", "-o", "x.sprofile"], [interpreter, "work.py"]).status, 0, "without --jit")
    said = sampler("top", "-n", "1").stdout.decode().splitlines()[-1]
    check_equal(said, "sampler-run --jit (python -X perf) names the functions of Python as well", "without names")
    check_equal(sampler_run(["--jit", "-q", "-o", "x.sprofile"], [interpreter, "work.py"]).status, 0, "status")
    rows = json_of("top", "-n", "0")["rows"]
    heavy = [row for row in rows if row["name"] == "heavy"]
    check(len(heavy) == 1 and heavy[0]["file"] == os.path.realpath("work.py"), "heavy: %r", heavy)
    check(share(heavy[0]) < 0.05 and 0.2 < share(heavy[0], "total") < 0.95, "heavy: %r", heavy)
    said = sampler("top", "-n", "1").stdout.decode().splitlines()[-1]
    check(re.fullmatch(r"\d\d\.\d% was spent on behalf of interpreted or JIT-compiled code: --my-code shows its functions", said), "%r", said)
    mine = {row["name"]: share(row) for row in json_of("top", "-n", "0", "--my-code")["rows"] if share(row) > 0.01}
    names = {"heavy", "heavy.<locals>.<genexpr>", "texts", "<module> [work.py]", "<module>", "[hidden]"}
    check(set(mine) <= names and mine["heavy.<locals>.<genexpr>"] > 0.2 and mine["texts"] > 0.04, "--my-code: %r", mine)
    check("spent on behalf" not in sampler("top", "--my-code").stdout.decode(), "said once more")
    os.unlink(map_of(json_of("top", "--by", "process")["rows"][0]["pid"]))


@case
def what_jit_sets(_scratch):
    """Variables of five runtimes, after what they held."""
    words = ["sh", "-c", 'printf "%s|%s|%s|%s|%s" "$NODE_OPTIONS" "$JAVA_TOOL_OPTIONS" "$PYTHONPERFSUPPORT" "$DOTNET_PerfMapEnabled" "$ERL_FLAGS"']
    before = clean_environment(NODE_OPTIONS="--max-old-space-size=99", ERL_FLAGS="")
    node_options, java, python, dotnet, erlang = sampler_run(["--jit", "-q", "-o", "x.sprofile"], words, env=before).stdout.decode().split("|")
    check_equal(node_options, "--max-old-space-size=99 --perf-basic-prof --interpreted-frames-native-stack", "NODE_OPTIONS")
    check("DumpPerfMapAtExit" in java and java.startswith("-XX:+IgnoreUnrecognizedVMOptions"), "JAVA_TOOL_OPTIONS: %s", java)
    check_equal((python, dotnet, erlang), ("1", "1", "+JPperf true"), "the others")
    unset = sampler_run(["-q", "-o", "x.sprofile"], words, env=before).stdout.decode()
    check_equal(unset, "--max-old-space-size=99||||", "without --jit")


if __name__ == "__main__":
    main()
