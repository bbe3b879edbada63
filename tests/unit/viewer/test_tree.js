/* test_tree.js - the call tree of the page: sums, order, recursion, where boxes lie, and search. */
import assert from "node:assert";
import test from "node:test";

import {
    deepest,
    forEachBox,
    layOut,
    nodeAt
} from "../../../output/formats/html/viewer/data/layout.js";
import {calleesOf, callersOf} from "../../../output/formats/html/viewer/data/neighbours.js";
import {Profile, weighStacks} from "../../../output/formats/html/viewer/data/profile.js";
import {
    matchedWeight,
    searchFunctions,
    searchNames,
    searchPattern
} from "../../../output/formats/html/viewer/data/search.js";
import {withSamplesOfSpans} from "../../../output/formats/html/viewer/data/spans.js";
import {readSprofile} from "../../../output/formats/html/viewer/data/sprofile.js";
import {
    forEachNode,
    growTree,
    sumFunctions,
    weighTree
} from "../../../output/formats/html/viewer/data/tree.js";

import {block, end, file, plain, profileOf, same, scalars, texts, UNITS} from "./help.js";

async function treeOf(stacks)
{
    const profile = new Profile(await readSprofile(profileOf(stacks)));
    const weighed = weighStacks(profile, () => true), tree = growTree(profile);
    const weights = weighTree(tree, weighed.weights);
    return {profile, weighed, tree, weights, layout: layOut(tree, weights)};
}

/** "name total/self" of each node, depth-first. */
function lines({profile, tree, weights})
{
    const out = [], path = [];
    forEachNode(weights, (node) => {
        path.push(profile.functionName(tree.fn[node]));
        out.push(path.join(" ") + " " + weights.total[node] + "/" + weights.self[node]);
    }, () => path.pop());
    return out;
}

const RECURSION = [
    [["main", "f", "g", "f"], 10],
    [["main", "f"], 5],
    [["main", "g"], 20],
    [["main", "f", "g", "f"], 10],
    [["main", "(idle)"], 100],
    [[], 3],
];

test("nodes: sums, heaviest first, nothing of what is idle", async () => {
    const made = await treeOf(RECURSION);
    assert.deepEqual([made.weighed.all, made.weighed.idle], [48, 100]);
    assert.deepEqual(lines(made), [
        "main 45/0",
        "main f 25/5",
        "main f g 20/0",
        "main f g f 20/20",
        "main g 20/20",
        "[unknown] 3/3",
    ]);
});

test("of a function: total counts a stack once", async () => {
    const {profile, tree, weights} = await treeOf(RECURSION);
    const {self, total} = sumFunctions(tree, weights, profile.functions.n);
    const of = (name) => {
        for (let fn = 0; fn < profile.functions.n; fn++)
            if (profile.functionName(fn) === name)
                return [total[fn], self[fn]];
        return null;
    };
    assert.deepEqual(["main", "f", "g", "(idle)"].map(of), [[45, 0], [25, 25], [40, 20], [0, 0]]);
});

test(
    "callers and callees: of the outermost frame of a function, summing up to its total",
    async () => {
        const made = await treeOf(RECURSION);
        const fn = [0, 1, 2, 3, 4].find((id) => made.profile.functionName(id) === "f");
        const callees = calleesOf(made, fn), callers = callersOf(made, fn);
        assert.deepEqual([callees.weights.total[0], callees.weights.self[0]], [25, 5]);
        assert.deepEqual([callees.weights.isOfCallers, callers.weights.isOfCallers], [false, true]);
        assert.deepEqual(lines({...made, ...callees}), ["g 20/0", "g f 20/20"]);
        assert.deepEqual([callers.weights.total[0], callers.weights.self[0]], [25, 0]);
        assert.deepEqual(lines({...made, ...callers}), ["main 25/25"]);
        const g = [0, 1, 2, 3, 4].find((id) => made.profile.functionName(id) === "g");
        assert.deepEqual(lines({...made, ...callersOf(made, g)}),
                         ["main 20/20", "f 20/0", "f main 20/20"]);
        const many = [];
        for (let i = 0; i < 3000; i++)
            many.push([["a" + i, "b" + i, "leaf"], 1]);
        const wide = await treeOf(many);
        const leaf = callersOf(wide, wide.tree.fn[wide.tree.n - 1]);
        assert.deepEqual([leaf.tree.n, leaf.weights.total[0]], [6001, 3000]);
    });

test("search: the share counts a stack once; what is no expression is plain text", async () => {
    const {profile, tree, weights} = await treeOf(RECURSION);
    const share = (text) => {
        const {matches, n} = searchFunctions(profile, searchPattern(text).pattern);
        return [n, matchedWeight(tree, weights, matches)];
    };
    assert.deepEqual(share("^f$"), [1, 25]);
    assert.deepEqual(share("f|g"), [2, 45]);
    assert.deepEqual(share("MAIN"), [0, 0]);
    assert.deepEqual(share("mAiN".toLowerCase()), [1, 45]);
    assert.deepEqual(share("[unk"), [1, 3]);
    assert.notEqual(searchPattern("[unk").problem, "");
    assert.equal(searchPattern("").pattern, null);
});

