/* fragment.js - the state as the part of the address after "#", and back.
 *
 * Addresses are typed and cut by people and mailers: what is not understood is left out. */
import {INITIAL} from "./state.js";

/** @type {{[key: string]: (string | boolean)[]}} */
const WORDS = {
    view: ["flame", "functions", "sandwich"],
    color: ["module", "kind"],
    rootAtBottom: [false, true],
    wholeNames: [false, true],
};
/** Keys of the state whose words in the address read better. */
const ADDRESS_KEYS = {
    rootAtBottom: "root-at-bottom",
    wholeNames: "whole-names"
};
const SORTS = /^-?(self|total|name|module|place)$/;

/**
 * @typedef {object} Numbered  what has a number and a name
 * @property {number} n
 * @property {(id: number) => string} name
 */

/**
 * @param {import("./state.js").ViewState} values
 * @param {{subject: Numbered, zoomed: Numbered}} numbered
 * @returns {string} without "#"
 */
export function writeFragment(values, numbered)
{
    const words = new URLSearchParams();
    for (const key of ["view", "search", "color", "rootAtBottom", "wholeNames", "sort"])
        if (values[key] !== INITIAL[key])
            words.set(ADDRESS_KEYS[key] || key, String(values[key]));
    for (const [key, {name}] of Object.entries(numbered))
        if (values[key] !== 0)
            words.set(key, values[key] + " " + name(values[key]));
    return words.toString();
}

/**
 * The state that an address tells of; what it does not is as at first, but for the theme.
 * @param {string} fragment  without "#"
 * @param {{subject: Numbered, zoomed: Numbered}} numbered
 * @returns {Partial<import("./state.js").ViewState>}
 */
export function readFragment(fragment, numbered)
{
    const {theme: _, ...found} = /** @type {any} */ ({...INITIAL});
    const words = new URLSearchParams(fragment);
    for (const [key, known] of Object.entries(WORDS)) {
        const value = known.find((each) => String(each) === words.get(ADDRESS_KEYS[key] || key));
        if (value !== undefined)
            found[key] = value;
    }
    found.search = words.get("search") || "";
    if (SORTS.test(words.get("sort") || ""))
        found.sort = words.get("sort");
    for (const [key, those] of Object.entries(numbered))
        found[key] = findNumbered(words.get(key) || "", those);
    return found;
}

/** By its number, if it still has the name; else the first of the name. */
function findNumbered(text, {n, name})
{
    const blank = text.indexOf(" "), number = Number(text.slice(0, blank));
    const wanted = text.slice(blank + 1);
    if (blank < 0 || wanted === "")
        return 0;
    if (Number.isInteger(number) && number > 0 && number < n && name(number) === wanted)
        return number;
    for (let id = 1; id < n; id++)
        if (name(id) === wanted)
            return id;
    return 0;
}
