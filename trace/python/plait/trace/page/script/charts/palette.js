// Colours of maps: one hue for reads, one for writes, and a third for both.

import { isDark } from "../dom.js";

// From almost nothing to the most, each readable on its own background.
const LIGHT = {
  read: [
    [222, 235, 247],
    [107, 174, 214],
    [8, 48, 107],
  ],
  write: [
    [254, 230, 206],
    [241, 140, 60],
    [122, 40, 4],
  ],
  both: [
    [232, 228, 243],
    [140, 120, 190],
    [49, 16, 98],
  ],
};
const DARK = {
  read: [
    [24, 48, 72],
    [60, 130, 190],
    [190, 225, 255],
  ],
  write: [
    [66, 40, 20],
    [205, 110, 40],
    [255, 220, 180],
  ],
  both: [
    [46, 38, 70],
    [130, 108, 190],
    [228, 216, 255],
  ],
};

/** The colour at a part of a ramp, as [red, green, blue]. */
export function shadeOf(kind, part) {
  const ramp = (isDark() ? DARK : LIGHT)[kind];
  const position = Math.min(1, Math.max(0, part)) * (ramp.length - 1);
  const i = Math.min(ramp.length - 2, Math.floor(position));
  return ramp[i].map((low, channel) => Math.round(low + (ramp[i + 1][channel] - low) * (position - i)));
}

/** Where a value lies between nothing and the most: its root, so that a hundredth of the most can still be seen. */
export const depth = (value, top) => (value > 0 && top > 0 ? Math.max(0.08, Math.sqrt(value / top)) : 0);

/** The colour of a cell: of reads or writes where two thirds are of one kind, else of both; null for an empty one. */
export function colourOf(read, write, top, single) {
  const moved = read + write;
  if (!(moved > 0)) return null;
  const part = read / moved;
  const kind = single ? "both" : part > 2 / 3 ? "read" : part < 1 / 3 ? "write" : "both";
  return shadeOf(kind, depth(moved, top));
}
