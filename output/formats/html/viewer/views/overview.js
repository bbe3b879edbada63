/* overview.js - the strip above all views: what the whole program did when, and which span of it the
 * views are about. Dragging selects one; a double click selects all. */
import {binsOf, largestBin} from "../data/activity.js";
import {roundedTime} from "../data/axis.js";

import {drawAxis, drawBars, sizedContext} from "./bars.js";
import {listenToSpan} from "./span_input.js";

const BARS_PX = 38;
const AXIS_PX = 16;
const LEVEL_PERIODS = 10; // what lasts no longer may be higher than the strip

export class Overview {
    /**
     * @param {HTMLElement} element
     * @param {{selectSpan: (fromNs: number, toNs: number) => void}} actions
     */
    constructor(element, actions)
    {
        this.element = element;
        this.canvas = /** @type {HTMLCanvasElement} */ (element.querySelector("canvas"));
        this.mark = /** @type {HTMLElement} */ (element.querySelector("div"));
        this.scene = /** @type {import("../scene.js").Scene | null} */ (null);
        this.drawn = ""; // what the canvas shows
        new ResizeObserver(() => this.draw()).observe(element);
        listenToSpan(element, {
            timeAt: (x) => this.timeAt(x),
            drag: (fromNs, toNs) => this.showMark(fromNs, toNs),
            done: actions.selectSpan,
            click: () => {},
            point: () => {},
        });
        element.addEventListener("dblclick", () => actions.selectSpan(0, Infinity));
    }

    /** @param {import("../scene.js").Scene} scene */
    show(scene)
    {
        this.scene = scene;
        this.element.hidden = scene.activity === null;
        this.draw();
        this.showMark(scene.filter.fromNs, scene.filter.toNs);
    }

    span()
    {
        return /** @type {any} */ (this.scene).activity.whole;
    }

    timeAt(x)
    {
        const {fromNs, toNs} = this.span(), width = this.element.clientWidth;
        const ns = fromNs + (toNs - fromNs) * Math.max(0, Math.min(1, x / width));
        return roundedTime(ns, (toNs - fromNs) / width);
    }

    showMark(fromNs, toNs)
    {
        const whole = this.scene === null || this.scene.activity === null ? null : this.span();
        this.mark.hidden = whole === null || toNs === 0 || (fromNs === 0 && toNs === Infinity);
        if (this.mark.hidden)
            return;
        const part = (ns) => 100 * Math.max(0, Math.min(1, ns / whole.toNs));
        this.mark.style.left = part(fromNs) + "%";
        this.mark.style.width = part(toNs) - part(fromNs) + "%";
    }

    draw()
    {
        const {scene, element} = this, width = element.clientWidth;
        if (scene === null || scene.activity === null || width === 0)
            return;
        const {activity, profile} = scene, drawn = width + " " + activity.key;
        if (drawn === this.drawn)
            return;
        this.drawn = drawn;
        const paper = sizedContext(this.canvas, width, BARS_PX + AXIS_PX);
        const place = {left: 0, top: 0, width, height: BARS_PX};
        const threads = Array.from({length: profile.threads.n}, (_, id) => id);
        const bins = binsOf(profile, activity, threads, activity.whole, width);
        const levelNs = LEVEL_PERIODS * profile.periodNs, {fromNs, toNs} = activity.whole;
        const capacity =
            largestBin(bins, activity.nGroups, Math.ceil(levelNs / (toNs - fromNs) * width));
        drawAxis(paper, activity.whole, {...place, height: BARS_PX + 4}, BARS_PX + AXIS_PX / 2);
        drawBars(paper, bins, activity.colors, place, capacity);
    }
}
