/* account.js - what the profile is of, and what it explains: the first thing to know of it.
 *
 * Numbers are those of the account that lies in the profile's metadata (docs/account.md); a profile
 * read from another format has none, and then only what was measured is said. */
import {baseName} from "../data/path.js";
import {measureWords, UNIT} from "../data/profile.js";

import {fixed, grouped, percent, weightFormat} from "./format.js";

/** A share below this is drawn as a warning. */
const GOOD_SHARE = 0.99;
const NAMELESS_SHARE = 0.02;
const TRUNCATED_SHARE = 0.01;
/** Why time was lost, in words; the keys are those of docs/account.md. */
const LOSSES = {
    disk_full: "no room for the recording",
    no_stream: "threads without a place in the recording",
    tail: "ends of threads",
    blocked: "threads that block our signal",
};

/**
 * @param {import("../data/profile.js").Profile} profile
 * @param {{all: number, idle: number}} weighed
 * @returns {{title: string, facts: string[], problems: string[]}}
 */
export function describeAccount(profile, weighed)
{
    const account = parseAccount(profile.metadata.get("account"));
    const format = weightFormat(profile.summed.unit, weighed.all);
    const measure = measureWords(profile);
    const unitWord = profile.summed.unit === UNIT.NS ? " of " + measure : " " + measure;
    const facts = [format(weighed.all) + unitWord];
    const problems = [];
    if (account !== null)
        addShares(account, facts, problems);
    if (profile.summed.unit === UNIT.NS && profile.samples.n > 0)
        facts.push(grouped(profile.samples.n) + (profile.samples.n === 1 ? " sample" : " samples") +
                   rateWords(account));
    const date = dateWords(profile.startRealtimeNs);
    if (date !== "")
        facts.push(date);
    if (profile.metadata.has("host"))
        facts.push("on " + profile.metadata.get("host"));
    return {title: titleOf(profile), facts, problems};
}

function titleOf(profile)
{
    return profile.metadata.get("command") || profile.metadata.get("exe") || "Profile";
}

/** null: there is none, or one this page does not know. */
function parseAccount(text)
{
    if (text === undefined)
        return null;
    try {
        const account = JSON.parse(text);
        return account.schema === "sampler-account-1" ? account : null;
    } catch {
        return null;
    }
}

function rateWords(account)
{
    const rate = account === null ? null : account.total.rate_hz;
    return rate === null ? "" : " at " + fixed(rate, 0) + " Hz";
}

function addShares(account, facts, problems)
{
    const total = account.total;
    if (total.explained_share !== null) {
        const share = percent(total.explained_share, 1) + " of it explained";
        (total.explained_share < GOOD_SHARE ? problems : facts).push(share);
    }
    for (const [reason, loss] of Object.entries(total.lost))
        if (loss.ns > 0 && !loss.is_weighed)
            problems.push(weightFormat(UNIT.NS, loss.ns)(loss.ns) +
                          " lost: " + (LOSSES[reason] || reason));
    if (total.truncated_ns > TRUNCATED_SHARE * total.explained_ns)
        problems.push(percent(total.truncated_ns, total.explained_ns) +
                      " in stacks whose outer frames are not known");
    for (const module of account.modules)
        if (module.nameless_ns > NAMELESS_SHARE * total.explained_ns)
            problems.push(percent(module.nameless_ns, total.explained_ns) + " in code of " +
                          baseName(module.path) + " without names" +
                          (module.advice === "" ? "" : ": " + module.advice));
    const missed = account.children_missed.reduce((sum, child) => sum + child.n, 0);
    if (missed > 0)
        problems.push(grouped(missed) + " programs that were started could not be recorded");
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
