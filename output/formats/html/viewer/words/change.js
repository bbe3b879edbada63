/* change.js - changes from one run to another in words, as `sampler diff` has them. */
import {isBeyond} from "../data/changes.js";

import {fixed, percent} from "./format.js";

/** "+3.0 ms" @param {number} value @param {(weight: number) => string} format */
export function signed(value, format)
{
    return (value < 0 ? "-" : "+") + format(Math.abs(value));
}

/** "± 2.0 ms", "" if unknown. @param {import("../data/changes.js").Change} change */
export function chance({interval}, format)
{
    return Number.isNaN(interval) ? "" : "\u00b1 " + format(interval);
}

/** What stands behind a name: "+12%", "new", "gone"; "" of what is within chance. */
export function mark(change)
{
    const {before, after} = change;
    if (!isBeyond(change) || before === after)
        return "";
    if (before === 0 || after === 0)
        return before === 0 ? "new" : "gone";
    return signed(100 * (after - before) / before, (part) => fixed(part, 0) + "%");
}

/**
 * "10.0 ms (1.0%) \u2192 30.0 ms (2.9%), +20.0 ms, chance \u00b1 4.0 ms"
 * @param {import("../data/changes.js").Change} change
 * @param {{before: number, after: number} | null} all  for the shares; null: without them
 * @param {(weight: number) => string} format
 */
export function changeWords(change, all, format)
{
    const {before, after} = change, off = chance(change, format);
    const side = (name) =>
        format(change[name]) + (all === null ? "" : " (" + percent(change[name], all[name]) + ")");
    const verdict = off === ""         ? ""
                    : isBeyond(change) ? ", chance " + off
                                       : ", within chance (" + off + ")";
    return side("before") + " \u2192 " + side("after") + ", " + signed(after - before, format) +
           verdict;
}