test("search: an expression that could take for ever is plain text; a slow one ends", () => {
    const endless = [
        "(a+)+!", "(\\w+\\w+)+!", "(a|a)*b", "(a?a?){20}", "(?:x(y*)z)*", "((a)|b)+", "(?<n>a*)+",
        "([)]a*)+", "(a\\)b*)+"
    ];
    for (const text of endless) {
        const {pattern, problem} = searchPattern(text);
        assert.match(problem, /for ever/, text);
        assert.ok(pattern !== null && pattern.test("x" + text.toLowerCase()), text);
    }
    const safe = [
        "(std::)+", "a+b+", "(a+)b", "(foo|bar)", "(foo|bar)?x", "[(*+)]+", "\\(a+\\)+",
        "(?:ab){2,}", "(?=x)y*", "([*])+", "(\\+)+", "^(a|b)$"
    ];
    for (const text of safe)
        assert.equal(searchPattern(text).problem, "", text);
    const name = (i) => "f" + i;
    assert.deepEqual(searchNames(1000, name, /^f99$/, 1e9).n, 1);
    const late = searchNames(1000, name, /^f/, -1);
    assert.deepEqual([late.n, late.matches.includes(1)], [0, false]);
    assert.match(late.problem, /too long/);
});

test("boxes: place, what is too narrow is one box, what is out of sight none", async () => {
    const many = [];
    for (let i = 0; i < 1000; i++)
        many.push([["main", "small" + i], 1]);
    const {layout, tree, profile} = await treeOf([[["main", "large"], 9000], ...many]);
    const boxes = (from, to, maxDepth = Infinity) => {
        const found = [];
        forEachBox(layout, {from, to, width: 100}, maxDepth, (node, depth, left, width) => {
            const name = node < 0     ? "rest"
                         : node === 0 ? "all"
                                      : profile.functionName(tree.fn[node]);
            found.push([name, depth, Math.round(left * 1e6) / 1e6, Math.round(width * 1e6) / 1e6]);
        });
        return found;
    };
    assert.deepEqual(
        boxes(0, 10000),
        [["all", 0, 0, 100], ["main", 1, 0, 100], ["rest", 2, 90, 10], ["large", 2, 0, 90]].sort(
            (a, b) => boxes(0, 10000).findIndex((box) => box[0] === a[0]) -
                      boxes(0, 10000).findIndex((box) => box[0] === b[0])));
    assert.deepEqual(boxes(0, 10000, 1).map((box) => box[0]), ["all", "main"]);
    const near = boxes(9000, 9010);
    assert.equal(near.filter((box) => box[0].startsWith("small")).length, 10);
    assert.equal(near.some((box) => box[0] === "large" || box[0] === "rest"), false);
    assert.equal(deepest(layout, {from: 0, to: 10000, width: 100}), 2);

    const at = (x, depth) => {
        const node = nodeAt(layout, x, depth);
        return node <= 0 ? node : profile.functionName(tree.fn[node]);
    };
    assert.deepEqual(
        [at(5, 0), at(5, 1), at(8999, 2), at(9000.5, 2), at(9000.5, 3), at(10000, 0), at(-1, 0)],
        [0, "main", "large", "small0", -1, -1, -1]);
});

test("what is summed is chosen as the tools choose it", async () => {
    const summed = async (kinds, period = 0) =>
        new Profile(await readSprofile(file(scalars({kinds, period}), end()))).summed;
    const {count, ns, events} = UNITS;
    assert.deepEqual(await summed([[0, count], [0, ns]], 5), {kind: 1, multiplier: 1, unit: ns});
    assert.deepEqual(await summed([[0, count]], 5), {kind: 0, multiplier: 5, unit: ns});
    assert.deepEqual(await summed([[0, count]]), {kind: 0, multiplier: 1, unit: count});
    assert.deepEqual(await summed([[0, events], [0, ns]], 5),
                     {kind: 0, multiplier: 1, unit: events});
    assert.deepEqual(await summed([]), {kind: 0, multiplier: 1, unit: ns});
});

test("spans become samples of their self times", async () => {
    // Thread 1: a(0-100) holds b(10-30), and c(20-50), which crosses b; thread 2: a(0-5).
    const names = ["a", "b", "c"],
          rows = [[1, 1, 0, 100], [1, 2, 10, 30], [1, 3, 20, 50], [2, 1, 0, 5]];
    const column = (i) => plain(1, rows.map((row) => row[i]));
    const tables = await readSprofile(
        file(texts(names), scalars({kinds: []}),
             block(4, 1, 3, [plain(1, [1, 2, 3]), ...new Array(5).fill(same(0))]),
             block(5, 1, 3, [plain(1, [1, 2, 3]), ...new Array(5).fill(same(0))]),
             block(11, 1, 4, [0, 1, 2, 3].map(column)), end()));
    const profile = new Profile(withSamplesOfSpans(tables));
    const {thread, stack, timeNs, value0} = profile.samples;
    const nameOf = (id) => id === 0 ? [] : [
        ...nameOf(profile.stacks.parent[id]),
        profile.functionName(profile.frames.fn[profile.stacks.frame[id]])
    ];
    const found =
        [...stack].map((id, i) => [thread[i], nameOf(id).join(";"), timeNs[i], value0[i]]);
    assert.deepEqual(found, [
        [1, "a", 0, 10],
        [1, "a;b", 10, 10],
        [1, "a;c", 20, 30],
        [1, "a", 50, 50],
        [2, "a", 0, 5],
    ]);
    assert.equal(profile.stacks.n, 4);
    assert.equal(weighStacks(profile, () => true).all, 105);
});

test("metadata", async () => {
    const profile = new Profile(
        await readSprofile(file(scalars({}), block(1, 1, 2, [same(3)], [...Buffer.from("keyval")]),
                                block(9, 0, 1, [same(1), same(2)]), end())));
    assert.deepEqual(profile.metadataOf("key"), ["val"]);
    assert.deepEqual(profile.metadataOf("other"), []);
});
