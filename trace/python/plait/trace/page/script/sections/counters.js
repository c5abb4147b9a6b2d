// Calls that were counted, not traced: sums by interface, sizes, order and files.

import { section } from "../controls.js";
import { plainName } from "../dom.js";
import { table } from "../table.js";
import { bytes, count, seconds, share } from "../units.js";

const THROUGH = { posix: "POSIX", "mpi-io": "MPI-IO" };
const through = (row) => `${THROUGH[row.interface] ?? plainName(row.interface)}, ${row.level}`;

const amount = (title, field, show) => ({ title, value: (row) => row[field], show: (row) => show(row[field]) });
const interfaceColumn = { title: "Through", head: true, text: true, value: through };
const traffic = [
  amount("Reads", "reads", count),
  amount("Writes", "writes", count),
  amount("Read", "read_bytes", bytes),
  amount("Written", "write_bytes", bytes),
  amount("In reads", "read_seconds", seconds),
  amount("In writes", "write_seconds", seconds),
  amount("In other calls", "meta_seconds", seconds),
];

function callsTable(modules) {
  const rows = modules.flatMap((module) =>
    Object.entries(module.calls).map(([name, number]) => ({ ...module, name: name.replaceAll("_", " "), number })),
  );
  const columns = [
    interfaceColumn,
    { title: "Call", text: true, value: (row) => row.name },
    amount("Calls", "number", count),
  ];
  return rows.length > 0 && table(columns, rows, { caption: "Other calls that were counted", noun: "row" }).node;
}

function sizesTable(modules) {
  const rows = modules.flatMap((module) =>
    ["read", "write"].flatMap((kind) =>
      (module.sizes?.[kind] ?? []).map((bin) => ({ ...bin, kind, interface: module.interface, level: module.level })),
    ),
  );
  const columns = [
    interfaceColumn,
    { title: "Kind", text: true, value: (row) => row.kind },
    amount("From", "from", bytes),
    amount("Below", "to", (value) => (value === null ? "any size" : bytes(value))),
    amount("Requests", "count", count),
  ];
  return rows.length > 0 && table(columns, rows, { caption: "Requests that were counted, by size", noun: "row" }).node;
}

function orderTable(modules) {
  const rows = modules.flatMap((module) =>
    ["read", "write"]
      .filter((kind) => module.order?.[kind]?.count > 0)
      .map((kind) => ({ ...module.order[kind], kind, interface: module.interface, level: module.level })),
  );
  const back = ({ back: { least, most } }) => (least === most ? count(most) : `${count(least)} to ${count(most)}`);
  const columns = [
    interfaceColumn,
    { title: "Kind", text: true, value: (row) => row.kind },
    {
      title: "Consecutive",
      value: (row) => row.consecutive / row.count,
      show: (row) => share(row.consecutive / row.count),
    },
    {
      title: "Further on",
      value: (row) => row.sequential / row.count,
      show: (row) => share(row.sequential / row.count),
    },
    { title: "Before it", value: (row) => row.back.most, show: back },
    amount("Requests", "count", count),
  ];
  const caption = "Order, from the end of the request before of its kind";
  return rows.length > 0 && table(columns, rows, { caption, noun: "row" }).node;
}

function filesTable(files) {
  const columns = [
    { title: "File", head: true, text: true, value: (row) => plainName(row.name ?? "–") },
    { title: "Through", text: true, value: through },
    ...traffic,
    amount("Processes", "processes", count),
  ];
  const filter = { label: "Find files by name", of: (row) => plainName(row.name ?? "") };
  return table(columns, files, { caption: "Files of the calls that were counted", noun: "file", filter }).node;
}

export function countersSection({ report }) {
  const found = report.counters;
  if (!found) return null;
  return section(
    "counters",
    "Counters",
    "These calls were counted, not traced: how many, how large and how long together, but not when.",
    table([interfaceColumn, ...traffic], found.modules, { caption: "Calls that were counted", noun: "row" }).node,
    callsTable(found.modules),
    sizesTable(found.modules),
    orderTable(found.modules),
    filesTable(found.files),
  );
}
