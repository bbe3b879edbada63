/* main.js - reads the profile that lies in the page, and puts state and views together. */
import {base64Decode} from "./data/base64.js";
import {threadKey} from "./data/filter.js";
import {Profile} from "./data/profile.js";
import {withSamplesOfSpans} from "./data/spans.js";
import {readSprofile} from "./data/sprofile.js";
import {readFragment, writeFragment} from "./fragment.js";
import {SceneMaker} from "./scene.js";
import {INITIAL, State} from "./state.js";
import {describeBox, describeFunction, make, makeButton, showDetails} from "./views/details.js";
import {listenToFilters, showFilters} from "./views/filters.js";
import {FlameGraph} from "./views/flame.js";
import {showAccount, showLegend} from "./views/header.js";
import {HeatMap} from "./views/heat_map.js";
import {Overview} from "./views/overview.js";
import {Sandwich} from "./views/sandwich.js";
import {SourceView} from "./views/source.js";
import {FunctionTable} from "./views/table.js";
import {threadWords, Timeline} from "./views/timeline.js";
import {listenToToolbar, showToolbar} from "./views/toolbar.js";
import {Tooltip} from "./views/tooltip.js";
import {changeWords} from "./words/change.js";

const HINTS = {
    flame:
        "Click a box to zoom, drag to move, Ctrl + wheel to zoom in and out, double-click for callers " +
            "and callees. Keys: / search, digits change the view, arrows walk, Enter zooms, c callers and " +
            "callees, s source, Escape shows all.",
    functions:
        "Click a heading to sort, double-click a function for its callers and callees. Keys: / " +
            "search, digits change the view, arrows walk, Enter or c callers and callees, s source.",
    sandwich:
        "Above: through whom its time came. Below: where its time went. Double-click a box to look at " +
            "that function instead. Keys are those of the flame graph.",
    timeline:
        "Drag over a span of time to look at that alone in every view, double-click a thread for it alone. " +
            "Keys: arrows walk from thread to thread and move the span, + and - narrow and widen it, Enter one " +
            "thread, Escape all.",
    source:
        "Self is what a line took itself, total what it took with all it called. Click a line for the function " +
            "it is of, double-click it for that function's callers and callees. Keys: arrows walk from line to line, " +
            "Enter callers and callees.",
};

/** Two runs have no source. @param {Profile} profile */
const hintOf = (view, {changes}) =>
    changes === null ? HINTS[view] : HINTS[view].replace(", s source", "");

/** @returns {any} the element, which the page has */
const byId = (id) => document.getElementById(id);

async function main()
{
    const data = byId("profile");
    const tables = await readSprofile(base64Decode(data.textContent));
    const hasOnlySpans = tables.samples.n === 0 && tables.spans.n > 1;
    const profile = new Profile(hasOnlySpans ? withSamplesOfSpans(tables) : tables);
    data.remove(); // as large as the profile, and not needed again
    new App(profile).start();
}

class App {
    /** @param {Profile} profile */
    constructor(profile)
    {
        this.profile = profile;
        this.state = new State(INITIAL);
        this.maker = new SceneMaker(profile);
        this.darkMedia = window.matchMedia("(prefers-color-scheme: dark)");
        this.scene = this.maker.make(this.state.values, this.theme());
        this.tooltip = new Tooltip(byId("tooltip"));
        this.flame = new FlameGraph(byId("flame"), {
            ...this.graphActions(() => this.flame),
            zoom: (node) => this.state.set({zoomed: node}),
        });
        this.sandwich = new Sandwich(
            {head: byId("subject"), callers: byId("callers"), callees: byId("callees")},
            (graph) => this.graphActions(graph));
        this.table = new FunctionTable(byId("functions"), profile.changes !== null, {
            select: (fn) => this.showDetailsOf(fn, describeFunction(this.scene, fn)),
            open: (fn) => this.open(fn),
            sort: (how) => this.state.set({sort: how}),
        });
        this.source = new SourceView(byId("view-source"), {
            choose: (file) => this.state.set({file, line: 0}),
            select: (fn, details) => this.showDetailsOf(fn, details),
            open: (fn) => this.open(fn),
        });
        const selectSpan = (fromNs, toNs) => this.selectSpan(fromNs, toNs);
        const point = (details, x, y) => this.point(details, x, y);
        this.overview = new Overview(byId("overview"), {selectSpan});
        this.heatMap = new HeatMap(byId("heat"), {selectSpan, point});
        this.timeline = new Timeline(byId("threads"), {
            selectSpan,
            point,
            selectThread: (thread) => this.showDetailsOfThread(thread),
            filterThread: (thread) => this.filterThread(thread),
        });
        /** What has a number in the address, and the name that goes with it. */
        this.numbered = {
            subject: {n: profile.functions.n, name: (fn) => profile.functionName(fn)},
            zoomed: {
                n: this.maker.tree.n,
                name: (node) => profile.functionName(this.maker.tree.fn[node]),
            },
        };
    }

    start()
    {
        this.state.set(this.readAddress());
        this.state.watch(Object.keys(INITIAL), () => this.onChange());
        this.darkMedia.addEventListener("change", () => this.draw());
        window.addEventListener("hashchange", () => this.goToAddress());
        listenToToolbar(this.state, {
            isThere: (view) => this.isThere(view),
            showAll: () => this.shownGraphs().forEach((graph) => graph.zoomOut()),
        });
        listenToFilters(this.state, this.maker);
        showAccount(this.scene);
        this.showHint();
        this.draw();
    }

    theme()
    {
        const {theme} = this.state.values;
        return theme !== "auto" ? theme : this.darkMedia.matches ? "dark" : "light";
    }

