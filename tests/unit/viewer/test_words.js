/* test_words.js - names and numbers of the page, as people read them. */
import assert from "node:assert";
import test from "node:test";

import {baseName, isOwn, plainPath} from "../../../output/formats/html/viewer/data/path.js";
import {Profile, UNIT} from "../../../output/formats/html/viewer/data/profile.js";
import {readSprofile} from "../../../output/formats/html/viewer/data/sprofile.js";
import {makeColoring} from "../../../output/formats/html/viewer/views/color.js";
import {describeAccount} from "../../../output/formats/html/viewer/words/account.js";
import {
    fixed,
    grouped,
    percent,
    several,
    weightFormat
} from "../../../output/formats/html/viewer/words/format.js";
import {fitName, shortName} from "../../../output/formats/html/viewer/words/names.js";

import {block, end, file, plain, same, scalars, texts} from "./help.js";

test("short names", () => {
    const names = {
        "main": "main",
        "int std::map<std::string, Table<int, 3> >::at<long>(std::string const&)":
            "std::map<…>::at<…>",
        "A::f(int) const": "A::f",
        "operator new(unsigned long)": "operator new",
        "std::ostream& std::operator<< <char>(std::ostream&, char)": "std::operator<< <…>",
        "Big::operator()(int) const": "Big::operator()",
        "bool operator< <int>(A<int> const&)": "operator< <…>",
        "std::string std::operator+<char, std::less<char> >(std::string const&, char)":
            "std::operator+<…>",
        "A& A::operator+=(A const&)": "A::operator+=",
        "A::operator[](int) const": "A::operator[]",
        "f[abi:cxx11](int)": "f",
        "(anonymous namespace)::work(int)": "(anonymous namespace)::work",
        "f(int)::{lambda(char)#1}::operator()(char) const": "f::{lambda(char)#1}::operator()",
        "<alloc::vec::Vec<T> as core::ops::Drop>::drop":
            "<alloc::vec::Vec<…> as core::ops::Drop>::drop",
        "std::function<void (int)>::operator()(int)": "std::function<…>::operator()",
        "GET /items (slow)": "GET /items (slow)",
        "[libz.so.1+0x1234]": "[libz.so.1+0x1234]",
        "a < b": "a < b",
        "f(": "f(",
        "": "",
    };
    for (const [name, wanted] of Object.entries(names))
        assert.equal(shortName(name), wanted, name);
    // What nothing closes is looked at a few times, not at each of twenty thousand places.
    for (const text of ["a<", "a(", "a{"])
        assert.equal(shortName(text.repeat(20000)), text.repeat(20000));
    for (const [open, close] of ["<>", "()"]) {
        const nested = open.repeat(100000) + close.repeat(100000);
        assert.equal(shortName(nested), nested);
    }
});

test("names in few columns", () => {
    const fits = (name, columns) => fitName(name, columns);
    assert.equal(fits("main", 4), "main");
    assert.equal(fits("main", 3), "ma…");
    assert.equal(fits("main", 2), "");
    assert.equal(fits("one::two::three", 13), "…::two::three");
    assert.equal(fits("one::two::three", 8), "…::three");
    assert.equal(fits("one::two::three", 7), "…::thr…");
    for (let columns = 0; columns < 20; columns++)
        assert.ok(fits("one::two::three", columns).length <= columns);
    assert.equal(baseName("/usr/lib/libc.so.6"), "libc.so.6");
    assert.equal(plainPath("/b/x/../../y/./z.c"), "/y/z.c");
    assert.equal(plainPath("../x/../y.c"), "../y.c");
    assert.equal(plainPath("[kernel]"), "[kernel]");
    for (const path of ["a.c", "../src/a.c", "/srv/usr/a.c", "/srv/lib/a.c"])
        assert.ok(isOwn(path), path);
    for (const path of ["/usr/include/a.h", "/lib/a.c", "/rustc/1f2/library/core/a.rs",
                        "/srv/.cargo/registry/src/a.rs", "/srv/node_modules/a.c", "node:fs",
                        "/srv/lib/python3.12/os.py"])
        assert.ok(!isOwn(path), path);
});

test("numbers are rounded as the tools round them", () => {
    assert.deepEqual([0.25, 0.35, 6.25, 18.75, 2.5, 3.4999].map((value) => fixed(value, 1)),
                     ["0.2", "0.3", "6.2", "18.8", "2.5", "3.5"]);
    assert.equal(percent(1, 16), "6.2%");
    assert.equal(percent(1, 0), "0.0%");
    assert.equal(weightFormat(UNIT.NS, 999999999)(1500000), "1.5 ms");
    assert.equal(weightFormat(UNIT.NS, 1000000000)(1500000), "0.002 s");
    assert.equal(weightFormat(UNIT.COUNT, 5)(1234567), "1\u202f234\u202f567");
    assert.equal(grouped(999), "999");
    assert.equal(several([]), "");
    assert.equal(several(["a", "b", "c"]), "a, b, c");
    assert.equal(several([..."abcdefg"]), "a, b, c and 4 more");
});

/** A profile whose metadata are `pairs` of key and value. */
async function withMetadata(pairs)
{
    const words = pairs.flat(), n = words.length / 2;
    const ids = [...Array(n).keys()];
    return new Profile(await readSprofile(file(
        texts(words), scalars({}),
        block(9, 0, n, [plain(1, ids.map((i) => 2 * i + 1)), plain(1, ids.map((i) => 2 * i + 2))]),
        end())));
}

