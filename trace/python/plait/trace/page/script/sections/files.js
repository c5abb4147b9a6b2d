// Files: a table to select a file from, and a map of the accesses to it by offset and time.

import { alternative, choice, picker, section, viewButtons } from "../controls.js";
import { most, profile, total } from "../data.js";
import { el, plainName, shortName } from "../dom.js";
import { heatmap, scaleBar } from "../charts/heatmap.js";
import { byteMarks } from "../charts/scales.js";
import { clockName, timelineTable } from "./time.js";
import { bar, table } from "../table.js";
import { bytes, count, counted, moment, seconds, share } from "../units.js";

const CLASSES = { required: "required", checkpoint: "checkpoint", swapping: "swapping", other: "other" };

/** The most frequent order of a file's requests, with its share. */
function orderWord(order) {
  if (!order || !(order.count > 0)) return "–";
  const kinds = ["consecutive", "sequential", "random"];
  const kind = kinds.reduce((best, each) => (order[each] > order[best] ? each : best));
  return `${kind} ${share(order[kind])}`;
}

function fileColumns(top) {
  const moved = (row) => row.read_bytes + row.write_bytes;
  return [
    {
      title: "File",
      head: true,
      text: true,
      value: (row) => plainName(row.name),
      show: (row) => el("bdi", { class: "name" }, plainName(row.name)),
    },
    {
      title: "Moved",
      value: moved,
      show: (row) => bytes(moved(row)),
      bar: (row) => [
        { part: row.read_bytes / top, kind: "read" },
        { part: row.write_bytes / top, kind: "write" },
      ],
    },
    { title: "Kind", text: true, value: (row) => CLASSES[row.class] ?? "other" },
    { title: "Read", value: (row) => row.read_bytes, show: (row) => bytes(row.read_bytes) },
    { title: "Written", value: (row) => row.write_bytes, show: (row) => bytes(row.write_bytes) },
    { title: "Reads", value: (row) => row.reads, show: (row) => count(row.reads) },
    { title: "Mean read", value: (row) => row.mean_read, show: (row) => bytes(row.mean_read) },
    { title: "Writes", value: (row) => row.writes, show: (row) => count(row.writes) },
    { title: "Mean write", value: (row) => row.mean_write, show: (row) => bytes(row.mean_write) },
    { title: "Extent", value: (row) => row.extent, show: (row) => bytes(row.extent) },
    { title: "Opens", value: (row) => row.opens, show: (row) => count(row.opens) },
    { title: "Processes", value: (row) => row.processes, show: (row) => count(row.processes) },
    { title: "From", value: (row) => row.begin, show: (row) => seconds(row.begin) },
    { title: "To", value: (row) => row.end, show: (row) => seconds(row.end) },
    {
      title: "Reads are",
      text: true,
      value: (row) => row.order?.read?.consecutive ?? null,
      show: (row) => orderWord(row.order?.read),
    },
    {
      title: "Writes are",
      text: true,
      value: (row) => row.order?.write?.consecutive ?? null,
      show: (row) => orderWord(row.order?.write),
    },
  ];
}

export function filesSection({ report, chosen }) {
  const files = report.files ?? [];
  if (!files.length) return section("files", "Files", "No file was read or written.");
  const rest = report.files_left_out;
  const top = most(files.map((row) => row.read_bytes + row.write_bytes)) || 1;
  const made = table(fileColumns(top), files, {
    caption: "Files, those with most bytes first",
    sort: 1,
    noun: "file",
    filter: {
      label: "Find files by name or kind",
      of: (row) => `${plainName(row.name)} ${CLASSES[row.class] ?? "other"}`,
    },
    pick: {
      chosen: (row) => chosen.file === row.name,
      call: (row) => chosen.pick(row.name),
      label: () => "Show where it was accessed",
    },
  });
  chosen.listen(made.mark);
  const all = total(files.map((row) => row.read_bytes + row.write_bytes)) + (rest?.bytes ?? 0);
  const first = files.reduce((best, row) =>
    row.read_bytes + row.write_bytes > best.read_bytes + best.write_bytes ? row : best,
  );
  const number = files.length + (rest?.files ?? 0);
  const part = all > 0 ? (first.read_bytes + first.write_bytes) / all : 0;
  const intro =
    number === 1
      ? "All bytes are in one file."
      : `${counted(number, "file")}; the one with most bytes, ${shortName(first.name)}, has ${share(part)} of them.`;
  return section(
    "files",
    "Files",
    intro,
    made.node,
    rest?.files > 0 &&
      el("p", { class: "remark" }, `Not listed: ${counted(rest.files, "file")} with ${bytes(rest.bytes)} in all.`),
  );
}

/** A remark that the report has no map of a file. */
function withoutMap(file, maps) {
  return el(
    "p",
    { class: "remark", role: "status" },
    `The report keeps maps of the ${counted(maps.length, "file")} with most bytes; `,
    el("bdi", { class: "name" }, plainName(file)),
    " is not among them.",
  );
}

