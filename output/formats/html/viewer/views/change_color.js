/* change_color.js - how much something changed, as a colour: orange grew, blue shrank, the stronger
 * the more of it; pale is within chance.
 *
 * Blue and orange are those of Okabe and Ito's set, which people who do not see all colours tell apart. */
import {isBeyond} from "../data/changes.js";

const GREW = 24, SHRANK = 205;
const PALE = {
    light: "30% 92%",
    dark: "14% 24%"
};
const SAME = {
    light: "hsl(210 8% 90%)",
    dark: "hsl(210 6% 24%)"
};

/** @param {import("../data/changes.js").Change} change @param {"light" | "dark"} theme */
export function changeColor(change, theme)
{
    const {before, after} = change, hue = after > before ? GREW : SHRANK;
    if (after === before)
        return SAME[theme];
    if (!isBeyond(change))
        return `hsl(${hue} ${PALE[theme]})`;
    const strength = Math.sqrt(Math.abs(after - before) / Math.max(before, after));
    const lightness = theme === "light" ? 88 - 26 * strength : 26 + 18 * strength;
    return `hsl(${hue} ${Math.round(45 + 45 * strength)}% ${Math.round(lightness)}%)`;
}

/** What the colors mean. @param {"light" | "dark"} theme @returns {{name: string, color: string}[]} */
export function changeLegend(theme)
{
    const examples = [
        ["gone", 1, 0], ["halved", 2, 1], ["-10%", 10, 9], ["+10%", 9, 10], ["doubled", 1, 2],
        ["new", 0, 1]
    ];
    const entries = examples.map(
        ([name, before, after]) => ({
            name: String(name),
            color: changeColor({before: Number(before), after: Number(after), interval: 0}, theme)
        }));
    const pale = changeColor({before: 9, after: 10, interval: 9}, theme);
    return [...entries, {name: "within chance", color: pale}];
}
