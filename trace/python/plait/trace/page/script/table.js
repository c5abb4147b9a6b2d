// Tables that are sorted by any column and filtered by text. The screen shows the first rows, a printed page all.

import { el, freshId, isPrinting, onPrint } from "./dom.js";
import { count, counted } from "./units.js";

const FEW = 20; // default number of rows that are shown at first

/**
 * A table of `rows`.  A column is {title, unit?, value(row), show?(row), text?, head?, bar?}: `value` is
 * the sort key, `show` the content of the cell, `text` columns are aligned left and sorted ascending at first, `head`
 * names the row, `bar` is a length from 0 to 1 or the parts of a bar.
 * Options: caption, noun and plural of a row, sort (column number), upwards, sortable, few (rows shown at first),
 * filter {label, of(row)}, pick {chosen(row), call(row), label(row)}.
 */
export function table(
  columns,
  rows,
  {
    caption,
    sort = null,
    upwards = false,
    filter = null,
    pick = null,
    noun = "row",
    plural = `${noun}s`,
    sortable = true,
    few = FEW,
  },
) {
  const state = {
    column: sort,
    down: sort === null ? true : !upwards && !columns[sort].text,
    words: "",
    all: rows.length <= few,
  };
  const body = el("tbody");
  const status = el("p", { class: "status", "aria-live": "polite" });
  const headings = columns.map((column, i) => heading(column, i));
  const more = el("button", { type: "button", class: "more", onclick: () => showAll(!state.all) });
  const text = el("span");
  const grid = el(
    "table",
    {},
    el("caption", {}, text),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        headings.map((each) => each.cell),
      ),
    ),
    body,
  );
  text.textContent = caption;
  const scroll = el("div", { class: "scroll", role: "region", "aria-label": caption }, grid);
  new ResizeObserver(() => {
    // The keyboard focus stops at the table only if the table can be scrolled.
    if (scroll.scrollWidth > scroll.clientWidth + 1) scroll.tabIndex = 0;
    else scroll.removeAttribute("tabindex");
  }).observe(scroll);
  const made = rows.map((row) => ({ row, node: null, key: filter ? filter.of(row).toLowerCase() : "" }));
  let kept = made;

  function heading(column, i) {
    const title = [column.title, column.unit && el("span", { class: "unit" }, ` ${column.unit}`)];
    const press = () => {
      state.down = state.column === i ? !state.down : !column.text;
      state.column = i;
      arrange();
    };
    const inner = sortable && rows.length > 1 ? el("button", { type: "button", onclick: press }, title) : title;
    const kind = column.text || column.head ? "text" : column.bar ? "barred" : null;
    return { cell: el("th", { scope: "col", class: kind }, inner), column };
  }
  function line(row) {
    return el(
      "tr",
      {},
      columns.map((column) => cellOf(column, row)),
    );
  }
  function cellOf(column, row) {
    const shown = column.show ? column.show(row) : column.value(row);
    if (column.head && pick) {
      const button = el("button", { type: "button", class: "pick", onclick: () => pick.call(row) }, shown);
      button.setAttribute("aria-pressed", "false");
      if (pick.label) button.title = pick.label(row);
      return el("th", { scope: "row", class: "text" }, button);
    }
    if (column.head) return el("th", { scope: "row", class: column.text ? "text" : null }, shown);
    if (!column.bar) return el("td", { class: column.text ? "text" : null }, shown);
    return el("td", { class: "barred" }, el("span", { class: "amount" }, shown), bar(column.bar(row)));
  }
  function arrange() {
    headings.forEach(({ cell }, i) => {
      if (state.column === i) cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
    kept = made.filter(({ key }) => words.every((word) => key.includes(word)));
    if (state.column !== null) kept.sort((a, b) => order(columns[state.column].value, a.row, b.row, state.down));
    fillBody(state.all || isPrinting());
    more.hidden = kept.length <= few;
    more.textContent = state.all ? `Show the first ${few}` : `Show all ${counted(kept.length, noun, plural)}`;
    if (filter)
      status.textContent = words.length ? `${count(kept.length)} of ${counted(rows.length, noun, plural)}` : "";
  }
  /** Fills the table. A row is made when it is first shown, so that a page with many rows opens fast. */
  function fillBody(all) {
    const shown = all ? kept : kept.slice(0, few);
    for (const each of shown) each.node ??= line(each.row);
    body.replaceChildren(...shown.map(({ node }) => node));
    mark();
  }
  function showAll(all) {
    state.all = all;
    arrange();
  }
  function mark() {
    for (const { row, node } of made) {
      if (!node || !pick) continue;
      const chosen = pick.chosen(row);
      node.classList.toggle("chosen", chosen);
      node.querySelector("button.pick").setAttribute("aria-pressed", String(chosen));
    }
  }
  arrange();
  onPrint((printing) => fillBody(printing || state.all));
  const node = el(
    "div",
    { class: "table" },
    filter && finder(filter, status, (words) => ((state.words = words), arrange())),
    scroll,
    more,
  );
  return { node, mark };
}

function finder(filter, status, call) {
  const id = freshId("filter");
  const input = el("input", {
    id,
    type: "search",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => call(input.value),
  });
  return el("div", { class: "find" }, el("label", { for: id }, filter.label), input, status);
}

function order(value, a, b, down) {
  const [x, y] = [value(a), value(b)];
  if (x === y) return 0;
  if (x === null || x === undefined) return 1; // unknown values come last in either direction
  if (y === null || y === undefined) return -1;
  const before = typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y;
  return down ? -before : before;
}

/** A bar of the parts [{part, kind}], or of one number. Parts that sum to 1 fill its whole width. */
export function bar(parts) {
  const pieces = typeof parts === "number" ? [{ part: parts, kind: "both" }] : parts;
  return el(
    "span",
    { class: "bar", "aria-hidden": "true" },
    pieces.map(({ part, kind }) => {
      const piece = el("span", { class: `piece ${kind}` });
      piece.style.width = `${(100 * Math.min(1, Math.max(0, part || 0))).toFixed(2)}%`;
      return piece;
    }),
  );
}

/** A list of names and values; entries without a value are left out. */
export function facts(pairs) {
  const known = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return el(
    "dl",
    { class: "facts" },
    known.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, value))),
  );
}
