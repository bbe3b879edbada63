/* span_input.js - a span of time, chosen by dragging over a picture of time. */

const DRAG_PX = 4; // a pointer that moved less was a click

/**
 * @param {HTMLElement} element
 * @param {object} actions
 * @param {(x: number, y: number) => number} actions.timeAt  at a point of the element, in nanoseconds
 * @param {(fromNs: number, toNs: number) => void} actions.drag  so far; 0, 0: no longer
 * @param {(fromNs: number, toNs: number) => void} actions.done
 * @param {(x: number, y: number) => void} actions.click
 * @param {(x: number, y: number, event: PointerEvent) => void} actions.point  nothing is pressed
 */
export function listenToSpan(element, actions)
{
    let start = /** @type {{x: number, y: number, isDrag: boolean} | null} */ (null);
    const spanTo = (event) => {
        const {x, y} = /** @type {any} */ (start);
        const times = [actions.timeAt(x, y), actions.timeAt(event.offsetX, event.offsetY)];
        return /** @type {[number, number]} */ ([Math.min(...times), Math.max(...times)]);
    };
    element.addEventListener("pointerdown", (event) => {
        if (event.button === 0)
            start = {x: event.offsetX, y: event.offsetY, isDrag: false};
    });
    element.addEventListener("pointermove", (event) => {
        if (start === null || (event.buttons & 1) === 0) {
            actions.point(event.offsetX, event.offsetY, event);
            return;
        }
        if (!start.isDrag && Math.hypot(event.offsetX - start.x, event.offsetY - start.y) < DRAG_PX)
            return;
        if (!start.isDrag)
            element.setPointerCapture(event.pointerId);
        start.isDrag = true;
        actions.drag(...spanTo(event));
    });
    element.addEventListener("pointerup", (event) => {
        if (start !== null && start.isDrag)
            actions.done(...spanTo(event));
        else if (start !== null)
            actions.click(event.offsetX, event.offsetY);
        start = null;
    });
    element.addEventListener("pointercancel", () => {
        start = null;
        actions.drag(0, 0);
    });
}
