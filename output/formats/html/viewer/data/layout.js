/* layout.js - where the boxes of a flame graph lie, and which of them can be seen.
 *
 * A box spans its node's total on the x axis, in the unit of weights; children lie side by side from
 * their parent's left end, the heaviest first, and what is left of it to the right is its self.
 * Widths on the screen are asked for only of what can be seen: children that come after one too
 * narrow to see are narrower still, so they are drawn as one box. */

/** In pixels; what is narrower is not drawn alone. */
const NARROWEST = 0.5;

/**
 * @typedef {object} Layout
 * @property {import("./tree.js").CallTree} tree
 * @property {import("./tree.js").TreeWeights} weights
 * @property {Float64Array} start  left end by node
 */

/** @typedef {{from: number, to: number, width: number}} Range  weights, shown on `width` pixels */

/** @returns {Layout} */
export function layOut(tree, weights)
{
    const start = new Float64Array(tree.n);
    for (let node = 0; node < tree.n; node++) {
        let at = start[node];
        for (let child = weights.firstChild[node]; child !== 0;
             child = weights.nextSibling[child]) {
            start[child] = at;
            at += weights.total[child];
        }
    }
    return {tree, weights, start};
}

/**
 * Calls draw(node, depth, left, width) for each box at least partly in the range, parents first, in
 * pixels; node -1 stands for several that are too narrow. Depth 0 is node 0.
 * @param {Layout} layout
 * @param {Range} range
 * @param {number} maxDepth  boxes deeper than this are not asked for
 * @param {(node: number, depth: number, left: number, width: number) => void} draw
 */
export function forEachBox(layout, range, maxDepth, draw)
{
    const {weights, start} = layout, {total, firstChild, nextSibling} = weights;
    const scale = range.width / (range.to - range.from);
    const nodes = [0], depths = [0];
    while (nodes.length > 0) {
        const node = /** @type {number} */ (nodes.pop());
        const depth = /** @type {number} */ (depths.pop());
        draw(node, depth, (start[node] - range.from) * scale, total[node] * scale);
        if (depth >= maxDepth)
            continue;
        for (let child = firstChild[node]; child !== 0; child = nextSibling[child]) {
            const left = (start[child] - range.from) * scale, width = total[child] * scale;
            if (left >= range.width)
                break;
            if (left + width <= 0)
                continue;
            if (width < NARROWEST) {
                drawRest(layout, child, depth + 1, left, scale, draw);
                break;
            }
            nodes.push(child);
            depths.push(depth + 1);
        }
    }
}

/** `node` and all siblings after it, as one box. */
function drawRest({tree, weights, start}, node, depth, left, scale, draw)
{
    const parent = tree.parent[node];
    const end = start[parent] + weights.total[parent] - weights.self[parent];
    const width = (end - start[node]) * scale;
    if (width >= NARROWEST)
        draw(-1, depth, left, width);
}

/** Of the boxes in the range. @param {Layout} layout @param {Range} range */
export function deepest(layout, range)
{
    let max = 0;
    forEachBox(layout, range, Infinity, (_node, depth) => {
        if (depth > max)
            max = depth;
    });
    return max;
}

/** The node at a weight on the x axis and a depth, -1 if there is none. @param {Layout} layout */
export function nodeAt(layout, x, depth)
{
    const {weights, start} = layout;
    if (x < 0 || x >= weights.total[0])
        return -1;
    let node = 0;
    for (let level = 0; level < depth; level++) {
        let child = weights.firstChild[node];
        while (child !== 0 && x >= start[child] + weights.total[child])
            child = weights.nextSibling[child];
        if (child === 0)
            return -1;
        node = child;
    }
    return node;
}

/** @param {import("./tree.js").CallTree} tree */
export function depthOf(tree, node)
{
    let depth = 0;
    for (; node !== 0; node = tree.parent[node])
        depth++;
    return depth;
}
