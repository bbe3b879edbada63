/* account.js - what the profile explains of what was used, and why not all: the account that lies in its
 * metadata (docs/account.md). A profile read from another format has none; one of several runs has an
 * account of each, which add up. */

/**
 * Weights are nanoseconds, or numbers of events.
 * @typedef {object} Account
 * @property {number} explained  sum of the weights
 * @property {number | null} used  that could be sampled; null: unknown
 * @property {{[reason: string]: number}} lost  that is in no weight
 * @property {number} truncated  in stacks that end before the outermost frame
 * @property {{path: string, nameless: number, advice: string}[]} modules
 * @property {string[]} programs  paths of what ran; one may be there several times
 * @property {number} nMissed    programs that were started and not recorded
 * @property {number | null} rateHz  null: unknown, or of several runs
 */

/** @param {import("./profile.js").Profile} profile @returns {Account | null} */
export function readAccount(profile)
{
    const accounts = profile.metadataOf("account").flatMap(parse);
    return accounts.length === 0 ? null : accounts.reduce(sum);
}

/** None of a text that is no account, or of one that this page does not know; whatever is in a file is taken as
 * the kind of value that belongs there, as a page must open all the same. @returns {Account[]} */
function parse(text)
{
    try {
        const account = JSON.parse(text);
        return account.schema === "sampler-account-1" ? [accountOf(account)] : [];
    } catch {
        return [];
    }
}

const number = (value) => Number(value) || 0;

/** @returns {Account} */
function accountOf({total, modules, processes, children_missed: missed})
{
    const used =
        total.cpu_ns === null ? null : number(total.cpu_ns - total.paused_ns - total.own_ns);
    const lost = Object.entries(total.lost).filter(([, {is_weighed}]) => !is_weighed);
    return {
        explained: number(total.explained_ns),
        used: used === null ? null : Math.max(0, used),
        lost: Object.fromEntries(lost.map(([reason, {ns}]) => [reason, number(ns)])),
        truncated: number(total.truncated_ns),
        modules: modules.map(
            ({path, nameless_ns, advice}) =>
                ({path: String(path), nameless: number(nameless_ns), advice: String(advice)})),
        programs: processes.map(({exe}) => String(exe)),
        nMissed: missed.reduce((n, child) => n + number(child.n), 0),
        rateHz: Number.isFinite(total.rate_hz) ? total.rate_hz : null,
    };
}

/** @param {Account} a @param {Account} b @returns {Account} */
function sum(a, b)
{
    const lost = {...a.lost}, modules = new Map(a.modules.map((module) => [module.path, module]));
    for (const [reason, weight] of Object.entries(b.lost))
        lost[reason] = (lost[reason] || 0) + weight;
    for (const module of b.modules) {
        const known = modules.get(module.path);
        modules.set(module.path, known === undefined
                                     ? module
                                     : {...known, nameless: known.nameless + module.nameless});
    }
    return {
        explained: a.explained + b.explained,
        used: a.used === null || b.used === null ? null : a.used + b.used,
        lost,
        truncated: a.truncated + b.truncated,
        modules: [...modules.values()],
        programs: [...a.programs, ...b.programs],
        nMissed: a.nMissed + b.nMissed,
        rateHz: null,
    };
}
