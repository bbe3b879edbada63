/* scene.js - what all views draw from: the profile summed up, coloured and searched as the state says.
 *
 * Made anew at each change of the state; of its parts only those that the change concerns. */
import {layOut} from "./data/layout.js";
import {weighStacks} from "./data/profile.js";
import {matchedWeight, searchFunctions, searchPattern} from "./data/search.js";
import {growTree, sumFunctions, weighTree} from "./data/tree.js";
import {makeColoring} from "./views/color.js";
import {percent, weightFormat} from "./words/format.js";
import {shortName} from "./words/names.js";

/**
 * @typedef {object} Scene
 * @property {import("./data/profile.js").Profile} profile
 * @property {{all: number, idle: number}} weighed
 * @property {import("./data/layout.js").Layout} layout       of the whole call tree
 * @property {{self: Float64Array, total: Float64Array}} sums  by function
 * @property {(weight: number) => string} format
 * @property {import("./views/color.js").Coloring} coloring
 * @property {Uint8Array | null} matches     by function; null: nothing is looked for
 * @property {string} matched                what the search found, in words
 * @property {(fn: number) => string} nameOf  as it is displayed: short or whole
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
        this.summed = new Kept();
        this.coloring = new Kept();
        this.found = new Kept();
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
        const summed = this.summed.get("", () => this.sumUp());
        const coloring = this.coloring.get(
            state.color + theme, () => makeColoring(profile, summed.sums.self, state.color, theme));
        const found = this.found.get(state.search, () => this.search(state.search, summed));
        const nameOf = (fn) => state.wholeNames ? profile.functionName(fn) : this.shortName(fn);
        return {profile, ...summed, coloring, ...found, nameOf};
    }

    sumUp()
    {
        const {profile, tree} = this;
        const weighed = weighStacks(profile), weights = weighTree(tree, weighed.weights);
        return {
            weighed,
            layout: layOut(tree, weights),
            sums: sumFunctions(tree, weights, profile.functions.n),
            format: weightFormat(profile.summed.unit, weighed.all),
        };
    }

    search(text, {layout, weighed})
    {
        const {pattern, problem} = searchPattern(text);
        if (pattern === null)
            return {matches: null, matched: ""};
        const {matches, n} = searchFunctions(this.profile, pattern);
        const share = percent(matchedWeight(layout.tree, layout.weights, matches), weighed.all);
        const functions = n === 1 ? "1 function" : n + " functions";
        return {matches, matched: share + " in " + functions + (problem && " (" + problem + ")")};
    }

    shortName(fn)
    {
        return this.shortNames[fn] ??= shortName(this.profile.functionName(fn));
    }
}
