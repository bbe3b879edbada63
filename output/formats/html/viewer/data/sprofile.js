/* sprofile.js - reads a .sprofile file (docs/formats/sprofile.md) into arrays of numbers.
 *
 * The page carries the same bytes that `sampler top` reads, so there is one encoding, and what the
 * page shows can be held against the tools. Blocks are zlib data, which browsers unpack themselves;
 * a column becomes a typed array, as a million objects would be slow and ten times as large.
 *
 * Not read: columns that nothing here shows (addresses), and numbers are doubles, exact to 2^53
 * (104 days in nanoseconds). */

const MAGIC = "SPROFILE";
const VERSION = 1;
const FILE_HEADER_BYTES = 16;
const BLOCK_HEADER_BYTES = 32;
const BLOCK_MAGIC = 0x4b434c42; // "BLCK"
const TEXTS = 1, SCALARS = 2, SAMPLES = 10;
const TWO_64 = 2 ** 64;

const ID = "id";         // Uint32Array
const NUMBER = "number"; // Float64Array
const SKIP = "skip";

/** Tables by number: name, number of the first row, columns in the file's order. */
const TABLES = {
    2: table("scalars", 0,
             [
                 ["startTimeNs", NUMBER], ["startRealtimeNs", NUMBER], ["durationNs", NUMBER],
                 ["periodNs", NUMBER], ["hasTimes", NUMBER], ["nKinds", NUMBER], ["kindName0", ID],
                 ["kindUnit0", ID], ["kindName1", ID], ["kindUnit1", ID], ["kindName2", ID],
                 ["kindUnit2", ID], ["kindName3", ID], ["kindUnit3", ID]
             ]),
    3: table("modules", 1, [["path", ID], ["buildId", ID], ["start", SKIP], ["end", SKIP]]),
    4: table("functions", 1,
             [
                 ["name", ID], ["systemName", ID], ["file", ID], ["line", ID], ["column", ID],
                 ["module", ID]
             ]),
    5: table("frames", 1,
             [
                 ["fn", ID], ["line", ID], ["column", SKIP], ["flags", ID], ["address", SKIP],
                 ["file", ID]
             ]),
    6: table("stacks", 1, [["parent", ID], ["frame", ID]]),
    7: table(
        "processes", 1,
        [["name", ID], ["pid", NUMBER], ["ppid", NUMBER], ["startNs", NUMBER], ["endNs", NUMBER]]),
    8: table("threads", 1,
             [
                 ["process", ID], ["name", ID], ["tid", NUMBER], ["startNs", NUMBER],
                 ["endNs", NUMBER], ["cpuNs", NUMBER]
             ]),
    9: table("metadata", 0, [["key", ID], ["value", ID]]),
    10: table("samples", 0,
              [
                  ["thread", ID], ["stack", ID], ["timeNs", NUMBER], ["value0", NUMBER],
                  ["value1", NUMBER], ["value2", NUMBER], ["value3", NUMBER]
              ]),
    11: table("spans", 1, [["thread", ID], ["frame", ID], ["beginNs", NUMBER], ["endNs", NUMBER]]),
};

function table(name, firstRow, columns)
{
    return {name, firstRow, columns};
}

/** What a table holds: n rows (the "none" row 0 counts), and an array for each column. */
/** @typedef {{n: number, [column: string]: any}} Table */

/**
 * @typedef {object} Sprofile
 * @property {Texts} texts
 * @property {Table} scalars
 * @property {Table} modules
 * @property {Table} functions
 * @property {Table} frames
 * @property {Table} stacks
 * @property {Table} processes
 * @property {Table} threads
 * @property {Table} metadata
 * @property {Table} samples
 * @property {Table} spans
 * @property {boolean} [isOfSpans]  what samples there are was made of spans (spans.js)
 */

/** The texts, decoded when they are asked for: most never are. */
export class Texts {
    constructor(nTexts)
    {
        this.n = nTexts;
        this.bytes = /** @type {Uint8Array[]} */ (new Array(nTexts));
        this.decoded = /** @type {string[]} */ (new Array(nTexts));
        this.decoder = new TextDecoder();
        this.decoded[0] = "";
    }

    /** @returns {string} */
    get(id)
    {
        let text = this.decoded[id];
        if (text === undefined)
            text = this.decoded[id] = this.decoder.decode(this.bytes[id]);
        return text;
    }
}

/**
 * @param {Uint8Array} bytes
 * @returns {Promise<Sprofile>}
 * @throws {Error} of a file that is cut short or damaged: the page shows all or says why not
 */
