// Pointer, wheel and keyboard input, which works in the same way on every chart.

const DRAG = 5; // px that the pointer moves before a press becomes a drag

/**
 * Adds the listeners of a chart to `node`. `area()` returns the edges and the time scale of the plot, `cell()` the
 * width of a bin, and `vertical(rows)` moves the cursor by rows.
 */
export function interact(node, view, { area, cell, vertical, hover, leave, select }) {
  let press = null;
  const pointOf = (event) => {
    const box = node.getBoundingClientRect();
    const scale = area().width / box.width;
    return { x: (event.clientX - box.left) * scale, y: (event.clientY - box.top) * scale };
  };

  node.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    press = { ...pointOf(event), id: event.pointerId, moved: false };
    node.setPointerCapture(event.pointerId);
  });
  node.addEventListener("pointermove", (event) => {
    const at = pointOf(event);
    if (press && Math.abs(at.x - press.x) > DRAG) press.moved = true;
    if (press?.moved) select(press.x, at.x);
    hover(at.x, at.y);
  });
  node.addEventListener("pointerup", (event) => {
    if (!press) return;
    const at = pointOf(event);
    const { moved, x } = press;
    press = null;
    select(null);
    if (moved) view.set(area().x.value(Math.min(x, at.x)), area().x.value(Math.max(x, at.x)));
    else hover(at.x, at.y);
  });
  const drop = () => {
    press = null;
    select(null);
  };
  node.addEventListener("pointercancel", drop);
  node.addEventListener("pointerleave", () => {
    if (!press) leave();
  });
  node.addEventListener("dblclick", () => view.reset());

  node.addEventListener(
    "wheel",
    (event) => {
      // The wheel scrolls the page, unless the chart has the focus or Ctrl is held.
      if (!(event.ctrlKey || event.metaKey || document.activeElement === node)) return;
      const sideways = event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!sideways && event.deltaY > 0 && view.isWhole()) return;
      event.preventDefault();
      const by = sideways ? event.deltaX || event.deltaY : event.deltaY;
      if (sideways) view.pan(Math.sign(by) * 0.1);
      else view.zoom(by > 0 ? 1.25 : 0.8, area().x.value(pointOf(event).x));
    },
    { passive: false },
  );

  node.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && press) drop();
    else if (!key(event, view, cell, vertical)) return;
    event.preventDefault();
  });
}

function key(event, view, cell, vertical) {
  const bins = event.shiftKey ? 10 : 1;
  const about = view.cursor !== null && view.cursor >= view.from && view.cursor <= view.to ? view.cursor : undefined;
  switch (event.key) {
    case "ArrowLeft":
      view.stepBy(-bins, cell());
      return true;
    case "ArrowRight":
      view.stepBy(bins, cell());
      return true;
    case "ArrowUp":
    case "ArrowDown":
      if (!vertical) return false;
      vertical(event.key === "ArrowUp" ? bins : -bins);
      return true;
    case "Home":
      view.stepBy(-Infinity, cell());
      return true;
    case "End":
      view.stepBy(Infinity, cell());
      return true;
    case "PageUp":
      view.pan(-0.8);
      return true;
    case "PageDown":
      view.pan(0.8);
      return true;
    case "+":
    case "=":
      view.zoom(0.5, about);
      return true;
    case "-":
    case "_":
      view.zoom(2, about);
      return true;
    case "0":
    case "Escape":
      if (event.key === "Escape" && view.isWhole()) return false;
      view.reset();
      return true;
    default:
      return false;
  }
}
