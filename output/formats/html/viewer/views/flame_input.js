/* flame_input.js - the flame graph by mouse, finger and keyboard.
 *
 *   click            zooms to a box          Enter        zooms to the box walked to
 *   drag             moves                   arrows       walk from box to box
 *   wheel            scrolls                 + -          more and less
 *   Ctrl + wheel     more and less           Escape       all of it
 *   Shift + wheel    moves sideways          Home         all of it, from the root
 *   double click     callers and callees     c            callers and callees */

const DRAG_PX = 4; // a pointer that moved less was a click

/** @param {import("./flame.js").FlameGraph} graph */
export function listenToMouse(graph)
{
    const {canvas} = graph;
    let from = /** @type {{x: number, y: number, isDrag: boolean} | null} */ (null);
    const drag = (event, last) => {
        const dx = event.clientX - last.x, dy = event.clientY - last.y;
        if (!last.isDrag && Math.hypot(dx, dy) < DRAG_PX)
            return;
        if (!last.isDrag)
            canvas.setPointerCapture(event.pointerId);
        graph.actions.point(-1, 0, 0);
        graph.moveBy(-dx, -dy);
        from = {x: event.clientX, y: event.clientY, isDrag: true};
    };
    canvas.addEventListener("pointerdown", (event) => {
        if (event.button === 0)
            from = {x: event.clientX, y: event.clientY, isDrag: false};
    });
    canvas.addEventListener("pointermove", (event) => {
        if (from !== null && (event.buttons & 1) !== 0) {
            drag(event, from);
            return;
        }
        const node = graph.nodeAtPoint(event.offsetX, event.offsetY);
        canvas.style.cursor = node >= 0 ? "pointer" : "default";
        graph.actions.point(node, event.clientX, event.clientY);
    });
    canvas.addEventListener("pointerup", (event) => {
        const isClick = from !== null && !from.isDrag;
        from = null;
        const node = isClick ? graph.nodeAtPoint(event.offsetX, event.offsetY) : -1;
        if (node < 0)
            return;
        graph.select(node);
        graph.zoomTo(node);
    });
    canvas.addEventListener("dblclick", () => graph.actions.open(graph.selected));
    canvas.addEventListener("pointercancel", () => from = null);
    canvas.addEventListener("pointerleave", () => graph.actions.point(-1, 0, 0));
    canvas.addEventListener("wheel", (event) => {
        if (event.ctrlKey || event.metaKey)
            graph.scaleAt(event.offsetX, Math.exp(-event.deltaY / 200));
        else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
            graph.moveBy(event.deltaX || event.deltaY, 0);
        else
            return; // the browser scrolls
        event.preventDefault();
    }, {passive: false});
}

/** @param {import("./flame.js").FlameGraph} graph */
export function listenToKeys(graph)
{
    const actions = {
        ArrowDown: () => walk(graph, graph.isUpward() ? "out" : "in"),
        ArrowUp: () => walk(graph, graph.isUpward() ? "in" : "out"),
        ArrowRight: () => walk(graph, "next"),
        ArrowLeft: () => walk(graph, "previous"),
        Enter: () => graph.zoomTo(graph.selected),
        Escape: () => graph.zoomOut(),
        Home: () => {
            graph.walkTo(0);
            graph.scrollToRoot();
        },
        "+": () => graph.scaleAt(graph.range.width / 2, 1.5),
        "-": () => graph.scaleAt(graph.range.width / 2, 1 / 1.5),
    };
    graph.scroller.addEventListener("keydown", (event) => {
        if (graph.content === null || event.ctrlKey || event.metaKey || event.altKey ||
            actions[event.key] === undefined)
            return;
        actions[event.key]();
        event.preventDefault();
    });
}

/**
 * @param {import("./flame.js").FlameGraph} graph
 * @param {"in" | "out" | "next" | "previous"} direction
 */
function walk(graph, direction)
{
    const {tree, weights} = /** @type {import("./flame.js").FlameContent} */ (graph.content).layout;
    const from = graph.selected;
    const to = direction === "in"     ? weights.firstChild[from]
               : direction === "next" ? weights.nextSibling[from]
               : direction === "out"  ? tree.parent[from]
                                      : previousSibling(tree, weights, from);
    if (to !== 0 || direction === "out")
        graph.walkTo(to);
}

function previousSibling(tree, weights, node)
{
    let sibling = node === 0 ? 0 : weights.firstChild[tree.parent[node]];
    while (sibling !== 0 && weights.nextSibling[sibling] !== node)
        sibling = sibling === node ? 0 : weights.nextSibling[sibling];
    return sibling;
}
