/* toolbar.js - which view, what is searched for, and how things look: controls that change the state
 * and show it. */
import {pressButton} from "./details.js";

/** @returns {any} the element, which the page has */
const byId = (id) => document.getElementById(id);

/** Choices: element, key of the state, and the state's value of each of its values. */
/** @type {[string, string, {[word: string]: string | boolean}][]} */
const CHOICES = [
    ["color", "color", {module: "module", function: "function", kind: "kind"}],
    ["root", "rootAtBottom", {top: false, bottom: true}],
    ["names", "wholeNames", {short: false, whole: true}],
    ["theme", "theme", {auto: "auto", light: "light", dark: "dark"}],
];
const VIEWS = /** @type {import("../state.js").ViewName[]} */ (
    ["flame", "functions", "sandwich", "timeline", "source"]);

/**
 * @param {import("../state.js").State} state
 * @param {{isThere: (view: import("../state.js").ViewName) => boolean, showAll: () => void}} about
 */
export function listenToToolbar(state, {isThere, showAll})
{
    const views = VIEWS.filter(isThere);
    for (const view of VIEWS)
        byId("tab-" + view).hidden = !isThere(view);
    const search = byId("search");
    search.addEventListener("input", () => state.set({search: search.value}));
    for (const [id, key, values] of CHOICES)
        byId(id).addEventListener("change",
                                  (event) => state.set({[key]: values[event.target.value]}));
    byId("zoom-out").addEventListener("click", showAll);
    for (const view of views)
        byId("tab-" + view).addEventListener("click", () => state.set({view}));
    byId("tabs").addEventListener("keydown", (event) => {
        const step = {ArrowRight: 1, ArrowLeft: views.length - 1}[event.key];
        if (step === undefined)
            return;
        const view = views[(views.indexOf(state.values.view) + step) % views.length];
        state.set({view});
        byId("tab-" + view).focus();
    });
    document.addEventListener("keydown", (event) => {
        const isTyping = event.target instanceof HTMLInputElement;
        if (isTyping || event.ctrlKey || event.metaKey || event.altKey)
            return;
        if (event.key === "/")
            search.focus();
        else if (views[Number(event.key) - 1] !== undefined)
            state.set({view: views[Number(event.key) - 1]});
        else if (event.target instanceof HTMLSelectElement || // its letters choose
                 !pressButton(byId("details"), event.key))
            return;
        event.preventDefault();
    });
}

/** @param {import("../state.js").ViewState} values @param {string} matched */
export function showToolbar(values, matched)
{
    if (byId("search").value !== values.search)
        byId("search").value = values.search;
    byId("matched").textContent = matched;
    for (const [id, key, those] of CHOICES)
        byId(id).value = Object.keys(those).find((word) => those[word] === values[key]);
    for (const view of VIEWS) {
        const tab = byId("tab-" + view), isShown = view === values.view;
        tab.setAttribute("aria-selected", String(isShown));
        tab.tabIndex = isShown ? 0 : -1;
        byId("view-" + view).hidden = !isShown;
    }
    byId("zoom-out").hidden = values.view !== "flame" && values.view !== "sandwich";
    byId("root").parentElement.hidden = values.view !== "flame";
}
