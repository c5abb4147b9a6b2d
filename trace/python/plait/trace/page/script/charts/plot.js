// The frame of every interactive chart: size, layers, the cursor, and the readout below the plot.

import { el, freshId, onPrint, svg } from "../dom.js";
import { interact } from "./interact.js";
import { linear } from "./scales.js";

const waiting = new Set();
let scheduled = false;

function later(draw) {
  waiting.add(draw);
  if (scheduled) return;
  scheduled = true;
  requestAnimationFrame(() => {
    scheduled = false;
    const now = [...waiting];
    waiting.clear();
    now.forEach((each) => each());
  });
}

/** Calls back when the node is about to become visible, so that a long page opens fast. Printing draws all charts. */
function whenSeen(node, callback) {
  const watch = new IntersectionObserver(
    (entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      watch.disconnect();
      callback();
    },
    { rootMargin: "400px" },
  );
  watch.observe(node);
}

/**
 * A chart over time.  `draw(frame)` fills frame.layer (SVG) and frame.canvas; `describe(time, row)` returns the text of
 * the readout; `mark(frame)` draws the marks that follow the cursor into frame.over.
 */
export function plot({ label, summary, view, height, margins, bin, draw, describe, mark, rows, withCanvas }) {
  const layer = svg("g");
  const over = svg("g", { class: "over" });
  const surface = svg("svg", { class: "surface", "aria-hidden": "true", focusable: "false" }, layer, over);
  const canvas = withCanvas ? el("canvas", { class: "cells", "aria-hidden": "true" }) : null;
  const said = summary ? freshId("summary") : null;
  const help = freshId("help");
  const node = el(
    "div",
    {
      class: "plot",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "interactive chart",
      "aria-label": label,
      "aria-describedby": said ? `${said} ${help}` : help,
    },
    canvas,
    surface,
  );
  const readout = el("output", { class: "readout", "aria-live": "polite" });
  const keys = `Arrow keys move the cursor${rows ? " and the row" : ""}, plus and minus zoom, 0 shows all.`;
  const whole = el(
    "figure",
    { class: "chart" },
    summary && el("figcaption", { id: said }, summary),
    node,
    el("span", { id: help, class: "unseen" }, keys),
    readout,
  );
  const frame = { node, layer, over, canvas, view, row: null, whole, readout };
  let selected = null; // ends in px of the range that is being dragged
  let seen = false;

  frame.measure = () => {
    frame.width = Math.max(240, Math.round(node.clientWidth || 720));
    frame.height = typeof height === "function" ? height(frame.width) : height;
    const { left, right, top, bottom } = typeof margins === "function" ? margins(frame.width) : margins;
    Object.assign(frame, { left, right: frame.width - right, top, bottom: frame.height - bottom });
    frame.x = linear(view.from, view.to, frame.left, frame.right);
  };
  frame.redraw = () => {
    if (!seen) return;
    frame.measure();
    surface.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
    layer.replaceChildren();
    if (canvas) placeCanvas(frame);
    draw(frame);
    follow();
  };

  function follow() {
    const shown = view.cursor !== null && view.cursor >= view.from && view.cursor <= view.to;
    over.replaceChildren();
    if (shown) {
      const x = frame.x.at(view.cursor).toFixed(1);
      over.append(svg("line", { class: "cursor", x1: x, x2: x, y1: frame.top, y2: frame.bottom }));
      mark?.(frame);
    }
    readout.value = shown ? describe(view.cursor, frame.row) : "";
    if (!selected) return;
    const [from, to] = selected.map((x) => Math.min(Math.max(x, frame.left), frame.right)).sort((a, b) => a - b);
    const box = { x: from, y: frame.top, width: to - from, height: frame.bottom - frame.top };
    over.append(svg("rect", { class: "selected", ...box }));
  }
  interact(node, view, {
    area: () => frame,
    cell: () => (typeof bin === "function" ? bin() : bin),
    vertical:
      rows &&
      ((upwards) => {
        const by = upwards * rows.up;
        const from = frame.row ?? (by > 0 ? -1 : rows.count());
        frame.row = Math.min(Math.max(from + by, 0), rows.count() - 1);
        if (view.cursor === null) view.stepBy(0, typeof bin === "function" ? bin() : bin);
        else later(follow);
      }),
    hover: (x, y) => {
      if (rows) frame.row = rows.at(frame, y);
      if (x < frame.left || x > frame.right) return view.point(null);
      return view.point(frame.x.value(x));
    },
    leave: () => view.point(null),
    select: (...ends) => {
      selected = ends[0] === null ? null : ends;
      later(follow);
    },
  });
  view.listen((what) => later(what === "range" ? frame.redraw : () => seen && follow()));
  const begin = () => {
    if (seen) return;
    seen = true;
    frame.redraw();
  };
  whenSeen(node, begin);
  node.addEventListener("focus", begin);
  new ResizeObserver(() => {
    if (seen && Math.abs(node.clientWidth - frame.width) > 1) later(frame.redraw);
  }).observe(node);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => later(frame.redraw));
  onPrint(() => {
    begin();
    frame.redraw();
  });
  return frame;
}

/** Sets the position of the canvas as percentages of the frame, so that it shrinks with the SVG when printed. */
function placeCanvas(frame) {
  const { canvas, width, height, left, right, top, bottom } = frame;
  const density = Math.min(2, Math.max(1, devicePixelRatio || 1));
  canvas.width = Math.max(1, Math.round((right - left) * density));
  canvas.height = Math.max(1, Math.round((bottom - top) * density));
  canvas.style.left = `${(100 * left) / width}%`;
  canvas.style.top = `${(100 * top) / height}%`;
  canvas.style.width = `${(100 * (right - left)) / width}%`;
  canvas.style.height = `${(100 * (bottom - top)) / height}%`;
}
