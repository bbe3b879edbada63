/* timeline.js - what each thread did when: a row for each, the span of time from left to right.
 *
 * It shows the span that is selected; dragging over it selects a part of that. Only rows in sight are
 * summed up and drawn, so that a thousand threads cost what fits the window. */
import {binsOf, heaviestWithin, largestBin} from "../data/activity.js";
import {roundedTime, secondsText} from "../data/axis.js";
import {wantedThreads} from "../data/filter.js";
import {UNIT} from "../data/profile.js";
import {percent} from "../words/format.js";
import {fitName} from "../words/names.js";

import {drawAxis, drawBars, sizedContext} from "./bars.js";
import {listenToSpan} from "./span_input.js";

const ROW_PX = 30;
const GAP_PX = 4;
const AXIS_PX = 22;
export const NAMES_PX = 230; // left of the pictures

/** The span of time that the filter leaves. */
export function shownSpan({activity, filter})
{
    const {fromNs, toNs} = activity.whole;
    const span = {fromNs: Math.max(fromNs, filter.fromNs), toNs: Math.min(toNs, filter.toNs)};
    return span.fromNs < span.toNs ? span : activity.whole;
}

export class Timeline {
    /**
     * @param {HTMLElement} scroller
     * @param {object} actions
     * @param {(fromNs: number, toNs: number) => void} actions.selectSpan
     * @param {(thread: number) => void} actions.selectThread
     * @param {(thread: number) => void} actions.filterThread
     * @param {(details: import("./details.js").Details | null, x: number, y: number) => void} actions.point
     */
    constructor(scroller, actions)
    {
        this.scroller = scroller;
        this.actions = actions;
        this.canvas = /** @type {HTMLCanvasElement} */ (scroller.querySelector("canvas"));
        this.filler = /** @type {HTMLElement} */ (scroller.querySelector("div"));
        this.scene = /** @type {any} */ (null);
        this.span = {fromNs: 0, toNs: 1};
        this.rows = /** @type {{thread: number, weight: number}[]} */ ([]);
        this.selected = -1; // row
        this.dragged = {fromNs: 0, toNs: 0};
        this.bins = new Map(); // by thread
        this.binsKey = "";
        this.isDrawing = false;
        new ResizeObserver(() => this.draw()).observe(scroller);
        scroller.addEventListener("scroll", () => this.draw());
        scroller.addEventListener("keydown", (event) => this.onKey(event));
        listenToSpan(this.canvas, {
            timeAt: (x) => this.timeAt(x),
            drag: (fromNs, toNs) => {
                this.dragged = {fromNs, toNs};
                this.draw();
            },
            done: (fromNs, toNs) => {
                this.dragged = {fromNs: 0, toNs: 0};
                actions.selectSpan(fromNs, toNs);
            },
            click: (_x, y) => this.select(this.rowAt(y)),
            point: (x, y, event) => this.point(x, y, event),
        });
        this.canvas.addEventListener("pointerleave", () => actions.point(null, 0, 0));
        this.canvas.addEventListener("dblclick", (event) => {
            const row = this.rowAt(event.offsetY);
            if (row >= 0)
                actions.filterThread(this.rows[row].thread);
        });
    }

    /** @param {import("../scene.js").Scene} scene */
    show(scene)
    {
        if (this.scene !== scene)
            this.rows = rowsOf(scene);
        this.scene = scene;
        this.span = shownSpan(/** @type {any} */ (scene));
        this.draw();
    }

    /* ---- where things are -------------------------------------------------------------------- */

    width()
    {
        return Math.max(1, this.scroller.clientWidth - NAMES_PX);
    }

    timeAt(x)
    {
        const {fromNs, toNs} = this.span, width = this.width();
        const ns = fromNs + (toNs - fromNs) * Math.max(0, Math.min(1, (x - NAMES_PX) / width));
        return roundedTime(ns, (toNs - fromNs) / width);
    }

    /** -1: there is none. */
    rowAt(y)
    {
        const row = y < AXIS_PX ? -1 : Math.floor((y - AXIS_PX + this.scroller.scrollTop) / ROW_PX);
        return row < this.rows.length ? row : -1;
    }

