"""What other software reads in our files of a real recording: total time, self time of each function and number of
samples must be those of the recording, to the unit each format has.

Three programs are recorded, once for all cases: ours with odd names and threads, xz with two threads, python with
threads. The recording is read by recording_dump.py; self times by name come from our folded file in nanoseconds, whose
total must be the recording's. The readers are the formats' own software or independent decoders; they stand in
SHARED/oracles, where SHARED is $SAMPLER_SHARED or the folder `shared` beside the project. Cases whose reader is not
there are skipped.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e", "lib"))
from e2e import HERE, SHARED, Folded, Skip, case, check, check_equal, main, sampler, sampler_run, test_program

ORACLES = os.path.realpath(os.path.join(SHARED, "oracles"))
NO_TIME = {"(idle)", "(root)", "(program)"}

PYTHON_WORK = """
import hashlib, json, threading
def digest(n):
    for _ in range(n): hashlib.sha256(b'x' * 1000000).digest()
def encode(n):
    for _ in range(n): json.dumps([list(range(2000))] * 5)
threads = [threading.Thread(target=digest, args=(300,), name='hash; it'), threading.Thread(target=encode, args=(300,))]
for t in threads: t.start()
for t in threads: t.join()
"""


def oracle(name):
    path = os.path.join(ORACLES, name)
    if not os.path.exists(path):
        raise Skip("no %s beside the project" % name)
    return path


def ask(argv):
    """The JSON a reader prints; it must have nothing to complain of."""
    if shutil.which(argv[0]) is None:
        raise Skip("no %s here" % argv[0])
    with tempfile.TemporaryFile() as out:  # not a pipe: node ends before all of a long answer went through one
        result = subprocess.run(argv, stdout=out, stderr=subprocess.PIPE, timeout=300, check=False)
        out.seek(0)
        answer = out.read().decode("utf-8", "surrogateescape")
    said = result.stderr.decode("utf-8", "replace")
    if result.returncode == 3:
        raise Skip("%s lacks something: %s" % (os.path.basename(argv[1]), said.strip()[:200]))
    check_equal((result.returncode, said), (0, ""), "status and stderr of %s" % " ".join(argv[1:])[:200])
    return answer


OFF_THE_GRID = ("[thread start]", "[start-up]", "[process exit]", "[sampler]")  # leaf frames: measured, not sampled
FACTS = ("name", "recording", "n_samples", "n_threads", "total_ns", "period_ns", "self_ns", "rows")


class Recorded:
    """A recording, what it says, and a folder with app.folded, ns.folded and raw.htdump made of it."""

    def __init__(self, facts):
        for fact in FACTS:
            setattr(self, fact, facts[fact])

    @classmethod
    def make(cls, name, argv):
        """Records argv, in the current folder."""
        result = sampler_run(["-q", "--keep", "-o", "app.folded"], argv)
        check_equal(result.status, 0, "status of %s (%s)" % (name, result.stderr))
        self = cls(dict.fromkeys(FACTS))
        self.name = name
        self.recording = os.path.abspath([file for file in os.listdir(".") if file.endswith(".sampler")][0])
        dump = json.loads(ask([sys.executable, os.path.join(HERE, "recording_dump.py"), "--json", self.recording]))
        self.n_samples, self.n_threads = dump["n_samples"], dump["n_threads"]
        self.total_ns = round(dump["weight_s"] * 1e9) + round(dump["start_cpu_ms"] * 1e6) + dump["thread_exit_ns"] + \
            dump["thread_begin_ns"]
        self.period_ns = round(dump["weight_s"] * 1e9 / dump["steps"])
        self.write("app.folded")  # that of the run has the end of the process, too
        self.write("ns.folded", "--count", "ns")
        self.self_ns = {}
        for stack, ns in Folded("ns.folded").stacks.items():
            self.self_ns[stack[-1]] = self.self_ns.get(stack[-1], 0) + ns
        check_equal(sum(self.self_ns.values()), self.total_ns, "%s: time in ns.folded" % name)
        check(self.total_ns > 300 * self.period_ns, "%s: hardly a sample", name)
        self.write("raw.htdump")
        self.rows = json.loads("[%s]" % ",".join(
            line for line in ask([sys.executable, oracle("htdump.py"), "raw.htdump"]).splitlines()
            if line.startswith('{"klass": "ProfSampleEvent"')))
        with open("facts.json", "w", encoding="utf-8") as file:
            json.dump({fact: getattr(self, fact) for fact in FACTS}, file)
        return self

    def write(self, path, *options):
        result = sampler("report", self.recording, "-o", path, *options)
        check_equal(result.status, 0, "status of report -o %s (%s)" % (path, result.stderr))
        lines = [line for line in result.stderr.splitlines() if line.startswith("sampler: %s: " % path)]
        check(len(lines) <= 1, "%s: more than a line: %s", path, result.stderr)

    def compare(self, reader, found_ns, slack_ns, key=None):
        """Self times by name against the recording's; slack_ns(number of samples of the function)."""
        key = key or fold_name
        wanted, found = {}, {}
        for name, ns in self.self_ns.items():
            wanted[key(name)] = wanted.get(key(name), 0) + ns
        for name, ns in found_ns.items():
            if ns > 0:
                found[key(name)] = found.get(key(name), 0) + ns
        # What lies below the unit of the format may appear or vanish.
        strange = [name for name, ns in found.items() if name not in wanted and ns > slack_ns(0)]
        missing = [name for name, ns in wanted.items() if name not in found and ns > slack_ns(0)]
        check_equal((strange, missing), ([], []), "%s of %s: functions there only, here only" % (reader, self.name))
        for name, ns in wanted.items():
            # Of what is no point of the grid each thread has a sample of its own, however short.
            n = self.n_threads if name in OFF_THE_GRID else ns // self.period_ns
            check(abs(found.get(name, 0) - ns) <= slack_ns(n), "%s of %s: %s has %s ns of %d", reader, self.name, name,
                  found.get(name), ns)
        print("  %-24s %-12s %9.6f of %9.6f s, %4d functions, largest difference %d ns" %
              (reader, self.name, sum(found.values()) / 1e9, self.total_ns / 1e9, len(found),
               max(abs(found.get(name, 0) - ns) for name, ns in wanted.items())))


