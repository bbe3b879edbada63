/* source.js - source files with the weight of each line, as sampler list shows them.
 *
 * The text is there if it was embedded (--embed-source); else lines are numbers. Of a file with
 * more lines than a page holds well, those far from any weight are left out, then those of least weight. */
import {functionsOfLines, linesOfFile, listFiles, weighLines} from "../data/lines.js";
import {isOwn, plainPath} from "../data/path.js";
import {percent} from "../words/format.js";

import {make} from "./details.js";
import {appendRows, listenToRows} from "./rows.js";

const MOST_WHOLE = 5000; // lines
const CONTEXT = 50;      // lines on each side, of longer ones
const MOST_ROWS = 5000;
const MOST_CHOICES = 500;

export class SourceView {
    /**
     * @param {HTMLElement} section
     * @param {object} actions
     * @param {(file: string) => void} actions.choose
     * @param {(fn: number, details: import("./details.js").Details) => void} actions.select
     *   a line; `fn`: the function it is of, the one of most weight if it is of several
     * @param {(fn: number) => void} actions.open
     */
    constructor(section, actions)
    {
        this.section = section;
        this.actions = actions;
        this.choice = /** @type {HTMLSelectElement} */ (section.querySelector("select"));
        this.remark = /** @type {HTMLElement} */ (section.querySelector("p"));
        this.body = /** @type {HTMLElement} */ (section.querySelector("tbody"));
        this.scene = /** @type {any} */ (null);
        this.sums = {self: new Float64Array(0), total: new Float64Array(0)};
        this.fns = new Uint32Array(0); // of lines
        this.shown = "";               // file and line that were scrolled to
        this.path = "";
        this.ofFile = new Map();
        this.choice.addEventListener("change", () => actions.choose(this.choice.value));
        listenToRows(this.body, {
            select: (row) => this.select(row),
            open: (row) => {
                const line = this.lineOf(row);
                if (line !== 0)
                    actions.open(this.fns[line]);
            },
        });
    }

    /**
     * @param {import("../scene.js").Scene} scene
     * @param {{file: string, line: number}} place  "": the user's own with most time
     */
    show(scene, place)
    {
        const {profile, lines} = scene;
        if (this.scene === null || this.scene.weighed !== scene.weighed) {
            this.sums = weighLines(profile, lines, scene.weighed.weights);
            this.fns = functionsOfLines(profile, lines, scene.sums.total);
        }
        this.scene = scene;
        const files = listFiles(lines, this.sums);
        const paths = files.map(({file}) => profile.texts.get(file));
        const isThere = (path) => profile.sourceText(path) !== null;
        this.path = place.file || paths.find((path) => isThere(path) && isOwn(path)) ||
                    paths.find(isThere) || paths[0] || "";
        this.showChoices(files.slice(0, MOST_CHOICES));
        this.showLines(place.line);
        const shown = this.path + ":" + place.line;
        if (shown !== this.shown)
            this.scrollTo(place.line);
        this.shown = shown;
    }

    showChoices(files)
    {
        const {profile, weighed} = this.scene;
        const options = files.map(({file, self}) => {
            const path = profile.texts.get(file);
            return new Option(plainPath(path) + " " + percent(self, weighed.all), path);
        });
        if (!options.some(({value}) => value === this.path) && this.path !== "")
            options.push(new Option(this.path, this.path));
        this.choice.replaceChildren(...options);
        this.choice.value = this.path;
    }

    showLines(line)
    {
        const {profile, lines} = this.scene, text = profile.sourceText(this.path);
        const file = lines.file.find((id) => profile.texts.get(id) === this.path);
        this.ofFile = file === undefined ? new Map() : linesOfFile(lines, file);
        const texts = text === null ? [] : text.replace(/\n$/, "").split(/\r?\n/);
        this.remark.textContent =
            text !== null
                ? ""
                : "The text of this file is not in the page; sampler view puts it there, or --embed-source.";
        const rows = [];
        let before = 0;
        for (const number of this.numbersOf(texts.length, line)) {
            if (number !== before + 1 && text !== null)
                rows.push(gap());
            rows.push(this.makeRow(number, texts[number - 1] || ""));
            before = number;
        }
        this.body.replaceChildren();
        appendRows(this.body, rows);
    }

