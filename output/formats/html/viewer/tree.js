/* tree.js - the call tree: stacks merged from the outermost frame, a node for each path of functions.
 *
 * Its shape is made once. What nodes weigh follows from what stacks weigh, by one pass, so that a
 * filter costs no new tree. Nodes are numbers, and their fields typed arrays: a tree of 200 000
 * nodes is then made and weighed within a tenth of a second. Node 0 stands above all; a parent has a
 * smaller number than its children. */
import {FRAME} from "./profile.js";

/**
 * @typedef {object} CallTree
 * @property {number} n
 * @property {Uint32Array} parent
 * @property {Uint32Array} fn           function of a node
 * @property {Uint8Array} isInlined     1: in each of its stacks inlined into its parent
 * @property {Uint32Array} nodeOfStack  node at which a stack ends
 */

/**
 * @typedef {object} TreeWeights
 * @property {Float64Array} self        of stacks that end here
 * @property {Float64Array} total
 * @property {Uint32Array} firstChild   0: none. Children: most total first, then by function;
 * @property {Uint32Array} nextSibling  those that weigh nothing are not among them
 */

/** @param {import("./profile.js").Profile} profile @returns {CallTree} */
export function growTree(profile)
{
    const {parent, frame, n: nStacks} = profile.stacks;
    const nMost = nStacks + 1;
    const tree = {
        n: 1,
        parent: new Uint32Array(nMost),
        fn: new Uint32Array(nMost),
        isInlined: new Uint8Array(nMost).fill(1),
        nodeOfStack: new Uint32Array(nStacks),
    };
    const children = new NodeIndex(tree, nMost);
    for (let stack = 0; stack < nStacks; stack++) {
        const above = parent[stack] === 0 ? 0 : tree.nodeOfStack[parent[stack]];
        const node = children.findOrAdd(above, profile.frames.fn[frame[stack]]);
        if ((profile.frames.flags[frame[stack]] & FRAME.INLINED) === 0)
            tree.isInlined[node] = 0;
        tree.nodeOfStack[stack] = node;
    }
    tree.isInlined[0] = 0;
    tree.parent = tree.parent.slice(0, tree.n);
    tree.fn = tree.fn.slice(0, tree.n);
    tree.isInlined = tree.isInlined.slice(0, tree.n);
    return tree;
}

/** Nodes by parent and function: a table with open addressing, as a Map of pairs takes seconds. */
class NodeIndex {
    constructor(tree, nMost)
    {
        this.tree = tree;
        this.mask = 2 ** Math.ceil(Math.log2(nMost * 2 + 2)) - 1;
        this.slots = new Uint32Array(this.mask + 1); // 0: free
    }

    findOrAdd(parent, fn)
    {
        const {tree, slots, mask} = this;
        let slot = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(fn, 0x85ebca6b)) >>> 0;
        for (slot = (slot ^ (slot >>> 15)) & mask;; slot = (slot + 1) & mask) {
            const node = slots[slot];
            if (node === 0) {
                slots[slot] = tree.n;
                tree.parent[tree.n] = parent;
                tree.fn[tree.n] = fn;
                return tree.n++;
            }
            if (tree.parent[node] === parent && tree.fn[node] === fn)
                return node;
        }
    }
}

/** @param {CallTree} tree @param {Float64Array} stackWeights @returns {TreeWeights} */
export function weighTree(tree, stackWeights)
{
    const self = new Float64Array(tree.n);
    for (let stack = 0; stack < stackWeights.length; stack++)
        self[tree.nodeOfStack[stack]] += stackWeights[stack];
    const total = self.slice();
    for (let node = tree.n - 1; node > 0; node--)
        total[tree.parent[node]] += total[node];
    return {self, total, ...orderChildren(tree, total)};
}

/** Sorted as a whole, lightest first; each then goes before those of its parent that are there. */
function orderChildren(tree, total)
{
    const order = [];
    for (let node = 1; node < tree.n; node++)
        if (total[node] > 0)
            order.push(node);
    order.sort((a, b) => total[a] - total[b] || tree.fn[b] - tree.fn[a]);
    const firstChild = new Uint32Array(tree.n), nextSibling = new Uint32Array(tree.n);
    for (const node of order) {
        nextSibling[node] = firstChild[tree.parent[node]];
        firstChild[tree.parent[node]] = node;
    }
    return {firstChild, nextSibling};
}

/**
 * Self and total of each function; total counts a stack once, however often the function recurs.
 * @param {CallTree} tree
 * @param {TreeWeights} weights
 * @param {number} nFunctions
 */
export function sumFunctions(tree, weights, nFunctions)
{
    const self = new Float64Array(nFunctions), total = new Float64Array(nFunctions);
    const onPath = new Uint32Array(nFunctions);
    forEachNode(weights, (node) => {
        const fn = tree.fn[node];
        self[fn] += weights.self[node];
        if (onPath[fn]++ === 0)
            total[fn] += weights.total[node];
    }, (node) => onPath[tree.fn[node]]--);
    return {self, total};
}

/** Depth-first: enter(node), then its children, then leave(node). Node 0 is not visited. */
export function forEachNode(weights, enter, leave = (_node) => {})
{
    const path = [];
    let node = weights.firstChild[0];
    while (node !== 0) {
        enter(node);
        if (weights.firstChild[node] !== 0) {
            path.push(node);
            node = weights.firstChild[node];
            continue;
        }
        leave(node);
        while (weights.nextSibling[node] === 0 && path.length > 0) {
            node = /** @type {number} */ (path.pop());
            leave(node);
        }
        node = weights.nextSibling[node];
    }
}
