/* state.js - what the person looks at: one small set of values, and who wants to know of changes.
 *
 * Views never tell each other anything. They change the state, and draw what it says. What is not as at
 * first stands in the page's address, after "#", so that an address brings back the view:
 *
 *   app.html#view=functions&sort=total&search=parse
 *
 *   app.html#thread=worker&from=1.5&to=2
 *
 * A function or a box is its number and name there, as numbers change when a profile is made again. */

import {EVERYTHING} from "./data/filter.js";

/** @typedef {"flame" | "functions" | "sandwich" | "timeline" | "source"} ViewName */

/**
 * @typedef {import("./data/filter.js").Filter & Shown} ViewState
 *
 * @typedef {object} Shown
 * @property {ViewName} view
 * @property {string} search
 * @property {"module" | "function" | "kind"} color
 * @property {boolean} rootAtBottom
 * @property {boolean} wholeNames
 * @property {"auto" | "light" | "dark"} theme
 * @property {string} sort     of the table: the column's word, with "-" in front the other way round
 * @property {number} subject  function whose callers and callees are shown, -1: none chosen
 * @property {string} file     of source, "": the heaviest
 * @property {number} line     of it, 0: the heaviest
 * @property {number} zoomed   node of the call tree that the flame graph is zoomed to, 0: all
 */

/** @type {ViewState} */
export const INITIAL = {
    ...EVERYTHING,
    view: "flame",
    search: "",
    color: "module",
    rootAtBottom: false,
    wholeNames: false,
    theme: "auto",
    sort: "self",
    subject: -1,
    file: "",
    line: 0,
    zoomed: 0,
};

export class State {
    /** @param {ViewState} initial */
    constructor(initial)
    {
        this.values = {...initial};
        this.listeners = /** @type {{keys: string[], tell: () => void}[]} */ ([]);
    }

    /** @param {Partial<ViewState>} changes */
    set(changes)
    {
        const changed = Object.keys(changes).filter((key) => this.values[key] !== changes[key]);
        Object.assign(this.values, changes);
        for (const {keys, tell} of this.listeners)
            if (keys.some((key) => changed.includes(key)))
                tell();
    }

    /** Calls `tell` after each change of one of the keys. */
    watch(keys, tell)
    {
        this.listeners.push({keys, tell});
    }
}
