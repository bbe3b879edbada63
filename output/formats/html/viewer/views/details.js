/* details.js - what is known of a function or of one of its boxes: in words, for the tooltip and for
 * the panel at the bottom.
 *
 * All that comes from the profile goes into the page as text (textContent), never as markup. */
import {changeOfFunction, changeOfNode, ownChangeOfNode} from "../data/changes.js";
import {changeWords} from "../words/change.js";
import {percent} from "../words/format.js";

/**
 * @typedef {object} Details
 * @property {string} name
 * @property {[string, string][]} numbers  what, and how much
 * @property {string[]} places             file and line, module, and what else is known
 */

/**
 * Of a box, `node` of a layout; not of node 0.
 * @param {import("../scene.js").Scene} scene
 * @param {import("../data/layout.js").Layout} layout
 * @param {number} node
 * @returns {Details}
 */
export function describeBox(scene, layout, node)
{
    const {tree, weights} = layout, fn = tree.fn[node];
    const here = {total: weights.total[node], self: weights.self[node]};
    const {sums} = scene;
    const isAll =
        !weights.isOfCallers && sums.total[fn] === here.total && sums.self[fn] === here.self;
    const details = describeFunction(scene, fn);
    const numbers = isAll ? details.numbers : [
        ...numbersOfBox(scene, weights, node).slice(0, weights.isOfCallers ? 1 : 2),
        ...numbersOfFunction(scene, fn, " everywhere"),
    ];
    const inlined = tree.isInlined[node] !== 0 ? ["inlined into its caller"] : [];
    return {...details, numbers, places: [...details.places, ...inlined]};
}

/**
 * @param {import("../scene.js").Scene} scene
 * @param {number} fn
 * @returns {Details}
 */
export function describeFunction(scene, fn)
{
    const {profile} = scene;
    const places = [profile.functionPlace(fn), profile.functionModule(fn)];
    return {
        name: profile.functionName(fn),
        numbers: numbersOfFunction(scene, fn, ""),
        places: places.filter((place) => place !== ""),
    };
}

/** @returns {[string, string][]} */
function numbersOfBox(scene, weights, node)
{
    const {all, format} = scene;
    if (all === null)
        return numbersOf(scene, weights.total[node], weights.self[node], " here");
    return [
        ["total here", changeWords(changeOfNode(weights, node), all, format)],
        ["self here", changeWords(ownChangeOfNode(weights, node), all, format)]
    ];
}

/** @returns {[string, string][]} */
function numbersOfFunction(scene, fn, where)
{
    const {all, format, sums} = scene;
    if (all === null)
        return numbersOf(scene, sums.total[fn], sums.self[fn], where);
    const words = (what) => changeWords(changeOfFunction(scene, fn, what), all, format);
    return [["total" + where, words("total")], ["self" + where, words("self")]];
}

/** @returns {[string, string][]} */
function numbersOf({weighed, format}, total, self, where)
{
    const both = (weight) => percent(weight, weighed.all) + " " + format(weight);
    return [["total" + where, both(total)], ["self" + where, both(self)]];
}

/** Fills an element. @param {HTMLElement} element @param {Details} details */
export function showDetails(element, details, ...before)
{
    const name = make("strong", "name", details.name);
    const numbers = make("dl", "numbers", "");
    for (const [what, weight] of details.numbers)
        numbers.append(make("dt", "", what), make("dd", "", weight));
    const places = details.places.map((place) => make("span", "place", place));
    element.replaceChildren(...before, name, numbers, ...places);
}

/** One of the panel's. @param {string} words @param {string} key  presses it, anywhere in the page */
export function makeButton(words, key, press)
{
    const button = make("button", "", words);
    button.title = "key " + key;
    button.setAttribute("aria-keyshortcuts", key);
    button.addEventListener("click", press);
    return button;
}

/** Whether the panel has one of that key. @param {string} key @returns {boolean} */
export function pressButton(element, key)
{
    for (const button of element.querySelectorAll("button"))
        if (button.getAttribute("aria-keyshortcuts") === key) {
            button.click();
            return true;
        }
    return false;
}

/** @returns {HTMLElement} */
export function make(tag, className, text)
{
    const element = document.createElement(tag);
    element.className = className;
    element.textContent = text;
    return element;
}
