/* activity.js - what threads did when: the weight of samples by bins of time and by group.
 *
 * A sample tells of the time before it, as long as its weight and back to the sample before at most:
 * spread over it, a busy thread shows as one level and not as a comb. In formats where a sample lasts
 * until the next one it is the time after it; which of the two a thread has is seen by what fits. */
import {UNIT} from "./profile.js";

/**
 * @typedef {object} Span  of time
 * @property {number} fromNs
 * @property {number} toNs
 */

/** From the first moment to the last; null: the profile has no times. @returns {Span | null} */
export function wholeSpan(profile)
{
    const {timeNs, n} = profile.samples;
    if (!profile.hasTimes || n === 0)
        return null;
    let toNs = profile.durationNs;
    for (let i = 0; i < n; i++)
        if (timeNs[i] >= toNs)
            toNs = timeNs[i] + 1; // it is within
    return {fromNs: 0, toNs};
}

/** Of each thread the samples, which are ordered by thread, then by time. */
export function samplesOfThreads({samples, threads})
{
    const first = new Uint32Array(threads.n + 1);
    for (let i = 0; i < samples.n; i++)
        first[samples.thread[i] + 1]++;
    for (let id = 0; id < threads.n; id++)
        first[id + 1] += first[id];
    return first;
}

/**
 * The weight of samples `first` to `end` - 1, all of one thread, added to bins[bin * nGroups + group].
 * @param {import("./profile.js").Profile} profile
 * @param {{first: number, end: number, isTaken: (sample: number) => boolean}} which
 * @param {Span} span
 * @param {{nGroups: number, groupOfStack: Uint8Array | Uint32Array, bins: Float64Array}} into
 */
export function addToBins(profile, {first, end, isTaken}, {fromNs, toNs},
                          {nGroups, groupOfStack, bins})
{
    const {stack, timeNs, ["value" + profile.summed.kind]: values} = profile.samples;
    const {multiplier, unit} = profile.summed, perNs = bins.length / nGroups / (toNs - fromNs);
    const isTime = unit === UNIT.NS, isForward = isTime && lastUntilTheNext(profile, first, end);
    for (let i = first; i < end; i++) {
        const weight = values[i] * multiplier;
        if (weight === 0 || !isTaken(i) || profile.isIdle(stack[i]))
            continue;
        const before = i > first ? timeNs[i - 1] : 0;
        const begin = !isTime || isForward ? timeNs[i] : Math.max(before, timeNs[i] - weight);
        const over = isForward ? timeNs[i] + weight : timeNs[i];
        if (over < fromNs || begin >= toNs)
            continue;
        spread(bins, nGroups, groupOfStack[stack[i]], (begin - fromNs) * perNs,
               (over - fromNs) * perNs, weight);
    }
}

/** Over the bins from `begin` to `end`, of which parts may lie outside. */
function spread(bins, nGroups, group, begin, end, weight)
{
    const nBins = bins.length / nGroups;
    const firstBin = Math.floor(begin), lastBin = Math.floor(end);
    if (firstBin === lastBin) {
        if (firstBin >= 0 && firstBin < nBins)
            bins[firstBin * nGroups + group] += weight;
        return;
    }
    const each = weight / (end - begin);
    for (let bin = Math.max(0, firstBin); bin <= Math.min(nBins - 1, lastBin); bin++)
        bins[bin * nGroups + group] += each * (Math.min(bin + 1, end) - Math.max(bin, begin));
}

/** Whether samples tell of the time after them: none reaches beyond the next, and some would reach
 * back beyond the one before. */
function lastUntilTheNext({samples, summed}, first, end)
{
    const {timeNs, ["value" + summed.kind]: values} = samples;
    let isBackward = first < end && values[first] * summed.multiplier <= timeNs[first];
    for (let i = first + 1; i < end; i++) {
        const elapsed = timeNs[i] - timeNs[i - 1];
        if (values[i - 1] * summed.multiplier > elapsed)
            return false;
        if (values[i] * summed.multiplier > elapsed)
            isBackward = false;
    }
    return !isBackward;
}

/**
 * What pictures of time are drawn from.
 * @typedef {object} Activity
 * @property {string} key      another one when the rest is
 * @property {Span} whole
 * @property {Uint32Array} firstSample  by thread, and one more
 * @property {number} nGroups
 * @property {Uint8Array} groupOfStack
 * @property {string[]} colors          of the groups but the last, which is what was not searched for
 * @property {(sample: number) => boolean} isTaken  at any time
 */

/** Weights by bin and group. @param {number[]} threads @returns {Float64Array} */
export function binsOf(profile, {firstSample, nGroups, groupOfStack, isTaken}, threads, span, nBins)
{
    const bins = new Float64Array(nBins * nGroups);
    for (const thread of threads)
        addToBins(profile, {first: firstSample[thread], end: firstSample[thread + 1], isTaken},
                  span, {nGroups, groupOfStack, bins});
    return bins;
}

/** The largest sum of a bin, and of more than one the largest mean of `nNeighbours` in a row: one tick
 * that stands for more than has passed since the one before does not make all else small. */
export function largestBin(bins, nGroups, nNeighbours = 1)
{
    const nBins = bins.length / nGroups, sums = new Float64Array(nBins);
    const nEach = Math.max(1, Math.min(nNeighbours, nBins));
    let largest = 0, sum = 0;
    for (let bin = 0; bin < nBins; bin++) {
        for (let group = 0; group < nGroups; group++)
            sums[bin] += bins[bin * nGroups + group];
        sum += sums[bin] - (bin >= nEach ? sums[bin - nEach] : 0);
        largest = Math.max(largest, sum / nEach);
    }
    return largest;
}

/** The function whose self time weighs most within the span, in one thread; -1: none was seen. */
export function heaviestWithin(profile, {firstSample, isTaken}, thread, {fromNs, toNs})
{
    const {stack, timeNs, ["value" + profile.summed.kind]: values} = profile.samples;
    const weights = new Map();
    let best = -1;
    for (let i = firstAtOrAfter(timeNs, firstSample[thread], firstSample[thread + 1], fromNs);
         i < firstSample[thread + 1] && timeNs[i] < toNs; i++) {
        if (!isTaken(i) || profile.isIdle(stack[i]))
            continue;
        const fn = profile.frames.fn[profile.stacks.frame[stack[i]]];
        weights.set(fn, (weights.get(fn) || 0) + values[i]);
        if (best < 0 || weights.get(fn) > weights.get(best))
            best = fn;
    }
    return best;
}

function firstAtOrAfter(timeNs, first, end, ns)
{
    while (first < end) {
        const middle = (first + end) >>> 1;
        if (timeNs[middle] < ns)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}