    onChange()
    {
        this.draw();
        const fragment = writeFragment(this.state.values, this.numbered);
        history.replaceState(null, "", fragment === "" ? location.pathname : "#" + fragment);
    }

    isThere(view)
    {
        return view === "timeline" ? this.maker.whole !== null
               : view === "source" ? this.maker.lines.n > 1
                                   : true;
    }

    /** Addresses may be those of other profiles: one without times has no span of it. */
    readAddress()
    {
        const values = readFragment(location.hash.slice(1), this.numbered);
        const view = this.isThere(values.view) ? values.view : INITIAL.view;
        const {fromNs, toNs} = this.maker.whole === null ? INITIAL : values;
        return {...values, view, fromNs, toNs};
    }

    goToAddress()
    {
        this.state.set(this.readAddress());
        this.flame.jumpTo(this.state.values.zoomed);
    }

    draw()
    {
        const {values} = this.state;
        const isOtherView = byId("view-" + values.view).hidden;
        document.documentElement.dataset.theme = this.theme();
        const scene = this.scene = this.maker.make(values, this.theme());
        showToolbar(values, scene.matched);
        showFilters(values);
        showLegend(scene);
        byId("color").parentElement.hidden = scene.all !== null;
        this.overview.show(scene);
        this.tooltip.hide();
        if (isOtherView)
            this.showHint();
        if (values.view === "flame")
            this.showFlame(scene, values);
        else if (values.view === "functions")
            this.table.show(scene, values.sort);
        else if (values.view === "sandwich")
            this.sandwich.show(scene, values.subject < 0 ? mostOf(scene) : values.subject);
        else if (values.view === "source")
            this.source.show(scene, values);
        else if (scene.activity !== null) {
            this.heatMap.show(scene);
            this.timeline.show(scene);
        }
    }

    showFlame(scene, {zoomed, rootAtBottom})
    {
        const isOther = this.flame.content === null || this.flame.content.layout !== scene.layout;
        const {all, format, weighed} = scene;
        const rootName =
            "all, " + (all === null ? format(weighed.all)
                                    : changeWords({...all, interval: NaN}, all, format));
        this.flame.show({scene, layout: scene.layout, rootName, rootAtBottom});
        if (isOther && scene.layout.weights.total[zoomed] > 0)
            this.flame.jumpTo(zoomed);
    }

    shownGraphs()
    {
        const {view} = this.state.values;
        return view === "flame"      ? [this.flame]
               : view === "sandwich" ? [this.sandwich.callers, this.sandwich.callees]
                                     : [];
    }

    /* ---- what views ask for ------------------------------------------------------------------ */

    /** @returns {import("./views/flame.js").FlameActions} */
    graphActions(graph)
    {
        const layoutOf = () => /** @type {any} */ (graph().content).layout;
        return {
            point: (node, x, y) => {
                if (node > 0)
                    this.tooltip.show(describeBox(this.scene, layoutOf(), node), x, y);
                else
                    this.tooltip.hide();
            },
            select: (node) => {
                if (node > 0)
                    this.showDetailsOf(layoutOf().tree.fn[node],
                                       describeBox(this.scene, layoutOf(), node));
                else
                    this.showHint();
            },
            zoom: () => {},
            open: (node) => {
                if (node > 0)
                    this.open(layoutOf().tree.fn[node]);
            },
        };
    }

    /** Shows a function's callers and callees. */
    open(fn)
    {
        this.state.set({view: "sandwich", subject: fn});
        byId("callees").focus();
    }

    /** Shows where a function is defined. */
    openSource(fn)
    {
        const {functions, texts} = this.profile;
        this.state.set(
            {view: "source", file: texts.get(functions.file[fn]), line: functions.line[fn]});
    }

    showDetailsOf(fn, details)
    {
        const buttons = [makeButton("Callers and callees", "c", () => this.open(fn))];
        if (this.profile.functions.file[fn] !== 0 && this.isThere("source"))
            buttons.push(makeButton("Source", "s", () => this.openSource(fn)));
        showDetails(byId("details"), details, ...buttons);
    }

    /* ---- time and threads -------------------------------------------------------------------- */

    selectSpan(fromNs, toNs)
    {
        const whole = this.maker.whole;
        if (whole !== null && fromNs < toNs)
            this.state.set(
                {fromNs: Math.max(0, fromNs), toNs: toNs >= whole.toNs ? Infinity : toNs});
    }

    point(details, x, y)
    {
        if (details === null)
            this.tooltip.hide();
        else
            this.tooltip.show(details, x, y);
    }

    /** All of that one thread, or of all again. */
    filterThread(thread)
    {
        const wanted = threadKey(this.profile, thread);
        this.state.set({thread: this.state.values.thread === wanted ? "" : wanted});
    }

    showDetailsOfThread(thread)
    {
        const {threads, processes} = this.profile, process = threads.process[thread];
        const button = makeButton("This thread alone", "t", () => this.filterThread(thread));
        showDetails(byId("details"), {
            name: threadWords(this.profile, thread),
            numbers: [],
            places: ["process " + this.profile.processName(process) + " " + processes.pid[process]],
        },
                    button);
    }

    showHint()
    {
        byId("details").replaceChildren(
            make("span", "hint", hintOf(this.state.values.view, this.profile)));
    }
}

/** The function with most self time, or whose self time changed most. */
function mostOf({sums})
{
    const {self, before} = sums;
    const weights =
        before === null ? self : self.map((both, fn) => Math.abs(both - 2 * before.self[fn]));
    return weights.reduce((best, weight, i) => weight > weights[best] ? i : best, 0);
}

main().catch((error) => {
    const alert = byId("alert");
    alert.textContent = error instanceof Error ? error.message : String(error);
    alert.hidden = false;
    throw error;
});
