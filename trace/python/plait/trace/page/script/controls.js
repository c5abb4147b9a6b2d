// Small controls that several sections share.

import { el, freshId } from "./dom.js";
import { moment } from "./units.js";

/** A row of radio buttons. */
export function choice(legend, options, chosen, call) {
  const name = freshId("choice");
  const each = ([value, text]) => {
    const id = freshId("option");
    const input = el("input", { type: "radio", id, name, value, onchange: () => call(value) });
    input.checked = value === chosen;
    return el("span", {}, input, el("label", { for: id }, text));
  };
  return el("fieldset", { class: "choice" }, el("legend", {}, legend), options.map(each));
}

/** A checkbox. */
export function tick(text, ticked, call) {
  const id = freshId("tick");
  const input = el("input", { type: "checkbox", id, onchange: () => call(input.checked) });
  input.checked = ticked;
  return el("span", { class: "tick" }, input, el("label", { for: id }, text));
}

/** A drop-down list. Its options are [value, text] or {group, options}. */
export function picker(text, options, call) {
  const id = freshId("pick");
  const option = ([value, name]) => el("option", { value }, name);
  const entries = options.map((each) =>
    each.group ? el("optgroup", { label: each.group }, each.options.map(option)) : option(each),
  );
  const select = el("select", { id, onchange: () => call(select.value) }, entries);
  return { node: el("span", { class: "picker" }, el("label", { for: id }, text), select), select };
}

/** The buttons that zoom and pan a view; only "Show all" if `all` is false. */
export function viewButtons(view, all = true) {
  const button = (name, title, call) =>
    el("button", { type: "button", title, "aria-label": title, onclick: call }, name);
  const reset = button("Show all", "Show the whole run (key 0)", () => view.reset());
  const range = el("span", { class: "range quiet" });
  const update = () => {
    const span = view.to - view.from;
    reset.disabled = view.isWhole();
    range.textContent = view.isWhole() ? "" : `${moment(view.from, span / 100)} to ${moment(view.to, span / 100)}`;
  };
  view.listen((what) => what === "range" && update());
  update();
  const others = all && [
    button("+", "Zoom in (key +)", () => view.zoom(0.5, view.cursor ?? undefined)),
    button("−", "Zoom out (key −)", () => view.zoom(2, view.cursor ?? undefined)),
    button("←", "Earlier (key Page Up)", () => view.pan(-0.5)),
    button("→", "Later (key Page Down)", () => view.pan(0.5)),
  ];
  return el("span", { class: "buttons", role: "group", "aria-label": "Stretch of time" }, others, reset, range);
}

/** A table with the values of a chart, for readers who cannot use the chart. It is made when it is opened. */
export function alternative(title, make) {
  const node = el("details", { class: "alternative" }, el("summary", {}, title));
  let made = false;
  const open = () => {
    if (made) return;
    made = true;
    node.append(make());
  };
  node.addEventListener("toggle", () => node.open && open());
  node.fill = open;
  return node;
}

/** A section of the page. */
export function section(id, title, intro, ...content) {
  const heading = freshId("heading");
  return el(
    "section",
    { id, "aria-labelledby": heading, tabindex: -1 },
    el("h2", { id: heading }, title),
    intro && el("p", { class: "intro" }, intro),
    ...content,
  );
}
