/* sandwich.js - callers and callees of one function: it stands in the middle, above it the ways that
 * lead to it, below it what its time consists of. */
import {layOut} from "../data/layout.js";
import {calleesOf, callersOf} from "../data/neighbours.js";

import {describeFunction, showDetails} from "./details.js";
import {FlameGraph} from "./flame.js";

export class Sandwich {
    /**
     * @param {{head: HTMLElement, callers: HTMLElement, callees: HTMLElement}} elements
     * @param {(graph: () => FlameGraph) => import("./flame.js").FlameActions} makeActions
     */
    constructor(elements, makeActions)
    {
        this.head = elements.head;
        this.callers = new FlameGraph(elements.callers, makeActions(() => this.callers));
        this.callees = new FlameGraph(elements.callees, makeActions(() => this.callees));
        this.made = {callers: /** @type {any} */ (null), callees: /** @type {any} */ (null)};
        this.madeOf = {layout: /** @type {any} */ (null), fn: 0};
    }

    /** @param {import("../scene.js").Scene} scene @param {number} fn */
    show(scene, fn)
    {
        const {layout} = scene;
        if (this.madeOf.layout !== layout || this.madeOf.fn !== fn) {
            const callers = callersOf(layout, fn), callees = calleesOf(layout, fn);
            this.made = {
                callers: layOut(callers.tree, callers.weights),
                callees: layOut(callees.tree, callees.weights),
            };
            this.madeOf = {layout, fn};
        }
        showDetails(this.head, describeFunction(scene, fn));
        const rootName = scene.nameOf(fn);
        this.callers.show({scene, layout: this.made.callers, rootName, rootAtBottom: true});
        this.callees.show({scene, layout: this.made.callees, rootName, rootAtBottom: false});
    }
}
