/* help.js - profiles for the tests of the viewer, as .sprofile files made here byte by byte. */
import zlib from "node:zlib";

function varint(number)
{
    const bytes = [];
    for (let rest = BigInt(number);; rest >>= 7n) {
        bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
        if (rest <= 0x7fn)
            return bytes;
    }
}

const zigzag = (step) => (step >= 0n ? step * 2n : -step * 2n - 1n);

/** The three encodings of a column. */
export const same = (number) => [0, ...varint(number)];
export const plain = (unit, numbers) => [1, ...varint(unit), ...numbers.flatMap(varint)];
export function deltas(unit, numbers)
{
    const bytes = [2, ...varint(unit), ...varint(numbers[0])];
    for (let i = 1; i < numbers.length; i++) {
        let step = BigInt.asIntN(64, BigInt(numbers[i]) - BigInt(numbers[i - 1]));
        bytes.push(...varint(zigzag(step / BigInt(unit))));
    }
    return bytes;
}

/** A block of a table; `columns` are those above. */
export function block(table, firstRow, nRows, columns, after = [])
{
    const content = Buffer.from([columns.length, ...columns.flat(), ...after]);
    const data = zlib.deflateSync(content), header = Buffer.alloc(32);
    header.write("BLCK", 0, "latin1");
    header.writeUInt32LE(table, 4);
    header.writeUInt32LE(firstRow, 8);
    header.writeUInt32LE(nRows, 16);
    header.writeUInt32LE(data.length, 20);
    header.writeUInt32LE(content.length, 24);
    return Buffer.concat([header, data]);
}

export function end()
{
    const header = Buffer.alloc(32);
    header.write("BLCK", 0, "latin1");
    return header;
}

export function file(...blocks)
{
    const header = Buffer.alloc(16);
    header.write("SPROFILE", 0, "latin1");
    header.writeUInt32LE(1, 8);
    return new Uint8Array(Buffer.concat([header, ...blocks]));
}

/** Texts 1, 2, ... */
export function texts(list)
{
    const bytes = list.map((text) => Buffer.from(text));
    return block(1, 1, list.length, [plain(1, bytes.map((each) => each.length))],
                 [...Buffer.concat(bytes)]);
}

export const UNITS = {
    count: 1,
    ns: 2,
    events: 4
};

/** Kinds: [number of the name's text, unit]. */
export function scalars({period = 0, kinds = [[0, UNITS.ns]], hasTimes = true})
{
    const numbers = [0, 0, 0, period, Number(hasTimes), kinds.length];
    for (let i = 0; i < 4; i++)
        numbers.push(...(kinds[i] || [0, 0]));
    return block(2, 0, 1, numbers.map(same));
}

/**
 * A profile of stacks, as [names from the outermost, weight]; a name in (round brackets) is idle.
 * Numbers of functions are those of their first occurrence, from 1.
 */
export function profileOf(stacks)
{
    const names = [], rows = [], samples = [];
    for (const [path, weight] of stacks) {
        let parent = 0;
        for (const name of path) {
            if (!names.includes(name))
                names.push(name);
            const frame = names.indexOf(name) + 1;
            let row = rows.findIndex((each) => each[0] === parent && each[1] === frame);
            if (row < 0)
                row = rows.push([parent, frame]) - 1;
            parent = row + 1;
        }
        samples.push([parent, weight]);
    }
    const ids = names.map((_, i) => i + 1), n = names.length;
    return file(
        texts(names), scalars({}), block(4, 1, n, [plain(1, ids), ...new Array(5).fill(same(0))]),
        block(5, 1, n,
              [
                  plain(1, ids), same(0), same(0),
                  plain(1, names.map((name) => name.startsWith("(") ? 16 : 0)), same(0), same(0)
              ]),
        block(6, 1, rows.length,
              [plain(1, rows.map((row) => row[0])), plain(1, rows.map((row) => row[1]))]),
        block(10, 0, samples.length,
              [
                  same(0), plain(1, samples.map((each) => each[0])), same(0),
                  plain(1, samples.map((each) => each[1]))
              ]),
        end());
}
