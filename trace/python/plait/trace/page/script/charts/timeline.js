// The rate over time (figures 3 and 4 of the paper): reads upwards and writes downwards, or both stacked.

import { timeAxis, sideAxis } from "./axis.js";
import { label, svg } from "../dom.js";
import { plot } from "./plot.js";
import { byteMarks, linear } from "./scales.js";
import { bytes, counted, moment, rate, share } from "../units.js";

const BUSY = 30; // px of the strip for the busy share
const GAP = 20; // px between the rates and the strip, enough for a label

/** A timeline of `shown()`, the bins {begin, width, read_bytes, write_bytes, reads?, writes?, busy?, single?}. */
export function timelineChart({ view, shown, mode, cycle, clock, summary, title, height, ceiling }) {
  const frame = plot({
    label: title ?? "Rate over time",
    summary,
    view,
    height: height ?? ((width) => (width < 520 ? 270 : 330)),
    margins: (width) => ({ left: width < 520 ? 62 : 78, right: 10, top: 18, bottom: clock ? 42 : 26 }),
    bin: () => shown().width,
    draw: (at) => drawTimeline(at, shown(), mode(), cycle?.(), clock, ceiling?.()),
    describe: (time) => describeBin(shown(), time),
    mark: (at) => markBin(at, shown()),
  });
  return frame;
}

function visible(data, from, to) {
  const first = Math.max(0, Math.floor((from - data.begin) / data.width + 1e-9));
  const end = Math.min(data.read_bytes.length, Math.ceil((to - data.begin) / data.width - 1e-9));
  return [first, Math.max(first, end)];
}

/** The path around the bars of the bins, between the base line `low` and the tops `high`. */
function steps(frame, data, first, end, low, high) {
  const inside = (time) => Math.min(Math.max(frame.x.at(time), frame.left), frame.right).toFixed(2);
  const parts = [];
  for (let i = first; i < end; i += 1) {
    parts.push(`${i === first ? "M" : "L"}${inside(data.begin + i * data.width)} ${high(i).toFixed(2)}`);
    parts.push(`H${inside(data.begin + (i + 1) * data.width)}`);
  }
  for (let i = end - 1; i >= first; i -= 1) {
    parts.push(`L${inside(data.begin + (i + 1) * data.width)} ${low(i).toFixed(2)}`);
    parts.push(`H${inside(data.begin + i * data.width)}`);
  }
  return parts.length ? `${parts.join("")}Z` : "";
}

function drawTimeline(frame, data, mode, cycle, clock, ceiling) {
  const { layer, left, right, top } = frame;
  const axisAt = frame.bottom;
  const busy = data.busy?.length ? BUSY : 0;
  const low = axisAt - (busy ? busy + GAP : mode === "mirrored" && !data.single ? GAP : 0);
  const [first, end] = visible(data, frame.x.from, frame.x.to);
  let up = 0;
  let down = 0;
  for (let i = first; i < end; i += 1) {
    const read = data.read_bytes[i] / data.width;
    const write = data.write_bytes[i] / data.width;
    up = Math.max(up, mode === "stacked" ? read + write : read);
    down = Math.max(down, mode === "stacked" ? 0 : write);
  }
  if (ceiling) [up, down] = mode === "stacked" ? [ceiling.both, 0] : [ceiling.read, ceiling.write];
  if (up + down <= 0) up = 1;
  const y = linear(-down, up, low, top);
  const step = byteMarks(Math.max(up, down), Math.max(2, ((low - top) * Math.max(up, down)) / (up + down) / 42), "/s");
  sideAxis(
    frame,
    step.filter((mark) => mark.value <= up),
    y.at,
  );
  sideAxis(
    frame,
    step.filter((mark) => mark.value > 0 && mark.value <= down),
    (value) => y.at(-value),
  );
  layer.append(svg("line", { class: "base", x1: left, x2: right, y1: y.at(0), y2: y.at(0) }));

  const zero = () => y.at(0);
  const read = (i) => y.at(data.read_bytes[i] / data.width);
  const write = (i) =>
    mode === "stacked"
      ? y.at((data.read_bytes[i] + data.write_bytes[i]) / data.width)
      : y.at(-data.write_bytes[i] / data.width);
  layer.append(
    svg("path", { class: data.single ? "area both" : "area read", d: steps(frame, data, first, end, zero, read) }),
  );
  const base = mode === "stacked" ? read : zero;
  if (!data.single)
    layer.append(svg("path", { class: `area write ${mode}`, d: steps(frame, data, first, end, base, write) }));
  if (cycle) drawCycle(frame, cycle, low);
  nameSides(frame, data, mode, y, low);
  const over = data.begin + data.width * data.read_bytes.length;
  if (over < frame.x.to - data.width / 2 && over > frame.x.from) drawEnd(frame, over, low);
  if (busy) drawBusy(frame, data, first, end, low + GAP, axisAt);
  timeAxis(frame, clock);
}