export function offsetsSection({ views, maps, chosen }) {
  if (!maps.length) return section("offsets", "Where in the files", "No accesses with known positions were recorded.");
  const state = { kind: "both" };
  const host = el("div", { class: "map" });
  const list = picker(
    "File",
    maps.map((map) => [map.file, shortName(map.file)]),
    (name) => chosen.pick(name),
  );
  const kinds = [
    ["both", "reads and writes"],
    ["read", "reads"],
    ["write", "writes"],
  ];

  function source(map) {
    const sides = { read: state.kind !== "write" ? map.read : [], write: state.kind !== "read" ? map.write : [] };
    const top = Math.max(1, ...[sides.read, sides.write].flatMap((rows) => (rows ?? []).map((row) => most(row))));
    return {
      ...map,
      ...sides,
      top,
      upwards: true,
      extent: map.rows * map.height,
      marks: (n) => byteMarks(map.rows * map.height, n),
    };
  }
  function show() {
    const map = maps.find((each) => each.file === chosen.file);
    list.select.value = map ? map.file : "";
    if (!map) {
      host.replaceChildren(withoutMap(chosen.file, maps));
      return;
    }
    const view = views(map.columns * map.width, map.width);
    let now = source(map);
    const both = profile(map);
    const summary =
      `Up: offsets in the file, to the right: time. Each cell holds ${bytes(map.height)} of the file and ` +
      `${seconds(map.width)}; in all ${bytes(total(both.read_bytes))} read, ` +
      `${bytes(total(both.write_bytes))} written.`;
    const frame = heatmap({
      view,
      source: () => now,
      label: `Accesses to ${plainName(map.file)} by offset and time`,
      summary,
      height: (width) => (width < 520 ? 240 : 300),
      describe: describeCell,
      clock: clockName(view.clock),
    });
    const legend = el("div");
    const redraw = () => {
      now = source(map);
      const shades = [
        ["read", "reads"],
        ["write", "writes"],
        ["both", "both"],
      ];
      const shown = state.kind === "both" ? shades : shades.filter(([kind]) => kind === state.kind);
      legend.replaceChildren(scaleBar(shown, now.top, bytes));
      frame.redraw();
    };
    redraw();
    const pick = choice("Show", kinds, state.kind, (value) => {
      state.kind = value;
      redraw();
    });
    const table_ = alternative("The same as a table", () => offsetTable(map));
    host.replaceChildren(
      el("div", { class: "controls" }, pick, viewButtons(view, false)),
      frame.whole,
      legend,
      table_,
    );
  }
  chosen.listen(show);
  show();
  return section("offsets", "Where in the files", null, el("div", { class: "controls" }, list.node), host);
}

function describeCell(column, row, map) {
  const span = `${moment(column * map.width, map.width)} to ${moment((column + 1) * map.width, map.width)}`;
  if (row === null) return span;
  const range = `${bytes(row * map.height)} to ${bytes((row + 1) * map.height)} of the file`;
  const side = (name, rows) => (rows?.[row]?.[column] > 0 ? `${name} ${bytes(rows[row][column])}` : null);
  const said = [side("read", map.read), side("wrote", map.write)].filter(Boolean);
  return `${span}, ${range}: ${said.length ? said.join(", ") : "nothing"}`;
}

/** Two tables in place of the map: bytes by offset, and bytes by time. */
function offsetTable(map) {
  const each = Math.max(1, Math.ceil(map.rows / 32));
  const rows = [];
  for (let row = 0; row < map.rows; row += each) {
    const sum = (side) => total((side ?? []).slice(row, row + each).map(total));
    rows.push({
      from: row * map.height,
      to: Math.min(row + each, map.rows) * map.height,
      read: sum(map.read),
      write: sum(map.write),
    });
  }
  const columns = [
    { title: "From", head: true, value: (row) => row.from, show: (row) => bytes(row.from) },
    { title: "To", value: (row) => row.to, show: (row) => bytes(row.to) },
    { title: "Read", value: (row) => row.read, show: (row) => bytes(row.read) },
    { title: "Written", value: (row) => row.write, show: (row) => bytes(row.write) },
  ];
  return el(
    "div",
    { class: "pair" },
    table(columns, rows, { caption: "Bytes by offset in the file", sortable: false, few: 32 }).node,
    timelineTable(profile(map), 0, map.columns * map.width, "Bytes by time"),
  );
}

const NAMES = {
  required: ["Required", "Read once at the start, or written once for good"],
  checkpoint: ["Checkpoints", "State written again and again, to start from after a failure"],
  swapping: ["Data swapping", "Data that does not fit in memory, moved in and out each turn"],
  other: ["Other", "None of the three"],
};

export function classesSection({ report }) {
  const kinds = Object.keys(NAMES).filter((kind) => report.classes?.[kind]);
  if (!kinds.some((kind) => kind !== "other" && report.classes[kind].bytes > 0))
    return section("classes", "What the I/O is for", "No bytes belong to any of the paper's three classes.");
  const list = kinds
    .filter((kind) => kind !== "other" || report.classes.other.bytes > 0)
    .map((kind) => {
      const { bytes: moved, share: part, files, evidence, count: number } = report.classes[kind];
      const names = (files ?? []).slice(0, 5).map(plainName);
      const more = (number ?? files?.length ?? 0) - names.length;
      return el(
        "div",
        { class: "class" },
        el("h3", {}, NAMES[kind][0]),
        el("p", { class: "figure" }, share(part), el("span", { class: "unit" }, ` ${bytes(moved)}`)),
        bar([{ part, kind }]),
        el("p", { class: "quiet" }, `${NAMES[kind][1]}.`),
        evidence && el("p", {}, evidence),
        names.length > 0 &&
          el(
            "p",
            { class: "quiet" },
            names.map((name, i) => [i ? ", " : "", el("bdi", { class: "name" }, name)]),
            more > 0 && ` and ${counted(more, "more", "more")}`,
          ),
      );
    });
  return section(
    "classes",
    "What the I/O is for",
    "The three classes of the 1992 paper, section 5.1.",
    el("div", { class: "classes" }, list),
  );
}
