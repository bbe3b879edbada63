/* axis.js - marks on an axis of time, at round moments. */

const STEPS = [1, 2, 5];
const MIN_COLUMNS = 20;
const MIN_COLUMN_PX = 2;

/**
 * The moments between which `length` pixels have at most one mark for each `apart` pixels.
 * @param {import("./activity.js").Span} span
 * @returns {{stepNs: number, marks: number[]}}
 */
export function timeMarks({fromNs, toNs}, length, apart)
{
    const least = Math.max(1, (toNs - fromNs) * apart / length);
    const power = 10 ** Math.floor(Math.log10(least));
    const stepNs = power * (STEPS.find((step) => step * power >= least) || 10);
    const marks = [];
    const first = Math.ceil(fromNs / stepNs), n = Math.ceil(length / apart) + 1;
    for (let i = 0; i <= n && (first + i) * stepNs < toNs;
         i++) // from 2^53 on, first + 1 may be first
        marks.push((first + i) * stepNs);
    return {stepNs, marks};
}

/** A moment without digits that are finer than `fineNs`: what a hand can point at is no finer. */
export function roundedTime(ns, fineNs)
{
    const power = 10 ** Math.floor(Math.log10(Math.max(1, fineNs)));
    return Math.round(ns / power) * power;
}

/** Seconds with as many digits as the step asks for: "2", "2.5". */
export function secondsText(ns, stepNs)
{
    const digits = Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(Math.max(1, stepNs)) + 1e-9)));
    return (ns / 1e9).toFixed(digits);
}

/** The duration of a column of the heat map: a second, or what makes a picture of so short or so long
 * a span. */
export function columnNs({fromNs, toNs}, length)
{
    const ns = toNs - fromNs;
    let column = 1e9;
    while (ns / column < MIN_COLUMNS && column > 1e6)
        column /= 10;
    while (length * column / ns < MIN_COLUMN_PX)
        column *= 10;
    return column;
}
