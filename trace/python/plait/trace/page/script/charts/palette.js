// Colours of heat maps: one hue for reads, one for writes, and a third for both.

import { isDark } from "../dom.js";

// Colours of each ramp, from small values to the maximum, with enough contrast to the light or dark background.
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

/** The colour at the fraction `part` of a ramp, as [red, green, blue]. */
export function shadeOf(kind, part) {
  const ramp = (isDark() ? DARK : LIGHT)[kind];
  const position = Math.min(1, Math.max(0, part)) * (ramp.length - 1);
  const i = Math.min(ramp.length - 2, Math.floor(position));
  return ramp[i].map((low, channel) => Math.round(low + (ramp[i + 1][channel] - low) * (position - i)));
}

/** The position of a value on a ramp: a square root, so that a hundredth of the maximum is still visible. */
export const depth = (value, top) => (value > 0 && top > 0 ? Math.max(0.08, Math.sqrt(value / top)) : 0);

/** The colour of a cell: of reads or writes if more than two thirds are of that kind, else of both; null: empty. */
export function colourOf(read, write, top, single) {
  const moved = read + write;
  if (!(moved > 0)) return null;
  const part = read / moved;
  const kind = single ? "both" : part > 2 / 3 ? "read" : part < 1 / 3 ? "write" : "both";
  return shadeOf(kind, depth(moved, top));
}
