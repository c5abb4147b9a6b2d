// Calls, the paper's tables, physical requests in relation to logical ones, and the trace itself.

import { section } from "../controls.js";
import { most } from "../data.js";
import { el, plainName } from "../dom.js";
import { facts, table } from "../table.js";
import { bytes, count, counted, number, seconds, share } from "../units.js";

export function callsSection({ report }) {
  const calls = report.calls ?? [];
  if (!calls.length) return section("calls", "Calls", "No calls were recorded.");
  const top = most(calls.map((row) => row.seconds)) || 1;
  const columns = [
    { title: "Call", head: true, text: true, value: (row) => row.kind },
    { title: "Interface", text: true, value: (row) => row.interface },
    {
      title: "Time",
      value: (row) => row.seconds,
      show: (row) => seconds(row.seconds),
      bar: (row) => row.seconds / top,
    },
    { title: "Calls", value: (row) => row.count, show: (row) => count(row.count) },
    { title: "Failed", value: (row) => row.failed, show: (row) => count(row.failed) },
    { title: "Moved", value: (row) => row.bytes, show: (row) => bytes(row.bytes) },
    {
      title: "Mean time",
      value: (row) => (row.count ? row.seconds / row.count : null),
      show: (row) => seconds(row.count ? row.seconds / row.count : null),
    },
  ];
  return section(
    "calls",
    "Calls",
    null,
    table(columns, calls, { caption: "Calls by kind and interface", sort: 2, noun: "row" }).node,
  );
}

const mega = (value) => (value === null || value === undefined ? "–" : number(value / 2 ** 20));
const kilo = (value) => (value === null || value === undefined ? "–" : number(value / 2 ** 10));

/** Tables 1 and 2, with the columns of the paper. */
export function tablesSection({ report, name }) {
  const { table1: one, table2: two } = report;
  if (!one && !two) return null;
  const clock = report.trace?.clock === "cpu" ? "CPU time" : "elapsed time, as the trace has no CPU times";
  const cell = (title, unit, field, show) => ({
    title,
    unit,
    value: (row) => row[field],
    show: (row) => show(row[field]),
  });
  const program = { title: "Program", head: true, text: true, value: () => name };
  const first = [
    program,
    cell("Running time", "(s)", "running_seconds", number),
    cell("Total data size", "(MB)", "data_bytes", mega),
    cell("Total I/O done", "(MB)", "io_bytes", mega),
    cell("Number of I/Os", null, "ios", count),
    cell("Avg I/O size", "(MB)", "mean_io_bytes", mega),
    cell("MB/s", null, "bytes_per_second", mega),
    cell("IOs/s", null, "ios_per_second", number),
  ];
  const second = [
    program,
    cell("Reads", "(MB/s)", "read_bytes_per_second", mega),
    cell("Writes", "(MB/s)", "write_bytes_per_second", mega),
    cell("Reads", "(IOs/s)", "reads_per_second", number),
    cell("Writes", "(IOs/s)", "writes_per_second", number),
    cell("Avg I/O size", "(KB)", "mean_io_bytes", kilo),
    cell("Read/write ratio", "(data)", "read_write_ratio", number),
  ];
  return section(
    "tables",
    "Tables 1 and 2",
    `In the columns of the 1992 paper. Rates are for each second of ${clock}; MB are of 2²⁰ bytes, KB of 2¹⁰.`,
    one && table(first, [one], { caption: "Table 1. Characteristics of the program" }).node,
    two && table(second, [two], { caption: "Table 2. Request rates and data rates" }).node,
  );
}

export function amplificationSection({ report }) {
  const found = report.amplification;
  if (!found) return null;
  return section(
    "amplification",
    "Asked for and moved",
    `For each byte that the program asked for, ${number(found.ratio)} reached a store.`,
    facts([
      ["Asked for", bytes(found.logical_bytes)],
      ["Reached stores", bytes(found.physical_bytes)],
      ["Ratio", number(found.ratio)],
      ["Requests known at both levels", count(found.joined)],
    ]),
  );
}

const LEVELS = { logical: "what the program asked for", physical: "what reached the stores" };
const CLOCKS = { cpu: "CPU time", wall: "elapsed time" };

export function traceSection({ report }) {
  const trace = report.trace ?? {};
  const missed = trace.coverage?.missed ?? [];
  const columns = [
    { title: "What is missing, and why", head: true, text: true, value: (row) => plainName(row.reason) },
    { title: "Events", value: (row) => row.events, show: (row) => count(row.events) },
    { title: "Read", value: (row) => row.read_bytes, show: (row) => bytes(row.read_bytes) },
    { title: "Written", value: (row) => row.written_bytes, show: (row) => bytes(row.written_bytes) },
  ];
  return section(
    "trace",
    "The trace",
    trace.coverage?.text,
    facts([
      ["Trace", el("bdi", { class: "name" }, plainName(trace.path))],
      ["Format", plainName(trace.format)],
      ["Began", trace.zero && plainName(trace.zero)],
      ["Elapsed", seconds(trace.wall_seconds)],
      [
        "CPU time",
        trace.cpu_seconds === null || trace.cpu_seconds === undefined ? "not known" : seconds(trace.cpu_seconds),
      ],
      ["Events", count(trace.events)],
      ["Covered", trace.coverage?.share === null ? "not known" : share(trace.coverage?.share)],
      ["Ended", trace.complete === false ? "cut off, or a process was killed" : "as its format ends"],
      ["Times rounded to", trace.tick_ns === undefined ? null : seconds(trace.tick_ns / 1e9)],
      ["Totals count", LEVELS[trace.level]],
      ["Rates are for", CLOCKS[trace.clock]],
    ]),
    missed.length > 0 && table(columns, missed, { caption: "Missing from the trace", noun: "row" }).node,
    trace.notes?.length > 0 &&
      el(
        "details",
        { class: "alternative", open: trace.notes.length <= 12 },
        el("summary", {}, counted(trace.notes.length, "note")),
        el(
          "ul",
          { class: "notes" },
          trace.notes.map((note) => el("li", {}, plainName(note))),
        ),
      ),
  );
}
