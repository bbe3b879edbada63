/* heat_map.js - seconds against fractions of a second: each column is a second, from bottom to top, and
 * the stronger the color of a cell, the busier the program was. What happens every so often shows as a
 * pattern, and what happened once as a spot, where a line of averages shows neither (Brendan Gregg's
 * FlameScope had it first). Dragging from one moment to another selects the time between them.
 *
 * Of spans that are short or long, a column is another power of ten of a second. */
import {binsOf} from "../data/activity.js";
import {columnNs, secondsText} from "../data/axis.js";
import {wantedThreads} from "../data/filter.js";
import {measureOf, UNIT} from "../data/profile.js";
import {percent} from "../words/format.js";

import {sizedContext} from "./bars.js";
import {listenToSpan} from "./span_input.js";
import {NAMES_PX, shownSpan} from "./timeline.js";

const N_CELLS = 50; // of a column
const CELL_PX = 3;
const DARKEST = 0.98; // of the cells with any weight so many are no darker than the darkest

/** Of time that is not known to be CPU time, a thread that waits has as much as one that computes. */
const busyWords = (profile) => measureOf(profile) === "cpu" ? " of a CPU" : " of a thread";

export class HeatMap {
    /**
     * @param {HTMLElement} element
     * @param {object} actions
     * @param {(fromNs: number, toNs: number) => void} actions.selectSpan
     * @param {(details: import("./details.js").Details | null, x: number, y: number) => void} actions.point
     */
    constructor(element, actions)
    {
        this.element = element;
        this.actions = actions;
        this.canvas = /** @type {HTMLCanvasElement} */ (element.querySelector("canvas"));
        this.words = /** @type {HTMLElement} */ (element.querySelector("p"));
        this.scene = /** @type {any} */ (null);
        this.span = {fromNs: 0, toNs: 1};
        this.dragged = {fromNs: 0, toNs: 0};
        this.columnNs = 1;
        this.firstColumn = 0;
        this.cells = new Float64Array(0);
        new ResizeObserver(() => this.draw()).observe(element);
        listenToSpan(this.canvas, {
            timeAt: (x, y) => this.timeAt(x, y),
            drag: (fromNs, toNs) => {
                this.dragged = {fromNs, toNs: toNs === 0 ? 0 : toNs + this.cellNs()};
                this.draw();
            },
            done: (fromNs, toNs) => {
                this.dragged = {fromNs: 0, toNs: 0};
                actions.selectSpan(fromNs, toNs + this.cellNs());
            },
            click: () => {},
            point: (x, y, event) => this.point(x, y, event),
        });
        this.canvas.addEventListener("pointerleave", () => actions.point(null, 0, 0));
        this.canvas.addEventListener("dblclick", () => actions.selectSpan(0, Infinity));
    }

    /** @param {import("../scene.js").Scene} scene */
    show(scene)
    {
        this.scene = scene;
        this.span = shownSpan(/** @type {any} */ (scene));
        this.draw();
    }

    width()
    {
        return Math.max(1, this.element.clientWidth - NAMES_PX);
    }

    cellNs()
    {
        return this.columnNs / N_CELLS;
    }

    /** When the cell at a point begins. */
    timeAt(x, y)
    {
        const {fromNs, toNs} = this.span,
                       part = Math.max(0, Math.min(1, (x - NAMES_PX) / this.width()));
        const last = Math.ceil(toNs / this.columnNs) - 1;
        const column =
            Math.min(last, Math.floor((fromNs + part * (toNs - fromNs)) / this.columnNs));
        const cell = Math.max(0, Math.min(N_CELLS - 1, N_CELLS - 1 - Math.floor(y / CELL_PX)));
        return Math.round(column * this.columnNs + cell * this.cellNs());
    }

    point(x, y, event)
    {
        const {profile, format} = this.scene, fromNs = this.timeAt(x, y), cellNs = this.cellNs();
        const weight = this.cells[Math.round((fromNs - this.firstColumn * this.columnNs) / cellNs)];
        if (x < NAMES_PX || weight === undefined) {
            this.actions.point(null, 0, 0);
            return;
        }
        const busy = profile.summed.unit === UNIT.NS ? percent(weight, cellNs) + busyWords(profile)
                                                     : format(weight);
        const to = secondsText(fromNs + cellNs, cellNs);
        this.actions.point({
            name: secondsText(fromNs, cellNs) + " to " + to + " s",
            numbers: [["busy", busy]],
            places: [],
        },
                           event.clientX, event.clientY);
    }

    draw()
    {
        if (this.scene === null || this.element.clientWidth === 0)
            return;
        const {scene, span} = this, {profile, activity, filter} = scene, width = this.width();
        this.columnNs = columnNs(span, width);
        this.firstColumn = Math.floor(span.fromNs / this.columnNs);
        const nColumns = Math.ceil(span.toNs / this.columnNs) - this.firstColumn;
        const covered = {
            fromNs: this.firstColumn * this.columnNs,
            toNs: (this.firstColumn + nColumns) * this.columnNs
        };
        const isWanted = wantedThreads(profile, filter);
        const threads = Array.from(isWanted.keys()).filter((id) => isWanted[id] !== 0);
        const whole = {...activity, nGroups: 1, groupOfStack: new Uint8Array(profile.stacks.n)};
        this.cells = binsOf(profile, whole, threads, covered, nColumns * N_CELLS);
        this.words.textContent = "Each column is " + secondsText(this.columnNs, this.columnNs) +
                                 " s, from bottom to top; stronger color: busier";

        const paper = sizedContext(this.canvas, this.element.clientWidth, N_CELLS * CELL_PX),
              {context} = paper;
        const x = (ns) =>
            NAMES_PX + Math.max(0, (ns - span.fromNs) / (span.toNs - span.fromNs) * width);
        const busy = this.cells.filter((weight) => weight > 0).sort();
        const most = busy.length === 0 ? 1 : busy[Math.floor((busy.length - 1) * DARKEST)];
        context.fillStyle = paper.accent;
        for (let i = 0; i < this.cells.length; i++) {
            const column = Math.floor(i / N_CELLS), cell = i % N_CELLS;
            const left = x(covered.fromNs + column * this.columnNs);
            const right = x(covered.fromNs + (column + 1) * this.columnNs);
            context.globalAlpha = 0.04 + 0.96 * Math.min(1, this.cells[i] / most);
            context.fillRect(left, (N_CELLS - 1 - cell) * CELL_PX, Math.max(1, right - left - 1),
                             CELL_PX);
        }
        this.drawDragged(paper, x);
    }

    /** Where the time that is being chosen lies: of its first and last column a part, of others all. */
    drawDragged({context, ink}, x)
    {
        const {fromNs, toNs} = this.dragged;
        context.globalAlpha = 0.35;
        context.fillStyle = ink;
        for (let begin = Math.floor(fromNs / this.columnNs) * this.columnNs; begin < toNs;
             begin += this.columnNs) {
            const part = (ns) =>
                Math.max(0, Math.min(1, (ns - begin) / this.columnNs)) * N_CELLS * CELL_PX;
            const low = part(fromNs), high = part(toNs);
            context.fillRect(x(begin), N_CELLS * CELL_PX - high,
                             x(begin + this.columnNs) - x(begin), high - low);
        }
        context.globalAlpha = 1;
    }
}
