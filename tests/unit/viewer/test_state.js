/* test_state.js - the state of the page, and the address that brings it back. */
import assert from "node:assert";
import test from "node:test";

import {readFragment, writeFragment} from "../../../output/formats/html/viewer/fragment.js";
import {INITIAL, State} from "../../../output/formats/html/viewer/state.js";

const NAMES = ["[unknown]", "main", "f & g", "std::at<int>", "main"];
const those = {
    n: NAMES.length,
    name: (id) => NAMES[id]
};
const numbered = {
    subject: those,
    zoomed: those
};

function comesBack(changes)
{
    const values = {...INITIAL, ...changes};
    const {theme: _, ...wanted} = values;
    assert.deepEqual(readFragment(writeFragment(values, numbered), numbered), wanted);
}

test("an address brings the view back", () => {
    assert.equal(writeFragment(INITIAL, numbered), "");
    comesBack({});
    comesBack({view: "sandwich", subject: 2, search: "a+b & c=[%é]#", sort: "-place"});
    comesBack({view: "functions", color: "kind", rootAtBottom: true, wholeNames: true, zoomed: 4});
    comesBack(
        {thread: "a & b", process: "12", label: "<x>\n", fromNs: 1500000000, toNs: 2000000001});
    comesBack({view: "sandwich", subject: 0}); // of what has no name
    comesBack({view: "timeline", color: "function", toNs: 1});
});

test("what an address says of a profile that was made again is found by name", () => {
    assert.equal(readFragment("subject=1+std::at<int>", numbered).subject, 3);
    assert.equal(readFragment("subject=99+main", numbered).subject, 1);
    assert.equal(readFragment("subject=4+main", numbered).subject, 4);
});

test("what is not understood is left out", () => {
    const {theme: _, ...initial} = INITIAL;
    for (const wrong of ["view=x&sort=up&color=&subject=7&zoomed=1+gone", "%",
                         "a=b&&=", "sort=self2", "subject=-1+x&subject=1.5+main2", "zoomed=+",
                         "theme=dark", "from=2&to=1", "from=1.2.3", "from=-1&to=x"])
        assert.deepEqual(readFragment(wrong, numbered), initial, wrong);
});

test("who watches is told of changes only", () => {
    const state = new State(INITIAL), told = [];
    state.watch(["view"], () => told.push(state.values.view));
    state.watch(["search", "sort"], () => told.push("both"));
    state.set({view: "flame"});
    state.set({view: "functions", search: ""});
    state.set({search: "a", sort: "total"});
    assert.deepEqual(told, ["functions", "both"]);
    assert.equal(INITIAL.view, "flame");
});
