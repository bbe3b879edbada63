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
 * @property {Uint32Array} fn         function of a node
 * @property {Uint8Array} isInlined  1: in each of its stacks inlined into its parent
 */

/**
 * @typedef {object} TreeWeights
 * @property {Float64Array} self        of stacks that end here
 * @property {Float64Array} total
 * @property {Uint32Array} firstChild   0: none. Children: most total first, then by function;
 * @property {Uint32Array} nextSibling  those that weigh nothing are not among them
 * @property {Sides | null} sides       null: of one run
 * @property {boolean} isOfCallers      `self` is no self time: it is what a function below has (neighbours.js)
 */

/**
 * Of a profile of two runs, whose weights are those of both together.
 * @typedef {object} Sides
 * @property {{self: Float64Array, total: Float64Array}} before  what of it was before
 * @property {Float64Array} squares  of how far the change of the total may be off by chance
 */

/** The tree of a profile's stacks. @param {import("./profile.js").Profile} profile */
export function growTree(profile)
{
    const {parent, frame, n: nStacks} = profile.stacks;
    const builder = new TreeBuilder(nStacks), nodeOfStack = new Uint32Array(nStacks);
    for (let stack = 0; stack < nStacks; stack++) {
        const above = parent[stack] === 0 ? 0 : nodeOfStack[parent[stack]];
        const isInlined = (profile.frames.flags[frame[stack]] & FRAME.INLINED) !== 0;
        nodeOfStack[stack] = builder.add(above, profile.frames.fn[frame[stack]], isInlined);
    }
    return {...builder.finish(), nodeOfStack};
}

/** A tree in the making: nodes by parent and function. A table with open addressing finds them, as a
 * Map of pairs takes seconds. */
export class TreeBuilder {
    /** @param {number} nExpected  nodes there is room for at first */
    constructor(nExpected)
    {
        this.n = 1;
        this.parent = new Uint32Array(0);
        this.fn = new Uint32Array(0);
        this.isInlined = new Uint8Array(0);
        this.slots = new Uint32Array(0); // nodes; 0: free
        this.reserve(nExpected + 1);
    }

    /** Room for `n` nodes. */
    reserve(n)
    {
        this.parent = extended(this.parent, new Uint32Array(n));
        this.fn = extended(this.fn, new Uint32Array(n));
        this.isInlined = extended(this.isInlined, new Uint8Array(n).fill(1, 1));
        this.slots = new Uint32Array(2 ** Math.ceil(Math.log2(n * 2)));
        for (let node = 1; node < this.n; node++)
            this.slots[this.find(this.parent[node], this.fn[node])] = node;
    }

    /** The node for `fn` below `parent`, made if there is none. */
    add(parent, fn, isInlined)
    {
        const slot = this.find(parent, fn);
        const node = this.slots[slot] || this.n;
        if (!isInlined)
            this.isInlined[node] = 0;
        if (node < this.n)
            return node;
        this.slots[slot] = node;
        this.parent[node] = parent;
        this.fn[node] = fn;
        this.n++;
        if (this.n === this.parent.length)
            this.reserve(this.n * 2);
        return node;
    }

    /** The slot of the node for `fn` below `parent`, or the free one where it belongs. */
    find(parent, fn)
    {
        const {slots} = this, mask = slots.length - 1;
        let slot = Math.imul(parent, 0x9e3779b1) ^ Math.imul(fn, 0x85ebca6b);
        slot = (slot ^ (slot >>> 15)) & mask;
        for (; slots[slot] !== 0; slot = (slot + 1) & mask)
            if (this.parent[slots[slot]] === parent && this.fn[slots[slot]] === fn)
                break;
        return slot;
    }

    /** @returns {CallTree} */
    finish()
    {
        return {
            n: this.n,
            parent: this.parent.slice(0, this.n),
            fn: this.fn.slice(0, this.n),
            isInlined: this.isInlined.slice(0, this.n)
        };
    }
}

function extended(array, longer)
{
    longer.set(array);
    return longer;
}

/**
 * @param {CallTree & {nodeOfStack: Uint32Array}} tree
 * @param {Float64Array} stackWeights
 */
export function weighTree(tree, stackWeights)
{
    return addUp(tree, ofNodes(tree, stackWeights));
}

/**
 * The same of two runs.
 * @param {CallTree & {nodeOfStack: Uint32Array}} tree
 * @param {{weights: Float64Array, before: Float64Array}} weighed  by stack
 * @param {Float64Array} intervals  by stack, of its total
 */
export function weighTreeOfTwo(tree, {weights, before}, intervals)
{
    const squares = ofNodes(tree, intervals.map((interval) => interval ** 2));
    return addUp(tree, ofNodes(tree, weights), {self: ofNodes(tree, before), squares});
}

/** By node, from what is by stack. */
function ofNodes({n, nodeOfStack}, ofStacks)
{
    const values = new Float64Array(n);
    for (let stack = 0; stack < ofStacks.length; stack++)
        values[nodeOfStack[stack]] += ofStacks[stack];
    return values;
}

/**
 * Totals and order, from what stacks that end at each node weigh.
 * @param {CallTree} tree
 * @param {Float64Array} self
 * @param {{self: Float64Array, squares: Float64Array} | null} sides  of two runs
 * @returns {TreeWeights}
 */
export function addUp(tree, self, sides = null)
{
    const total = totals(tree, self);
    return {
        self,
        total,
        ...orderChildren(tree, total),
        sides: sides && {
            before: {self: sides.self, total: totals(tree, sides.self)},
            squares: sides.squares,
        },
        isOfCallers: false,
    };
}

/** Of each node with all below it. */
export function totals(tree, self)
{
    const total = self.slice();
    for (let node = tree.n - 1; node > 0; node--)
        total[tree.parent[node]] += total[node];
    return total;
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
 * @param {{self: Float64Array, total: Float64Array}} summed  by node
 */
export function sumFunctions(tree, weights, nFunctions, summed = weights)
{
    const self = new Float64Array(nFunctions), total = new Float64Array(nFunctions);
    const onPath = new Uint32Array(nFunctions);
    forEachNode(weights, (node) => {
        const fn = tree.fn[node];
        self[fn] += summed.self[node];
        if (onPath[fn]++ === 0)
            total[fn] += summed.total[node];
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
