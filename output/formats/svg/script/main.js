/* main.js - what can be done with the picture in a browser: it fills the window, a click zooms, names are
 * searched, and what the mouse points at is said below. Without this it is the same picture, at rest. */
import {searchNames, searchPattern} from "../../html/viewer/data/search.js";
import {percent} from "../../html/viewer/words/format.js";
import {fitName} from "../../html/viewer/words/names.js";

import {matchedShare, placeIn, readBoxes, titleOf} from "./boxes.js";

const SVG = "http://www.w3.org/2000/svg", HTML = "http://www.w3.org/1999/xhtml";
const MARGIN_PX = 8, TEXT_MARGIN_PX = 4, SEARCH_PX = 560;
const NARROWEST_PX = 0.1, EDGED_PX = 4;

class Picture {
    /** @param {SVGSVGElement} root */
    constructor(root)
    {
        this.root = root;
        this.drawing = /** @type {SVGSVGElement} */ (root.querySelector(".boxes"));
        this.details = /** @type {SVGTextElement} */ (root.querySelector(".foot text"));
        this.atRest = this.details.textContent;
        this.boxes = readBoxes(this.drawing);
        this.unsearched = unsearchedWords(this.drawing);
        this.boxOf = new Map(this.boxes.map((box) => [box.element, box]));
        this.zoomed = this.boxes[0];
        this.width = 0;
        this.height = Number(root.getAttribute("height")); // of all there is
        this.columnPx = this.measureColumn();
        this.addStyle();
        this.search = this.addSearch();
        this.listen();
        root.setAttribute("width", "100%");
        root.removeAttribute("viewBox");
        this.resize();
        window.scrollTo(0, document.documentElement.scrollHeight);
    }

    /** The width of a letter as the browser draws it. */
    measureColumn()
    {
        const text = this.drawing.appendChild(document.createElementNS(SVG, "text"));
        text.textContent = "0".repeat(100);
        const width = text.getComputedTextLength() / 100;
        text.remove();
        return width;
    }

    addStyle()
    {
        const style = this.root.appendChild(document.createElementNS(SVG, "style"));
        style.textContent =
            ".sampler .boxes>svg{cursor:pointer}.sampler .boxes text{pointer-events:none}" +
            ".sampler .boxes>svg:hover>rect{stroke:#0b1b33;stroke-width:2}" +
            ".sampler .faded>rect{fill:#e6e9ed}.sampler .faded>text{fill:#7a828d}" +
            ".sampler .controls{font:12px system-ui,sans-serif;color-scheme:light dark;text-align:right;white-space:nowrap}" +
            ".sampler .controls *{font:inherit;margin:0 0 0 6px}.sampler .controls output{color:#888}" +
            ".sampler .controls input{width:17em}" +
            "@media(prefers-color-scheme:dark){.sampler .boxes>svg:hover>rect{stroke:#fff}" +
            ".sampler .faded>rect{fill:#2a2f36}.sampler .faded>text{fill:#7d8792}}";
    }

    addSearch()
    {
        const place = this.root.appendChild(document.createElementNS(SVG, "foreignObject"));
        place.setAttribute("y", "26");
        place.setAttribute("width", String(SEARCH_PX));
        place.setAttribute("height", "26");
        const element = (parent, name) => parent.appendChild(document.createElementNS(HTML, name));
        const controls = element(place, "div");
        controls.className = "controls";
        const output = element(controls, "output"), input = element(controls, "input");
        const button = element(controls, "button");
        input.type = "search";
        input.placeholder = "search (regular expression)";
        input.setAttribute("aria-label", "Search names");
        button.textContent = "Show all";
        button.hidden = true;
        return {place, output, input, button};
    }

    listen()
    {
        this.drawing.addEventListener("click",
                                      (event) => this.zoomTo(this.boxAt(event) || this.boxes[0]));
        this.drawing.addEventListener("mouseover", (event) => this.say(this.boxAt(event)));
        this.drawing.addEventListener("mouseleave", () => this.say(undefined));
        this.search.input.addEventListener("input", () => this.find());
        this.search.button.addEventListener("click", () => this.zoomTo(this.boxes[0]));
        window.addEventListener("resize", () => this.resize());
        window.addEventListener("keydown", (event) => this.onKey(event));
    }

