/* comparison.js - what two runs are compared, and how they differ as a whole: the head of such a page. */
import {baseName} from "../data/path.js";
import {measureWords} from "../data/profile.js";

import {hostWords} from "./account.js";
import {changeWords} from "./change.js";
import {several, weightFormat} from "./format.js";

/**
 * @param {import("../data/profile.js").Profile} profile  of two runs
 * @param {{before: number, after: number}} all
 * @returns {{title: string, facts: string[], problems: string[]}}
 */
export function describeComparison(profile, all)
{
    const changes = /** @type {import("../data/changes.js").Changes} */ (profile.changes);
    const format = weightFormat(profile.summed.unit, Math.max(all.before, all.after));
    const whole = {...all, interval: changes.whole};
    const facts = [measureWords(profile) + ": " + changeWords(whole, null, format)];
    if (changes.isNormalized)
        facts.push("after as if it had taken as long as before");
    const commands = several(profile.metadataOf("command"));
    if (commands !== "")
        facts.push(commands);
    facts.push(...hostWords(profile));
    return {title: titleOf(changes), facts, problems: []};
}

function titleOf({before, after})
{
    const names = (files) => several(files.map(baseName));
    return before.length + after.length === 0 ? "Before \u2192 after"
                                              : names(before) + " \u2192 " + names(after);
}
