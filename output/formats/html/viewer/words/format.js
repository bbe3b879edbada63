/* format.js - numbers as people read them, digit for digit as the tools print them
 * (output/fold/weight_words.c). */
import {UNIT} from "../data/profile.js";

const NS_PER_S = 1e9;

/** toFixed, but of two that are as near the even one, as printf does. */
export function fixed(value, nDecimals)
{
    // Halfway is (2 m + 1) / (2 * 10^n), of which a double can be no more than an odd part of 2^(n + 1).
    const isHalfway = Math.abs(value * 2 ** (nDecimals + 1) % 2) === 1;
    const scale = 10 ** nDecimals;
    return (isHalfway ? 2 * Math.round(value * scale / 2) / scale : value).toFixed(nDecimals);
}

/**
 * A function from weights to text. Times are seconds, or milliseconds where all is less than a
 * second; counts are whole numbers.
 * @param {number} unit
 * @param {number} largest  of the weights
 * @returns {(weight: number) => string}
 */
export function weightFormat(unit, largest)
{
    if (unit !== UNIT.NS)
        return (weight) => grouped(weight);
    if (largest < NS_PER_S)
        return (weight) => fixed(weight / 1e6, 1) + " ms";
    return (weight) => fixed(weight / NS_PER_S, 3) + " s";
}

/** "45.6%"; of nothing "0.0%". */
export function percent(weight, all)
{
    return fixed(all === 0 ? 0 : 100 * weight / all, 1) + "%";
}

/** A whole number, in groups of three digits with narrow blanks between: 1 234 567. */
export function grouped(number)
{
    return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

const MAX_NAMED = 3;

/** "a, b, c and 5 more"; "" of none. @param {string[]} texts @returns {string} */
export function several(texts)
{
    const named = texts.slice(0, MAX_NAMED).join(", ");
    const nMore = texts.length - MAX_NAMED;
    return nMore > 0 ? named + " and " + grouped(nMore) + " more" : named;
}
