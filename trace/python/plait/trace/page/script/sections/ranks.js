// Processes: a map of ranks over time, the table of processes, stragglers, and the overlap of requests and computing.

import { alternative, choice, section, viewButtons } from "../controls.js";
import { most, total } from "../data.js";
import { el, plainName, shortName } from "../dom.js";
import { heatmap, scaleBar } from "../charts/heatmap.js";
import { clockName } from "./time.js";
import { table } from "../table.js";
import { bytes, count, counted, moment, number, seconds, share } from "../units.js";

const MEASURES = { bytes: ["bytes moved", bytes], seconds: ["seconds of I/O", seconds] };

function ranksHeight(rows) {
  return (width) => Math.max(96, Math.min(560, rows * (rows <= 24 ? 20 : 1.1) + (width < 520 ? 80 : 60)));
}

export function ranksSection({ views, ranks }) {
  const rows = ranks?.rows ?? [];
  if (!rows.length || !ranks.columns)
    return section("ranks", "Processes over time", "No reads or writes were recorded.");
  const state = { what: "bytes" };
  const view = views(ranks.columns * ranks.width, ranks.width);
  const source = () => ({
    rows: rows.length,
    columns: ranks.columns,
    width: ranks.width,
    read: ranks[state.what],
    single: true,
    top: most(ranks[state.what].map(most)),
    name: (row) => shortName(rows[row].label, 12),
  });
  let now = source();
  const sums = ranks.bytes.map(total);
  const top = sums.indexOf(most(sums));
  const merged = ranks.merged > 1 ? ` Each row holds ${count(ranks.merged)} neighbours.` : "";
  const mean = total(sums) / rows.length;
  const summary =
    `A row a process, ${counted(rows.length, "row")}; to the right: time, ${seconds(ranks.width)} a cell. ` +
    `Most bytes: ${plainName(rows[top].label)} with ${bytes(sums[top])}; the mean is ${bytes(mean)}.${merged}`;
  const frame = heatmap({
    view,
    source: () => now,
    label: "Processes over time",
    summary,
    height: ranksHeight(rows.length),
    clock: clockName(view.clock),
    describe: (column, row, map) => {
      const span = `${moment(column * map.width, map.width)} to ${moment((column + 1) * map.width, map.width)}`;
      if (row === null) return span;
      const cell = (what) => MEASURES[what][1](ranks[what]?.[row]?.[column] ?? 0);
      return `${span}, ${plainName(rows[row].label)}: ${cell("bytes")} moved in ${cell("seconds")} of I/O`;
    },
  });
  const legend = el("div");
  const redraw = () => {
    now = source();
    legend.replaceChildren(scaleBar([["both"]], now.top, MEASURES[state.what][1]));
    frame.redraw();
  };
  redraw();
  const pick = choice(
    "Show",
    Object.entries(MEASURES).map(([key, [name]]) => [key, name]),
    state.what,
    (value) => {
      state.what = value;
      redraw();
    },
  );
  const instead = alternative("The same as a table", () => ranksTable(ranks));
  const controls = el("div", { class: "controls" }, pick, viewButtons(view, false));
  return section("ranks", "Processes over time", null, controls, frame.whole, legend, instead);
}

function ranksTable(ranks) {
  const made = ranks.rows.map((row, i) => {
    const busiest = ranks.bytes[i].indexOf(most(ranks.bytes[i]));
    return {
      label: row.label,
      bytes: total(ranks.bytes[i]),
      seconds: total(ranks.seconds?.[i]),
      busiest: busiest * ranks.width,
    };
  });
  const columns = [
    { title: "Row", head: true, text: true, value: (row) => plainName(row.label) },
    { title: "Moved", value: (row) => row.bytes, show: (row) => bytes(row.bytes) },
    { title: "Seconds of I/O", value: (row) => row.seconds, show: (row) => seconds(row.seconds) },
    { title: "Busiest at", value: (row) => row.busiest, show: (row) => seconds(row.busiest) },
  ];
  return table(columns, made, { caption: "Rows of the map", noun: "row" }).node;
}

