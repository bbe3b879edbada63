/* main.js - reads the profile that lies in the page, and puts the views together. */
import {describeAccount} from "./account.js";
import {base64Decode} from "./base64.js";
import {makeColoring} from "./color.js";
import {describeNode, make, showDetails} from "./details.js";
import {FlameGraph} from "./flame.js";
import {percent, weightFormat} from "./format.js";
import {layOut} from "./layout.js";
import {Profile, weighStacks} from "./profile.js";
import {matchedWeight, searchFunctions, searchPattern} from "./search.js";
import {withSamplesOfSpans} from "./spans.js";
import {readSprofile} from "./sprofile.js";
import {State} from "./state.js";
import {Tooltip} from "./tooltip.js";
import {growTree, sumFunctions, weighTree} from "./tree.js";

const HINT = "Click a box to zoom, drag to move, Ctrl + wheel for more and less. " +
             "Keys: / searches, arrows walk, Enter zooms, Escape shows all.";

/** @returns {any} the element, which the page has */
const byId = (id) => document.getElementById(id);

async function main()
{
    const data = byId("profile");
    const tables = await readSprofile(base64Decode(data.textContent));
    const hasOnlySpans = tables.samples.n === 0 && tables.spans.n > 1;
    const profile = new Profile(hasOnlySpans ? withSamplesOfSpans(tables) : tables);
    data.remove(); // as large as the profile, and not needed again
    start(profile);
}

/** @param {Profile} profile */
function start(profile)
{
    const weighed = weighStacks(profile);
    const tree = growTree(profile), weights = weighTree(tree, weighed.weights);
    const layout = layOut(tree, weights);
    const sums = sumFunctions(tree, weights, profile.functions.n);
    const format = weightFormat(profile.summed.unit, weighed.all);
    showHeader(describeAccount(profile, weighed));

    const state = new State({
        search: "",
        color: "module",
        rootAtBottom: false,
        wholeNames: false,
        theme: "auto",
        selected: 0
    });
    const describe = (node) => describeNode(profile, layout, sums, node, format);
    const graph = new FlameGraph(byId("flame"), state, new Tooltip(byId("tooltip"), describe));
    const darkMedia = window.matchMedia("(prefers-color-scheme: dark)");
    const theme = () => state.values.theme !== "auto" ? state.values.theme
                        : darkMedia.matches           ? "dark"
                                                      : "light";
    const found = () => {
        const {pattern, problem} = searchPattern(state.values.search);
        if (pattern === null)
            return {matches: null, words: ""};
        const {matches, n} = searchFunctions(profile, pattern);
        const share = percent(matchedWeight(tree, weights, matches), weighed.all);
        const functions = n === 1 ? "1 function" : n + " functions";
        return {matches, words: share + " in " + functions + (problem && " (" + problem + ")")};
    };
    const redraw = () => {
        document.documentElement.dataset.theme = theme();
        const coloring = makeColoring(profile, sums.self, state.values.color, theme());
        const {matches, words} = found();
        byId("matched").textContent = words;
        showLegend(coloring.legend, weighed.all);
        const rootName = "all, " + format(weighed.all);
        graph.show({profile, layout, coloring, matches, rootName});
    };
    darkMedia.addEventListener("change", redraw);
    state.watch(["theme", "color", "search", "wholeNames"], redraw);
    state.watch(["rootAtBottom"], () => graph.scrollToRoot());
    state.watch(["selected"], () => {
        const node = state.values.selected;
        if (node > 0)
            showDetails(byId("details"), describe(node));
        else
            byId("details").replaceChildren(make("span", "hint", HINT));
        graph.draw();
    });
    listenToToolbar(state, graph);
}

function showHeader(account)
{
    document.title = account.title + " - Sampler";
    byId("title").textContent = account.title;
    byId("facts").textContent = account.facts.join(" · ");
    byId("problems").replaceChildren(...account.problems.map((problem) => make("li", "", problem)));
}

function showLegend(legend, all)
{
    byId("legend").replaceChildren(...legend.map(({name, weight, color}) => {
        const item = make("li", "", ""), swatch = make("i", "", "");
        swatch.style.background = color;
        item.append(swatch, make("span", "", name), make("b", "", percent(weight, all)));
        return item;
    }));
}

/** @param {State} state @param {FlameGraph} graph */
function listenToToolbar(state, graph)
{
    const search = byId("search");
    search.addEventListener("input", () => state.set({search: search.value}));
    search.addEventListener("keydown", (event) => {
        if (event.key === "Enter")
            byId("flame").focus();
    });
    byId("color").addEventListener("change", (event) => state.set({color: event.target.value}));
    byId("root").addEventListener(
        "change", (event) => state.set({rootAtBottom: event.target.value === "bottom"}));
    byId("names").addEventListener(
        "change", (event) => state.set({wholeNames: event.target.value === "whole"}));
    byId("theme").addEventListener("change", (event) => state.set({theme: event.target.value}));
    byId("zoom-out").addEventListener("click", () => graph.zoomOut());
    document.addEventListener("keydown", (event) => {
        const isTyping = event.target instanceof HTMLInputElement;
        if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) {
            search.focus();
            event.preventDefault();
        }
    });
}

main().catch((error) => {
    const alert = byId("alert");
    alert.textContent = error instanceof Error ? error.message : String(error);
    alert.hidden = false;
    throw error;
});
