/* test_svg.js - boxes of a picture when one of them fills the width, and the share of a search. */
import assert from "node:assert";
import test from "node:test";

import {matchedShare, placeIn} from "../../../output/formats/svg/script/boxes.js";

/** Of a level and a span; the root is at the bottom. */
function box(level, start, end)
{
    return /** @type {any} */ ({y: 180 - 18 * level, start, end, isRoot: level === 0});
}

const all = box(0, 0, 1), main = box(1, 0, 0.8), other = box(1, 0.8, 1);
const f = box(2, 0, 0.5), g = box(2, 0.5, 0.75), inG = box(3, 0.5, 0.625);

test("what is zoomed to fills the width, with all under it, and what is over it grows", () => {
    assert.deepEqual(placeIn(g, g), {start: 0, end: 1});
    assert.deepEqual(placeIn(main, g), {start: 0, end: 1});
    assert.deepEqual(placeIn(all, g), {start: 0, end: 1});
    assert.deepEqual(placeIn(inG, g), {start: 0, end: 0.5});
    assert.equal(placeIn(f, g), null);
    assert.equal(placeIn(other, g), null);
    assert.deepEqual(placeIn(main, all), {start: 0, end: 0.8});
});

test("each stack counts once in a search", () => {
    const boxes = [all, main, other, f, g, inG];
    assert.equal(matchedShare(boxes, new Set()), 0);
    assert.equal(matchedShare(boxes, new Set([g, inG])), 0.25);
    assert.equal(matchedShare(boxes, new Set([inG, other])), 0.125 + (1 - 0.8));
    assert.equal(matchedShare(boxes, new Set([main, f, g, inG])), 0.8);
});
