/* spans.js - samples of a profile that has only spans: formats of traces have begin and end of calls.
 *
 * One sample for each interval in which a span is the innermost of its thread, as
 * profile_spans_to_samples does in output/model/convert.c: from there on the page knows samples only. */
import {UNIT} from "./profile.js";

/**
 * The tables with samples and their stacks in place of the spans. Spans come by thread, begin, and
 * the longer first, as the file has them.
 * @param {import("./sprofile.js").Sprofile} tables
 * @returns {import("./sprofile.js").Sprofile}
 */
export function withSamplesOfSpans(tables)
{
    const {n, thread, frame, beginNs, endNs} = tables.spans;
    const outer = new Uint32Array(n), stacks = new StackTable(), stackOf = new Uint32Array(n);
    /** @type {{[column: string]: number[]}} */
    const samples = {thread: [], stack: [], timeNs: [], value0: []};
    let inner = 0, clockNs = 0;
    const sampleUntil = (ns) => {
        if (inner === 0 || ns <= clockNs)
            return;
        samples.thread.push(thread[inner]);
        samples.stack.push(stackOf[inner]);
        samples.timeNs.push(clockNs);
        samples.value0.push(ns - clockNs);
        clockNs = ns;
    };
    const leaveTo = (span, limitNs) => {
        for (; inner !== span; inner = outer[inner])
            sampleUntil(Math.min(endNs[inner], limitNs));
    };
    for (let span = 1; span < n; span++) {
        let around = span - 1; // the innermost that holds this one
        while (around !== 0 && (thread[around] !== thread[span] || endNs[around] < endNs[span]))
            around = outer[around];
        outer[span] = around;
        stackOf[span] = stacks.add(stackOf[around], frame[span]);
        if (inner !== 0 && thread[inner] !== thread[span])
            leaveTo(0, Infinity);
        leaveTo(around, beginNs[span]);
        sampleUntil(beginNs[span]);
        clockNs = beginNs[span];
        inner = span;
    }
    leaveTo(0, Infinity);
    const one = (number) => new Float64Array([number]);
    return {
        ...tables,
        isOfSpans: true,
        scalars: {
            ...tables.scalars,
            nKinds: one(1),
            kindName0: one(0),
            kindUnit0: one(UNIT.NS),
            periodNs: one(0),
            hasTimes: one(1)
        },
        stacks: stacks.table(),
        samples: {
            n: samples.stack.length,
            thread: Uint32Array.from(samples.thread),
            stack: Uint32Array.from(samples.stack),
            timeNs: Float64Array.from(samples.timeNs),
            value0: Float64Array.from(samples.value0),
        },
    };
}

/** Stacks in the making, each once. */
class StackTable {
    constructor()
    {
        this.parents = [0];
        this.frames = [0];
        this.known = new Map(); // parent and frame -> stack
    }

    add(parent, frame)
    {
        const key = parent * 2 ** 32 + frame;
        if (!this.known.has(key)) {
            this.known.set(key, this.parents.length);
            this.parents.push(parent);
            this.frames.push(frame);
        }
        return this.known.get(key);
    }

    table()
    {
        return {
            n: this.parents.length,
            parent: Uint32Array.from(this.parents),
            frame: Uint32Array.from(this.frames)
        };
    }
}
