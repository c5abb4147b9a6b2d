// The evidence next to each conclusion: a small version of the chart in its section.

import { el, svg } from "./dom.js";
import { joinBins, orderBar } from "./sections/requests.js";
import { bar } from "./table.js";

const SPARK_WIDTH = 200;
const SPARK_HEIGHT = 40;
const TURNS = 8; // number of cycles that are shown

const drawing = (...content) =>
  svg(
    "svg",
    {
      class: "spark",
      viewBox: `0 0 ${SPARK_WIDTH} ${SPARK_HEIGHT}`,
      preserveAspectRatio: "none",
      "aria-hidden": "true",
    },
    content,
  );

function sparkline(timeline, turns) {
  if (!timeline?.read_bytes?.length) return null;
  const bins = timeline.read_bytes.length;
  const few = Math.min(bins, SPARK_WIDTH);
  const side = (values) => {
    const peaks = new Array(few).fill(0);
    values.forEach((value, i) => {
      const at = Math.floor((i * few) / bins);
      peaks[at] = Math.max(peaks[at], value);
    });
    return peaks;
  };
  const [up, down] = [side(timeline.read_bytes), side(timeline.write_bytes)];
  const [high, low] = [Math.max(...up), Math.max(...down)];
  if (high + low === 0) return null;
  const zero = (SPARK_HEIGHT * high) / (high + low);
  const line = (values, sign) => {
    const step = (value, i) => {
      const y = zero - (sign * SPARK_HEIGHT * value) / (high + low);
      return `V${y.toFixed(2)}H${(((i + 1) * SPARK_WIDTH) / few).toFixed(2)}`;
    };
    return `M0 ${zero}${values.map(step).join("")}V${zero}Z`;
  };
  const marks = [];
  const whole = timeline.width * bins;
  const period = turns?.period_seconds;
  if (period > 0 && whole / period < SPARK_WIDTH / 4) {
    const begin = timeline.begin ?? 0;
    const first = (turns.first ?? 0) + period * Math.max(0, Math.ceil((begin - (turns.first ?? 0)) / period));
    for (let at = first; at <= Math.min(turns.last ?? Infinity, begin + whole); at += period) {
      const x = (SPARK_WIDTH * (at - begin)) / whole;
      marks.push(svg("line", { class: "turn", x1: x, x2: x, y1: 0, y2: SPARK_HEIGHT }));
    }
  }
  return drawing(
    svg("path", { class: "area read", d: line(up, 1) }),
    svg("path", { class: "area write", d: line(down, -1) }),
    marks,
  );
}

/** The part of the timeline with the first TURNS cycles; the whole timeline if its cycles are too short or too few. */
function someTurns(timeline, cycle) {
  const bins = timeline?.read_bytes?.length ?? 0;
  const count = Math.round((TURNS * (cycle?.period_seconds ?? 0)) / (timeline?.width || 1));
  if (count < TURNS * 4 || count >= bins) return timeline;
  const first = Math.min(
    Math.max(0, Math.round(((cycle.first ?? 0) - timeline.begin) / timeline.width)),
    bins - count,
  );
  const part = (values) => values.slice(first, first + count);
  const begin = timeline.begin + first * timeline.width;
  return {
    begin,
    width: timeline.width,
    read_bytes: part(timeline.read_bytes),
    write_bytes: part(timeline.write_bytes),
  };
}

function smallHistogram(sizes) {
  const bins = joinBins(sizes);
  if (!bins.length) return null;
  const depth_ = (value) => (value > 0 ? Math.log10(value) + 0.6 : 0);
  const top = Math.max(...bins.flatMap((bin) => [depth_(bin.read?.count), depth_(bin.write?.count)])) || 1;
  const step = SPARK_WIDTH / bins.length;
  const column = (bin, i, kind, part) => {
    const high = (SPARK_HEIGHT * depth_(bin[kind]?.count ?? 0)) / top;
    return svg("rect", {
      class: `column ${kind}`,
      x: i * step + part * step * 0.42,
      width: step * 0.4,
      y: SPARK_HEIGHT - high,
      height: high,
    });
  };
  return drawing(bins.flatMap((bin, i) => [column(bin, i, "read", 0), column(bin, i, "write", 1)]));
}

function columns(values) {
  const sorted = [...values].sort((a, b) => b - a).slice(0, 64);
  const top = sorted[0];
  if (!(top > 0)) return null;
  const step = SPARK_WIDTH / sorted.length;
  return drawing(
    sorted.map((value, i) => {
      const high = Math.max(0.5, (SPARK_HEIGHT * value) / top);
      return svg("rect", {
        class: "column both",
        x: i * step,
        width: Math.max(0.5, step - (step > 3 ? 1 : 0)),
        y: SPARK_HEIGHT - high,
        height: high,
      });
    }),
  );
}

const DRAWN = {
  timeline: (report) => sparkline(report.timeline),
  cycles: (report) => sparkline(someTurns(report.timeline, report.cycles?.[0]), report.cycles?.[0]),
  offsets: (report) => sparkline(report.timeline),
  sizes: (report) => smallHistogram(report.sizes),
  order: (report) => {
    const sides = ["read", "write"].filter((kind) => report.order?.[kind]?.count > 0);
    return sides.length
      ? el(
          "span",
          { class: "stack" },
          sides.map((kind) => orderBar(report.order[kind])),
        )
      : null;
  },
  files: (report) => columns((report.files ?? []).map((row) => row.read_bytes + row.write_bytes)),
  processes: (report) => columns((report.processes ?? []).map((row) => row.read_bytes + row.write_bytes)),
  ranks: (report) => columns((report.processes ?? []).map((row) => row.io_seconds)),
  stragglers: (report) => columns((report.stragglers?.rows ?? []).map((row) => row.io_seconds)),
  calls: (report) => columns((report.calls ?? []).map((row) => row.seconds)),
  classes: (report) =>
    bar(
      ["required", "checkpoint", "swapping", "other"].map((kind) => ({
        part: report.classes?.[kind]?.share ?? 0,
        kind,
      })),
    ),
  overlap: (report) => {
    const { io_seconds: io = 0, compute_seconds: rest = 0 } = report.overlap ?? {};
    return bar([
      { part: io / (io + rest || 1), kind: "busy" },
      { part: rest / (io + rest || 1), kind: "idle" },
    ]);
  },
  trace: (report) =>
    report.trace?.coverage?.share >= 0 ? bar([{ part: report.trace.coverage.share, kind: "busy" }]) : null,
};

/** Adds the chart of its evidence to each conclusion that is already on the page. */
export function drawEvidence(report) {
  for (const host of document.querySelectorAll(".conclusion [data-evidence]")) {
    const drawn = DRAWN[host.dataset.evidence]?.(report);
    if (drawn) host.prepend(drawn);
  }
}
