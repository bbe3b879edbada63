/* flame.js - the flame graph: boxes on a canvas, zoomed and walked by mouse and keyboard.
 *
 * The canvas has the size of what can be seen and stays in place, while the browser scrolls an empty
 * element as high as the graph; each frame draws only boxes that lie in sight. So a stack of two
 * thousand frames and a tree of two hundred thousand nodes cost what fits the window. */
import {changeOfNode} from "../data/changes.js";
import {deepest, depthOf, forEachBox, nodeAt} from "../data/layout.js";
import {mark} from "../words/change.js";
import {fitName} from "../words/names.js";

import {listenToKeys, listenToMouse} from "./flame_input.js";

const ROW_PX = 19;
const TEXT_MARGIN_PX = 4;
const ZOOM_MS = 160;
const NARROW_PX = 8; // a box that is walked to is made wider than this

/**
 * What the graph shows, made anew when it changes.
 * @typedef {object} FlameContent
 * @property {import("../scene.js").Scene} scene
 * @property {import("../data/layout.js").Layout} layout
 * @property {string} rootName
 * @property {boolean} rootAtBottom
 */

/**
 * What becomes of what the person does. Node 0 stands for all.
 * @typedef {object} FlameActions
 * @property {(node: number, x: number, y: number) => void} point  -1: at no box
 * @property {(node: number) => void} select
 * @property {(node: number) => void} zoom
 * @property {(node: number) => void} open  to know more of it
 */

export class FlameGraph {
    /**
     * @param {HTMLElement} scroller
     * @param {FlameActions} actions
     */
    constructor(scroller, actions)
    {
        this.scroller = scroller;
        this.actions = actions;
        this.selected = 0;
        this.canvas = /** @type {HTMLCanvasElement} */ (scroller.querySelector("canvas"));
        this.filler = /** @type {HTMLElement} */ (scroller.querySelector("div"));
        this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
        this.content = /** @type {FlameContent | null} */ (null);
        this.range = {from: 0, to: 1, width: 1};
        this.height = 1; // of what can be seen
        this.rows = 1;   // of the graph in the range
        this.frame = 0;  // requested; 0: none
        this.animation = 0;
        this.isAtRoot = true; // which then stays in sight when the size changes
        this.paint = {text: "", faded: "", fadedText: "", outline: ""};
        this.columnPx = 1; // of a letter
        new ResizeObserver(() => this.resize()).observe(scroller);
        scroller.addEventListener("scroll", () => this.onScroll());
        listenToMouse(this);
        listenToKeys(this);
    }

    /** @param {FlameContent} content */
    show(content)
    {
        const {layout, rootAtBottom} = this.content || {layout: null, rootAtBottom: null};
        this.content = content;
        if (layout !== content.layout) {
            this.selected = 0;
            this.setRange(0, this.all());
        }
        if (layout !== content.layout || rootAtBottom !== content.rootAtBottom)
            this.scrollToRoot();
        this.draw();
    }

    isUpward()
    {
        return this.content !== null && this.content.rootAtBottom;
    }

    select(node)
    {
        this.selected = node;
        this.actions.select(node);
        this.draw();
    }

    /** The weight of all boxes. */
    all()
    {
        return this.content === null ? 0 : this.content.layout.weights.total[0];
    }

    /* ---- where we are ------------------------------------------------------------------------ */

    resize()
    {
        const ratio = window.devicePixelRatio || 1;
        this.range.width = Math.max(1, this.scroller.clientWidth);
        this.height = Math.max(1, this.scroller.clientHeight);
        this.canvas.width = Math.round(this.range.width * ratio);
        this.canvas.height = Math.round(this.height * ratio);
        this.canvas.style.width = this.range.width + "px";
        this.canvas.style.height = this.height + "px";
        this.setRange(this.range.from, this.range.to);
        if (this.isAtRoot)
            this.scrollToRoot();
        this.drawNow();
    }

