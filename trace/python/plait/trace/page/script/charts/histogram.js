// A histogram of request sizes: a pair of bars for each power of two, on a logarithmic scale of counts or bytes.

import { el, freshId, label, onPrint, svg } from "../dom.js";
import { logarithmic } from "./scales.js";
import { bytes, count, counted } from "../units.js";

const TALL = 240;

/** A histogram of bins {from, to, read, write}; `what()` is "count" or "bytes". */
export function histogram(bins, what) {
  const layer = svg("g");
  const over = svg("g");
  const surface = svg("svg", { class: "surface", "aria-hidden": "true", focusable: "false" }, layer, over);
  const readout = el("output", { class: "readout", "aria-live": "polite" });
  const help = freshId("help");
  const plot = el(
    "div",
    {
      class: "plot",
      tabindex: 0,
      role: "application",
      "aria-roledescription": "interactive chart",
      "aria-label": "Requests by size",
      "aria-describedby": help,
    },
    surface,
  );
  let chosen = null;
  let frame = null;

  function redraw() {
    const width = Math.max(240, Math.round(plot.clientWidth || 720));
    surface.setAttribute("viewBox", `0 0 ${width} ${TALL}`);
    frame = { width, left: width < 520 ? 62 : 78, right: width - 10, top: 18, bottom: TALL - 42 };
    layer.replaceChildren();
    drawBins(layer, frame, bins, what());
    choose(chosen);
  }
  function choose(bin) {
    chosen = bin === null ? null : Math.min(Math.max(bin, 0), bins.length - 1);
    over.replaceChildren();
    readout.value = chosen === null ? "" : tellSize(bins[chosen]);
    if (chosen === null || !frame) return;
    const step = (frame.right - frame.left) / bins.length;
    const box = { x: frame.left + chosen * step, y: frame.top, width: step, height: frame.bottom - frame.top };
    over.append(svg("rect", { class: "bin", ...box }));
  }
  plot.addEventListener("pointermove", (event) => {
    const box = plot.getBoundingClientRect();
    const x = ((event.clientX - box.left) / box.width) * frame.width;
    const bin = Math.floor(((x - frame.left) / (frame.right - frame.left)) * bins.length);
    choose(bin < 0 || bin >= bins.length ? null : bin);
  });
  plot.addEventListener("pointerleave", () => choose(null));
  plot.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    choose((chosen ?? (by > 0 ? -1 : bins.length)) + by);
  });
  new ResizeObserver(redraw).observe(plot);
  onPrint(redraw);
  const node = el(
    "figure",
    { class: "chart" },
    plot,
    el("span", { id: help, class: "unseen" }, "Left and right arrow keys move between sizes."),
    readout,
  );
  return { node, redraw };
}

function tellSize(bin) {
  const side = (name, part) => part && `${counted(part.count, name)} (${bytes(part.bytes)})`;
  const said = [side("read", bin.read), side("write", bin.write)].filter(Boolean);
  const range = bin.to > bin.from + 1 ? `${bytes(bin.from)} to below ${bytes(bin.to)}` : bytes(bin.from);
  return `${range}: ${said.length ? said.join(", ") : "none"}`;
}

function drawBins(layer, frame, bins, what) {
  const { left, right, top, bottom } = frame;
  const value = (bin, kind) => bin[kind]?.[what] ?? 0;
  const tallest = Math.max(1, ...bins.flatMap((bin) => [value(bin, "read"), value(bin, "write")]));
  const y = logarithmic(tallest, bottom, top);
  const line = (y1) => svg("line", { class: "grid", x1: left, x2: right, y1, y2: y1 });
  const powers = Math.ceil(Math.log10(tallest));
  const every = Math.max(1, Math.ceil(powers / 5));
  for (let power = 0; power <= powers; power += every) {
    const at = y.at(10 ** power);
    if (at < top - 4) break;
    layer.append(
      line(at),
      label(left - 8, at + 4, what === "bytes" ? bytes(10 ** power) : count(10 ** power), { "text-anchor": "end" }),
    );
  }
  const step = (right - left) / bins.length;
  const thick = Math.min(26, step * 0.38);
  const room = Math.max(1, Math.ceil(58 / step));
  bins.forEach((bin, i) => {
    const middle = left + (i + 0.5) * step;
    for (const [kind, x] of [
      ["read", middle - thick],
      ["write", middle],
    ]) {
      const amount = value(bin, kind);
      if (!amount) continue;
      const high = y.at(amount);
      layer.append(svg("rect", { class: `column ${kind}`, x, y: high, width: thick - 1, height: bottom - high }));
    }
    if (i % room === 0) layer.append(label(middle, bottom + 18, bytes(bin.from), { "text-anchor": "middle" }));
  });
  layer.append(svg("line", { class: "base", x1: left, x2: right, y1: bottom, y2: bottom }));
  layer.append(label(right, bottom + 34, "size of the request, from", { "text-anchor": "end", class: "title" }));
  layer.append(label(right - 76, top - 5, "■ reads", { "text-anchor": "end", class: "side read" }));
  layer.append(label(right, top - 5, "▨ writes", { "text-anchor": "end", class: "side write" }));
}
