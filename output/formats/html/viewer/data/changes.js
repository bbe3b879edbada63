/* changes.js - profiles of two runs, as `sampler diff` makes them (output/compare/side_by_side.h):
 * what each stack weighed before and after, and what of a change may be chance.
 *
 * All views draw what both sides weigh together, so that nothing of either is missing; what was
 * before stands beside it, and what is after is the rest. */

/**
 * How far changes may be off by chance: 99 of 100 are less where nothing changed; NaN: unknown.
 * @typedef {object} Changes
 * @property {string[]} before  names of files
 * @property {string[]} after
 * @property {string} measure  "cpu", "wall", the name of an event; "": unknown
 * @property {boolean} isNormalized  as if the runs after had taken as long as those before
 * @property {number} whole
 * @property {Float64Array} stacks  by stack, of its total
 * @property {Float64Array} self    by function
 * @property {Float64Array} total   by function
 */

/** @param {import("./profile.js").Profile} profile @returns {Changes | null}  null: it is of one run */
export function readChanges({kinds, texts, metadata, stacks, functions})
{
    const isOfTwo = kinds.length === 2 && texts.get(kinds[0].name) === "before" &&
                    texts.get(kinds[1].name) === "after";
    if (!isOfTwo)
        return null;
    const known = parse((metadata.get("changes") || [])[0]);
    return {
        before: textsOf(known.before),
        after: textsOf(known.after),
        measure: String(known.measure || ""),
        isNormalized: known.is_normalized === true,
        whole: interval(known.whole),
        stacks: intervals(known.stacks, stacks.n),
        self: intervals(known.self, functions.n),
        total: intervals(known.total, functions.n),
    };
}

/** Nothing is known of a file that this page does not know. */
function parse(text)
{
    try {
        const changes = JSON.parse(text);
        return changes.schema === "sampler-changes-1" ? changes : {};
    } catch {
        return {};
    }
}

const textsOf = (list) => Array.isArray(list) ? list.map(String) : [];

const interval = (value) => typeof value === "number" ? value : NaN;

/** They are those of ids from 1; nothing is of 0. */
function intervals(list, n)
{
    return Float64Array.from(
        {length: n}, (_, id) => id === 0 ? 0 : interval(Array.isArray(list) ? list[id - 1] : NaN));
}

/** By stack, as weighStacks. @param {import("./profile.js").Profile} profile */
export function weighBothSides({samples, stacks})
{
    const weights = new Float64Array(stacks.n), before = new Float64Array(stacks.n);
    let all = 0, allBefore = 0;
    for (let i = 0; i < samples.n; i++) {
        const stack = samples.stack[i];
        before[stack] += samples.value0[i];
        weights[stack] += samples.value0[i] + samples.value1[i];
        allBefore += samples.value0[i];
        all += samples.value0[i] + samples.value1[i];
    }
    return {weights, all, idle: 0, before, allBefore};
}

/**
 * One change: numbers before and after, and the interval or NaN.
 * @typedef {{before: number, after: number, interval: number}} Change
 */

/** Whether it is more than chance; of what is unknown, too, nobody can say it is less. @param {Change} change */
export function isBeyond({before, after, interval})
{
    return !(Math.abs(after - before) <= interval);
}

/** Of a node with all below it. @param {import("./tree.js").TreeWeights} weights @returns {Change} */
export function changeOfNode({total, sides}, node)
{
    const {before, squares} = /** @type {import("./tree.js").Sides} */ (sides);
    return {
        before: before.total[node],
        after: total[node] - before.total[node],
        interval: Math.sqrt(squares[node]),
    };
}

/** What a node has itself: how much of its change is chance is only known of all below it. @returns {Change} */
export function ownChangeOfNode({self, sides}, node)
{
    const {before} = /** @type {import("./tree.js").Sides} */ (sides);
    return {before: before.self[node], after: self[node] - before.self[node], interval: NaN};
}

/**
 * @param {{sums: any, profile: any}} scene
 * @param {number} fn
 * @param {"self" | "total"} what
 * @returns {Change}
 */
export function changeOfFunction({sums, profile}, fn, what)
{
    const before = sums.before[what][fn];
    return {before, after: sums[what][fn] - before, interval: profile.changes[what][fn]};
}
