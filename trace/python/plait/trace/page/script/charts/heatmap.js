// Heat maps over time: rank by time, and offset by time.

import { rowAxis, sideAxis, timeAxis } from "./axis.js";
import { el, onPrint, svg } from "../dom.js";
import { colourOf, shadeOf } from "./palette.js";
import { plot } from "./plot.js";

/**
 * Draws the heat map that `source()` describes: {rows, columns, width, begin?, read, write?, single?, top, upwards?,
 * marks?(count), name?(row)}.
 * `describe(column, row, source)` returns the text of a cell.
 */
export function heatmap({ view, source, label, summary, height, describe, left, clock }) {
  const column = (time) => {
    const { begin = 0, width, columns } = source();
    return Math.min(columns - 1, Math.max(0, Math.floor((time - begin) / width + 1e-9)));
  };
  return plot({
    label,
    summary,
    view,
    withCanvas: true,
    height,
    margins: (width) => ({
      left: left?.(width) ?? (width < 520 ? 62 : 78),
      right: 10,
      top: 8,
      bottom: clock ? 42 : 26,
    }),
    bin: () => source().width,
    rows: {
      count: () => source().rows,
      get up() {
        return source().upwards ? 1 : -1;
      },
      at: (frame, y) => {
        const { rows, upwards } = source();
        const part = upwards ? frame.bottom - y : y - frame.top;
        const row = Math.floor((part / (frame.bottom - frame.top)) * rows);
        return row < 0 || row >= rows ? null : row;
      },
    },
    draw: (frame) => drawMap(frame, source(), clock),
    describe: (time, row) => describe(column(time), row, source()),
    mark: (frame) => outline(frame, source(), column(frame.view.cursor)),
  });
}

function drawMap(frame, source, clock) {
  const { layer, left, right, top, bottom } = frame;
  layer.append(svg("rect", { class: "border", x: left, y: top, width: right - left, height: bottom - top }));
  paint(frame, source);
  if (source.marks) {
    const high = source.marks(Math.max(2, (bottom - top) / 48));
    sideAxis(frame, high, (value) => bottom - ((bottom - top) * value) / source.extent, false);
  } else rowAxis(frame, source.rows, source.name, source.upwards);
  timeAxis(frame, clock);
}

/** Paints the cells. A pixel that several cells share shows the largest value, so that short bursts stay visible. */
function paint(frame, source) {
  const { canvas, view } = frame;
  const [width, height] = [canvas.width, canvas.height];
  const sums = { read: new Float64Array(width * height), write: new Float64Array(source.single ? 0 : width * height) };
  const { rows, columns, begin = 0, upwards } = source;
  const edge = (time, up) => {
    const at = ((time - view.from) / (view.to - view.from)) * width;
    return Math.min(width, Math.max(0, up ? Math.ceil(at - 1e-6) : Math.floor(at + 1e-6)));
  };
  const first = Math.max(0, Math.floor((view.from - begin) / source.width));
  const last = Math.min(columns - 1, Math.ceil((view.to - begin) / source.width));
  const spans = [];
  for (let i = first; i <= last; i += 1) {
    const from = edge(begin + i * source.width, false);
    spans.push([i, from, Math.max(Math.min(from + 1, width), edge(begin + (i + 1) * source.width, false))]);
  }
  for (const kind of source.single ? ["read"] : ["read", "write"]) {
    const target = sums[kind];
    source[kind]?.forEach((row, number) => {
      const line = upwards ? rows - 1 - number : number;
      const y0 = Math.min(height - 1, Math.floor((line * height) / rows));
      const y1 = Math.max(y0 + 1, Math.floor(((line + 1) * height) / rows));
      for (const [i, from, to] of spans) {
        const value = row[i];
        if (!(value > 0)) continue;
        for (let y = y0; y < y1; y += 1) {
          for (let x = from; x < to; x += 1) if (target[y * width + x] < value) target[y * width + x] = value;
        }
      }
    });
  }
  show(canvas, sums, source);
}

function show(canvas, sums, source) {
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  for (let i = 0; i < sums.read.length; i += 1) {
    const colour = colourOf(sums.read[i], source.single ? 0 : sums.write[i], source.top, source.single);
    if (!colour) continue;
    image.data.set(colour, i * 4);
    image.data[i * 4 + 3] = 255;
  }
  context.putImageData(image, 0, 0);
}

function outline(frame, source, column) {
  if (frame.row === null || frame.row >= source.rows) return;
  const { begin = 0, rows, upwards } = source;
  const height = (frame.bottom - frame.top) / rows;
  const y = upwards ? frame.bottom - (frame.row + 1) * height : frame.top + frame.row * height;
  const inside = (time) => Math.min(Math.max(frame.x.at(time), frame.left), frame.right);
  const a = inside(begin + column * source.width);
  const b = inside(begin + (column + 1) * source.width);
  frame.over.append(svg("rect", { class: "cell", x: a, y, width: Math.max(2, b - a), height: Math.max(2, height) }));
}

/** A legend with one colour ramp for each kind, from 0 to `top`. */
export function scaleBar(kinds, top, format) {
  const node = el("div", { class: "legend" });
  const draw = () =>
    node.replaceChildren(
      ...kinds.map(([kind, name]) =>
        el("span", { class: "scale" }, name && el("b", {}, name), "0", rampOf(kind), format(top)),
      ),
      el("span", { class: "quiet" }, "a cell, on a square-root scale"),
    );
  draw();
  onPrint(draw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  return node;
}

function rampOf(kind) {
  const steps = 24;
  const colour = (i) => `rgb(${shadeOf(kind, i / (steps - 1)).join(" ")})`;
  return svg(
    "svg",
    { class: "ramp", viewBox: `0 0 ${steps} 1`, preserveAspectRatio: "none", "aria-hidden": "true" },
    Array.from({ length: steps }, (_, i) => svg("rect", { x: i, y: 0, width: 1.05, height: 1, fill: colour(i) })),
  );
}
