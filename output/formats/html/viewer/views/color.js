/* color.js - which colour a function has, and what the colours mean.
 *
 * A colour stands for a program or library (the heaviest have one of their own) or for a kind of
 * code. Hues are those of Okabe and Ito's set, which people who do not see all colours can tell
 * apart; neighbours of one hue differ a little in lightness, so that boxes stay apart. */
import {baseName} from "../data/path.js";
import {FRAME} from "../data/profile.js";

const HUES = [[36, 92], [203, 78], [160, 60], [326, 48], [52, 88], [218, 62], [14, 80], [185, 45]];
const OTHER = [210, 6];
const N_SHADES = 4;
const LIGHTNESS = {
    light: [74, 77, 80, 71],
    dark: [32, 35, 29, 37]
};

const KINDS = ["program", "libraries", "kernel", "generated code", "labels", "unknown"];

/**
 * @typedef {object} Coloring
 * @property {{name: string, weight: number, color: string}[]} legend  most weight first
 * @property {(fn: number) => string} of
 * @property {string} other  of boxes too small to be drawn one by one
 */

/**
 * @param {import("../data/profile.js").Profile} profile
 * @param {Float64Array} selfByFunction
 * @param {"module" | "kind"} by
 * @param {"light" | "dark"} theme
 * @returns {Coloring}
 */
export function makeColoring(profile, selfByFunction, by, theme)
{
    const groupOf = by === "module" ? moduleOfFunctions(profile) : kindOfFunctions(profile);
    const weights = new Map();
    for (let fn = 0; fn < profile.functions.n; fn++)
        weights.set(groupOf[fn], (weights.get(groupOf[fn]) || 0) + selfByFunction[fn]);
    const ranked = [...weights.entries()].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    const hueOf = new Map();
    ranked.forEach(([group], rank) => hueOf.set(group, HUES[rank] || OTHER));

    const nameOf = (group) =>
        by === "kind" ? KINDS[group]
                      : baseName(profile.texts.get(profile.modules.path[group])) || "[unknown]";
    const legend = [];
    for (const [group, weight] of ranked)
        if (weight > 0)
            legend.push({name: nameOf(group), weight, color: css(hueOf.get(group), theme, 0)});
    const colors = new Array(profile.functions.n);
    return {
        legend,
        of: (fn) => colors[fn] ||= css(hueOf.get(groupOf[fn]), theme, (fn * 7) % N_SHADES),
        other: css(OTHER, theme, 0),
    };
}

/** @param {number[]} color */
function css([hue, saturation], theme, shade)
{
    return `hsl(${hue} ${saturation}% ${LIGHTNESS[theme][shade]}%)`;
}

function moduleOfFunctions(profile)
{
    return profile.functions.module;
}

function kindOfFunctions(profile)
{
    const {n, module} = profile.functions;
    const kinds = new Uint8Array(n).fill(KINDS.indexOf("unknown"));
    const exe = profile.metadata.get("exe");
    for (let fn = 0; fn < n; fn++) {
        const path = profile.texts.get(profile.modules.path[module[fn]]);
        if (path !== "" && !path.startsWith("["))
            kinds[fn] = KINDS.indexOf(path === exe ? "program" : "libraries");
    }
    for (let frame = 1; frame < profile.frames.n; frame++) {
        const flags = profile.frames.flags[frame];
        const kind = flags & FRAME.KERNEL      ? "kernel"
                     : flags & FRAME.GENERATED ? "generated code"
                     : flags & FRAME.LABEL     ? "labels"
                                               : "";
        if (kind !== "")
            kinds[profile.frames.fn[frame]] = KINDS.indexOf(kind);
    }
    return kinds;
}