    setRange(from, to)
    {
        const all = this.all(), span = Math.min(all, Math.max(to - from, all * 1e-7));
        this.range.from = Math.max(0, Math.min(from, all - span));
        this.range.to = this.range.from + span;
        if (this.content !== null && span > 0)
            this.rows = deepest(this.content.layout, this.range) + 1;
        const fromEnd = this.scroller.scrollHeight - this.scroller.scrollTop;
        const fill = Math.max(0, this.rows * ROW_PX - this.height);
        if (this.filler.style.height !== fill + "px") {
            this.filler.style.height = fill + "px";
            if (this.isUpward())
                this.scroller.scrollTop = this.scroller.scrollHeight - fromEnd;
        }
        this.draw();
    }

    /** To where the root is. */
    scrollToRoot()
    {
        this.isAtRoot = true;
        this.scroller.scrollTop = this.isUpward() ? this.scroller.scrollHeight : 0;
        this.draw();
    }

    onScroll()
    {
        const {scrollTop, scrollHeight, clientHeight} = this.scroller;
        this.isAtRoot =
            this.isUpward() ? scrollTop + clientHeight >= scrollHeight - 1 : scrollTop === 0;
        this.draw();
    }

    /** Moves to a range within a moment, so that the eye can follow. */
    glideTo(from, to)
    {
        cancelAnimationFrame(this.animation);
        if (window.matchMedia("(prefers-reduced-motion: reduce)").matches) {
            this.setRange(from, to);
            return;
        }
        const begin = performance.now(), {from: from0, to: to0} = this.range;
        const step = (now) => {
            const part = Math.max(0, Math.min(1, (now - begin) / ZOOM_MS));
            const eased = part * (2 - part);
            this.setRange(from0 + (from - from0) * eased, to0 + (to - to0) * eased);
            if (part < 1)
                this.animation = requestAnimationFrame(step);
        };
        this.animation = requestAnimationFrame(step);
    }

    zoomTo(node)
    {
        this.actions.zoom(node);
        const {layout} = /** @type {FlameContent} */ (this.content);
        this.glideTo(layout.start[node], layout.start[node] + layout.weights.total[node]);
    }

    /** Shows and selects a node at once; 0: all. */
    jumpTo(node)
    {
        if (this.content === null)
            return;
        const {start, weights} = this.content.layout;
        this.selected = node;
        this.setRange(start[node], start[node] + weights.total[node]);
    }

    zoomOut()
    {
        this.actions.zoom(0);
        this.glideTo(0, this.all());
    }

    /** Shows 1 / factor of the range; the weight at `x` pixels stays where it is. */
    scaleAt(x, factor)
    {
        const {from, to, width} = this.range, at = from + (to - from) * x / width;
        this.setRange(at - (at - from) / factor, at + (to - at) / factor);
    }

    moveBy(xPixels, yPixels)
    {
        const weight = xPixels * (this.range.to - this.range.from) / this.range.width;
        this.setRange(this.range.from + weight, this.range.to + weight);
        this.scroller.scrollTop += yPixels;
    }

    /** Offset of a row's upper edge in what can be seen. */
    rowTop(depth)
    {
        const scrolled = this.scroller.scrollTop;
        if (!this.isUpward())
            return depth * ROW_PX - scrolled;
        return Math.max(this.rows * ROW_PX, this.height) - (depth + 1) * ROW_PX - scrolled;
    }

    /** The node at a point of the canvas, -1 for none. */
    nodeAtPoint(x, y)
    {
        if (this.content === null)
            return -1;
        const depth = this.isUpward() ? Math.ceil((this.rowTop(0) - y) / ROW_PX)
                                      : Math.floor((y - this.rowTop(0)) / ROW_PX);
        if (depth < 0)
            return -1;
        const {from, to, width} = this.range;
        return nodeAt(this.content.layout, from + (to - from) * x / width, depth);
    }

    /* ---- drawing ----------------------------------------------------------------------------- */

