/* account.js - what the profile is of, and what it explains: the first thing to know of it.
 *
 * The account is of whole runs, and the profile may be of a part of them. One read from another format has no
 * account, and then only what was measured is said. */
import {readAccount} from "../data/account.js";
import {baseName} from "../data/path.js";
import {measureOf, measureWords, UNIT} from "../data/profile.js";

import {fixed, grouped, percent, several, weightFormat} from "./format.js";

/** A share below this is drawn as a warning. */
const GOOD_SHARE = 0.99;
/** A profile that is less off than this of what the account explains is all of it. */
const WHOLE = 1e-3;
const NAMELESS_SHARE = 0.02;
const TRUNCATED_SHARE = 0.01;
/** Why time was lost, in words; the keys are those of docs/account.md. */
const LOSSES = new Map([
    ["disk_full", "no room for the recording"],
    ["no_stream", "threads without a place in the recording"],
    ["tail", "ends of threads"],
    ["blocked", "threads that block our signal"],
]);

/**
 * @param {import("../data/profile.js").Profile} profile
 * @param {{all: number, idle: number}} weighed
 * @returns {{title: string, facts: string[], problems: string[]}}
 */
export function describeAccount(profile, weighed)
{
    const {unit} = profile.summed;
    const account = unit === UNIT.NS || unit === UNIT.EVENTS ? readAccount(profile) : null;
    const format = weightFormat(unit, weighed.all);
    const measure = measureWords(profile);
    const unitWord = unit === UNIT.NS ? " of " + measure : " " + measure;
    const facts = [format(weighed.all) + unitWord];
    const problems = [];
    if (account !== null)
        addShares(account, profile, weighed, facts, problems);
    if (unit === UNIT.NS && profile.samples.n > 0 && !profile.isOfSpans)
        facts.push(grouped(profile.samples.n) + (profile.samples.n === 1 ? " sample" : " samples") +
                   rateWords(account));
    const date = dateWords(profile.startRealtimeNs);
    if (date !== "")
        facts.push(date);
    facts.push(...hostWords(profile));
    return {title: titleOf(profile), facts, problems};
}

function titleOf(profile)
{
    const [commands, programs] =
        ["command", "exe"].map((key) => profile.metadataOf(key).filter((text) => text !== ""));
    return several(commands) || several(programs) || "Profile";
}

/** None where it is not known. @param {import("../data/profile.js").Profile} profile @returns {string[]} */
export function hostWords(profile)
{
    const hosts = several(profile.metadataOf("host"));
    return hosts === "" ? [] : ["on " + hosts];
}

function rateWords(account)
{
    const rate = account === null ? null : account.rateHz;
    return rate === null ? "" : " at " + fixed(rate, 0) + " Hz";
}

/** @param {import("../data/account.js").Account} account */
function addShares(account, profile, {all, idle}, facts, problems)
{
    const {unit} = profile.summed, {explained, used} = account;
    const format = (weight) => weightFormat(unit, weight)(weight);
    if (used !== null && used > 0) {
        const isPart = Math.abs(all + idle - explained) > WHOLE * explained;
        const share = isPart ? "part of" : percent(explained, used) + " of";
        const isBad = !isPart && explained < GOOD_SHARE * used;
        (isBad ? problems : facts).push(share + " the " + format(used) + usedWords(profile));
    }
    for (const [reason, weight] of Object.entries(account.lost))
        if (weight > 0)
            problems.push(format(weight) + " lost: " + (LOSSES.get(reason) || reason));
    if (account.truncated > TRUNCATED_SHARE * explained)
        problems.push(percent(account.truncated, explained) +
                      " in stacks whose outer frames are not known");
    for (const {path, nameless, advice} of account.modules)
        if (nameless > NAMELESS_SHARE * explained)
            problems.push(percent(nameless, explained) + " in code of " + baseName(path) +
                          " without names" + (advice === "" ? "" : ": " + advice));
    if (account.nMissed > 0)
        problems.push(grouped(account.nMissed) +
                      " programs that were started could not be recorded");
}

function usedWords(profile)
{
    return profile.summed.unit === UNIT.EVENTS ? " counted"
           : measureOf(profile) === "wall"     ? " elapsed in threads"
                                               : " used";
}

/** "2026-11-27 02:30", of the reader's clock; "" if unknown. */
function dateWords(realtimeNs)
{
    if (realtimeNs === 0)
        return "";
    const date = new Date(realtimeNs / 1e6);
    const two = (number) => String(number).padStart(2, "0");
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
           `${two(date.getHours())}:${two(date.getMinutes())}`;
}
