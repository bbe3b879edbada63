/* test_time.js - which part of a profile is looked at, what threads did when, and marks of time. */
import assert from "node:assert";
import test from "node:test";

import {
    binsOf,
    heaviestWithin,
    largestBin,
    samplesOfThreads,
    wholeSpan
} from "../../../output/formats/html/viewer/data/activity.js";
import {
    columnNs,
    roundedTime,
    secondsText,
    timeMarks
} from "../../../output/formats/html/viewer/data/axis.js";
import {
    EVERYTHING,
    isEverything,
    listChoices,
    sampleFilter,
    threadKey
} from "../../../output/formats/html/viewer/data/filter.js";
import {Profile, weighStacks} from "../../../output/formats/html/viewer/data/profile.js";
import {matchedStacks, searchFunctions} from "../../../output/formats/html/viewer/data/search.js";
import {readSprofile} from "../../../output/formats/html/viewer/data/sprofile.js";

import {block, end, file, plain, same, scalars, texts} from "./help.js";

const LABEL = 32, IDLE = 16;
const NAMES = ["app", "job", "7", "request", "f", "g", "(idle)"];
const [APP, JOB, SEVEN, REQUEST, F, G, WAIT] = NAMES.map((_, i) => i + 1);

/**
 * Processes 1 app 100, 2 job 200; threads 1 (named as its process) 100, 2 "7" 101, both of app; 3 "7" 7 of job.
 * Functions and stacks: 1 f, 2 g, 3 request (a label), 4 g under it, 5 idle.
 * @param {number[][]} samples  thread, stack, time, weight
 */
async function profileWith(samples, hasTimes = true)
{
    const column = (i) => plain(1, samples.map((sample) => sample[i]));
    const functions = [F, G, REQUEST, WAIT];
    return new Profile(await readSprofile(file(
        texts(NAMES), scalars({hasTimes}),
        block(4, 1, 4, [plain(1, functions), ...new Array(5).fill(same(0))]),
        block(5, 1, 4,
              [
                  plain(1, [1, 2, 3, 4]), same(0), same(0), plain(1, [0, 0, LABEL, IDLE]), same(0),
                  same(0)
              ]),
        block(6, 1, 5, [plain(1, [0, 0, 0, 3, 0]), plain(1, [1, 2, 3, 2, 4])]),
        block(7, 1, 2, [plain(1, [APP, JOB]), plain(1, [100, 200])]),
        block(8, 1, 3, [plain(1, [1, 1, 2]), plain(1, [0, SEVEN, SEVEN]), plain(1, [100, 101, 7])]),
        block(10, 0, samples.length, [0, 1, 2, 3].map(column)), end())));
}

const SAMPLES = [
    [1, 1, 10, 1],
    [1, 4, 20, 2],
    [1, 5, 30, 64],
    [2, 2, 10, 4],
    [2, 4, 25, 8],
    [3, 1, 20, 16],
    [3, 2, 30, 32],
];

test("a part of the profile", async () => {
    const profile = await profileWith(SAMPLES);
    const weigh = (filter) =>
        weighStacks(profile, sampleFilter(profile, {...EVERYTHING, ...filter})).all;
    for (const [filter, expected] of [
             [{}, 63], [{thread: "app"}, 3], [{thread: "100"}, 3], [{thread: "101"}, 12],
             [{thread: "7"}, 60], // a name and a number
             [{thread: "#2"}, 12], [{thread: "#3", process: "app"}, 0], [{thread: "#"}, 0],
             [{thread: "ap"}, 0], [{process: "app"}, 15], [{process: "200"}, 48],
             [{process: "7"}, 0], [{label: "request"}, 10], [{label: "g"}, 0],
             [{thread: "app", label: "request"}, 2], [{fromNs: 20}, 58], [{toNs: 20}, 5],
             [{fromNs: 20, toNs: 30}, 26], [{process: "app", fromNs: 25}, 8]])
        assert.equal(weigh(filter), expected, JSON.stringify(filter));
    assert.equal(isEverything(EVERYTHING), true);
    assert.equal(isEverything({...EVERYTHING, toNs: 1}), false);
});

test("what there is to choose from: by name, without what only waited", async () => {
    const {thread, process, label, all} = listChoices(await profileWith([...SAMPLES]));
    assert.equal(all, 63); // with what is under no label
    assert.deepEqual(thread, [{value: "7", n: 2, weight: 60}, {value: "app", n: 1, weight: 3}]);
    assert.deepEqual(process, [{value: "job", n: 1, weight: 48}, {value: "app", n: 1, weight: 15}]);
    assert.deepEqual(label, [{value: "request", n: 1, weight: 10}]);
    assert.deepEqual(listChoices(await profileWith([[1, 5, 10, 1]])),
                     {thread: [], process: [], label: [], all: 0});
});

test("one thread alone: by its number, or by its place if others have that number", async () => {
    const profile = await profileWith(SAMPLES);
    assert.deepEqual([1, 2, 3].map((id) => threadKey(profile, id)), ["100", "101", "7"]);
    profile.threads.tid.set([100, 100, 0], 1);
    assert.deepEqual([1, 2, 3].map((id) => threadKey(profile, id)), ["#1", "#2", "#3"]);
});

test("samples without a stack: of no function that has a name, and found as such", async () => {
    const profile = await profileWith([[1, 0, 10, 5], [1, 1, 20, 3]]);
    const {matches} = searchFunctions(profile, /unknown/);
    assert.deepEqual([...matchedStacks(profile, matches)], [1, 0, 0, 0, 0, 0]);
    const activity =
        /** @type {any} */ ({firstSample: samplesOfThreads(profile), isTaken: () => true});
    assert.equal(heaviestWithin(profile, activity, 1, {fromNs: 0, toNs: 30}), 0);
});

