// The rate over time, with the busy share and the strongest cycle, of all requests or of one file or process.

import { alternative, choice, picker, section, tick, viewButtons } from "../controls.js";
import { profile, sumBetween, total } from "../data.js";
import { el, shortName } from "../dom.js";
import { overview } from "../charts/overview.js";
import { table } from "../table.js";
import { timelineChart } from "../charts/timeline.js";
import { bytes, count, moment, rate, seconds, share } from "../units.js";

const ROWS = 48; // maximum rows of the table in place of the chart

export const clockName = (clock) => (clock === "cpu" ? "CPU time used by the program" : "time since the start");

/** A summary of the timeline in one sentence. */
export function timelineSummary(timeline) {
  const moved = timeline.read_bytes.map((value, i) => value + timeline.write_bytes[i]);
  const top = moved.reduce((best, value, i) => (value > moved[best] ? i : best), 0);
  const span = timeline.width * moved.length;
  const quiet = moved.filter((value) => value === 0).length / moved.length;
  const peak = `The busiest ${seconds(timeline.width)} began at ${seconds(timeline.begin + top * timeline.width)}`;
  return (
    `Over ${seconds(span)} the program read ${bytes(total(timeline.read_bytes))} and wrote ` +
    `${bytes(total(timeline.write_bytes))}, ${rate(total(moved) / span)} on average. ` +
    `${peak}, at ${rate(moved[top] / timeline.width)}; nothing moved in ${share(quiet)} of the time.`
  );
}

/** A table of the bins of a range; neighbouring bins are joined so that it has at most about ROWS rows. */
export function timelineTable(timeline, from, to, caption) {
  const first = Math.max(0, Math.floor((from - timeline.begin) / timeline.width + 1e-9));
  const end = Math.min(timeline.read_bytes.length, Math.ceil((to - timeline.begin) / timeline.width - 1e-9));
  const each = Math.max(1, Math.ceil((end - first) / ROWS));
  const rows = [];
  for (let i = first; i < end; i += each) {
    const begin = timeline.begin + i * timeline.width;
    const stop = timeline.begin + Math.min(i + each, end) * timeline.width;
    rows.push({ begin, stop, span: stop - begin, ...sumBetween(timeline, begin, stop) });
  }
  const step = each * timeline.width;
  const columns = [
    { title: "From", head: true, value: (row) => row.begin, show: (row) => moment(row.begin, step) },
    { title: "Read", unit: "/s", value: (row) => row.read / row.span, show: (row) => bytes(row.read / row.span) },
    { title: "Written", unit: "/s", value: (row) => row.write / row.span, show: (row) => bytes(row.write / row.span) },
    { title: "Reads", value: (row) => row.reads, show: (row) => count(row.reads) },
    { title: "Writes", value: (row) => row.writes, show: (row) => count(row.writes) },
  ];
  if (timeline.busy?.length) {
    columns.push({
      title: "Busy",
      value: (row) => (row.present ? row.busy / row.present : 0),
      show: (row) => share(row.present ? row.busy / row.present : null),
    });
  }
  return table(columns, rows, { caption, sortable: false, noun: "row", few: ROWS }).node;
}

/** The options of the picker: files that have a map, and processes. */
function choices(maps, ranks) {
  const options = [["", "the whole program"]];
  if (maps.length) options.push({ group: "Files", options: maps.map((map, i) => [`f${i}`, shortName(map.file)]) });
  if (ranks?.rows?.length > 1) {
    options.push({ group: "Processes", options: ranks.rows.map((row, i) => [`r${i}`, shortName(row.label)]) });
  }
  return options;
}

