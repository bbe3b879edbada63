/* neighbours.js - callers and callees of a function, each as a tree whose node 0 stands for it.
 *
 *   callees  down from the function: what its time consists of
 *   callers  up from the function: through whom it came
 *
 * As `sampler tree --callees` and `--callers` have them: of a function that calls itself, the
 * outermost of its frames counts, so the sum is its total. Of two runs, chance adds up by
 * squares, as that of boxes which have nothing to do with each other. */
import {addUp, forEachNode, totals, TreeBuilder} from "./tree.js";

/** @typedef {{tree: import("./tree.js").CallTree, weights: import("./tree.js").TreeWeights}} Weighed */

/** @param {Weighed} whole @param {number} fn @returns {Weighed} */
export function calleesOf({tree, weights}, fn)
{
    const builder = new TreeBuilder(1000);
    const place = new Uint32Array(tree.n), isBelow = new Uint8Array(tree.n);
    for (const top of outermost(tree, weights, fn))
        isBelow[top] = 1;
    for (let node = 1; node < tree.n; node++) {
        const parent = tree.parent[node];
        if (isBelow[parent] === 0 || isBelow[node] !== 0)
            continue;
        isBelow[node] = 1;
        place[node] = builder.add(place[parent], tree.fn[node], tree.isInlined[node] !== 0);
    }
    const made = builder.finish();
    const gather = (values) => {
        const sums = new Float64Array(made.n);
        for (let node = 1; node < tree.n; node++)
            if (isBelow[node] !== 0)
                sums[place[node]] += values[node];
        return sums;
    };
    const {self, sides} = weights;
    return {
        tree: made,
        weights: addUp(made, gather(self), sides && {
            self: gather(sides.before.self),
            squares: gather(sides.squares),
        }),
    };
}

/** What ends at a caller is the function's, and not the caller's own.
 * @param {Weighed} whole @param {number} fn @returns {Weighed} */
export function callersOf({tree, weights}, fn)
{
    const builder = new TreeBuilder(1000), tops = outermost(tree, weights, fn);
    const ends = tops.map((top) => {
        let place = 0;
        for (let node = tree.parent[top]; node !== 0; node = tree.parent[node])
            place = builder.add(place, tree.fn[node], tree.isInlined[node] !== 0);
        return place;
    });
    const made = builder.finish();
    const gather = (values) => {
        const sums = new Float64Array(made.n);
        tops.forEach((top, i) => sums[ends[i]] += values[top]);
        return sums;
    };
    const {total, sides} = weights;
    const summed = addUp(made, gather(total), sides && {
        self: gather(sides.before.total),
        squares: totals(made, gather(sides.squares)),
    });
    return {tree: made, weights: {...summed, isOfCallers: true}};
}

/** Nodes of the function that have none of it above them, and weigh something. */
function outermost(tree, weights, fn)
{
    const found = [];
    let nAbove = 0;
    forEachNode(weights,
                (node) => {
                    if (tree.fn[node] === fn && nAbove++ === 0)
                        found.push(node);
                },
                (node) => {
                    if (tree.fn[node] === fn)
                        nAbove--;
                });
    return found;
}
