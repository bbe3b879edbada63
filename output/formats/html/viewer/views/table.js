/* table.js - all functions, as a table: sorted by a click, filtered by the search, read by a screen
 * reader.
 *
 * A real <table>, so that text can be selected, found and read aloud; rows are made as they come in
 * sight, since a profile may have 50 000 functions. */
import {changeOfFunction} from "../data/changes.js";
import {baseName} from "../data/path.js";
import {chance, signed} from "../words/change.js";
import {percent} from "../words/format.js";

import {changeColor} from "./change_color.js";
import {make} from "./details.js";
import {appendRows, listenToRows} from "./rows.js";

const FIRST_ROWS = 200; // then as many again, so that the browser lays out few times
const OF_FUNCTION = [
    {key: "name", title: "Function", span: 1},
    {key: "module", title: "Module", span: 1},
    {key: "place", title: "Defined at", span: 1},
];
const COLUMNS = [
    {key: "self", title: "Self", span: 2},
    {key: "total", title: "Total", span: 2},
    ...OF_FUNCTION,
];
const COLUMNS_OF_TWO = [
    {key: "self", title: "Self before, after, change", span: 4},
    {key: "total", title: "Total before, after, change", span: 4},
    ...OF_FUNCTION,
];
const IS_WORDS = {
    name: true,
    module: true,
    place: true
}; // from a to z first

export class FunctionTable {
    /**
     * @param {HTMLElement} scroller
     * @param {boolean} isOfTwo  runs
     * @param {{select: (fn: number) => void, open: (fn: number) => void,
     *          sort: (how: string) => void}} actions
     */
    constructor(scroller, isOfTwo, actions)
    {
        this.scroller = scroller;
        this.actions = actions;
        this.body = /** @type {HTMLElement} */ (scroller.querySelector("tbody"));
        this.head = /** @type {HTMLElement} */ (scroller.querySelector("thead tr"));
        this.count = /** @type {HTMLElement} */ (scroller.querySelector("caption"));
        this.order = /** @type {number[]} */ ([]); // functions, as they stand in the table
        this.scene = /** @type {import("../scene.js").Scene | null} */ (null);
        this.sort = "";
        scroller.classList.toggle("of-two", isOfTwo);
        for (const column of isOfTwo ? COLUMNS_OF_TWO : COLUMNS)
            this.head.append(this.makeHeading(column));
        scroller.addEventListener("scroll", () => this.fill());
        const fnOf = (row) => Number(row.dataset.fn);
        listenToRows(this.body, {
            select: (row) => actions.select(fnOf(row)),
            open: (row) => actions.open(fnOf(row)),
            walked: () => this.fill(),
        });
    }

    makeHeading({key, title, span})
    {
        const heading = /** @type {HTMLTableCellElement} */ (make("th", key, ""));
        const button = make("button", "", title);
        heading.colSpan = span;
        heading.scope = "col";
        button.addEventListener("click",
                                () => this.actions.sort(this.sort === key ? "-" + key : key));
        heading.append(button);
        return heading;
    }

    /** @param {import("../scene.js").Scene} scene @param {string} sort */
    show(scene, sort)
    {
        const {sums, matches, profile} = scene;
        this.scene = scene;
        this.sort = sort;
        const all = [];
        for (let fn = 0; fn < profile.functions.n; fn++)
            if (sums.total[fn] > 0)
                all.push(fn);
        this.order = matches === null ? all : all.filter((fn) => matches[fn] !== 0);
        this.order.sort(comparison(scene, sort));
        this.count.textContent = matches === null
                                     ? all.length + " functions"
                                     : this.order.length + " of " + all.length + " functions match";
        const key = sort.replace("-", ""), isReversed = sort.startsWith("-");
        for (const heading of this.head.children) {
            const isOurs = heading.className === key;
            const isAscending = (IS_WORDS[key] === true) !== isReversed;
            heading.setAttribute("aria-sort", !isOurs       ? "none"
                                              : isAscending ? "ascending"
                                                            : "descending");
        }
        this.body.replaceChildren();
        this.fill();
    }

    /** Makes rows until those in sight are there. */
    fill()
    {
        const {scroller, body, order} = this;
        const rows = [];
        const isShort = scroller.scrollTop + 2 * scroller.clientHeight >= body.offsetHeight;
        if (!isShort || this.scene === null)
            return;
        const n = Math.min(order.length, FIRST_ROWS + 2 * body.children.length);
        for (let i = body.children.length; i < n; i++)
            rows.push(this.makeRow(order[i], i));
        appendRows(body, rows);
    }

    makeRow(fn, index)
    {
        const {profile, nameOf} = /** @type {import("../scene.js").Scene} */ (this.scene);
        const row = make("tr", "", "");
        row.dataset.fn = String(fn);
        row.tabIndex = index === 0 ? 0 : -1;
        const module = profile.functionModule(fn), name = make("td", "name", nameOf(fn));
        const place = profile.functionPlace(fn);
        name.title = profile.functionName(fn);
        const moduleCell = make("td", "module", baseName(module));
        const placeCell = make("td", "place", baseName(place));
        moduleCell.title = module;
        placeCell.title = place;
        row.append(...numberCells(this.scene, fn), name, moduleCell, placeCell);
        return row;
    }
}

function numberCells(scene, fn)
{
    const {all, sums, weighed, format, colorOfFunction} = scene;
    if (all !== null)
        return [...changeCells(scene, fn, "self"), ...changeCells(scene, fn, "total")];
    const self = make("td", "number share", percent(sums.self[fn], weighed.all));
    self.style.setProperty("--share", 100 * sums.self[fn] / weighed.all + "%");
    self.style.setProperty("--color", colorOfFunction(fn));
    return [
        self, make("td", "number", format(sums.self[fn])),
        make("td", "number", percent(sums.total[fn], weighed.all)),
        make("td", "number", format(sums.total[fn]))
    ];
}

/** @param {import("../scene.js").Scene} scene @param {"self" | "total"} what */
function changeCells(scene, fn, what)
{
    const {format, theme} = scene, change = changeOfFunction(scene, fn, what);
    const cell = make("td", "number", signed(change.after - change.before, format));
    cell.style.backgroundColor = changeColor(change, theme);
    return [
        make("td", "number", format(change.before)), make("td", "number", format(change.after)),
        cell, make("td", "number chance", chance(change, format))
    ];
}

/** What functions are sorted by: of two runs by the size of the change. */
function sizes({sums, profile}, what)
{
    if (profile.changes === null)
        return sums[what];
    return sums[what].map((_, fn) => {
        const {before, after} = changeOfFunction({sums, profile}, fn, what);
        return Math.abs(after - before);
    });
}

function comparison(scene, sort)
{
    const key = sort.replace("-", ""), sign = sort.startsWith("-") ? -1 : 1;
    const {profile} = scene;
    const text = {
        name: (fn) => profile.functionName(fn),
        module: (fn) => baseName(profile.functionModule(fn)),
        place: (fn) => baseName(profile.functionPlace(fn)),
    }[key];
    const self = sizes(scene, "self"), total = sizes(scene, "total");
    const byWeight = key === "total" ? (a, b) => total[b] - total[a] || self[b] - self[a] || a - b
                                     : (a, b) => self[b] - self[a] || total[b] - total[a] || a - b;
    if (text === undefined)
        return (a, b) => sign * byWeight(a, b);
    const {compare} = new Intl.Collator("en", {numeric: true});
    return (a, b) => sign * compare(text(a), text(b)) || byWeight(a, b);
}