    boxAt(event)
    {
        return this.boxOf.get(event.target.closest(".boxes>svg"));
    }

    onKey(event)
    {
        const {input} = this.search, isTyping = document.activeElement === input;
        const isSearch = (event.key === "/" && !isTyping) || event.key === "F3" ||
                         ((event.ctrlKey || event.metaKey) && event.key === "f");
        if (isSearch) {
            event.preventDefault();
            input.focus();
            input.select();
        } else if (event.key === "Escape") {
            if (isTyping || input.value !== "") {
                input.value = "";
                input.blur();
                this.find();
            } else {
                this.zoomTo(this.boxes[0]);
            }
        }
    }

    /** What is known of a box, in one line. */
    say(box)
    {
        this.details.textContent =
            box === undefined ? this.atRest : titleOf(box.element).split("\n").join(" \u00b7 ");
    }

    resize()
    {
        const width = Math.max(1, this.root.clientWidth || window.innerWidth);
        if (document.documentElement.isSameNode(this.root)) // and not part of a page
            this.root.setAttribute("height", String(Math.max(this.height, window.innerHeight)));
        this.width = width - 2 * MARGIN_PX;
        this.drawing.setAttribute("width", String(this.width));
        this.search.place.setAttribute("x", String(width - SEARCH_PX - MARGIN_PX));
        this.draw();
    }

    zoomTo(box)
    {
        this.zoomed = box;
        this.search.button.hidden = box.isRoot;
        this.draw();
    }

    draw()
    {
        for (const box of this.boxes) {
            const place = placeIn(box, this.zoomed), {element} = box;
            const widthPx = place === null ? 0 : (place.end - place.start) * this.width;
            element.style.display = widthPx < NARROWEST_PX ? "none" : "";
            if (place === null || widthPx < NARROWEST_PX)
                continue;
            element.setAttribute("x", 100 * place.start + "%");
            element.setAttribute("width", 100 * (place.end - place.start) + "%");
            element.classList.toggle("e", widthPx >= EDGED_PX);
            this.label(box, widthPx);
        }
    }

    label(box, widthPx)
    {
        const columns = Math.floor((widthPx - 2 * TEXT_MARGIN_PX) / this.columnPx);
        const fitted = box.mark === "" ? "" : fitName(box.shortName, columns - box.mark.length - 1);
        const words = fitted === "" ? fitName(box.shortName, columns) : fitted + " " + box.mark;
        let text = box.element.querySelector("text");
        if (text === null && words !== "") {
            text = box.element.appendChild(document.createElementNS(SVG, "text"));
            text.setAttribute("x", String(TEXT_MARGIN_PX));
            text.setAttribute("y", "12.7");
        }
        if (text !== null && text.textContent !== words)
            text.textContent = words;
    }

    find()
    {
        const {pattern, problem} = searchPattern(this.search.input.value);
        const names = this.boxes.map(({isRoot, name}) => isRoot ? "" : name);
        const found =
            searchNames(pattern === null ? 0 : names.length, (i) => names[i], pattern || /^/);
        const matches = new Set(this.boxes.filter(({isRoot}, i) => !isRoot && found.matches[i]));
        for (const box of this.boxes)
            box.element.classList.toggle("faded", pattern !== null && !matches.has(box));
        const share = percent(matchedShare(this.boxes, matches), 1) + " matched" + this.unsearched;
        this.search.output.textContent = pattern === null ? "" : found.problem || share;
        this.search.output.title = problem;
    }
}

/** What the search cannot find; "" if that is nothing. */
function unsearchedWords(drawing)
{
    const share = percent(Number(drawing.dataset.leftOut || 0), 1);
    return share === "0.0%" ? "" : "; " + share + " too narrow to search";
}

const script = /** @type {Element} */ (/** @type {unknown} */ (document.currentScript));
new Picture(/** @type {SVGSVGElement} */ (script.closest("svg.sampler")));