/** An account of 5 s that explains all but `unexplained`, in ns. */
function accountWith(unexplained)
{
    return {
        schema: "sampler-account-1",
        total: {
            explained_ns: 5e9,
            cpu_ns: 5.3e9 + unexplained,
            paused_ns: 1e8,
            own_ns: 2e8,
            rate_hz: 998.7,
            lost: {
                blocked: {ns: 0, is_weighed: false},
                disk_full: {ns: 2.5e9, is_weighed: false},
                nested: {ns: 4e9, is_weighed: true}
            },
            truncated_ns: 1e8
        },
        modules: [
            {path: "/lib/libz.so", nameless_ns: 1e9, advice: "install its symbols"},
            {path: "/lib/liba.so", nameless_ns: 1e7, advice: ""}
        ],
        processes: [{exe: "/bin/a"}, {exe: "/bin/b"}],
        children_missed: [{n: 2}, {n: 1}],
    };
}

const LOST = [
    "2.500 s lost: no room for the recording", "2.0% in stacks whose outer frames are not known",
    "20.0% in code of libz.so without names: install its symbols",
    "3 programs that were started could not be recorded"
];

const describe = async (pairs, weighed = {}) =>
    describeAccount(await withMetadata(pairs), {all: 4e9, idle: 1e9, ...weighed});

test("an account of values that do not belong there", async () => {
    const account = accountWith(0);
    account.total.rate_hz = "fast";
    account.total.lost = {constructor: {ns: 2e9}, ["__proto__"]: {ns: "much"}};
    account.total.cpu_ns = {};
    account.modules = [{path: 5, nameless_ns: 4e9}, {path: null, nameless_ns: "x", advice: 7}];
    account.processes = [{exe: 7}, {}];
    account.children_missed = [{n: "many"}];
    const text = JSON.stringify(account);
    const {facts, problems} = await describe([["account", text], ["account", text]]);
    assert.deepEqual(facts, ["4.000 s of time"]);
    assert.deepEqual(problems.slice(0, 1), ["4.000 s lost: constructor"]);
    const hosts = [...Array(200000).keys()].map((i) => ["host", "h" + i]);
    assert.equal((await describe(hosts)).facts.at(-1), "on h0, h1, h2 and 199\u202f997 more");
});

test("the account: how much there is of what was used, and what is not", async () => {
    const account = accountWith(0), text = JSON.stringify(account);
    const good = await describe([["account", text], ["command", "app 4"], ["host", "h"]]);
    assert.equal(good.title, "app 4");
    assert.deepEqual(good.facts, ["4.000 s of time", "100.0% of the 5.000 s used", "on h"]);
    assert.deepEqual(good.problems, LOST);
    const poor = await describe([["account", JSON.stringify(accountWith(5e9))]]);
    assert.equal(poor.problems[0], "50.0% of the 10.000 s used");
    const part = await describe([["account", text]], {all: 2e9});
    assert.deepEqual(part.facts, ["2.000 s of time", "part of the 5.000 s used"]);
    const unknown = {...account, total: {...account.total, cpu_ns: null}};
    assert.deepEqual((await describe([["account", JSON.stringify(unknown)]])).facts,
                     ["4.000 s of time"]);
    for (const other of ["", "{", "{}", "{\"schema\": \"sampler-account-2\"}",
                         "{\"schema\": \"sampler-account-1\"}"])
        assert.deepEqual(await describe([["account", other]]),
                         {title: "Profile", facts: ["4.000 s of time"], problems: []});
});

test("accounts of several runs add up", async () => {
    const twice = await describe(
        [
            ["account", JSON.stringify(accountWith(0))],
            ["account", JSON.stringify(accountWith(1e6))], ["command", "a"], ["command", "b"],
            ["host", "h"], ["host", "i"]
        ],
        {all: 9e9});
    assert.equal(twice.title, "a, b");
    assert.deepEqual(twice.facts, ["9.000 s of time", "100.0% of the 10.001 s used", "on h, i"]);
    assert.deepEqual(twice.problems, [
        "5.000 s lost: no room for the recording", ...LOST.slice(1, 3),
        "6 programs that were started could not be recorded"
    ]);
});

test("kinds of code: every program is one, however many there are", async () => {
    const profile = await withMetadata([
        ["exe", "/bin/a"], ["exe", "/bin/d"], ["account", JSON.stringify(accountWith(0))],
        ["/lib/c.so", "/bin/b"]
    ]);
    const ids = ["/bin/a", "/bin/b", "/lib/c.so", "/bin/d"].map((path) => textOf(profile, path));
    profile.modules = {n: 5, path: Uint32Array.from([0, ...ids])};
    profile.functions = {n: 5, module: Uint32Array.from([0, 1, 2, 3, 4])};
    const {legend} = makeColoring(profile, Float64Array.from([0, 4, 2, 1, 8]), "kind", "light");
    assert.deepEqual(
        legend(Float64Array.from([0, 4, 2, 1, 8])).map(({name, weight}) => [name, weight]),
        [["programs", 14], ["libraries", 1]]);
});

/** The number of a text. */
function textOf({texts: known}, text)
{
    let id = 0;
    while (known.get(id) !== text)
        id++;
    return id;
}