def fold_name(name):
    return name.replace(";", ":")


def bare_name(name):
    """Letters and digits: NYTProf's tools need other punctuation, packages and numbers of namesakes."""
    name = re.sub(r"(?<=.) ?\[([^]]*:[0-9]+|[^]]*\+0x[0-9a-f]+|[0-9]+)\]$", "", name)
    name = re.sub(r"^main::", "", name)
    return re.sub(r"[\W_]", "", name)


RECORDINGS = os.path.join(os.environ["SAMPLER_BUILD"], "tests", "corpus", "recordings")


@case
def record(scratch):
    """Not a test of its own: records, once for all others, what they compare."""
    shutil.rmtree(RECORDINGS, ignore_errors=True)
    data = os.path.join(scratch, "data")
    with open(data, "wb") as file:
        for i in range(400000):
            file.write(b"%d %d\n" % (i, i * 7919 % 10007))
    programs = [("format_work", [test_program("format_work"), "0.6"])]
    if shutil.which("xz"):
        programs.append(("xz", ["xz", "-T2", "--block-size=1MiB", "-3", "-k", "-c", data]))
    programs.append(("python", [sys.executable, "-c", PYTHON_WORK]))
    try:
        for name, argv in programs:
            os.makedirs(os.path.join(RECORDINGS, name))
            os.chdir(os.path.join(RECORDINGS, name))
            Recorded.make(name, argv)
    except BaseException:
        shutil.rmtree(RECORDINGS)
        raise


def recordings():
    """Each of them, in a folder of the caller's that has its files."""
    if not os.path.isdir(RECORDINGS):
        raise Skip("nothing was recorded: case `record` was skipped or has not run")
    for name in sorted(os.listdir(RECORDINGS)):
        with open(os.path.join(RECORDINGS, name, "facts.json"), encoding="utf-8") as file:
            recorded = Recorded(json.load(file))
        os.mkdir(name)
        os.chdir(name)
        for made in ("app.folded", "ns.folded", "raw.htdump"):
            shutil.copy(os.path.join(RECORDINGS, name, made), made)
        yield recorded
        os.chdir("..")


