/* bars.js - activity drawn: for each bin a bar, made of the groups' colors one upon the other. */
import {secondsText, timeMarks} from "../data/axis.js";

const MARK_APART_PX = 90;

/** @typedef {ReturnType<typeof sizedContext>} Paper  what is drawn on, and with */

/** Gives a canvas its size, in CSS pixels. */
export function sizedContext(canvas, width, height)
{
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const style = getComputedStyle(canvas);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = style.font;
    context.textBaseline = "middle";
    return {
        context,
        ink: style.color,
        softInk: style.getPropertyValue("--soft-ink"),
        line: style.getPropertyValue("--line"),
        ground: style.getPropertyValue("--ground"),
        accent: style.getPropertyValue("--accent"),
        faded: style.getPropertyValue("--faded"),
    };
}

/**
 * @param {Paper} paper
 * @param {Float64Array} bins      groups by bin
 * @param {string[]} colors        of the groups, the first at the bottom; the last is faded
 * @param {{left: number, top: number, width: number, height: number}} place
 * @param {number} capacity        weight of a bar of full height
 */
export function drawBars({context, faded}, bins, colors, {left, top, width, height}, capacity)
{
    const nGroups = colors.length + 1, nBins = bins.length / nGroups, binPx = width / nBins;
    for (let group = 0; group < nGroups; group++) {
        context.fillStyle = colors[group] || faded;
        for (let bin = 0; bin < nBins; bin++) {
            const weight = bins[bin * nGroups + group];
            if (weight === 0)
                continue;
            let below = 0;
            for (let other = 0; other < group; other++)
                below += bins[bin * nGroups + other];
            const from = Math.min(1, below / capacity),
                  to = Math.min(1, (below + weight) / capacity);
            context.fillRect(left + bin * binPx, top + height * (1 - to), binPx,
                             height * (to - from));
        }
    }
}

/** Moments in seconds, each with a line of `height` above its words. */
export function drawAxis({context, softInk, line}, span, {left, top, width, height}, textTop)
{
    const {stepNs, marks} = timeMarks(span, width, MARK_APART_PX);
    for (const ns of marks) {
        const x = left + (ns - span.fromNs) / (span.toNs - span.fromNs) * width;
        context.fillStyle = line;
        context.fillRect(Math.round(x), top, 1, height);
        context.fillStyle = softInk;
        const words = secondsText(ns, stepNs) + " s";
        if (x + 4 + context.measureText(words).width <= left + width)
            context.fillText(words, x + 4, textTop);
    }
}
