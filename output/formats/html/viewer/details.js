/* details.js - what is known of a box: in words, for the tooltip and for the panel below the graph.
 *
 * All that comes from the profile goes into the page as text (textContent), never as markup. */
import {percent} from "./format.js";

/**
 * @typedef {object} Details
 * @property {string} name
 * @property {[string, string][]} numbers  what, and how much
 * @property {string[]} places             file and line, module, and what else is known
 */

/**
 * @param {import("./profile.js").Profile} profile
 * @param {import("./layout.js").Layout} layout
 * @param {{self: Float64Array, total: Float64Array}} sums  by function
 * @param {number} node  not 0
 * @param {(weight: number) => string} format
 * @returns {Details}
 */
export function describeNode(profile, layout, sums, node, format)
{
    const {tree, weights} = layout, fn = tree.fn[node], all = weights.total[0];
    const both = (weight) => percent(weight, all) + " " + format(weight);
    const numbers = /** @type {[string, string][]} */ ([
        ["total here", both(weights.total[node])],
        ["self here", both(weights.self[node])],
    ]);
    if (sums.total[fn] !== weights.total[node] || sums.self[fn] !== weights.self[node])
        numbers.push(["total everywhere", both(sums.total[fn])],
                     ["self everywhere", both(sums.self[fn])]);
    const places = [profile.functionPlace(fn), profile.functionModule(fn)];
    if (tree.isInlined[node] !== 0)
        places.push("inlined into its caller");
    return {
        name: profile.functionName(fn),
        numbers,
        places: places.filter((place) => place !== "")
    };
}

/** Fills an element. @param {HTMLElement} element @param {Details} details */
export function showDetails(element, details)
{
    const name = make("strong", "name", details.name);
    const numbers = make("dl", "numbers", "");
    for (const [what, weight] of details.numbers)
        numbers.append(make("dt", "", what), make("dd", "", weight));
    const places = details.places.map((place) => make("span", "place", place));
    element.replaceChildren(name, numbers, ...places);
}

/** @returns {HTMLElement} */
export function make(tag, className, text)
{
    const element = document.createElement(tag);
    element.className = className;
    element.textContent = text;
    return element;
}
