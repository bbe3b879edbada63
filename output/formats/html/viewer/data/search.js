/* search.js - functions whose name matches, and the share of the time they explain.
 *
 * An expression comes from whoever typed it, or from the address of a link; some take for ever on an ordinary
 * name, and nothing can stop one once it runs. So those that repeat what repeats are not run, and a search
 * that takes too long ends between two names. */

const MOST_MS = 2000;
const NAMES_A_LOOK = 64; // at the clock
const TAKES_TOO_LONG = "takes too long: not searched";
const REPEATED = /[*+]|\{\d+(?:,\d*)?\}/y;

/**
 * @param {string} text  a regular expression; capitals in it make it tell them from small letters
 * @returns {{pattern: RegExp | null, problem: string}}  pattern null: nothing to look for, or a
 *   problem
 */
export function searchPattern(text)
{
    if (text === "")
        return {pattern: null, problem: ""};
    let why = "repeats what repeats, which can take for ever";
    try {
        const pattern = new RegExp(text, /[A-Z]/.test(text) ? "u" : "iu");
        if (!repeatsRepetition(text))
            return {pattern, problem: ""};
    } catch {
        why = "not a regular expression"; // names are full of brackets
    }
    return {
        pattern: new RegExp(text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "i"),
        problem: why + ": searched as plain text"
    };
}

/**
 * Whether a group is repeated that can match the same text in several ways: "(a+)+", "(a|a)*", "(a?a?){9}".
 * @param {string} text  a regular expression without errors
 */
function repeatsRepetition(text)
{
    const isVaried = [false]; // of each open group, what is around all first
    for (let at = 0; at < text.length; at++) {
        const char = text[at];
        if (char === "\\") {
            at++;
        } else if (char === "[") {
            at = classEnd(text, at);
        } else if (char === "(") {
            isVaried.push(false);
            at += text[at + 1] === "?" ? 1 : 0; // which makes nothing optional
        } else if (char === ")") {
            const isInner = isVaried.pop() === true;
            REPEATED.lastIndex = at + 1;
            if (isInner && REPEATED.test(text))
                return true;
            isVaried[isVaried.length - 1] ||= isInner;
        } else if ("*+?{|".includes(char)) {
            isVaried[isVaried.length - 1] = true;
        }
    }
    return false;
}

/** Offset of the bracket that closes "[a-z]". */
function classEnd(text, open)
{
    let at = open + 1;
    for (; at < text.length && text[at] !== "]"; at++)
        at += text[at] === "\\" ? 1 : 0;
    return at;
}

/**
 * Which of `n` names match, in time.
 * @param {number} n
 * @param {(i: number) => string} nameOf
 * @param {RegExp} pattern
 * @param {number} [mostMs]
 * @returns {{matches: Uint8Array, n: number, problem: string}}  1 where the name matches; with a problem: none
 */
export function searchNames(n, nameOf, pattern, mostMs = MOST_MS)
{
    const matches = new Uint8Array(n), startMs = performance.now();
    let nMatches = 0;
    for (let i = 0; i < n; i++) {
        if (i % NAMES_A_LOOK === NAMES_A_LOOK - 1 && performance.now() - startMs > mostMs)
            return {matches: new Uint8Array(n), n: 0, problem: TAKES_TOO_LONG};
        if (pattern.test(nameOf(i))) {
            matches[i] = 1;
            nMatches++;
        }
    }
    return {matches, n: nMatches, problem: ""};
}

/**
 * By function.
 * @param {import("./profile.js").Profile} profile
 * @param {RegExp} pattern
 */
export function searchFunctions(profile, pattern)
{
    return searchNames(profile.functions.n, (fn) => profile.functionName(fn), pattern);
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
