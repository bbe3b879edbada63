/* state.js - what the person looks at: one small set of values, and who wants to know of changes.
 *
 * Views never tell each other anything. They change the state, and draw what it says. */

/**
 * @typedef {object} ViewState
 * @property {string} search
 * @property {"module" | "kind"} color
 * @property {boolean} rootAtBottom
 * @property {boolean} wholeNames
 * @property {"auto" | "light" | "dark"} theme
 * @property {number} selected  node of the tree whose details are shown, 0: none
 */

export class State {
    /** @param {ViewState} initial */
    constructor(initial)
    {
        this.values = initial;
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

    /** Calls `tell` now and after each change of one of the keys. */
    watch(keys, tell)
    {
        this.listeners.push({keys, tell});
        tell();
    }
}
