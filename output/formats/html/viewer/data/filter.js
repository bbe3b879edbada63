/* filter.js - a part of the profile: some threads, processes or labels, and a span of time.
 *
 * As --thread, --process, --label, --from and --to of the tools (output/select/select.h), but that
 * what is chosen is a name or a number and no regular expression. Of threads that share their number, as
 * those of a process before and after exec, or have none, one is chosen by "#" and its place in the profile. */
import {FRAME} from "./profile.js";

/**
 * @typedef {object} Filter  "": all of them. A name, or a number
 * @property {string} thread
 * @property {string} process
 * @property {string} label
 * @property {number} fromNs  taken in fromNs <= time < toNs
 * @property {number} toNs    Infinity: no end
 */

/** @type {Filter} */
export const EVERYTHING = {
    thread: "",
    process: "",
    label: "",
    fromNs: 0,
    toNs: Infinity
};

/** @param {Filter} filter */
export function isEverything(filter)
{
    return Object.entries(EVERYTHING).every(([key, value]) => filter[key] === value);
}

/**
 * Whether a sample is one of those, by its number.
 * @param {import("./profile.js").Profile} profile
 * @param {Filter} filter
 * @returns {(sample: number) => boolean}
 */
export function sampleFilter(profile, filter)
{
    const {thread, stack, timeNs} = profile.samples, {fromNs, toNs} = filter;
    const isThread = wantedThreads(profile, filter), isLabel = wantedStacks(profile, filter.label);
    return (sample) => isThread[thread[sample]] !== 0 && timeNs[sample] >= fromNs &&
                       timeNs[sample] < toNs && (isLabel === null || isLabel[stack[sample]] !== 0);
}

/** 1 for each thread that is wanted. @returns {Uint8Array} */
export function wantedThreads(profile, {thread, process})
{
    const {threads, processes} = profile, wanted = new Uint8Array(threads.n);
    for (let id = 0; id < threads.n; id++)
        wanted[id] = Number(
            (thread === "#" + id || isMeant(thread, threads.tid[id], profile.threadName(id))) &&
            isMeant(process, processes.pid[threads.process[id]],
                    profile.processName(threads.process[id])));
    return wanted;
}

/** What chooses one thread alone. @param {import("./profile.js").Profile} profile @returns {string} */
export function threadKey({threads}, thread)
{
    const tid = threads.tid[thread];
    const isAlone = tid !== 0 && threads.tid.filter((other) => other === tid).length === 1;
    return isAlone ? String(tid) : "#" + thread;
}

function isMeant(text, number, name)
{
    return text === "" || text === name || (/^\d+$/.test(text) && Number(text) === number);
}

/** null: all are. */
function wantedStacks(profile, label)
{
    if (label === "")
        return null;
    const labels = labelsOfStacks(profile), wanted = new Uint8Array(labels.length);
    for (let stack = 0; stack < labels.length; stack++)
        wanted[stack] =
            Number(labels[stack] !== 0 && profile.functionName(labels[stack]) === label);
    return wanted;
}

/** The label each stack is under, as a function; 0: none. @returns {Uint32Array} */
export function labelsOfStacks({stacks, frames})
{
    const {n, parent, frame} = stacks, labels = new Uint32Array(n);
    for (let stack = 1; stack < n; stack++)
        labels[stack] = parent[stack] !== 0                        ? labels[parent[stack]]
                        : frames.flags[frame[stack]] & FRAME.LABEL ? frames.fn[frame[stack]]
                                                                   : 0;
    return labels;
}

/**
 * What there is to choose from, by name, the most weight first: threads that share a name are one choice. `all` is
 * what all samples weigh, with a name or without.
 * @typedef {{value: string, n: number, weight: number}} Choice  n: threads or processes of that name
 * @param {import("./profile.js").Profile} profile
 * @returns {{thread: Choice[], process: Choice[], label: Choice[], all: number}}
 */
export function listChoices(profile)
{
    const {thread, stack, n, ["value" + profile.summed.kind]: values} = profile.samples;
    const ofThread = new Float64Array(profile.threads.n),
          ofStack = new Float64Array(profile.stacks.n);
    let all = 0;
    for (let i = 0; i < n; i++) {
        const weight = profile.isIdle(stack[i]) ? 0 : values[i] * profile.summed.multiplier;
        all += weight;
        ofThread[thread[i]] += weight;
        ofStack[stack[i]] += weight;
    }
    const ofProcess = new Float64Array(profile.processes.n);
    for (let id = 1; id < profile.threads.n; id++)
        ofProcess[profile.threads.process[id]] += ofThread[id];
    const ofLabel = new Float64Array(profile.functions.n);
    const labels = labelsOfStacks(profile);
    for (let id = 1; id < labels.length; id++)
        ofLabel[labels[id]] += ofStack[id];
    return {
        thread: byName(ofThread, (id) => profile.threadName(id)),
        process: byName(ofProcess, (id) => profile.processName(id)),
        label: byName(ofLabel, (id) => profile.functionName(id)),
        all,
    };
}

/** Number 0 stands for none. */
function byName(weights, nameOf)
{
    const choices = new Map();
    for (let id = 1; id < weights.length; id++) {
        if (weights[id] === 0 || nameOf(id) === "")
            continue;
        const choice = choices.get(nameOf(id)) || {value: nameOf(id), n: 0, weight: 0};
        choice.n++;
        choice.weight += weights[id];
        choices.set(choice.value, choice);
    }
    return [...choices.values()].sort((a, b) => b.weight - a.weight);
}
