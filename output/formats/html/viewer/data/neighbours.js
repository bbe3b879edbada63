/* neighbours.js - callers and callees of a function, each as a tree whose node 0 stands for it.
 *
 *   callees  down from the function: what its time consists of
 *   callers  up from the function: through whom it came
 *
 * As `sampler tree --callees` and `--callers` have them: of a function that calls itself, the
 * outermost of its frames counts, so the sum is its total. */
import {addUp, forEachNode, TreeBuilder} from "./tree.js";

/** @typedef {{tree: import("./tree.js").CallTree, weights: import("./tree.js").TreeWeights}} Weighed */

/** @param {Weighed} whole @param {number} fn @returns {Weighed} */
export function calleesOf({tree, weights}, fn)
{
    const tops = outermost(tree, weights, fn), builder = new TreeBuilder(1000);
    const place = new Uint32Array(tree.n), isBelow = new Uint8Array(tree.n);
    const self = new Float64Array(tree.n);
    for (const top of tops) {
        isBelow[top] = 1;
        self[0] += weights.self[top];
    }
    for (let node = 1; node < tree.n; node++) {
        const parent = tree.parent[node];
        if (isBelow[parent] === 0 || isBelow[node] !== 0)
            continue;
        isBelow[node] = 1;
        place[node] = builder.add(place[parent], tree.fn[node], tree.isInlined[node] !== 0);
        self[place[node]] += weights.self[node];
    }
    return weighed(builder, self);
}

/** @param {Weighed} whole @param {number} fn @returns {Weighed} */
export function callersOf({tree, weights}, fn)
{
    const builder = new TreeBuilder(1000), self = [0];
    for (const top of outermost(tree, weights, fn)) {
        let place = 0;
        for (let node = tree.parent[top]; node !== 0; node = tree.parent[node])
            place = builder.add(place, tree.fn[node], tree.isInlined[node] !== 0);
        self[place] = (self[place] || 0) + weights.total[top];
    }
    return weighed(builder, Float64Array.from({length: builder.n}, (_, node) => self[node] || 0));
}

function weighed(builder, self)
{
    const tree = builder.finish();
    return {tree, weights: addUp(tree, self.slice(0, tree.n))};
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