    select(row)
    {
        this.selected = row;
        if (row >= 0)
            this.actions.selectThread(this.rows[row].thread);
        this.draw();
    }

    point(x, y, event)
    {
        const row = this.rowAt(y);
        if (row < 0 || x < NAMES_PX) {
            this.actions.point(null, 0, 0);
            return;
        }
        const {profile, activity, weighed, format} = this.scene, {thread, weight} = this.rows[row];
        const finest = (this.span.toNs - this.span.fromNs) / this.width();
        const fromNs = this.timeAt(x), toNs = fromNs + Math.max(finest, profile.periodNs);
        const fn =
            heaviestWithin(profile, activity, thread, {fromNs: toNs - 2 * (toNs - fromNs), toNs});
        this.actions.point({
            name: threadWords(profile, thread),
            numbers: [
                ["time", secondsText(fromNs, finest) + " s"],
                ["thread", percent(weight, weighed.all) + " " + format(weight)],
            ],
            places: [fn < 0 ? "not seen running here" : "here: " + this.scene.nameOf(fn)],
        },
                           event.clientX, event.clientY);
    }

    onKey(event)
    {
        const {fromNs, toNs} = this.span, half = (toNs - fromNs) / 2;
        const whole = this.scene.activity.whole;
        const move = (by) => {
            const from = Math.max(whole.fromNs, Math.min(fromNs + by, whole.toNs - 2 * half));
            this.actions.selectSpan(roundedTime(from, half / 100),
                                    roundedTime(from + 2 * half, half / 100));
        };
        const walk = (by) => {
            this.select(Math.max(0, Math.min(this.rows.length - 1, this.selected + by)));
            const top = AXIS_PX + this.selected * ROW_PX - this.scroller.scrollTop;
            if (top < AXIS_PX || top + ROW_PX > this.scroller.clientHeight)
                this.scroller.scrollTop += top - this.scroller.clientHeight / 2;
        };
        const actions = {
            ArrowDown: () => walk(1),
            ArrowUp: () => walk(-1),
            ArrowLeft: () => move(-half),
            ArrowRight: () => move(half),
            "+": () => this.actions.selectSpan(roundedTime(fromNs + half / 2, half / 100),
                                               roundedTime(toNs - half / 2, half / 100)),
            "-": () => this.actions.selectSpan(Math.max(whole.fromNs, fromNs - half), toNs + half),
            Enter: () =>
                this.selected >= 0 && this.actions.filterThread(this.rows[this.selected].thread),
            Escape: () => this.actions.selectSpan(0, Infinity),
        };
        if (event.ctrlKey || event.metaKey || event.altKey || actions[event.key] === undefined)
            return;
        actions[event.key]();
        event.preventDefault();
    }

    /* ---- drawing ----------------------------------------------------------------------------- */

    draw()
    {
        if (this.isDrawing)
            return;
        this.isDrawing = true;
        requestAnimationFrame(() => {
            this.isDrawing = false;
            if (this.scene !== null && this.scroller.clientWidth > 0)
                this.drawNow();
        });
    }

    drawNow()
    {
        const {scene, span, scroller} = this, {profile, activity, filter} = scene;
        const width = this.width(), height = scroller.clientHeight;
        const tooHigh =
            AXIS_PX + this.rows.length * ROW_PX - height; // the canvas has its own place
        this.filler.style.height = Math.max(0, tooHigh) + "px";
        const paper = sizedContext(this.canvas, scroller.clientWidth, height);
        const isWanted = wantedThreads(profile, filter);
        const first = Math.floor(scroller.scrollTop / ROW_PX);
        const rows = this.rows.slice(first, first + Math.ceil(height / ROW_PX) + 1);
        this.sumUpRows(rows, Math.round(width));
        const capacity = profile.summed.unit === UNIT.NS
                             ? (span.toNs - span.fromNs) / Math.round(width)
                             : this.largest(rows);
        rows.forEach(({thread, weight}, i) => {
            const top = AXIS_PX + (first + i) * ROW_PX - scroller.scrollTop;
            this.drawRow(paper, {thread, weight, top, isSelected: first + i === this.selected});
            const place = {left: NAMES_PX, top: top + GAP_PX / 2, width, height: ROW_PX - GAP_PX};
            paper.context.globalAlpha = isWanted[thread] !== 0 ? 1 : 0.25;
            drawBars(paper, this.bins.get(thread), activity.colors, place, capacity);
            paper.context.globalAlpha = 1;
        });
        paper.context.fillStyle = paper.ground;
        paper.context.fillRect(0, 0, scroller.clientWidth, AXIS_PX);
        drawAxis(paper, span, {left: NAMES_PX, top: 0, width, height: AXIS_PX - 4}, AXIS_PX / 2);
        this.drawDragged(paper, width, height);
    }

