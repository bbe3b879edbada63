/* color.js - which colour a function has, and what the colours mean.
 *
 * A colour stands for a program or library or for a function (the heaviest have one of their own), or
 * for a kind of code. Hues are those of Okabe and Ito's set, which people who do not see all colours can tell
 * apart; neighbours of one hue differ a little in lightness, so that boxes stay apart. */
import {readAccount} from "../data/account.js";
import {baseName} from "../data/path.js";
import {FRAME} from "../data/profile.js";
import {shortName} from "../words/names.js";

const HUES = [[36, 92], [203, 78], [160, 60], [326, 48], [52, 88], [218, 62], [14, 80], [185, 45]];
const OTHER = [210, 6];
const N_SHADES = 4;
const MOST_OF_LEGEND = 16;
const LIGHTNESS = {
    light: [74, 77, 80, 71],
    dark: [32, 35, 29, 37]
};

const KINDS = ["programs", "libraries", "kernel", "generated code", "labels", "unknown"];

/**
 * @typedef {object} Coloring
 * @property {(self: Float64Array) => {name: string, weight: number, color: string}[]} legend
 *   of these weights by function, most first; the least of many together
 * @property {(fn: number) => string} of
 * @property {string} other  of boxes too small to be drawn one by one
 * @property {(fn: number) => number} groupOf  its hue by number, below N_GROUPS
 * @property {string[]} groupColors
 */

/** Hues, and one for all that have none. */
export const N_GROUPS = HUES.length + 1;

/**
 * @param {import("../data/profile.js").Profile} profile
 * @param {Float64Array} wholeSelf  weight by function: the heaviest have hues of their own
 * @param {"module" | "function" | "kind"} by
 * @param {"light" | "dark"} theme
 * @returns {Coloring}
 */
export function makeColoring(profile, wholeSelf, by, theme)
{
    const groupOf = GROUPINGS[by](profile);
    const weigh = (self) => {
        const weights = new Map();
        for (let fn = 0; fn < profile.functions.n; fn++)
            weights.set(groupOf[fn], (weights.get(groupOf[fn]) || 0) + self[fn]);
        return [...weights.entries()].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    };
    const rankOf = new Map();
    weigh(wholeSelf).forEach(([group], rank) => rankOf.set(group, Math.min(rank, HUES.length)));
    const hueOf = (group) => HUES[rankOf.get(group)] || OTHER;

    const nameOf = (group) =>
        by === "kind" ? KINDS[group]
        : by === "function"
            ? shortName(profile.functionName(group))
            : baseName(profile.texts.get(profile.modules.path[group])) || "[unknown]";
    const legend = (self) => {
        const groups = weigh(self).filter(([, weight]) => weight > 0);
        const entries =
            groups.slice(0, MOST_OF_LEGEND)
                .map(([group, weight]) =>
                         ({name: nameOf(group), weight, color: css(hueOf(group), theme, 0)}));
        const weight = groups.slice(MOST_OF_LEGEND).reduce((sum, [, each]) => sum + each, 0);
        const name = groups.length - MOST_OF_LEGEND + " others";
        return weight === 0 ? entries : [...entries, {name, weight, color: css(OTHER, theme, 0)}];
    };
    const colors = new Array(profile.functions.n);
    return {
        legend,
        of: (fn) => colors[fn] ||= css(hueOf(groupOf[fn]), theme, (fn * 7) % N_SHADES),
        other: css(OTHER, theme, 0),
        groupOf: (fn) => rankOf.get(groupOf[fn]),
        groupColors: [...HUES, OTHER].map((hue) => css(hue, theme, 0)),
    };
}

/** @param {number[]} color */
function css([hue, saturation], theme, shade)
{
    return `hsl(${hue} ${saturation}% ${LIGHTNESS[theme][shade]}%)`;
}

/** The group of each function. */
const GROUPINGS = {
    module: (profile) => profile.functions.module,
    function: (profile) => Array.from({length: profile.functions.n}, (_, fn) => fn),
    kind: kindOfFunctions,
};

function kindOfFunctions(profile)
{
    const {n, module} = profile.functions;
    const kinds = new Uint8Array(n).fill(KINDS.indexOf("unknown"));
    const programs =
        new Set([...profile.metadataOf("exe"), ...readAccount(profile)?.programs ?? []]);
    for (let fn = 0; fn < n; fn++) {
        const path = profile.texts.get(profile.modules.path[module[fn]]);
        if (path !== "" && !path.startsWith("["))
            kinds[fn] = KINDS.indexOf(programs.has(path) ? "programs" : "libraries");
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