def microsecond(n):
    """Times are rounded, not lengths: each sample is off by less than a microsecond."""
    return 1000 * (n + 2)


def check_cpuprofile(recorded, files):
    found = {"devtools": {}, "speedscope": {}}
    hits = samples = 0
    for file in files:
        if file.endswith(".cpuprofile"):
            with open(file, encoding="utf-8") as opened:
                profile = json.load(opened)
            nodes = {node["id"]: node for node in profile["nodes"]}
            hits += sum(node["hitCount"] for node in profile["nodes"])
            samples += sum(nodes[s]["callFrame"]["functionName"] not in NO_TIME for s in profile["samples"])
    answers = json.loads(ask(["node", oracle("cpuprofile.mjs")] + files))
    for answer in answers if isinstance(answers, list) else [answers]:
        for reader, said in answer["readers"].items():
            check(said["ok"], "%s: %s", reader, said)
            for thread in said["threads"]:
                for function in thread["functions"]:
                    if function["name"] not in NO_TIME:
                        name = function["name"]
                        found[reader][name] = found[reader].get(name, 0) + function["selfUs"] * 1000
    for reader, by_name in found.items():
        recorded.compare(reader, by_name, microsecond)
    if files[0].endswith(".cpuprofile"):
        check_equal(hits, recorded.n_samples, "hits")
        check_equal(samples, len(recorded.rows), "samples")


@case
def folded(_scratch):
    for recorded in recordings():
        answer = json.loads(ask(["node", oracle("folded.mjs"), "ns.folded"]))
        answer = answer[0] if isinstance(answer, list) else answer
        check_equal(answer["plain"]["total"], recorded.total_ns, "total")
        check_equal(answer["plain"]["bad"] + [answer["plain"]["merged"]], [0], "bad or repeated lines")
        check_equal(answer["speedscope"]["total"], recorded.total_ns, "speedscope's total")
        check(answer["flamegraph"]["ok"], "flamegraph.pl: %s", answer["flamegraph"])
        found = {}
        for row in answer["plain"]["stacks"]:
            value = int(row["counts"][0] if "counts" in row else row["count"])
            found[row["stack"][-1]] = found.get(row["stack"][-1], 0) + value
        recorded.compare("folded.mjs", found, lambda n: 0)
        check_periods(recorded)


def check_periods(recorded):
    """Counts of sampling periods: rounded once, over the whole file, so that no line is off by more than one."""
    answer = json.loads(ask(["node", oracle("folded.mjs"), "app.folded"]))
    answer = answer[0] if isinstance(answer, list) else answer
    total = answer["plain"]["total"]
    check(abs(total * recorded.period_ns - recorded.total_ns) <= recorded.period_ns / 2,
          "periods in app.folded: %d of %d ns", total, recorded.total_ns)
    check_equal(answer["speedscope"]["total"], total, "speedscope's total of app.folded")
    check_equal(total, Folded("app.folded").total, "total of app.folded")
    found, n_lines = {}, {}
    for row in answer["plain"]["stacks"]:
        name, value = row["stack"][-1], int(row["counts"][0] if "counts" in row else row["count"])
        found[name] = found.get(name, 0) + value * recorded.period_ns
    for stack in Folded("ns.folded").stacks:  # lines of less than a period may have gone
        n_lines[stack[-1]] = n_lines.get(stack[-1], 0) + 1
    for name, ns in recorded.self_ns.items():
        check(abs(found.get(name, 0) - ns) <= recorded.period_ns * n_lines[name], "%s: %s in periods for %d ns", name,
              found.get(name), ns)
    strange = sorted(set(found) - set(recorded.self_ns))
    check_equal(strange, [], "functions in app.folded alone")


@case
def cpuprofile(_scratch):
    for recorded in recordings():
        recorded.write("app.cpuprofile")
        check_cpuprofile(recorded, sorted(file for file in os.listdir(".") if file.endswith(".cpuprofile")))


