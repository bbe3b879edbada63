/* profile.js - the profile as the views ask for it: names, kinds of code, what is summed.
 *
 * Which number of a sample is summed, and what is idle, is decided as the tools do (fold_unit_choose
 * in output/fold/fold.c, weighing.c): what the page shows equals what `sampler top` prints. */

import {readChanges} from "./changes.js";
import {plainPath} from "./path.js";

export const FRAME = {
    INLINED: 1,
    CUT: 2,
    KERNEL: 4,
    GENERATED: 8,
    IDLE: 16,
    LABEL: 32
};

export const UNIT = {
    NONE: 0,
    COUNT: 1,
    NS: 2,
    BYTES: 3,
    EVENTS: 4
};

export class Profile {
    /** @param {import("./sprofile.js").Sprofile} tables */
    constructor(tables)
    {
        this.texts = tables.texts;
        this.functions = tables.functions;
        this.modules = tables.modules;
        this.frames = tables.frames;
        this.stacks = tables.stacks;
        this.threads = tables.threads;
        this.processes = tables.processes;
        this.samples = tables.samples;
        this.isOfSpans = tables.isOfSpans === true;
        this.hasTimes = tables.scalars.hasTimes[0] !== 0;
        this.startRealtimeNs = tables.scalars.startRealtimeNs[0];
        this.durationNs = tables.scalars.durationNs[0];
        this.periodNs = tables.scalars.periodNs[0];
        this.kinds = kindsOf(tables.scalars);
        this.metadata = metadataOf(tables);
        this.summed = chooseSummed(this.kinds, this.periodNs);
        this.changes = readChanges(this);
        this.names = /** @type {string[]} */ (new Array(this.functions.n));
    }

    /** As people read it; never empty. @param {number} id */
    functionName(id)
    {
        let name = this.names[id];
        if (name === undefined) {
            name = this.texts.get(this.functions.name[id]) ||
                   this.texts.get(this.functions.systemName[id]) || "[unknown]";
            this.names[id] = name;
        }
        return name;
    }

    /** Path of the program or library a function is in, "" if unknown. @param {number} id */
    functionModule(id)
    {
        return this.texts.get(this.modules.path[this.functions.module[id]]);
    }

    /** "file.c:12" where a function is defined, "" if unknown. @param {number} id */
    functionPlace(id)
    {
        const file = plainPath(this.texts.get(this.functions.file[id])),
              line = this.functions.line[id];
        return file === "" || line === 0 ? file : file + ":" + line;
    }

    /** As the tools name it: of threads without a name that of the process. May be "". */
    threadName(id)
    {
        return this.texts.get(this.threads.name[id]) || this.processName(this.threads.process[id]);
    }

    /** May be "". @param {number} id */
    processName(id)
    {
        return this.texts.get(this.processes.name[id]);
    }

    /** All there is of it; of several runs in one profile that is of each. @returns {string[]} */
    metadataOf(key)
    {
        return this.metadata.get(key) || [];
    }

    /** The text of a source file, null: it was not embedded (output/model/sources.h). */
    sourceText(path)
    {
        const texts = this.metadataOf("source:" + path);
        return texts.length === 0 ? null : texts[0];
    }

    isIdle(stack)
    {
        return (this.frames.flags[this.stacks.frame[stack]] & FRAME.IDLE) !== 0;
    }
}

/** @returns {Map<string, string[]>} */
function metadataOf({texts, metadata})
{
    const found = new Map();
    for (let i = 0; i < metadata.n; i++) {
        const key = texts.get(metadata.key[i]), value = texts.get(metadata.value[i]);
        if (found.has(key))
            found.get(key).push(value);
        else
            found.set(key, [value]);
    }
    return found;
}

function kindsOf(scalars)
{
    const kinds = [];
    for (let i = 0; i < scalars.nKinds[0]; i++)
        kinds.push({name: scalars["kindName" + i][0], unit: scalars["kindUnit" + i][0]});
    return kinds;
}

/** The kind that is summed, what each of its numbers is multiplied with, and the unit of the sum. */
function chooseSummed(kinds, periodNs)
{
    const ns = kinds.findIndex((kind) => kind.unit === UNIT.NS);
    const count = kinds.findIndex((kind) => kind.unit === UNIT.COUNT);
    if (kinds.length === 0)
        return {kind: 0, multiplier: 1, unit: UNIT.NS};
    if (ns !== 0 && count !== 0)
        return {kind: 0, multiplier: 1, unit: kinds[0].unit};
    if (ns >= 0)
        return {kind: ns, multiplier: 1, unit: UNIT.NS};
    if (periodNs !== 0)
        return {kind: count, multiplier: periodNs, unit: UNIT.NS};
    return {kind: count, multiplier: 1, unit: UNIT.COUNT};
}

/** The name of what is summed: "cpu", "wall", that of an event; "": unknown. @param {Profile} profile */
export function measureOf(profile)
{
    const {kind, unit} = profile.summed;
    const isOfKind = profile.kinds.length > 0 && profile.kinds[kind].unit === unit;
    return profile.changes !== null ? profile.changes.measure
           : isOfKind               ? profile.texts.get(profile.kinds[kind].name)
                                    : "";
}

/** The same in words: "CPU time", "samples", the name of an event. @param {Profile} profile */
export function measureWords(profile)
{
    const {unit} = profile.summed, name = measureOf(profile);
    if (unit === UNIT.NS)
        return name === "cpu" ? "CPU time" : name === "wall" ? "wall time" : "time";
    if (unit === UNIT.BYTES)
        return name || "bytes";
    if (unit === UNIT.EVENTS)
        return name || "events";
    return "samples";
}

/**
 * What the samples of each stack weigh together; of idle ones only the sum.
 * @param {Profile} profile
 * @param {(sample: number) => boolean} isTaken
 */
export function weighStacks(profile, isTaken)
{
    const {kind, multiplier} = profile.summed;
    const {n, stack, ["value" + kind]: values} = profile.samples;
    const weights = new Float64Array(profile.stacks.n);
    let idle = 0, all = 0;
    for (let i = 0; i < n; i++) {
        if (!isTaken(i))
            continue;
        const weight = values[i] * multiplier;
        if (profile.isIdle(stack[i])) {
            idle += weight;
        } else {
            weights[stack[i]] += weight;
            all += weight;
        }
    }
    return {weights, all, idle};
}
