/* header.js - what stands above all views: what was profiled, the account, what the colors mean. */
import {describeAccount} from "../words/account.js";
import {describeComparison} from "../words/comparison.js";
import {percent} from "../words/format.js";

import {changeLegend} from "./change_color.js";
import {make} from "./details.js";

/** @returns {any} the element, which the page has */
const byId = (id) => document.getElementById(id);

/** @param {import("../scene.js").Scene} scene */
export function showAccount({profile, weighed, all})
{
    const account =
        all === null ? describeAccount(profile, weighed) : describeComparison(profile, all);
    document.title = account.title + " - Sampler";
    byId("title").textContent = account.title;
    byId("facts").textContent = account.facts.join(" · ");
    byId("problems").replaceChildren(...account.problems.map((problem) => make("li", "", problem)));
}

/** @param {import("../scene.js").Scene} scene */
export function showLegend({coloring, weighed, sums, all, theme})
{
    const ofOne = () => coloring.legend(sums.self).map(
        ({name, weight, color}) => makeEntry(name, color, percent(weight, weighed.all)));
    const ofTwo = () => changeLegend(theme).map(({name, color}) => makeEntry(name, color, ""));
    byId("legend").replaceChildren(...all === null ? ofOne() : ofTwo());
}

function makeEntry(name, color, share)
{
    const item = make("li", "", ""), swatch = make("i", "", "");
    swatch.style.background = color;
    item.append(swatch, make("span", "", name), make("b", "", share));
    return item;
}