    draw()
    {
        if (this.frame === 0)
            this.frame = requestAnimationFrame(() => this.drawNow());
    }

    drawNow()
    {
        cancelAnimationFrame(this.frame);
        this.frame = 0;
        if (this.content === null)
            return;
        const {context, height} = this, ratio = window.devicePixelRatio || 1;
        const style = getComputedStyle(this.scroller);
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, this.range.width, height);
        context.font = style.font;
        context.textBaseline = "middle";
        this.columnPx = context.measureText("0").width;
        this.paint = {
            text: style.color,
            faded: style.getPropertyValue("--faded"),
            fadedText: style.getPropertyValue("--faded-text"),
            outline: style.getPropertyValue("--outline"),
        };
        const top = this.rowTop(0), upward = this.isUpward();
        const maxDepth = Math.ceil((upward ? top : height - top) / ROW_PX);
        if (this.all() > 0)
            forEachBox(this.content.layout, this.range, maxDepth,
                       (node, depth, left, width) => this.drawBox(node, depth, left, width));
    }

    drawBox(node, depth, left, width)
    {
        const top = this.rowTop(depth);
        if (top <= -ROW_PX || top >= this.height)
            return;
        const {context, range} = this;
        const {layout, scene, rootName} = /** @type {FlameContent} */ (this.content);
        const {coloring, matches} = scene;
        const x = Math.max(left, 0), right = Math.min(left + width, range.width);
        const gap = right - x > 2 ? 1 : 0;
        const fn = node > 0 ? layout.tree.fn[node] : -1;
        const isFaded = matches !== null && (fn < 0 || matches[fn] === 0);
        context.fillStyle = node === 0 || isFaded ? this.paint.faded
                            : node < 0            ? coloring.other
                                                  : scene.colorOfNode(layout, node);
        context.fillRect(x, top, right - x - gap, ROW_PX - 1);
        if (node === this.selected && node !== 0) {
            context.strokeStyle = this.paint.outline;
            context.lineWidth = 2;
            context.strokeRect(x + 1, top + 1, Math.max(1, right - x - gap - 2), ROW_PX - 3);
        }
        const columns = Math.floor((right - x - 2 * TEXT_MARGIN_PX) / this.columnPx);
        if (node < 0 || columns < 3)
            return;
        const name = node === 0 ? fitName(rootName, columns) : this.fitLabel(node, columns);
        context.fillStyle = isFaded ? this.paint.fadedText : this.paint.text;
        context.fillText(name, x + TEXT_MARGIN_PX, top + ROW_PX / 2, right - x - TEXT_MARGIN_PX);
    }

    /** The name, and how much it changed if that is known. */
    fitLabel(node, columns)
    {
        const {layout, scene} = /** @type {FlameContent} */ (this.content);
        const name = scene.nameOf(layout.tree.fn[node]);
        const words = scene.all === null ? "" : mark(changeOfNode(layout.weights, node));
        const fitted = words === "" ? "" : fitName(name, columns - words.length - 1);
        return fitted === "" ? fitName(name, columns) : fitted + " " + words;
    }

    /* ---- walking ----------------------------------------------------------------------------- */

    /** Selects a node and brings it in sight, wide enough to be seen. */
    walkTo(node)
    {
        const {tree, weights, start} = /** @type {FlameContent} */ (this.content).layout;
        this.select(node);
        const {from, to, width} = this.range, total = weights.total[node];
        const isNarrow = total / (to - from) * width < NARROW_PX;
        if (node === 0) {
            this.zoomOut();
        } else if (isNarrow || start[node] < from || start[node] + total > to) {
            const parent = tree.parent[node];
            const isWideThere = total / weights.total[parent] * width >= NARROW_PX;
            this.zoomTo(isWideThere ? parent : node);
        }
        const top = this.rowTop(depthOf(tree, node));
        if (top < 0 || top + ROW_PX > this.height)
            this.scroller.scrollTop += top - this.height / 2;
        this.draw();
    }
}
