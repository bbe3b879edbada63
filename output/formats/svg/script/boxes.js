/* boxes.js - the boxes of the picture as it was drawn: where each lies, and what it is. */
import {shortName} from "../../html/viewer/words/names.js";

/**
 * @typedef {object} Box
 * @property {SVGSVGElement} element
 * @property {string} name  whole
 * @property {string} shortName
 * @property {string} mark  what is said of its change, or ""
 * @property {number} start  0 to 1, from the left
 * @property {number} end
 * @property {number} y  small: far from the root
 * @property {boolean} isRoot
 */

/** @param {SVGSVGElement} drawing  what all boxes are in @returns {Box[]}  callers first, the root before all */
export function readBoxes(drawing)
{
    return Array.from(/** @type {any} */ (drawing.children), (element, i) => {
        const name = titleOf(element).split("\n")[0],
              number = (what) => parseFloat(element.getAttribute(what));
        return {
            element,
            name,
            shortName: shortName(name),
            mark: element.dataset.mark || "",
            start: number("x") / 100,
            end: (number("x") + number("width")) / 100,
            y: number("y"),
            isRoot: i === 0,
        };
    });
}

/** What is known of it, in lines. @param {Element} element */
export function titleOf(element)
{
    return /** @type {Element} */ (element.firstElementChild).textContent || "";
}

/** Whether two lie on one path. @param {Box} lower @param {Box} upper */
function isUnder(lower, upper)
{
    const middle = (upper.start + upper.end) / 2;
    return lower.y > upper.y && lower.start <= middle && middle <= lower.end;
}

/** How a box looks when another one fills the width. @returns {{start: number, end: number} | null}  null: not at all */
export function placeIn(box, zoomed)
{
    if (isUnder(box, zoomed))
        return {start: 0, end: 1};
    if (box !== zoomed && !isUnder(zoomed, box))
        return null;
    const width = zoomed.end - zoomed.start;
    return {start: (box.start - zoomed.start) / width, end: (box.end - zoomed.start) / width};
}

/**
 * The share of the width under boxes that match, each stack counted once.
 * @param {Box[]} boxes
 * @param {Set<Box>} matches
 */
export function matchedShare(boxes, matches)
{
    const spans =
        boxes.filter((box) => matches.has(box)).sort((a, b) => a.start - b.start || b.end - a.end);
    let share = 0, end = 0;
    for (const box of spans) {
        share += Math.max(0, box.end - Math.max(box.start, end));
        end = Math.max(end, box.end);
    }
    return share;
}
