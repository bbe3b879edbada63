/* tooltip.js - what the pointer is on, beside the pointer. */
import {showDetails} from "./details.js";

const AWAY_PX = 14;

export class Tooltip {
    /** @param {HTMLElement} element @param {(node: number) => import("./details.js").Details} describe */
    constructor(element, describe)
    {
        this.element = element;
        this.describe = describe;
        this.node = -1;
    }

    show(node, x, y)
    {
        if (node !== this.node)
            showDetails(this.element, this.describe(node));
        this.node = node;
        this.element.hidden = false;
        const {offsetWidth: width, offsetHeight: height} = this.element;
        const left = Math.min(x + AWAY_PX, window.innerWidth - width - 4);
        const isBelow = y + AWAY_PX + height <= window.innerHeight;
        this.element.style.left = Math.max(4, left) + "px";
        this.element.style.top = Math.max(4, isBelow ? y + AWAY_PX : y - AWAY_PX - height) + "px";
    }

    hide()
    {
        this.element.hidden = true;
        this.node = -1;
    }
}
