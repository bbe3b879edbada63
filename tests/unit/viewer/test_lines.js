/* test_lines.js - weights of source lines: what a stack has twice, lines inlined from another file, files in order. */
import assert from "node:assert";
import test from "node:test";

import {
    functionsOfLines,
    linesOfFile,
    listFiles,
    listLines,
    weighLines
} from "../../../output/formats/html/viewer/data/lines.js";

/* Functions 1 and 2 of file 7, 3 of no file. Frames: [function, line, file of the line]. */
const FRAMES =
    [[0, 0, 0], [1, 10, 0], [1, 11, 0], [2, 10, 0], [1, 10, 8], [3, 5, 0], [1, 0, 0], [3, 5, 8]];

/** @returns {any} */
function profileOf(stacks)
{
    return {
        frames: {
            n: FRAMES.length,
            fn: FRAMES.map((frame) => frame[0]),
            line: FRAMES.map((frame) => frame[1]),
            file: FRAMES.map((frame) => frame[2]),
        },
        functions: {file: [0, 7, 7, 0]},
        stacks: {
            n: stacks.length + 1,
            parent: [0, ...stacks.map((stack) => stack[0])],
            frame: [0, ...stacks.map((stack) => stack[1])],
        },
    };
}

const named = (lines, values) => Object.fromEntries(
    [...values].map((value, i) => [lines.file[i] + ":" + lines.number[i], value]).slice(1));

test("lines are of the frame's file or its function's; of none, there is no line", () => {
    const lines = listLines(profileOf([]));
    assert.deepEqual(lines.file, [0, 7, 7, 8, 8]);
    assert.deepEqual(lines.number, [0, 10, 11, 10, 5]);
    assert.deepEqual([...lines.ofFrame], [0, 1, 2, 1, 3, 0, 0, 4]);
    assert.deepEqual([...linesOfFile(lines, 7)], [[10, 1], [11, 2]]);
});

test("self is the leaf's, total counts a line once in a stack", () => {
    /* 1: f:10 > 2: f:11 > 3: g:10 (the same line again); 4: 8:10 in f:10; 5: no line in f:11 */
    const profile = profileOf([[0, 1], [1, 2], [2, 3], [1, 4], [2, 5]]), lines = listLines(profile);
    const sums = weighLines(profile, lines, Float64Array.of(0, 1, 10, 100, 1000, 10000));
    assert.deepEqual(named(lines, sums.self), {"7:10": 101, "7:11": 10, "8:10": 1000, "8:5": 0});
    assert.deepEqual(named(lines, sums.total),
                     {"7:10": 11111, "7:11": 10110, "8:10": 1000, "8:5": 0});
    assert.deepEqual(listFiles(lines, sums),
                     [{file: 8, self: 1000, most: 1000}, {file: 7, self: 111, most: 11111}]);
    const none = weighLines(profile, lines, new Float64Array(6));
    assert.deepEqual(listFiles(lines, none), []);
});

test("a line of several functions is of that with most weight", () => {
    const profile = profileOf([]), lines = listLines(profile);
    assert.deepEqual(named(lines, functionsOfLines(profile, lines, [0, 1, 5, 2])),
                     {"7:10": 2, "7:11": 1, "8:10": 1, "8:5": 3});
    assert.equal(functionsOfLines(profile, lines, [0, 5, 1, 2])[1], 1);
});