export async function readSprofile(bytes)
{
    const blocks = findBlocks(bytes);
    const contents = await Promise.all(blocks.map((block) => inflate(block.data)));
    const nRows = new Float64Array(32);
    for (const block of blocks)
        nRows[block.table] = Math.max(nRows[block.table], block.firstRow + block.nRows);

    const texts = new Texts(Math.max(1, nRows[TEXTS]));
    const profile = /** @type {Sprofile} */ (/** @type {unknown} */ ({texts}));
    for (const [number, {name, firstRow, columns}] of Object.entries(TABLES)) {
        const n = Math.max(firstRow, nRows[number]);
        profile[name] = {n};
        for (const [column, type] of columns)
            if (type !== SKIP)
                profile[name][column] = type === ID ? new Uint32Array(n) : new Float64Array(n);
    }
    blocks.forEach((block, i) => {
        if (block.table === TEXTS)
            readTexts(contents[i], block, texts);
        else if (TABLES[block.table] !== undefined)
            readRows(contents[i], block, profile[TABLES[block.table].name]);
    });
    if (nRows[SCALARS] === 0)
        throw damaged("it has no scalars");
    return profile;
}

function damaged(why)
{
    return new Error("The profile in this page is damaged: " + why + ".");
}

function findBlocks(bytes)
{
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const magic = String.fromCharCode(...bytes.subarray(0, MAGIC.length));
    if (bytes.length < FILE_HEADER_BYTES || magic !== MAGIC)
        throw damaged("it does not begin with " + MAGIC);
    if (view.getUint32(8, true) !== VERSION)
        throw damaged("its version is " + view.getUint32(8, true));
    const blocks = [];
    for (let at = FILE_HEADER_BYTES; at + BLOCK_HEADER_BYTES <= bytes.length;) {
        if (view.getUint32(at, true) !== BLOCK_MAGIC)
            throw damaged("no block at byte " + at);
        const table = view.getUint32(at + 4, true);
        if (table === 0)
            return blocks;
        const storedBytes = view.getUint32(at + 20, true);
        const data = at + BLOCK_HEADER_BYTES;
        blocks.push({
            table,
            firstRow: view.getUint32(at + 8, true) + view.getUint32(at + 12, true) * 2 ** 32,
            nRows: view.getUint32(at + 16, true),
            data: bytes.subarray(data, data + storedBytes),
        });
        at = data + storedBytes;
    }
    throw damaged("it was cut short");
}

async function inflate(data)
{
    const {DecompressionStream} = /** @type {any} */ (globalThis); // younger than our tsc
    const stream = new Blob([data]).stream().pipeThrough(new DecompressionStream("deflate"));
    try {
        return new Uint8Array(await new Response(stream).arrayBuffer());
    } catch {
        throw damaged("a block does not unpack");
    }
}

function readTexts(content, block, texts)
{
    const lengths = new Uint32Array(block.nRows);
    let at = readColumn(content, 1, block.nRows, lengths, 0);
    for (let i = 0; i < block.nRows; i++) {
        texts.bytes[block.firstRow + i] = content.subarray(at, at + lengths[i]);
        at += lengths[i];
    }
}

/** Columns this reader does not know come last and are left alone. */
function readRows(content, block, rows)
{
    const columns = TABLES[block.table].columns;
    let nColumns = content[0];
    if (block.table !== SAMPLES)
        nColumns = Math.min(nColumns, columns.length);
    let at = 1;
    for (let i = 0; i < nColumns && i < columns.length; i++)
        at = readColumn(content, at, block.nRows, rows[columns[i][0]], block.firstRow);
}

/**
 * One column into out[first], out[first + 1] ...; `out` undefined: only walked over. Returns the
 * offset after it. The loops are by hand, as four million numbers pass here.
 */
function readColumn(content, start, n, out, first)
{
    let at = start + 1;
    const number = () => {
        let byte = content[at++], value = byte & 0x7f;
        for (let scale = 128; byte > 127; scale *= 128) {
            byte = content[at++];
            value += (byte & 0x7f) * scale;
        }
        return value;
    };
    const encoding = content[start];
    const unit = number(); // of encoding 0: the number itself
    if (encoding === 0) {
        if (out !== undefined)
            out.fill(unit, first, first + n);
    } else if (encoding === 1) {
        for (let i = 0; i < n; i++) {
            const value = unit * number();
            if (out !== undefined)
                out[first + i] = value;
        }
    } else if (encoding === 2) {
        let value = number();
        if (out !== undefined)
            out[first] = value;
        for (let i = 1; i < n; i++) {
            const zigzag = number();
            value += unit * (zigzag % 2 === 0 ? zigzag / 2 : -(zigzag + 1) / 2);
            if (value < 0)
                value += TWO_64;
            else if (value >= TWO_64)
                value -= TWO_64;
            if (out !== undefined)
                out[first + i] = value;
        }
    } else {
        throw damaged("a column of kind " + encoding);
    }
    if (at > content.length)
        throw damaged("a block ends within a column");
    return at;
}
