/* lines.js - self and total of each line of source, as sampler list has them (output/fold/summary.c). */

/**
 * Lines that frames execute, numbered from 1; 0: none is known.
 * @typedef {object} Lines
 * @property {number} n
 * @property {number[]} file         text, by line
 * @property {number[]} number       by line: where in the file, from 1
 * @property {Uint32Array} ofFrame
 */

/** @param {import("./profile.js").Profile} profile @returns {Lines} */
export function listLines({frames, functions})
{
    const file = [0], number = [0], ofFrame = new Uint32Array(frames.n);
    const known = new Map();
    for (let frame = 1; frame < frames.n; frame++) {
        const itsFile = frames.file[frame] || functions.file[frames.fn[frame]];
        if (frames.line[frame] === 0 || itsFile === 0)
            continue;
        const key = itsFile * 2 ** 32 + frames.line[frame];
        let line = known.get(key);
        if (line === undefined) {
            line = file.push(itsFile) - 1;
            number.push(frames.line[frame]);
            known.set(key, line);
        }
        ofFrame[frame] = line;
    }
    return {n: file.length, file, number, ofFrame};
}

/**
 * By line. In a stack that has it several times, a line counts once for its total.
 * @param {import("./profile.js").Profile} profile
 * @param {Lines} lines
 * @param {Float64Array} weights  by stack
 */
export function weighLines({stacks}, {n, ofFrame}, weights)
{
    const self = new Float64Array(n), total = new Float64Array(n), lastLeaf = new Uint32Array(n);
    for (let leaf = 1; leaf < stacks.n; leaf++) {
        const weight = weights[leaf];
        if (weight === 0)
            continue;
        self[ofFrame[stacks.frame[leaf]]] += weight;
        for (let stack = leaf; stack !== 0; stack = stacks.parent[stack]) {
            const line = ofFrame[stacks.frame[stack]];
            if (lastLeaf[line] !== leaf)
                total[line] += weight;
            lastLeaf[line] = leaf;
        }
    }
    return {self, total};
}

/** Files that have any weight, most self time first. @returns {{file: number, self: number}[]} */
export function listFiles({n, file}, {self, total})
{
    const sums = new Map();
    for (let line = 1; line < n; line++) {
        const sum = sums.get(file[line]) || {file: file[line], self: 0, most: 0};
        sum.self += self[line];
        sum.most = Math.max(sum.most, total[line]);
        sums.set(file[line], sum);
    }
    return [...sums.values()]
        .filter(({most}) => most > 0)
        .sort((a, b) => b.self - a.self || b.most - a.most);
}

/** The lines of a file, by number. */
export function linesOfFile({n, file, number}, wanted)
{
    const lines = new Map();
    for (let line = 1; line < n; line++)
        if (file[line] === wanted)
            lines.set(number[line], line);
    return lines;
}

/** The function each line is of; of several (it was inlined, or is of a template), that of most weight. */
export function functionsOfLines({frames}, {n, ofFrame}, weightOfFunctions)
{
    const fns = new Uint32Array(n);
    for (let frame = 1; frame < frames.n; frame++) {
        const line = ofFrame[frame], fn = frames.fn[frame];
        if (fns[line] === 0 || weightOfFunctions[fn] > weightOfFunctions[fns[line]])
            fns[line] = fn;
    }
    return fns;
}