@case
def cpuprofile_merged(_scratch):
    for recorded in recordings():
        recorded.write("app.cpuprofile", "--threads", "merge")
        check_cpuprofile(recorded, ["app.cpuprofile"])


@case
def chrome_trace(_scratch):
    for recorded in recordings():
        recorded.write("app.trace.json")
        check_cpuprofile(recorded, ["app.trace.json"])


@case
def easyprofiler(_scratch):
    """Blocks last as long as a stack stays: the file has times and no samples to count."""
    for recorded in recordings():
        recorded.write("app.prof")
        answer = json.loads(ask([sys.executable, oracle("easyprofiler.py"), "app.prof"]))
        check(answer["ok"], "refused: %s", answer)
        found = {}
        waiting = [block for thread in answer["threads"] for block in thread["blocks"]]
        while waiting:
            block = waiting.pop()
            children = block.get("children", [])
            waiting.extend(children)
            ns = block["end"] - block["begin"] - sum(child["end"] - child["begin"] for child in children)
            found[block["name"]] = found.get(block["name"], 0) + ns
        # Of stacks of more than 255 levels (imports of python with debug information) the middle is one block.
        omitted_ns = found.pop("[frames omitted]", 0)
        check_equal(sum(found.values()) + omitted_ns, recorded.total_ns, "time of all blocks")
        check(omitted_ns < recorded.total_ns / 20, "%d of %d ns have no name", omitted_ns, recorded.total_ns)
        recorded.compare("easyprofiler.py", found, lambda n: omitted_ns)


@case
def htdump_samples(_scratch):
    """The raw classes: samples as they were."""
    for recorded in recordings():
        events = [json.loads(line) for line in ask([sys.executable, oracle("htdump.py"), "raw.htdump"]).splitlines()]
        frames, stacks, found, n = {}, {}, {}, 0
        for event in events:
            fields = event["fields"]
            if event["klass"] == "ProfFrameEvent":
                frames[fields["frame_id"]] = fields["function"]
            elif event["klass"] == "ProfStackEvent":
                stacks[fields["stack_id"]] = fields["frame_id"]
            elif event["klass"] == "ProfSampleEvent":
                name = frames[stacks[fields["stack_id"]]]
                found[name] = found.get(name, 0) + fields["weight_ns"]
                n += 1
        recorded.compare("htdump.py samples", found, lambda n: 0)
        n_zero = sum(event["klass"] == "ProfValueEvent" and event["fields"]["amount"] == 0 for event in events)
        check_equal(n - n_zero, recorded.n_samples, "samples")


@case
def htdump_calls(_scratch):
    """The calls HawkTracer's own tools show: each begins a nanosecond behind the one around it."""
    for recorded in recordings():
        events = [json.loads(line) for line in ask([sys.executable, oracle("htdump.py"), "raw.htdump"]).splitlines()]
        labels, calls, found, n_calls = {}, {}, {}, {}
        for event in events:
            fields = event["fields"]
            if event["klass"] == "HT_StringMappingEvent":
                labels[fields["identifier"]] = fields["label"]
            elif event["klass"] == "HT_CallstackIntEvent":
                calls.setdefault(fields["thread_id"], []).append(
                    (fields["timestamp"], -fields["duration"], fields["label"]))
        for thread in calls.values():
            open_calls = []
            for begin, minus_ns, label in sorted(thread):
                while open_calls and open_calls[-1][0] <= begin:
                    open_calls.pop()
                name = labels[label]
                found[name] = found.get(name, 0) - minus_ns
                n_calls[name] = n_calls.get(name, 0) + 1
                if open_calls:
                    outer = open_calls[-1][1]
                    found[outer] += minus_ns
                    n_calls[outer] = n_calls.get(outer, 0) + 1
                open_calls.append((begin - minus_ns, name))
        # Labels have ' for " and / for \; every call gives its first nanoseconds away, one for each around it.
        label_name = lambda name: fold_name(name).replace('"', "'").replace("\\", "/")
        small = {name: ns for name, ns in found.items() if ns > 200 * n_calls[name]}
        recorded.compare("htdump.py calls", small, lambda n: 300 * (n + 10), key=label_name)