export function processesSection({ report }) {
  const processes = report.processes ?? [];
  if (!processes.length) return section("processes", "Processes", "The trace names no process.");
  const ranked = processes.some((row) => row.rank >= 0);
  const top = most(processes.map((row) => row.io_seconds)) || 1;
  const columns = [
    { title: "Process", head: true, value: (row) => row.number, show: (row) => String(row.number) },
    ranked && {
      title: "Rank",
      value: (row) => (row.rank >= 0 ? row.rank : null),
      show: (row) => (row.rank >= 0 ? count(row.rank) : "–"),
    },
    {
      title: "Command",
      text: true,
      value: (row) => plainName(row.command),
      show: (row) => el("bdi", { class: "name" }, plainName(row.command)),
    },
    { title: "Host", text: true, value: (row) => plainName(row.host) },
    {
      title: "In I/O",
      value: (row) => row.io_seconds,
      show: (row) => seconds(row.io_seconds),
      bar: (row) => row.io_seconds / top,
    },
    { title: "CPU", value: (row) => row.cpu_seconds, show: (row) => seconds(row.cpu_seconds) },
    { title: "Read", value: (row) => row.read_bytes, show: (row) => bytes(row.read_bytes) },
    { title: "Written", value: (row) => row.write_bytes, show: (row) => bytes(row.write_bytes) },
    { title: "Reads", value: (row) => row.reads, show: (row) => count(row.reads) },
    { title: "Writes", value: (row) => row.writes, show: (row) => count(row.writes) },
    { title: "Opens", value: (row) => row.opens, show: (row) => count(row.opens) },
    { title: "Files", value: (row) => row.files, show: (row) => count(row.files) },
    { title: "From", value: (row) => row.begin, show: (row) => seconds(row.begin) },
    { title: "To", value: (row) => row.end, show: (row) => seconds(row.end) },
  ].filter(Boolean);
  const made = table(columns, processes, {
    caption: "Processes",
    sort: ranked ? 1 : 0,
    upwards: true,
    noun: "process",
    plural: "processes",
    filter: {
      label: "Find processes by number, rank, command or host",
      of: (row) => `${row.number} ${row.rank} ${plainName(row.command)} ${plainName(row.host)}`,
    },
  });
  const rest = report.processes_left_out;
  return section(
    "processes",
    "Processes",
    null,
    made.node,
    rest?.processes > 0 &&
      el(
        "p",
        { class: "remark" },
        `Not listed: ${counted(rest.processes, "process", "processes")} with ${bytes(rest.bytes)} in all.`,
      ),
  );
}

export function stragglersSection({ report }) {
  const { rows = [], imbalance, text } = report.stragglers ?? {};
  if (rows.length < 2) return section("stragglers", "Stragglers", text || "One process alone has none to wait for.");
  const top = most(rows.map((row) => row.io_seconds)) || 1;
  const columns = [
    {
      title: "Process",
      head: true,
      value: (row) => row.process,
      show: (row) => (row.rank >= 0 ? `rank ${row.rank} (${row.process})` : String(row.process)),
    },
    {
      title: "In I/O",
      value: (row) => row.io_seconds,
      show: (row) => seconds(row.io_seconds),
      bar: (row) => row.io_seconds / top,
    },
    {
      title: "To the median",
      value: (row) => row.ratio,
      show: (row) => (row.ratio === null ? "–" : `× ${number(row.ratio)}`),
    },
    { title: "Moved", value: (row) => row.bytes, show: (row) => bytes(row.bytes) },
  ];
  return section(
    "stragglers",
    "Stragglers",
    text,
    table(columns, rows, { caption: "Time in I/O of each process", sort: 1, noun: "process", plural: "processes" })
      .node,
    el("p", { class: "quiet" }, `Imbalance, 1 less the mean over the longest: ${share(imbalance)}.`),
  );
}

export function overlapSection({ report }) {
  const overlap = report.overlap;
  if (!overlap) return section("overlap", "I/O and computation", "Not known for this trace.");
  const whole = (overlap.io_seconds ?? 0) + (overlap.compute_seconds ?? 0) || 1;
  const rows = [
    ["Some call for I/O ran", overlap.io_seconds, "busy"],
    ["of that, a call that the program waited for", overlap.waiting_seconds, "write"],
    ["No call for I/O ran", overlap.compute_seconds, "idle"],
    ["Computed while own asynchronous requests ran", overlap.hidden_seconds, "both"],
  ].filter(([, value]) => value !== undefined);
  const columns = [
    { title: "", head: true, text: true, value: ([name]) => name },
    {
      title: "Time",
      value: ([, value]) => value,
      show: ([, value]) => seconds(value),
      bar: ([, value, kind]) => [{ part: value / whole, kind }],
    },
    { title: "Share", value: ([, value]) => value, show: ([, value]) => share(value / whole) },
  ];
  return section(
    "overlap",
    "I/O and computation",
    overlap.text,
    table(columns, rows, { caption: "Time of the processes, added up", sortable: false }).node,
    el("p", { class: "quiet" }, `Asked for asynchronously: ${share(overlap.asynchronous_share)} of the bytes.`),
  );
}
