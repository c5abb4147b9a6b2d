// The sizes of requests, and the order in which they access files.

import { choice, section } from "../controls.js";
import { most } from "../data.js";
import { el } from "../dom.js";
import { histogram } from "../charts/histogram.js";
import { bar, table } from "../table.js";
import { bytes, count, share } from "../units.js";

/** The bins of both directions in ascending order of size, including empty bins between them. */
export function joinBins(sizes) {
  const bins = new Map();
  for (const kind of ["read", "write"]) {
    for (const bin of sizes?.[kind] ?? []) {
      const at = bins.get(bin.from) ?? { from: bin.from, to: bin.to, read: null, write: null };
      at[kind] = bin;
      bins.set(bin.from, at);
    }
  }
  const known = [...bins.values()].sort((a, b) => a.from - b.from);
  const whole = [];
  for (const bin of known) {
    let before = whole[whole.length - 1];
    while (before && before.to > before.from && before.to < bin.from && whole.length < 80) {
      before = { from: before.to, to: before.to * 2, read: null, write: null };
      whole.push(before);
    }
    whole.push(bin);
  }
  return whole;
}

export function sizesSection({ report }) {
  const bins = joinBins(report.sizes);
  if (!bins.length) return section("sizes", "Request sizes", "No reads or writes were recorded.");
  const common = report.sizes?.common ?? [];
  const state = { what: "count" };
  const chart = histogram(bins, () => state.what);
  const top = most(common.map((row) => row.share));
  const first = common[0];
  const verbs = { read: "reads", write: "writes" };
  const intro =
    first &&
    `The most frequent request: ${verbs[first.kind] ?? first.kind} of ${bytes(first.bytes)}, ` +
      `${share(first.share)} of all requests.`;
  const columns = [
    { title: "Size", head: true, value: (row) => row.bytes, show: (row) => bytes(row.bytes) },
    { title: "Kind", text: true, value: (row) => row.kind },
    { title: "Requests", value: (row) => row.count, show: (row) => count(row.count) },
    {
      title: "Share",
      value: (row) => row.share,
      show: (row) => share(row.share),
      bar: (row) => [{ part: row.share / top, kind: row.kind }],
    },
  ];
  const each = (kind, field, show) => (row) => (row[kind] ? show(row[kind][field]) : "0");
  const binColumns = [
    { title: "From", head: true, value: (row) => row.from, show: (row) => bytes(row.from) },
    { title: "Below", value: (row) => row.to, show: (row) => bytes(row.to) },
    { title: "Reads", value: (row) => row.read?.count ?? 0, show: each("read", "count", count) },
    { title: "Read", value: (row) => row.read?.bytes ?? 0, show: each("read", "bytes", bytes) },
    { title: "Writes", value: (row) => row.write?.count ?? 0, show: each("write", "count", count) },
    { title: "Written", value: (row) => row.write?.bytes ?? 0, show: each("write", "bytes", bytes) },
  ];
  const filled = bins.filter((bin) => bin.read || bin.write);
  return section(
    "sizes",
    "Request sizes",
    intro,
    el(
      "div",
      { class: "controls" },
      choice(
        "Count",
        [
          ["count", "requests"],
          ["bytes", "bytes"],
        ],
        state.what,
        (value) => {
          state.what = value;
          chart.redraw();
        },
      ),
    ),
    chart.node,
    alignment(report.alignment),
    common.length > 0 && table(columns, common, { caption: "The most frequent sizes", noun: "size" }).node,
    el(
      "details",
      { class: "alternative" },
      el("summary", {}, "The histogram as a table"),
      table(binColumns, filled, { caption: "Requests by size", noun: "size" }).node,
    ),
  );
}

/** A remark on the number of requests that do not begin at a multiple of the block size. */
function alignment(found) {
  if (!found) return null;
  const side = (name, part) => part?.count > 0 && `${share(part.unaligned / part.count)} of the ${name}`;
  const said = [side("reads", found.read), side("writes", found.write)].filter(Boolean);
  return said.length > 0 && el("p", {}, `${said.join(" and ")} begin at no multiple of ${count(found.block)} bytes.`);
}

const ORDER = [
  ["consecutive", "where the last access of the same open ended"],
  ["sequential", "further on in the file"],
  ["random", "before it"],
];

/** A bar with the shares of consecutive, sequential and random requests. */
export const orderBar = (shares) => bar(ORDER.map(([kind]) => ({ part: shares?.[kind] ?? 0, kind })));

export function orderSection({ report }) {
  const rows = ["read", "write"]
    .map((kind) => ({ kind: kind === "read" ? "Reads" : "Writes", shares: report.order?.[kind] }))
    .filter(({ shares }) => shares && shares.count > 0);
  if (!rows.length) return section("order", "Order of requests", "No reads or writes were recorded.");
  const columns = [
    { title: "", head: true, text: true, value: (row) => row.kind },
    ...ORDER.map(([kind]) => ({
      title: kind[0].toUpperCase() + kind.slice(1),
      value: (row) => row.shares[kind],
      show: (row) => el("span", { class: `key ${kind}` }, share(row.shares[kind])),
    })),
    { title: "Requests", value: (row) => row.shares.count, show: (row) => count(row.shares.count) },
    { title: "Shares", value: () => 0, show: (row) => orderBar(row.shares) },
  ];
  return section(
    "order",
    "Order of requests",
    `Each request begins ${ORDER.map(([kind, text]) => `${text} (${kind})`).join(", ")}.`,
    table(columns, rows, { caption: "Order of requests: shares of their number, which sum to 1", sortable: false })
      .node,
  );
}
