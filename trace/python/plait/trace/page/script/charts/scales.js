// Scales, which convert values to pixels and back, and the marks of axes.

/** A linear scale. */
export function linear(from, to, first, last) {
  const factor = to === from ? 0 : (last - first) / (to - from);
  return {
    from,
    to,
    at: (value) => first + (value - from) * factor,
    value: (pixel) => (factor === 0 ? from : from + (pixel - first) / factor),
  };
}

/** A logarithmic scale from 1 upwards; 0 is drawn on the axis itself. */
export function logarithmic(most, first, last) {
  const top = Math.log10(Math.max(10, most));
  return { at: (value) => first + (last - first) * (value <= 0 ? 0 : 0.06 + (0.94 * Math.log10(value)) / top) };
}

/** A round distance between marks, such that the range `span` has at most about `most` marks. */
export function roundStep(span, most) {
  const rough = span / Math.max(1, most);
  if (!(rough > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  for (const factor of [1, 2, 5]) if (power * factor >= rough * 0.999) return power * factor;
  return power * 10;
}

const TIMES = [60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

function timeStep(span, most) {
  const rough = span / Math.max(1, most);
  if (rough <= 30) return roundStep(span, most);
  return TIMES.find((step) => step >= rough) ?? roundStep(span / 86400, most) * 86400;
}

/** The multiples of `step` in a range. */
export function multiples(from, to, step) {
  const marks = [];
  for (let i = Math.ceil(from / step - 1e-9); i * step <= to + step * 1e-9; i += 1) marks.push(i * step);
  return marks;
}

/** The marks of an axis of time: [{value, text}]. */
export function timeMarks(from, to, most) {
  const step = timeStep(to - from, most);
  return multiples(from, to, step).map((value) => ({ value, text: timeText(value, step, to) }));
}

function timeText(value, step, to) {
  if (step >= 60) {
    const minutes = Math.round(value / 60);
    if (to < 7200) return `${minutes} min`;
    return step >= 3600 ? `${Math.round(value / 3600)} h` : `${Math.floor(minutes / 60)}:${two(minutes % 60)} h`;
  }
  const [factor, unit] = to >= 1 ? [1, "s"] : to >= 1e-3 ? [1e3, "ms"] : [1e6, "µs"];
  const digits = Math.max(0, -Math.floor(Math.log10(step * factor) + 1e-9));
  return `${(value * factor).toFixed(Math.min(9, digits))} ${unit}`;
}

const two = (value) => String(value).padStart(2, "0");

const UNITS_OF_AXES = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/** The marks of an axis of bytes, all in one unit. */
export function byteMarks(to, most, suffix = "") {
  const power = Math.min(UNITS_OF_AXES.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, to)) / 10 + 1e-9)));
  const factor = 1024 ** power;
  const round = roundStep(to / factor, most) * factor;
  const step = suffix ? round : Math.max(1, round);
  const digits = Math.max(0, -Math.floor(Math.log10(step / factor) + 1e-9));
  return multiples(0, to, step).map((value) => ({
    value,
    text: value === 0 ? "0" : `${(value / factor).toFixed(digits)} ${UNITS_OF_AXES[power]}${suffix}`,
  }));
}