    /** Lines to show, ascending: the heaviest and what is around them, as many as a page holds well. */
    numbersOf(nLines, line)
    {
        const {total} = this.sums, isWhole = nLines <= MOST_WHOLE;
        const weighed = [...this.ofFile]
                            .filter(([, id]) => total[id] > 0)
                            .sort((a, b) => total[b[1]] - total[a[1]])
                            .map(([number]) => number);
        const wanted = new Set();
        const addNear = (number, nBefore, nAfter) => {
            const last = Math.min(nLines, number + nAfter);
            for (let near = Math.max(1, number - nBefore); near <= last; near++)
                wanted.add(near);
        };
        if (isWhole)
            addNear(1, 0, nLines);
        else if (line > 0)
            addNear(line, CONTEXT, CONTEXT);
        for (const number of weighed) {
            if (wanted.size >= MOST_ROWS)
                break;
            wanted.add(number);
            if (!isWhole)
                addNear(number, CONTEXT, CONTEXT);
        }
        return [...wanted].sort((a, b) => a - b);
    }

    makeRow(number, text)
    {
        const id = this.ofFile.get(number) || 0;
        const row = make("tr", "", "");
        row.dataset.line = String(number);
        row.tabIndex = -1;
        row.append(...this.makeCells(id, "self"), ...this.makeCells(id, "total"),
                   make("td", "number line", String(number)), make("td", "text", text));
        return row;
    }

    /** Share and weight of a line, empty if it has none. @param {"self" | "total"} what */
    makeCells(id, what)
    {
        const {weighed, format, colorOfFunction} = this.scene;
        const weight = id === 0 ? 0 : this.sums[what][id];
        if (weight === 0)
            return [make("td", "number", ""), make("td", "number", "")];
        const share = make("td", "number share", percent(weight, weighed.all));
        share.style.setProperty("--share", 100 * weight / weighed.all + "%");
        share.style.setProperty("--color", colorOfFunction(this.fns[id]));
        return [share, make("td", "number", format(weight))];
    }

    /** Its line's id, 0: it has no weight. */
    lineOf(row)
    {
        return (row !== null && this.ofFile.get(Number(row.dataset.line))) || 0;
    }

    select(row)
    {
        const {profile, weighed, format} = this.scene, line = this.lineOf(row), fn = this.fns[line];
        const both = (weight) => percent(weight, weighed.all) + " " + format(weight);
        if (line === 0)
            return;
        this.actions.select(fn, {
            name: profile.functionName(fn),
            numbers: [
                ["total of the line", both(this.sums.total[line])],
                ["self of the line", both(this.sums.self[line])]
            ],
            places: [plainPath(this.path) + ":" + row.dataset.line],
        });
    }

    /** To a line, or the heaviest; it gets the focus by Tab. */
    scrollTo(line)
    {
        const {self, total} = this.sums;
        let best = line;
        if (line === 0)
            for (const [number, id] of this.ofFile)
                if (best === 0 || self[id] > self[this.ofFile.get(best)] ||
                    (self[id] === self[this.ofFile.get(best)] &&
                     total[id] > total[this.ofFile.get(best)]))
                    best = number;
        const row = /** @type {HTMLElement | null} */ (
            this.body.querySelector("[data-line=\"" + best + "\"]"));
        if (row === null) {
            if (line !== 0)
                this.scrollTo(0);
            return;
        }
        row.tabIndex = 0;
        row.scrollIntoView({block: "center"});
        if (line !== 0)
            row.focus({preventScroll: true});
    }
}

function gap()
{
    const row = make("tr", "gap", ""),
          cell = /** @type {HTMLTableCellElement} */ (make("td", "", "..."));
    cell.colSpan = 6;
    row.append(cell);
    return row;
}