function nameSides(frame, data, mode, y, low) {
  const at = { class: "side", "text-anchor": "end" };
  if (data.single) frame.layer.append(label(frame.right - 4, frame.top - 5, "reads and writes", at));
  else if (mode === "stacked")
    frame.layer.append(label(frame.right - 4, frame.top - 5, "writes (hatched) on reads", at));
  else {
    frame.layer.append(label(frame.right - 4, frame.top - 5, "reads ↑", { ...at, class: "side read" }));
    if (y.from < 0) frame.layer.append(label(frame.right - 4, low + 14, "writes ↓", { ...at, class: "side write" }));
  }
}

/** Marks the end of a run that is shorter than the axis. */
function drawEnd(frame, over, low) {
  const at = frame.x.at(over);
  frame.layer.append(
    svg("line", { class: "turn", x1: at, x2: at, y1: frame.top, y2: low }),
    label(at + 4, frame.top + 10, "end"),
  );
}

function drawBusy(frame, data, first, end, top, bottom) {
  const at = (value) => bottom - (bottom - top) * Math.min(1, Math.max(0, value));
  frame.layer.append(
    svg("rect", { class: "strip", x: frame.left, y: top, width: frame.right - frame.left, height: bottom - top }),
  );
  frame.layer.append(
    svg("path", {
      class: "area busy",
      d: steps(
        frame,
        data,
        first,
        end,
        () => bottom,
        (i) => at(data.busy[i]),
      ),
    }),
  );
  frame.layer.append(label(frame.left - 8, (top + bottom) / 2 + 4, "busy", { "text-anchor": "end" }));
}

/** Draws a line at the beginning of each cycle, unless the lines would be less than 3 px apart. */
function drawCycle(frame, cycle, low) {
  const { layer, top, left, right, x } = frame;
  const period = cycle.period_seconds;
  const apart = x.at(x.from + period) - x.at(x.from);
  if (!(period > 0) || apart < 3) {
    layer.append(label(left + 4, top - 5, "zoom in to see the turns of the cycle", { class: "side" }));
    return;
  }
  const first = cycle.first ?? 0;
  const last = Math.min(cycle.last ?? x.to, x.to);
  for (let i = Math.max(0, Math.ceil((x.from - first) / period)); first + i * period <= last + period * 0.01; i += 1) {
    const at = x.at(first + i * period).toFixed(1);
    if (at >= left && at <= right) layer.append(svg("line", { class: "turn", x1: at, x2: at, y1: top, y2: low }));
  }
}

function binAt(data, time) {
  const bin = Math.floor((time - data.begin) / data.width + 1e-9);
  return Math.min(Math.max(bin, 0), data.read_bytes.length - 1);
}

function markBin(frame, data) {
  const i = binAt(data, frame.view.cursor);
  const inside = (time) => Math.min(Math.max(frame.x.at(time), frame.left), frame.right);
  const a = inside(data.begin + i * data.width);
  const b = inside(data.begin + (i + 1) * data.width);
  frame.over.prepend(
    svg("rect", { class: "bin", x: a, width: Math.max(1, b - a), y: frame.top, height: frame.bottom - frame.top }),
  );
}

/** The text of one bin, for the readout. */
function describeBin(data, time) {
  const i = binAt(data, time);
  if (i < 0) return "";
  const from = data.begin + i * data.width;
  const span = `${moment(from, data.width)} to ${moment(from + data.width, data.width)}`;
  const side = (name, moved, requests) => {
    const made = requests === undefined ? "" : ` in ${counted(requests, "request")}`;
    return `${name} ${rate(moved / data.width)} (${bytes(moved)}${made})`;
  };
  if (data.single) return `${span}: ${side("moved", data.read_bytes[i])}`;
  const said = [
    side("read", data.read_bytes[i], data.reads?.[i]),
    side("wrote", data.write_bytes[i], data.writes?.[i]),
  ];
  if (data.busy?.length) said.push(`busy ${share(data.busy[i])}`);
  return `${span}: ${said.join(", ")}`;
}
