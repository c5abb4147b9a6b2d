// The page that compares two traces: the changed values, and both timelines one above the other on the same scale.

import { contents } from "./contents.js";
import { choice, section, viewButtons } from "./controls.js";
import { island, most } from "./data.js";
import { el, plainName } from "./dom.js";
import { clockName, timelineSummary } from "./sections/time.js";
import { facts, table } from "./table.js";
import { timelineChart } from "./charts/timeline.js";
import { bytes, change, count, counted, number, seconds, share } from "./units.js";
import { makeView } from "./view.js";

/** The function that formats the values of a row. The name of the row determines their unit. */
function formatOf(name) {
  if (/bytes.*(per_second|\/s)|rate of bytes/i.test(name)) return (value) => `${bytes(value)}/s`;
  if (/per_second|\/s\b/i.test(name)) return (value) => `${number(value)}/s`;
  if (/bytes|size/i.test(name)) return bytes;
  if (/seconds|time|period/i.test(name)) return seconds;
  if (/share|strength|regularity|imbalance|consecutive|sequential|random|busy/i.test(name)) return share;
  return number;
}

const said = (name, value) => {
  if (value === null || value === undefined) return "–";
  return typeof value === "number" ? formatOf(name)(value) : plainName(value);
};

const words = (name) => plainName(name).replace(/_/g, " ");

const SECTIONS = {
  table1: "Table 1",
  table2: "Table 2",
  trace: "Trace",
  sizes: "Request sizes",
  order: "Order of requests",
};

const sectionName = (name) => SECTIONS[name] ?? words(name).replace(/^./, (letter) => letter.toUpperCase());

function rowsSection(rows) {
  if (!rows.length) return section("rows", "What changed", "The comparison holds no rows.");
  const columns = [
    { title: "Value", head: true, text: true, value: (row) => words(row.name) },
    { title: "Section", text: true, value: (row) => sectionName(row.section) },
    { title: "A", value: (row) => row.a, show: (row) => said(row.name, row.a) },
    { title: "B", value: (row) => row.b, show: (row) => said(row.name, row.b) },
    {
      title: "Change",
      value: (row) => (row.change === null ? null : Math.abs(row.change)),
      show: (row) => changeCell(row.change),
    },
  ];
  const moved = rows.filter((row) => Math.abs(row.change ?? (row.a === row.b ? 0 : 1)) >= 0.05).length;
  return section(
    "rows",
    "What changed",
    `${counted(moved, "value")} of ${count(rows.length)} changed by 5 % or more.`,
    table(columns, rows, {
      caption: "A, B, and the change from A to B",
      noun: "value",
      filter: {
        label: "Find values by name or section",
        of: (row) => `${words(row.name)} ${sectionName(row.section)}`,
      },
    }).node,
  );
}

function changeCell(value) {
  if (value === null || value === undefined) return "–";
  const sign = value > 0.0005 ? "▲ " : value < -0.0005 ? "▼ " : "";
  return el(
    "span",
    { class: sign ? "changed" : "quiet" },
    sign && el("span", { "aria-hidden": "true" }, sign),
    change(value),
  );
}

/** Both timelines, on the same scales of time and rate. */
function timelines(sides) {
  const known = sides.filter(({ timeline }) => timeline?.read_bytes?.length);
  if (!known.length) return null;
  const end = most(known.map(({ timeline }) => timeline.begin + timeline.width * timeline.read_bytes.length));
  const view = makeView(0, end, Math.min(...known.map(({ timeline }) => timeline.width)));
  const state = { mode: "mirrored" };
  const top = (field) => most(known.map(({ timeline }) => most(field(timeline)) / timeline.width));
  const ceiling = {
    read: top((timeline) => timeline.read_bytes),
    write: top((timeline) => timeline.write_bytes),
    both: most(
      known.map(
        ({ timeline }) => most(timeline.read_bytes.map((value, i) => value + timeline.write_bytes[i])) / timeline.width,
      ),
    ),
  };
  const frames = known.map(({ letter, timeline }) =>
    timelineChart({
      view,
      shown: () => timeline,
      mode: () => state.mode,
      clock: clockName(timeline.clock),
      title: `Rate over time of ${letter}`,
      summary: `${letter}. ${timelineSummary(timeline)}`,
      height: (width) => (width < 520 ? 230 : 260),
      ceiling: () => ceiling,
    }),
  );
  const pick = choice(
    "Draw",
    [
      ["mirrored", "reads up, writes down"],
      ["stacked", "stacked"],
    ],
    state.mode,
    (value) => {
      state.mode = value;
      frames.forEach((frame) => frame.redraw());
    },
  );
  const intro = "Both on the same scale of time and of rate; they zoom together.";
  return section(
    "timeline",
    "Rate over time",
    intro,
    el("div", { class: "controls" }, viewButtons(view), pick),
    frames.map(({ whole }) => whole),
  );
}

function tracesSection(sides) {
  return section(
    "trace",
    "The traces",
    null,
    el(
      "div",
      { class: "pair" },
      sides.map((side) =>
        el(
          "div",
          {},
          el("h3", {}, `${side.letter}`),
          facts([
            ["Trace", el("bdi", { class: "name" }, plainName(side.path))],
            ["Format", plainName(side.format)],
            ["Began", side.zero && plainName(side.zero)],
            ["Elapsed", seconds(side.wall_seconds)],
            ["CPU time", typeof side.cpu_seconds === "number" ? seconds(side.cpu_seconds) : "not known"],
            ["Events", count(side.events)],
            ["Covered", typeof side.coverage?.share === "number" ? share(side.coverage.share) : "not known"],
            ["Ended", side.complete === false ? "cut off, or a process was killed" : "as its format ends"],
          ]),
        ),
      ),
    ),
  );
}

function buildComparison() {
  const comparison = island("comparison");
  const sides = ["a", "b"].map((key) => ({ ...comparison[key], letter: key.toUpperCase() }));
  const made = [rowsSection(comparison.rows ?? []), timelines(sides), tracesSection(sides)];
  document.getElementById("sections").append(...made.filter(Boolean));
  contents();
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

buildComparison();
