/* scene.js - what all views draw from: the profile filtered, summed up, coloured and searched as the
 * state says.
 *
 * Made anew at each change of the state; of its parts only those that the change concerns. */
import {samplesOfThreads, wholeSpan} from "./data/activity.js";
import {changeOfFunction, changeOfNode, weighBothSides} from "./data/changes.js";
import {EVERYTHING, listChoices, sampleFilter} from "./data/filter.js";
import {layOut} from "./data/layout.js";
import {listLines} from "./data/lines.js";
import {weighStacks} from "./data/profile.js";
import {matchedStacks, matchedWeight, searchFunctions, searchPattern} from "./data/search.js";
import {growTree, sumFunctions, weighTree, weighTreeOfTwo} from "./data/tree.js";
import {changeColor} from "./views/change_color.js";
import {makeColoring, N_GROUPS} from "./views/color.js";
import {percent, weightFormat} from "./words/format.js";
import {shortName} from "./words/names.js";

/**
 * @typedef {object} Scene
 * @property {import("./data/profile.js").Profile} profile
 * @property {"light" | "dark"} theme
 * @property {import("./data/filter.js").Filter} filter  which part of the profile the rest is about
 * @property {{all: number, idle: number, weights: Float64Array}} weighed  weights by stack
 * @property {{before: number, after: number} | null} all  of two runs; null: the profile is of one
 * @property {import("./data/layout.js").Layout} layout       of the whole call tree
 * @property {FunctionSums} sums
 * @property {(weight: number) => string} format
 * @property {import("./views/color.js").Coloring} coloring
 * @property {(layout: import("./data/layout.js").Layout, node: number) => string} colorOfNode
 * @property {(fn: number) => string} colorOfFunction
 * @property {Uint8Array | null} matches     by function; null: nothing is looked for
 * @property {string} matched                what the search found, in words
 * @property {import("./data/lines.js").Lines} lines     of source
 * @property {import("./data/activity.js").Activity | null} activity  null: the profile has no times
 * @property {(fn: number) => string} nameOf  as it is displayed: short or whole
 */

/**
 * By function.
 * @typedef {object} FunctionSums
 * @property {Float64Array} self
 * @property {Float64Array} total
 * @property {{self: Float64Array, total: Float64Array} | null} before  of two runs: what of it was before
 */

/** A value that is made again when its key changes. */
class Kept {
    constructor()
    {
        this.key = /** @type {unknown} */ (undefined);
        this.value = /** @type {any} */ (undefined);
    }

    get(key, make)
    {
        if (key !== this.key)
            this.value = make();
        this.key = key;
        return this.value;
    }
}

export class SceneMaker {
    /** @param {import("./data/profile.js").Profile} profile */
    constructor(profile)
    {
        this.profile = profile;
        this.tree = growTree(profile);
        this.whole = wholeSpan(profile);
        this.choices = listChoices(profile);
        this.lines = listLines(profile);
        this.firstSample = samplesOfThreads(profile);
        this.summed = new Kept();
        this.coloring = new Kept();
        this.found = new Kept();
        this.activity = new Kept();
        /** By function, of the whole profile: colors stay what they are when it is filtered. */
        this.wholeSelf =
            this.summed.get(JSON.stringify(EVERYTHING), () => this.sumUp(EVERYTHING)).sums.self;
        this.shortNames = /** @type {string[]} */ ([]);
    }

    /**
     * @param {import("./state.js").ViewState} state
     * @param {"light" | "dark"} theme
     * @returns {Scene}
     */
    make(state, theme)
    {
        const {profile} = this;
        const {thread, process, label, fromNs, toNs} = state;
        const filter = {thread, process, label, fromNs, toNs}, filterKey = JSON.stringify(filter);
        const summed = this.summed.get(filterKey, () => this.sumUp(filter));
        const coloring = this.coloring.get(
            state.color + theme, () => makeColoring(profile, this.wholeSelf, state.color, theme));
        const found = this.found.get([filterKey, state.search].join(),
                                     () => this.search(state.search, summed));
        const nameOf = (fn) => state.wholeNames ? profile.functionName(fn) : this.shortName(fn);
        const timeless = {...filter, fromNs: 0, toNs: Infinity};
        const key = JSON.stringify([timeless, state.color, theme, state.search]);
        const activity =
            this.activity.get(key, () => this.makeActivity(key, timeless, coloring, found.matches));
        return {
            profile,
            theme,
            filter,
            ...summed,
            coloring,
            ...this.makeColors(summed, coloring, theme),
            ...found,
            lines: this.lines,
            activity,
            nameOf
        };
    }

