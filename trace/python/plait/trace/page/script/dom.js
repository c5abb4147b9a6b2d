// Functions that make elements.  Texts become text nodes, never HTML, because names of files may contain anything.

const SVG = "http://www.w3.org/2000/svg";
let ids = 0;

/** An id that no other element has. */
export function freshId(stem) {
  ids += 1;
  return `${stem}-${ids}`;
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
  return node;
}

/** An HTML element. Attributes whose names begin with "on" are listeners. */
export function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element. */
export function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

/** A text element of a chart. */
export function label(x, y, text, attributes) {
  return svg("text", { x: x.toFixed(1), y: y.toFixed(1), ...attributes }, text);
}

const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** A name in which characters that are invisible or change the direction of text are escaped. */
export function plainName(text) {
  return String(text ?? "").replace(UNSEEN, (c) => `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`);
}

/** The end of a long path, which identifies the file better than its beginning. */
export function shortName(text, most = 44) {
  const name = plainName(text);
  return name.length <= most ? name : `…${name.slice(1 - most)}`;
}

/** True if the page is shown in dark colours; it is always printed in light ones. */
export function isDark() {
  return matchMedia("(prefers-color-scheme: dark)").matches && !isPrinting();
}

let printing = false;

export function isPrinting() {
  return printing || matchMedia("print").matches;
}

/** Calls `callback(true)` before the page is printed, and `callback(false)` after. */
export function onPrint(callback) {
  const now = (value) => {
    printing = value;
    callback(value);
  };
  addEventListener("beforeprint", () => now(true));
  addEventListener("afterprint", () => now(false));
  matchMedia("print").addEventListener("change", (event) => now(event.matches));
}
