/* fragment.js - the state as the part of the address after "#", and back.
 *
 * Addresses are typed and cut by people and mailers: what is not understood is left out. */
import {INITIAL} from "./state.js";

const NS_PER_S = 1e9;
/** @type {{[key: string]: (string | boolean)[]}} */
const WORDS = {
    view: ["flame", "functions", "sandwich", "timeline", "source"],
    color: ["module", "function", "kind"],
    rootAtBottom: [false, true],
    wholeNames: [false, true],
};
/** Keys of the state whose words in the address read better. */
const ADDRESS_KEYS = {
    rootAtBottom: "root-at-bottom",
    wholeNames: "whole-names"
};
/** Keys of the state that are any text. */
const TEXTS = ["search", "thread", "process", "label", "file"];
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
    for (const key of [...Object.keys(WORDS), ...TEXTS, "sort"])
        if (values[key] !== INITIAL[key])
            words.set(ADDRESS_KEYS[key] || key, String(values[key]));
    if (values.line !== 0)
        words.set("line", String(values.line));
    if (values.fromNs !== 0)
        words.set("from", secondsOf(values.fromNs));
    if (values.toNs !== Infinity)
        words.set("to", secondsOf(values.toNs));
    for (const [key, {name}] of Object.entries(numbered))
        if (values[key] !== INITIAL[key])
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
    for (const key of TEXTS)
        found[key] = words.get(key) || "";
    const from = seconds(words.get("from"), 0), to = seconds(words.get("to"), Infinity);
    if (from < to) // not of "1.2.3" either, which is no number
        Object.assign(found, {fromNs: from, toNs: to});
    if (/^\d{1,9}$/.test(words.get("line") || ""))
        found.line = Number(words.get("line"));
    if (SORTS.test(words.get("sort") || ""))
        found.sort = words.get("sort");
    for (const [key, those] of Object.entries(numbered))
        found[key] = findNumbered(words.get(key) || "", those, INITIAL[key]);
    return found;
}

/** As `seconds` reads them, without digits that say nothing. */
export function secondsOf(ns)
{
    return (ns / NS_PER_S).toFixed(9).replace(/\.?0+$/, "");
}

/** In nanoseconds; what is no time is taken for the default. */
export function seconds(text, byDefault)
{
    return /^[\d.]+$/.test(text || "") ? Math.round(Number(text) * NS_PER_S) : byDefault;
}

/** By its number, if it still has the name; else the first of the name. */
function findNumbered(text, {n, name}, byDefault)
{
    const blank = text.indexOf(" "), number = Number(text.slice(0, blank));
    const wanted = text.slice(blank + 1);
    if (blank < 0 || wanted === "")
        return byDefault;
    if (Number.isInteger(number) && number >= 0 && number < n && name(number) === wanted)
        return number;
    for (let id = 1; id < n; id++)
        if (name(id) === wanted)
            return id;
    return byDefault;
}
