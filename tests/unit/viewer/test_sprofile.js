/* test_sprofile.js - the page's reader of .sprofile files: encodings, texts, damage. */
import assert from "node:assert";
import fs from "node:fs";
import test from "node:test";

import {readSprofile} from "../../../output/formats/html/viewer/data/sprofile.js";

import {block, deltas, end, file, plain, same, scalars, texts, UNITS} from "./help.js";

test("each encoding of a column", async () => {
    const read = await readSprofile(
        file(scalars({}),
             block(8, 1, 3,
                   [
                       same(0), plain(1, [3, 300, 2 ** 31]), deltas(5, [1000000, 5, 2 ** 40 * 5]),
                       same(2 ** 52), deltas(1, [0n, 2n ** 64n - 4096n, 8192n]), same(9)
                   ]),
             end()));
    assert.deepEqual([...read.threads.name], [0, 3, 300, 2 ** 31]);
    assert.deepEqual([...read.threads.tid], [0, 1000000, 5, 2 ** 40 * 5]);
    assert.deepEqual([...read.threads.startNs], [0, 2 ** 52, 2 ** 52, 2 ** 52]);
    assert.deepEqual([...read.threads.endNs], [0, 0, 2 ** 64 - 4096, 8192]);
    assert.deepEqual([...read.threads.cpuNs], [0, 9, 9, 9]);
});

test("texts are UTF-8, in several blocks", async () => {
    const more = block(1, 3, 1, [same(3)], [...Buffer.from("abc")]);
    const read = await readSprofile(file(texts(["é<&", ""]), more, scalars({}), end()));
    assert.deepEqual([0, 1, 2, 3].map((id) => read.texts.get(id)), ["", "é<&", "", "abc"]);
});

test("rows of later blocks, columns and tables that are not known", async () => {
    const columns = (n) => [same(1), same(2), same(3), plain(1, [n]), same(4), same(5), same(6),
                            same(7), same(8)];
    const read = await readSprofile(file(scalars({kinds: [[0, UNITS.count], [0, UNITS.ns]]}),
                                         block(10, 0, 1, columns(11)), block(10, 1, 1, columns(22)),
                                         block(77, 0, 1, [same(1)]), end()));
    assert.deepEqual([...read.samples.value0], [11, 22]);
    assert.equal(read.samples.n, 2);
});

test("a file of the tool", async () => {
    const path = new URL("../../data/sprofile/version-1.sprofile", import.meta.url);
    const read = await readSprofile(new Uint8Array(fs.readFileSync(path)));
    assert.ok(read.samples.n > 0);
    for (const stack of read.samples.stack)
        assert.ok(stack < read.stacks.n);
});

test("damage is told", async () => {
    const good = file(scalars({}), end());
    await readSprofile(good);
    const cases = [
        [good.slice(0, good.length - 32), /cut short/],
        [good.slice(1), /does not begin/],
        [file(end()), /no scalars/],
        [file(Buffer.from("no block at all, but more than 32 bytes")), /no block at byte 16/],
        [file(block(6, 1, 2, [[1, 1, 5], same(0)]), end()), /ends within a column/],
        [file(block(6, 1, 1, [[7, 1], same(0)]), end()), /column of kind 7/],
    ];
    for (const [bytes, message] of cases)
        await assert.rejects(readSprofile(bytes), message);
    const later = Uint8Array.from(good);
    later[8] = 2;
    await assert.rejects(readSprofile(later), /version is 2/);
    const flipped = Uint8Array.from(good);
    flipped[16 + 32 + 8] ^= 0xff;
    await assert.rejects(readSprofile(flipped), /does not unpack/);
});
