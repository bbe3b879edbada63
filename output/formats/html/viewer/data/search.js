/* search.js - functions whose name matches, and the share of the time they explain. */

/**
 * @param {string} text  a regular expression; capitals in it make it tell them from small letters
 * @returns {{pattern: RegExp | null, problem: string}}  pattern null: nothing to look for, or a
 *   problem
 */
export function searchPattern(text)
{
    if (text === "")
        return {pattern: null, problem: ""};
    try {
        return {pattern: new RegExp(text, /[A-Z]/.test(text) ? "u" : "iu"), problem: ""};
    } catch {
        // Names are full of brackets: what is no expression is looked for as it stands.
    }
    return {
        pattern: new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "i"),
        problem: "not a regular expression: searched as plain text"
    };
}

/**
 * @param {import("./profile.js").Profile} profile
 * @param {RegExp} pattern
 * @returns {{matches: Uint8Array, n: number}}  by function: 1 where the name matches
 */
export function searchFunctions(profile, pattern)
{
    const matches = new Uint8Array(profile.functions.n);
    let n = 0;
    for (let fn = 0; fn < profile.functions.n; fn++)
        if (pattern.test(profile.functionName(fn))) {
            matches[fn] = 1;
            n++;
        }
    return {matches, n};
}

/**
 * The weight of all stacks with a match somewhere, each counted once.
 * @param {import("./tree.js").CallTree} tree
 * @param {{self: Float64Array}} weights  by node
 * @param {Uint8Array} matches
 */
export function matchedWeight(tree, weights, matches)
{
    const isUnder = new Uint8Array(tree.n);
    let weight = 0;
    for (let node = 1; node < tree.n; node++)
        if (isUnder[tree.parent[node]] !== 0 || matches[tree.fn[node]] !== 0) {
            isUnder[node] = 1;
            weight += weights.self[node];
        }
    return weight;
}

/** 1 for each stack with a match somewhere. @returns {Uint8Array} */
export function matchedStacks({stacks, frames}, matches)
{
    const {n, parent, frame} = stacks, isMatched = new Uint8Array(n);
    for (let stack = 1; stack < n; stack++)
        isMatched[stack] = isMatched[parent[stack]] | matches[frames.fn[frame[stack]]];
    isMatched[0] =
        matches[frames.fn[frame[0]]]; // of samples without a stack; above others it is none
    return isMatched;
}