    /** Of boxes and functions: by what changed, if there is something to compare. */
    makeColors({sums}, coloring, theme)
    {
        const {profile} = this;
        if (profile.changes === null)
            return {
                colorOfNode: (layout, node) => coloring.of(layout.tree.fn[node]),
                colorOfFunction: (fn) => coloring.of(fn),
            };
        return {
            colorOfNode: (layout, node) => changeColor(changeOfNode(layout.weights, node), theme),
            colorOfFunction: (fn) =>
                changeColor(changeOfFunction({sums, profile}, fn, "self"), theme),
        };
    }

    /** @param {import("./data/filter.js").Filter} filter */
    sumUp(filter)
    {
        const {changes} = this.profile;
        return changes === null ? this.sumUpOne(filter) : this.sumUpTwo(changes);
    }

    /** @param {import("./data/changes.js").Changes} changes */
    sumUpTwo(changes)
    {
        const {profile, tree} = this, nFunctions = profile.functions.n;
        const weighed = weighBothSides(profile);
        const all = {before: weighed.allBefore, after: weighed.all - weighed.allBefore};
        const weights = weighTreeOfTwo(tree, weighed, changes.stacks);
        const {before} = /** @type {import("./data/tree.js").Sides} */ (weights.sides);
        const sums = sumFunctions(tree, weights, nFunctions);
        return {
            weighed,
            all,
            layout: layOut(tree, weights),
            sums: {...sums, before: sumFunctions(tree, weights, nFunctions, before)},
            format: weightFormat(profile.summed.unit, Math.max(all.before, all.after)),
        };
    }

    sumUpOne(filter)
    {
        const {profile, tree} = this;
        const weighed = weighStacks(profile, sampleFilter(profile, filter));
        const weights = weighTree(tree, weighed.weights);
        return {
            weighed,
            all: null,
            layout: layOut(tree, weights),
            sums: {...sumFunctions(tree, weights, profile.functions.n), before: null},
            format: weightFormat(profile.summed.unit, weighed.all),
        };
    }

    /** @returns {import("./data/activity.js").Activity | null} */
    makeActivity(key, filter, coloring, matches)
    {
        const {profile, whole, firstSample} = this, {stacks, frames} = profile;
        if (whole === null)
            return null;
        const isMatched = matches === null ? null : matchedStacks(profile, matches);
        const groupOfStack = new Uint8Array(stacks.n);
        for (let stack = 0; stack < stacks.n; stack++)
            groupOfStack[stack] = isMatched !== null && isMatched[stack] === 0
                                      ? N_GROUPS
                                      : coloring.groupOf(frames.fn[stacks.frame[stack]]);
        const isTaken = sampleFilter(profile, filter);
        return {
            key,
            whole,
            firstSample,
            nGroups: N_GROUPS + 1,
            groupOfStack,
            colors: coloring.groupColors,
            isTaken
        };
    }

    search(text, {layout, weighed, all})
    {
        const {pattern, problem} = searchPattern(text);
        if (pattern === null)
            return {matches: null, matched: ""};
        const {matches, n, problem: late} = searchFunctions(this.profile, pattern);
        const {tree, weights} = layout, weight = matchedWeight(tree, weights, matches);
        const share =
            all === null
                ? percent(weight, weighed.all)
                : this.sharesOfTwo(weight, matchedWeight(tree, weights.sides.before, matches), all);
        const functions = n === 1 ? "1 function" : n + " functions";
        if (late !== "")
            return {matches, matched: late};
        return {matches, matched: share + " in " + functions + (problem && " (" + problem + ")")};
    }

    /** Before and after. */
    sharesOfTwo(both, before, all)
    {
        return percent(before, all.before) + " \u2192 " + percent(both - before, all.after);
    }

    shortName(fn)
    {
        return this.shortNames[fn] ??= shortName(this.profile.functionName(fn));
    }
}
