// A small timeline of the whole run that marks the visible range: drag to select a range, drag the range to move it.

import { el, svg } from "../dom.js";
import { linear } from "./scales.js";

const STRIP = 34;

/** A strip without keyboard input, because the keys of the chart do the same. */
export function overview(view, timeline) {
  const path = svg("path", { class: "area both" });
  const shade = [svg("rect", { class: "shade" }), svg("rect", { class: "shade" })];
  const part = svg("rect", { class: "part", y: 0.5, height: STRIP - 1 });
  const surface = svg("svg", { class: "surface", preserveAspectRatio: "none" }, path, ...shade, part);
  const node = el(
    "div",
    { class: "overview", "aria-hidden": "true", title: "Drag to choose a stretch of time" },
    surface,
  );
  let width = 0;
  let x = linear(view.begin, view.end, 0, 1);

  function draw() {
    width = Math.max(200, node.clientWidth || 720);
    x = linear(view.begin, view.end, 0, width);
    surface.setAttribute("viewBox", `0 0 ${width} ${STRIP}`);
    const both = timeline.read_bytes.map((value, i) => value + timeline.write_bytes[i]);
    const top = both.reduce((a, b) => Math.max(a, b), 0) || 1;
    const bins = new Float64Array(Math.ceil(width));
    both.forEach((value, i) => {
      const from = Math.floor(x.at(timeline.begin + i * timeline.width));
      const to = Math.max(from + 1, Math.floor(x.at(timeline.begin + (i + 1) * timeline.width)));
      for (let at = from; at < Math.min(to, bins.length); at += 1) bins[at] = Math.max(bins[at], value);
    });
    const line = Array.from(bins, (value, at) => `V${(STRIP - (STRIP - 2) * (value / top)).toFixed(1)}H${at + 1}`);
    path.setAttribute("d", `M0 ${STRIP}${line.join("")}V${STRIP}Z`);
    follow();
  }
  function follow() {
    const [a, b] = [x.at(view.from), x.at(view.to)];
    const box = (rect, from, to) => {
      rect.setAttribute("x", from);
      rect.setAttribute("width", Math.max(0, to - from));
    };
    box(part, a + 0.5, b - 0.5);
    box(shade[0], 0, a);
    box(shade[1], b, width);
    shade.forEach((rect) => rect.setAttribute("height", STRIP));
  }

  let press = null;
  const time = (event) => x.value(((event.clientX - node.getBoundingClientRect().left) / node.clientWidth) * width);
  node.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const at = time(event);
    const inside = !view.isWhole() && at > view.from && at < view.to;
    press = { at, from: view.from, to: view.to, inside };
    node.setPointerCapture(event.pointerId);
  });
  node.addEventListener("pointermove", (event) => {
    if (!press) return;
    const at = time(event);
    if (press.inside) {
      const by = Math.min(Math.max(at - press.at, view.begin - press.from), view.end - press.to);
      view.set(press.from + by, press.to + by);
    } else if (Math.abs(x.at(at) - x.at(press.at)) > 4) view.set(Math.min(at, press.at), Math.max(at, press.at));
  });
  const drop = () => (press = null);
  node.addEventListener("pointerup", drop);
  node.addEventListener("pointercancel", drop);
  node.addEventListener("dblclick", () => view.reset());
  view.listen((what) => what === "range" && follow());
  new ResizeObserver(draw).observe(node);
  return node;
}