export function timeSection({ report, view, maps, ranks, linked }) {
  const whole = report.timeline;
  if (!whole?.read_bytes?.length) return section("timeline", "Rate over time", "No reads or writes were recorded.");
  const state = { data: whole, mode: "mirrored", marked: false };
  const strongest = report.cycles?.[0];
  const frame = timelineChart({
    view,
    shown: () => state.data,
    mode: () => state.mode,
    cycle: () => (state.marked ? strongest : null),
    clock: clockName(view.clock),
    summary: timelineSummary(whole),
  });
  const inView = el("p", { class: "inview", id: "in-view", "aria-live": "polite" });
  const tellView = () => {
    const sum = sumBetween(state.data, view.from, view.to);
    const busy = state.data.busy?.length && sum.present ? `, busy ${share(sum.busy / sum.present)}` : "";
    const span = view.isWhole() ? "In the whole run" : `In the ${seconds(view.to - view.from)} shown`;
    const mean = rate((sum.read + sum.write) / (sum.bins * state.data.width));
    const sides = state.data.single ? `moved ${bytes(sum.read)}` : `read ${bytes(sum.read)}, wrote ${bytes(sum.write)}`;
    inView.textContent = `${span}: ${sides}, ${mean} on average${busy}.`;
  };
  const show = (value) => {
    const number = Number(value.slice(1));
    if (value === "") state.data = whole;
    else if (value[0] === "f") state.data = profile(maps[number]);
    else {
      const row = ranks.bytes[number];
      state.data = { begin: 0, width: ranks.width, read_bytes: row, write_bytes: row.map(() => 0), single: true };
    }
    frame.redraw();
    tellView();
  };
  view.listen((what) => what === "range" && tellView());
  tellView();
  const options = linked ? choices(maps, ranks) : [];
  const list = options.length > 1 ? picker("Show", options, show) : null;
  const instead = alternative("The same as a table", () => {
    const host = el("div");
    const fill = () =>
      host.replaceChildren(
        timelineTable(whole, view.from, view.to, "Rate over time, in the stretch that the chart shows"),
      );
    view.listen((what) => what === "range" && fill());
    fill();
    return host;
  });
  const redraw = (change) => (value) => {
    change(value);
    frame.redraw();
  };
  return section(
    "timeline",
    "Rate over time",
    null,
    el(
      "div",
      { class: "controls" },
      viewButtons(view),
      choice(
        "Draw",
        [
          ["mirrored", "reads up, writes down"],
          ["stacked", "stacked"],
        ],
        state.mode,
        redraw((value) => (state.mode = value)),
      ),
      list?.node,
      strongest &&
        tick(
          `turns of the cycle of ${seconds(strongest.period_seconds)}`,
          false,
          redraw((on) => (state.marked = on)),
        ),
    ),
    frame.whole,
    overview(view, whole),
    inView,
    instead,
  );
}

export function cyclesSection({ report }) {
  const cycles = report.cycles ?? [];
  if (!cycles.length) {
    return section("cycles", "Cycles", "No cycle was found: the demand does not repeat at even distances.");
  }
  const best = cycles[0];
  const intro =
    `The strongest cycle takes ${seconds(best.period_seconds)} and repeats ${count(best.count)} times, moving ` +
    `${bytes(best.bytes_per_cycle)} each. ${share(best.strength)} of the rate's variation repeats.`;
  const columns = [
    { title: "Of", head: true, text: true, value: (row) => row.what, show: (row) => shortName(row.what) },
    { title: "Period", value: (row) => row.period_seconds, show: (row) => seconds(row.period_seconds) },
    { title: "Turns", value: (row) => row.count, show: (row) => count(row.count) },
    { title: "Bytes a turn", value: (row) => row.bytes_per_cycle, show: (row) => bytes(row.bytes_per_cycle) },
    { title: "Strength", value: (row) => row.strength, show: (row) => share(row.strength), bar: (row) => row.strength },
    {
      title: "Regularity",
      value: (row) => row.regularity,
      show: (row) => share(row.regularity),
      bar: (row) => row.regularity,
    },
    { title: "First", value: (row) => row.first, show: (row) => seconds(row.first) },
    { title: "Last", value: (row) => row.last, show: (row) => seconds(row.last) },
  ];
  return section(
    "cycles",
    "Cycles",
    intro,
    table(columns, cycles, { caption: "Cycles, the strongest first", noun: "cycle" }).node,
    el(
      "p",
      { class: "quiet" },
      "Strength: how much of the rate's variation repeats. " +
        "Regularity: 1 less the relative deviation of the turns' lengths.",
    ),
  );
}
