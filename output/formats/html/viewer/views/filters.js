/* filters.js - which part of the profile all views are about: thread, process, label, and time. A
 * control is there if there is something to choose. */
import {EVERYTHING, isEverything} from "../data/filter.js";
import {seconds, secondsOf} from "../fragment.js";
import {percent} from "../words/format.js";

import {make} from "./details.js";

/** @returns {any} the element, which the page has */
const byId = (id) => document.getElementById(id);

/** What is chosen by name: least number of choices to show the control for, and what several are. */
const KINDS = {
    thread: {least: 2, plural: "threads"},
    process: {least: 2, plural: "processes"},
    label: {least: 1, plural: "labels"},
};

/**
 * @param {import("../state.js").State} state
 * @param {import("../scene.js").SceneMaker} maker
 */
export function listenToFilters(state, {choices, whole})
{
    for (const [kind, {least, plural}] of Object.entries(KINDS)) {
        const control = byId(kind);
        control.append(makeOption("", "all"));
        for (const {value, n, weight} of choices[kind]) {
            const several = n > 1 ? " (" + n + " " + plural + ")" : "";
            control.append(makeOption(value, value + several + " " + percent(weight, choices.all)));
        }
        control.parentElement.hidden = choices[kind].length < least;
        control.addEventListener("change", () => state.set({[kind]: control.value}));
    }
    byId("time").hidden = whole === null;
    if (whole !== null)
        byId("to").placeholder = (whole.toNs / 1e9).toFixed(3);
    for (const id of ["from", "to"])
        byId(id).addEventListener("change", () => {
            const fromNs = seconds(byId("from").value, 0);
            const toNs = seconds(byId("to").value, Infinity);
            if (fromNs < toNs)
                state.set({fromNs, toNs});
            else
                showFilters(state.values);
        });
    byId("everything").addEventListener("click", () => state.set(EVERYTHING));
}

function makeOption(value, words)
{
    const option = /** @type {HTMLOptionElement} */ (make("option", "", words));
    option.value = value;
    return option;
}

/** @param {import("../state.js").ViewState} values */
export function showFilters(values)
{
    for (const kind of Object.keys(KINDS)) {
        const control = byId(kind), value = values[kind];
        if (![...control.options].some((option) => option.value === value))
            control.append(makeOption(value, value)); // one of many by its number
        control.value = value;
    }
    byId("from").value = values.fromNs === 0 ? "" : secondsOf(values.fromNs);
    byId("to").value = values.toNs === Infinity ? "" : secondsOf(values.toNs);
    byId("everything").hidden = isEverything(values);
}
