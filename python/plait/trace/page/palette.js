// Colours of maps: one hue for reads, one for writes, and a third where neither is told apart.

import { isDark } from "./dom.js";

// From almost nothing to the most, each readable on its own background.
const LIGHT = {
  read: [[222, 235, 247], [107, 174, 214], [8, 48, 107]],
  write: [[254, 230, 206], [241, 140, 60], [122, 40, 4]],
  both: [[232, 228, 243], [140, 120, 190], [49, 16, 98]],
};
const DARK = {
  read: [[24, 48, 72], [60, 130, 190], [190, 225, 255]],
  write: [[66, 40, 20], [205, 110, 40], [255, 220, 180]],
  both: [[46, 38, 70], [130, 108, 190], [228, 216, 255]],
};

/** The colour at a part of a ramp, as [red, green, blue]. */
export function shadeOf(kind, part) {
  const ramp = (isDark() ? DARK : LIGHT)[kind];
  const place = Math.min(1, Math.max(0, part)) * (ramp.length - 1);
  const i = Math.min(ramp.length - 2, Math.floor(place));
  return ramp[i].map((low, channel) => Math.round(low + (ramp[i + 1][channel] - low) * (place - i)));
}

/** Where a value lies between nothing and the most: its root, so that a hundredth of the most can still be seen. */
export const depth = (value, top) => (value > 0 && top > 0 ? Math.max(0.08, Math.sqrt(value / top)) : 0);

/** The colour of a cell with reads and writes; null for an empty one. */
export function colourOf(read, write, top, single) {
  if (single) return read > 0 ? shadeOf("both", depth(read, top)) : null;
  if (!(read > 0) && !(write > 0)) return null;
  const mixed = read / (read + write);
  const part = depth(read + write, top);
  const [a, b] = [shadeOf("read", part), shadeOf("write", part)];
  return a.map((channel, i) => Math.round(channel * mixed + b[i] * (1 - mixed)));
}
