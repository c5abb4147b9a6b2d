// The page of one report: its sections, the most important questions first.

import { contents } from "./contents.js";
import { island } from "./data.js";
import { onPrint } from "./dom.js";
import { drawEvidence } from "./evidence.js";
import { countersSection } from "./sections/counters.js";
import { classesSection, filesSection, offsetsSection } from "./sections/files.js";
import { overlapSection, processesSection, ranksSection, stragglersSection } from "./sections/ranks.js";
import { orderSection, sizesSection } from "./sections/requests.js";
import { cyclesSection, timeSection } from "./sections/time.js";
import { amplificationSection, callsSection, tablesSection, traceSection } from "./sections/trace.js";
import { makeView } from "./view.js";

/** The selected file. Listeners are called when another file is selected. */
function makeChosen(file) {
  const listeners = [];
  const chosen = { file, listen: (listener) => listeners.push(listener) };
  chosen.pick = (name) => {
    chosen.file = name;
    listeners.forEach((listener) => listener());
  };
  return chosen;
}

function build() {
  const report = island("report");
  const timeline = report.timeline;
  const bins = timeline?.read_bytes?.length ?? 0;
  const begin = timeline?.begin ?? 0;
  const end = begin + bins * (timeline?.width ?? 1);
  const view = makeView(begin, end, timeline?.width ?? 1, timeline?.clock);
  const maps = island("offsets") ?? [];
  const ranks = island("ranks");
  // Maps of the same time range share the view of the timeline; a map with another clock gets a separate view.
  const fits = (length, width) => Math.abs(begin + length - end) <= Math.max(width, timeline?.width ?? 1) * 1.5;
  const views = (length, width) => (bins && fits(length, width) ? view : makeView(0, length, width));
  const linked = [...maps, ...(ranks?.columns ? [ranks] : [])].every((map) => fits(map.columns * map.width, map.width));
  const name = document.querySelector("h1").textContent;
  const context = { report, view, views, maps, ranks, linked, name, chosen: makeChosen(maps[0]?.file ?? null) };
  // A report with counters but no events has nothing to draw over time or over offsets.
  const alone = report.counters && !report.trace?.events;
  const ofEvents = [
    timeSection,
    cyclesSection,
    classesSection,
    sizesSection,
    orderSection,
    filesSection,
    offsetsSection,
    ranksSection,
    stragglersSection,
    processesSection,
    overlapSection,
    callsSection,
    amplificationSection,
  ];
  const made = [...(alone ? [] : ofEvents), countersSection, tablesSection, traceSection].map((make) => make(context));
  document.getElementById("sections").append(...made.filter(Boolean));
  drawEvidence(report);
  contents();
  onPrint(unfold);
  document.documentElement.dataset.ready = String(Math.round(performance.now()));
}

/** Opens collapsed elements before printing, and collapses them again afterwards. */
function unfold(printing) {
  for (const node of document.querySelectorAll("details")) {
    if (printing) {
      node.dataset.was ??= node.open ? "open" : "closed";
      node.fill?.();
      node.open = true;
    } else if (node.dataset.was) {
      node.open = node.dataset.was === "open";
      delete node.dataset.was;
    }
  }
}

build();
