/* header.js - what stands above all views: what was profiled, the account, what the colors mean. */
import {describeAccount} from "../words/account.js";
import {percent} from "../words/format.js";

import {make} from "./details.js";

/** @returns {any} the element, which the page has */
const byId = (id) => document.getElementById(id);

/** @param {import("../scene.js").Scene} scene */
export function showAccount({profile, weighed})
{
    const account = describeAccount(profile, weighed);
    document.title = account.title + " - Sampler";
    byId("title").textContent = account.title;
    byId("facts").textContent = account.facts.join(" · ");
    byId("problems").replaceChildren(...account.problems.map((problem) => make("li", "", problem)));
}

/** @param {import("../scene.js").Scene} scene */
export function showLegend({coloring, weighed, sums})
{
    byId("legend").replaceChildren(...coloring.legend(sums.self).map(({name, weight, color}) => {
        const item = make("li", "", ""), swatch = make("i", "", "");
        swatch.style.background = color;
        item.append(swatch, make("span", "", name), make("b", "", percent(weight, weighed.all)));
        return item;
    }));
}