@case
def nytprof(_scratch):
    for recorded in recordings():
        recorded.write("app.nytprof")
        answer = json.loads(ask(["perl", oracle("nytprof.pl"), "--no-src", "app.nytprof"]))
        check(answer["ok"] and not answer["warnings"] and "tools_error" not in answer, "refused: %s", answer["ok"])
        subs = answer["subs"]
        found = {}
        for sub in subs:
            name = sub["name"]
            for prefix in re.findall(r"^[^(<: ]+\.so[^:(]*::|^\[[^]]*\]::|^[^(<: ]*(?:xz|python[0-9.]*|format_work)::", name):
                name = name[len(prefix):]
            found[name] = found.get(name, 0) + round(sub["excl"] * 1e9)
        recorded.compare("nytprof.pl", found, lambda n: 1000 + n, key=bare_name)
        total = answer["totals"]["total_stmts_duration"]
        n_lines = answer["records"]["TIME_LINE"]
        check(0 <= recorded.total_ns - total * 1e9 <= 100 * n_lines, "statements: %s s of %d ns", total,
              recorded.total_ns)
        check_equal(n_lines, len(recorded.rows), "samples")
        ask(["sh", oracle("nytprof_tools.sh"), "app.nytprof"]) if shutil.which("nytprofhtml") else None


@case
def nytprof_chunked(_scratch):
    for recorded in recordings():
        recorded.write("app.nytprofc")
        answer = json.loads(ask([sys.executable, oracle("nytprof_chunked.py"), "app.nytprofc"]))
        check(answer["ok"], "refused: %s", answer)
        names = {sub["sid"]: sub["name"] for sub in answer["subs"]}
        found = {}
        for call in answer["calls"]:
            name = names[call["callee"]]
            found[name] = found.get(name, 0) + 100 * call["sub_ticks"]  # the exclusive ones
        # A tick for each sub; subs of one name are told apart there, not here.
        recorded.compare("nytprof_chunked.py", found, lambda n: 1000, key=bare_name)
        check_equal(sum(line["calls"] for line in answer["lines"]), len(recorded.rows), "samples in lines")
        ticks = sum(line["excl_ticks"] for line in answer["lines"])
        check(0 <= recorded.total_ns - 100 * ticks <= 100 * len(answer["lines"]), "lines: %d ticks of %d ns", ticks,
              recorded.total_ns)


@case
def nytprof_processes(_scratch):
    """Perl's tools on several processes in one file, and on two runs joined by nytprofmerge."""
    if shutil.which("nytprofmerge") is None:
        raise Skip("no nytprofmerge here")
    tools = oracle("nytprof_tools.sh")
    work = test_program("format_work")
    result = sampler_run(["-q", "-o", "all.nytprof"], ["sh", "-c", "'%s' 0.2 & '%s' -c 'sum(range(3000000))'; wait" % (
        work, sys.executable)])
    check_equal(result.status, 0, "status (%s)" % result.stderr)
    processes = json.loads(ask(["perl", oracle("nytprof.pl"), "--no-src", "all.nytprof"]))["processes"]
    check(len(processes) >= 3, "only %d threads of several processes", len(processes))
    ask(["sh", tools, "all.nytprof"])
    totals = []
    for name in ("one", "two"):
        result = sampler_run(["-q", "-o", name + ".nytprof"], [work, "0.2"])
        check_equal(result.status, 0, "status (%s)" % result.stderr)
    ask(["nytprofmerge", "--out", "joined.nytprof", "one.nytprof", "two.nytprof"])
    ask(["sh", tools, "joined.nytprof"])
    for name in ("one", "two", "joined"):
        result = sampler("convert", name + ".nytprof", "-o", name + ".folded", "--count", "ns")
        check_equal(result.status, 0, "status (%s)" % result.stderr)
        totals.append(Folded(name + ".folded").total)
    check_equal(totals[2], totals[0] + totals[1], "ns in joined files")


if __name__ == "__main__":
    main()
