/* tooltip.js - what the pointer is on, beside the pointer. */
import {showDetails} from "./details.js";

const AWAY_PX = 14;

export class Tooltip {
    /** @param {HTMLElement} element */
    constructor(element)
    {
        this.element = element;
    }

    /** @param {import("./details.js").Details} details */
    show(details, x, y)
    {
        showDetails(this.element, details);
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
    }
}
