// Axes: thin lines, few marks, labels that do not touch.

import { label, svg } from "../dom.js";
import { timeMarks } from "./scales.js";

const line = (x1, y1, x2, y2, name) => svg("line", { class: name, x1, y1, x2, y2 });

/** The axis of time at the bottom of a frame. */
export function timeAxis(frame, title) {
  const { layer, left, right, bottom, x } = frame;
  layer.append(line(left, bottom, right, bottom, "base"));
  const marks = timeMarks(x.from, x.to, Math.max(2, (right - left) / 72));
  for (const { value, text } of marks) {
    const at = x.at(value);
    layer.append(line(at, bottom, at, bottom + 5, "base"));
    const anchor = at > right - 20 ? "end" : at < left + 12 ? "start" : "middle";
    layer.append(
      label(anchor === "end" ? Math.min(at + 14, frame.width) : at, bottom + 18, text, { "text-anchor": anchor }),
    );
  }
  if (title) layer.append(label(right, bottom + 34, title, { "text-anchor": "end", class: "title" }));
}

/** The marks of a vertical axis, [{value, text}], with horizontal grid lines if `across` is true. */
export function sideAxis(frame, marks, at, across = true) {
  const { layer, left, right } = frame;
  for (const { value, text } of marks) {
    const y = at(value);
    if (across) layer.append(line(left, y, right, y, value === 0 ? "base" : "grid"));
    layer.append(label(left - 8, y + 4, text, { "text-anchor": "end" }));
  }
}

/** Labels of rows: of every row, or only of every n-th row so that they do not overlap. */
export function rowAxis(frame, count, name, upwards) {
  const { layer, left, top, bottom } = frame;
  const height = (bottom - top) / Math.max(1, count);
  const every = Math.max(1, Math.ceil(16 / height));
  for (let row = 0; row < count; row += every) {
    const y = upwards ? bottom - (row + 0.5) * height : top + (row + 0.5) * height;
    layer.append(label(left - 8, y + 4, name(row), { "text-anchor": "end" }));
  }
}
