/* test_changes.js - two runs in a page: what was before, what is after, what is chance; in the tree,
 * in trees of callers and callees, by function, and in words. */
import assert from "node:assert";
import test from "node:test";

import {
    changeOfFunction,
    changeOfNode,
    isBeyond,
    readChanges,
    weighBothSides
} from "../../../output/formats/html/viewer/data/changes.js";
import {calleesOf, callersOf} from "../../../output/formats/html/viewer/data/neighbours.js";
import {
    sumFunctions,
    TreeBuilder,
    weighTreeOfTwo
} from "../../../output/formats/html/viewer/data/tree.js";
import {changeColor} from "../../../output/formats/html/viewer/views/change_color.js";
import {changeWords, mark} from "../../../output/formats/html/viewer/words/change.js";

/* Functions 1 main, 2 f, 3 g; stacks 1 main, 2 main f, 3 main g, 4 main g f; [stack, before, after]. */
const SAMPLES = [[2, 10, 30], [3, 5, 0], [4, 7, 8]];
const INTERVALS = [0, 5, 3, 2, 4]; // of stacks

/** @returns {any} */
function profileOf(changes)
{
    const names = ["", "before", "after", changes];
    return {
        kinds: [{name: 1}, {name: 2}],
        texts: {get: (id) => names[id]},
        metadata: new Map(changes === undefined ? [] : [["changes", [changes]]]),
        stacks: {n: 5},
        functions: {n: 4},
        samples: {
            n: SAMPLES.length,
            stack: SAMPLES.map((sample) => sample[0]),
            value0: SAMPLES.map((sample) => sample[1]),
            value1: SAMPLES.map((sample) => sample[2]),
        },
    };
}

function treeOfTwo()
{
    const builder = new TreeBuilder(5), nodeOfStack = new Uint32Array(5);
    [[0, 1], [1, 2], [1, 3], [3, 2]].forEach(([parent, fn], i) => nodeOfStack[i + 1] =
                                                 builder.add(nodeOfStack[parent], fn, false));
    const tree = {...builder.finish(), nodeOfStack}, weighed = weighBothSides(profileOf());
    return {tree, weighed, weights: weighTreeOfTwo(tree, weighed, Float64Array.from(INTERVALS))};
}

test("what changes.js takes, and what it does not know", () => {
    const known = {
        schema: "sampler-changes-1",
        before: ["a"],
        after: ["b", "c"],
        measure: "cpu",
        is_normalized: true,
        whole: 9,
        stacks: [1, 2, null, 4],
        self: [5],
        total: [6, 7, 8]
    };
    const changes = readChanges(profileOf(JSON.stringify(known)));
    assert.deepEqual(
        [changes.before, changes.after, changes.measure, changes.isNormalized, changes.whole],
        [["a"], ["b", "c"], "cpu", true, 9]);
    assert.deepEqual([...changes.stacks], [0, 1, 2, NaN, 4]);
    assert.deepEqual([...changes.self], [0, 5, NaN, NaN]);
    for (const text of [undefined, "", "{}", "{",
                        JSON.stringify({...known, schema: "sampler-changes-2"})]) {
        const nothing = readChanges(profileOf(text));
        assert.deepEqual([nothing.before, nothing.whole, nothing.stacks[1]], [[], NaN, NaN]);
    }
    const odd = readChanges(profileOf(JSON.stringify(
        {...known, before: 5, after: [7], measure: 8, whole: "9", stacks: 10, self: {0: "a"}})));
    assert.deepEqual([odd.before, odd.after, odd.measure, odd.whole, odd.stacks[1], odd.self[1]],
                     [[], ["7"], "8", NaN, NaN, NaN]);
    assert.equal(readChanges({...profileOf("{}"), kinds: [{name: 1}]}), null);
});

test("both sides of nodes and functions", () => {
    const {tree, weighed, weights} = treeOfTwo(), changes = {self: [], total: [NaN, 1, 2, 3]};
    assert.deepEqual([weighed.all, weighed.allBefore], [60, 22]);
    const ofNode = (node) => Object.values(changeOfNode(weights, node));
    assert.deepEqual([1, 2, 3, 4].map(ofNode), [[22, 38, 5], [10, 30, 3], [12, 8, 2], [7, 8, 4]]);
    const sums = {
        ...sumFunctions(tree, weights, 4),
        before: sumFunctions(tree, weights, 4, weights.sides.before)
    };
    const ofFunction = (fn) =>
        Object.values(changeOfFunction({sums, profile: {changes}}, fn, "total"));
    assert.deepEqual([1, 2, 3].map(ofFunction), [[22, 38, 1], [17, 38, 2], [12, 8, 3]]);
});

test("callers and callees keep both sides, and add up chance by squares", () => {
    const whole = treeOfTwo();
    const of = ({tree, weights}) =>
        Array.from({length: tree.n},
                   (_, node) => [tree.fn[node], ...Object.values(changeOfNode(weights, node))]);
    assert.deepEqual(of(callersOf(whole, 2)),
                     [[0, 17, 38, 5], [1, 10, 30, 3], [3, 7, 8, 4], [1, 7, 8, 4]]);
    assert.deepEqual(of(calleesOf(whole, 2)), [[0, 17, 38, 5]]);
    assert.deepEqual(of(calleesOf(whole, 3)), [[0, 12, 8, 2], [2, 7, 8, 4]]);
});

test("in words and colours: what is within chance, and what nobody knows", () => {
    const all = {before: 200, after: 400}, format = (weight) => weight + " ms";
    const words = (before, after, interval) => changeWords({before, after, interval}, all, format);
    assert.equal(words(10, 30, 4), "10 ms (5.0%) \u2192 30 ms (7.5%), +20 ms, chance \u00b1 4 ms");
    assert.equal(words(30, 28, 4),
                 "30 ms (15.0%) \u2192 28 ms (7.0%), -2 ms, within chance (\u00b1 4 ms)");
    assert.equal(words(30, 28, NaN), "30 ms (15.0%) \u2192 28 ms (7.0%), -2 ms");
    assert.equal(changeWords({before: 0, after: 3, interval: NaN}, null, format),
                 "0 ms \u2192 3 ms, +3 ms");
    const marks =
        [[0, 9, 1], [9, 0, 1], [10, 15, 1], [10, 5, 1], [10, 15, 5], [10, 15, NaN], [7, 7, NaN]];
    assert.deepEqual(marks.map(([before, after, interval]) => mark({before, after, interval})),
                     ["new", "gone", "+50%", "-50%", "", "+50%", ""]);
    assert.equal(mark({before: 800, after: 900, interval: 1}), "+12%"); // as printf rounds 12.5
    assert.equal(isBeyond({before: 1, after: 3, interval: 2}), false);
    for (const theme of /** @type {const} */ (["light", "dark"])) {
        const color = (before, after, interval) => changeColor({before, after, interval}, theme);
        const seen = [
            color(1, 2, 0), color(2, 1, 0), color(1, 2, 1), color(2, 1, 1), color(1, 9, 0),
            color(1, 1, 0)
        ];
        assert.equal(new Set(seen).size, seen.length);
    }
});
