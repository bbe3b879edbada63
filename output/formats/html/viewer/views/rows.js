/* rows.js - a table one walks through: by arrow keys, a click, a double click, or Enter.
 *
 * One row at a time has the focus, and is marked as selected. */

/**
 * @param {HTMLElement} body  <tbody>
 * @param {object} actions
 * @param {(row: HTMLElement) => void} actions.select
 * @param {(row: HTMLElement) => void} actions.open
 * @param {() => void} [actions.walked]  by a key
 */
export function listenToRows(body, {select, open, walked})
{
    const rowOf = (event) => event.target instanceof Element ? event.target.closest("tr") : null;
    body.addEventListener("click", (event) => {
        if (rowOf(event) !== null && String(window.getSelection()) === "")
            rowOf(event).focus();
    });
    body.addEventListener("dblclick", (event) => open(rowOf(event)));
    body.addEventListener("focusin", (event) => {
        const row = rowOf(event);
        for (const other of body.querySelectorAll("[aria-selected]"))
            other.removeAttribute("aria-selected");
        row.setAttribute("aria-selected", "true");
        select(row);
    });
    body.addEventListener("keydown", (event) => {
        const row = rowOf(event);
        const to = event.key === "ArrowDown" ? row.nextElementSibling
                   : event.key === "ArrowUp" ? row.previousElementSibling
                   : event.key === "Home"    ? body.firstElementChild
                                             : null;
        if (event.key === "Enter")
            open(row);
        else if (to instanceof HTMLElement)
            to.focus();
        else
            return;
        if (walked !== undefined)
            walked();
        event.preventDefault();
    });
}

/** At the end of a table; any number, which the arguments of one call could not be. */
export function appendRows(body, rows)
{
    const all = document.createDocumentFragment();
    for (const row of rows)
        all.append(row);
    body.append(all);
}