test("the whole span", async () => {
    assert.deepEqual(wholeSpan(await profileWith(SAMPLES)), {fromNs: 0, toNs: 31});
    assert.equal(wholeSpan(await profileWith([])), null);
    assert.equal(wholeSpan(await profileWith(SAMPLES, false)), null);
});

/** Bins of thread 1; groups: 0 is f, 1 is g. */
async function binsWith(samples, span, nBins, taken = {})
{
    const profile = await profileWith(samples.map((sample) => [1, ...sample]));
    const isTaken = sampleFilter(profile, {...EVERYTHING, ...taken});
    const activity = {
        firstSample: samplesOfThreads(profile),
        nGroups: 2,
        groupOfStack: [0, 0, 1, 0, 1, 0],
        isTaken
    };
    const bins = binsOf(profile, /** @type {any} */ (activity), [1], span, nBins);
    const heaviest = heaviestWithin(profile, /** @type {any} */ (activity), 1, span);
    return {bins: [...bins], largest: largestBin(bins, 2), heaviest};
}

test("a sample tells of the time before it, and no farther back than the one before", async () => {
    const whole = {fromNs: 0, toNs: 40};
    assert.deepEqual((await binsWith([[1, 10, 10], [1, 20, 10], [2, 40, 10]], whole, 4)).bins,
                     [10, 0, 10, 0, 0, 0, 0, 10]);
    assert.deepEqual((await binsWith([[1, 10, 5], [1, 25, 10]], whole, 4)).bins,
                     [5, 0, 5, 0, 5, 0, 0, 0]);
    // A tick that came late stands for more than has passed: dense, not early.
    assert.deepEqual((await binsWith([[1, 20, 5], [2, 30, 20], [1, 31, 1]], whole, 4)).bins,
                     [0, 0, 5, 0, 0, 20, 1, 0]);
});

test("samples that last until the next one tell of the time after them", async () => {
    const {bins} = await binsWith([[1, 0, 30], [2, 30, 10], [1, 40, 0]], {fromNs: 0, toNs: 40}, 4);
    assert.deepEqual(bins, [10, 0, 10, 0, 10, 0, 0, 10]);
});

test("of a span only what lies within it", async () => {
    const samples = [[1, 10, 10], [1, 20, 10], [2, 40, 20]];
    const {bins, largest, heaviest} = await binsWith(samples, {fromNs: 15, toNs: 25}, 2);
    assert.deepEqual([bins, largest, heaviest], [[5, 0, 0, 5], 5, 1]);
    assert.equal((await binsWith(samples, {fromNs: 21, toNs: 41}, 2)).heaviest, 2);
    assert.equal((await binsWith(samples, {fromNs: 21, toNs: 40}, 2)).heaviest, -1);
    assert.deepEqual(
        (await binsWith([[1, 10, 10], [5, 20, 10], [4, 30, 10]], {fromNs: 0, toNs: 30}, 3, {
            label: "request"
        })).bins,
        [0, 0, 0, 0, 0, 10]);
});

test("the highest level of a few bins in a row", () => {
    const bins = new Float64Array([1, 1, 0, 2, 9, 0, 1, 1, 2, 0]); // sums 2 2 9 2 2
    assert.equal(largestBin(bins, 2), 9);
    assert.equal(largestBin(bins, 2, 2), 5.5);
    assert.equal(largestBin(bins, 2, 4), 15 / 4);
    assert.equal(largestBin(bins, 2, 100), 17 / 5);
    assert.equal(largestBin(bins, 2, 0), 9);
    assert.equal(largestBin(new Float64Array([3, 1]), 2, 3), 4);
});

test("marks at round moments", () => {
    assert.deepEqual(timeMarks({fromNs: 0, toNs: 4e9}, 400, 100),
                     {stepNs: 1e9, marks: [0, 1e9, 2e9, 3e9]});
    assert.deepEqual(timeMarks({fromNs: 1.5e9, toNs: 2.5e9}, 400, 100),
                     {stepNs: 5e8, marks: [1.5e9, 2e9]});
    assert.equal(timeMarks({fromNs: 0, toNs: 3}, 1000, 100).stepNs, 1);
    assert.ok(timeMarks({fromNs: 0, toNs: 1e14}, 1200, 90).marks.length <= 13);
    const far = 2 ** 60; // where a step of a nanosecond leads nowhere
    assert.ok(timeMarks({fromNs: far, toNs: far + 512}, 1200, 90).marks.length <= 15);
    assert.deepEqual(
        [
            secondsText(2e9, 1e9), secondsText(2.5e9, 5e8), secondsText(1.23456e9, 1e6),
            secondsText(7, 1)
        ],
        ["2", "2.5", "1.235", "0.000000007"]);
    assert.deepEqual([roundedTime(1234567, 1000), roundedTime(1234567, 999), roundedTime(7, 0.1)],
                     [1235000, 1234600, 7]);
});

test("columns of a second, or of another power of ten where these were too few or too many", () => {
    assert.equal(columnNs({fromNs: 0, toNs: 60e9}, 900), 1e9);
    assert.equal(columnNs({fromNs: 5e9, toNs: 7e9}, 900), 1e8);
    assert.equal(columnNs({fromNs: 0, toNs: 1e3}, 900), 1e6);
    assert.equal(columnNs({fromNs: 0, toNs: 3600e9}, 900), 1e10);
});