    sumUpRows(rows, nBins)
    {
        const {profile, activity} = this.scene, {fromNs, toNs} = this.span;
        const key = [activity.key, fromNs, toNs, nBins].join();
        if (key !== this.binsKey)
            this.bins.clear();
        this.binsKey = key;
        for (const {thread} of rows)
            if (!this.bins.has(thread))
                this.bins.set(thread, binsOf(profile, activity, [thread], this.span, nBins));
    }

    largest(rows)
    {
        const {nGroups} = this.scene.activity;
        const largestOf = ({thread}) => largestBin(this.bins.get(thread), nGroups);
        return rows.reduce((most, row) => Math.max(most, largestOf(row)), 1);
    }

    drawRow({context, ink, softInk, line, faded}, {thread, weight, top, isSelected})
    {
        const {profile, weighed} = this.scene;
        const columns = Math.floor((NAMES_PX - 70) / context.measureText("0").width);
        if (isSelected) {
            context.fillStyle = faded;
            context.fillRect(0, top, this.scroller.clientWidth, ROW_PX);
        }
        context.fillStyle = line;
        context.fillRect(0, top + ROW_PX - 1, this.scroller.clientWidth, 1);
        context.fillStyle = ink;
        context.fillText(fitName(threadWords(profile, thread), columns), 4, top + ROW_PX / 2);
        context.fillStyle = softInk;
        context.textAlign = "right";
        context.fillText(percent(weight, weighed.all), NAMES_PX - 10, top + ROW_PX / 2);
        context.textAlign = "left";
    }

    drawDragged({context, accent}, width, height)
    {
        const {fromNs, toNs} = this.dragged;
        if (toNs === 0)
            return;
        const x = (ns) =>
            NAMES_PX + (ns - this.span.fromNs) / (this.span.toNs - this.span.fromNs) * width;
        context.globalAlpha = 0.25;
        context.fillStyle = accent;
        context.fillRect(x(fromNs), 0, x(toNs) - x(fromNs), height);
        context.globalAlpha = 1;
    }
}

/** Threads and what they weigh within the filter, the most first; those that the filter leaves out come
 * last, as one may want them next. */
function rowsOf({profile, activity, filter})
{
    const {thread, stack, timeNs, n, ["value" + profile.summed.kind]: values} = profile.samples;
    const weights = new Float64Array(profile.threads.n), all = new Float64Array(profile.threads.n);
    const isWanted = wantedThreads(profile, filter);
    for (let i = 0; i < n; i++) {
        if (profile.isIdle(stack[i]))
            continue;
        const weight = values[i] * profile.summed.multiplier;
        all[thread[i]] += weight;
        if (activity.isTaken(i) && timeNs[i] >= filter.fromNs && timeNs[i] < filter.toNs)
            weights[thread[i]] += weight;
    }
    const rows = [];
    for (let id = 0; id < all.length; id++)
        if (all[id] > 0)
            rows.push({thread: id, weight: weights[id]});
    return rows.sort((a, b) => isWanted[b.thread] - isWanted[a.thread] || b.weight - a.weight ||
                               all[b.thread] - all[a.thread] || a.thread - b.thread);
}

/** "name 1234": never empty. */
export function threadWords(profile, thread)
{
    const tid = profile.threads.tid[thread];
    return [profile.threadName(thread), tid > 0 ? String(tid) : ""].join(" ").trim() || "thread";
}
