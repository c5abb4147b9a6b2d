// Texts of numbers; _words.py makes the same texts for the static part of the page.

export const NOTHING = "–";
const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const BLANK = "\u00a0";
const known = (value) => typeof value === "number" && Number.isFinite(value);
const grouped = (value) => value.toLocaleString("en-US", { maximumFractionDigits: 0 });

/** A number with about three digits, two below 0.1, and whole from 100 on. */
export function number(value) {
  if (!known(value)) return NOTHING;
  const size = Math.abs(value);
  if (Number.isInteger(value) || size >= 99.95) return grouped(value);
  if (size >= 9.995) return value.toFixed(1);
  if (size >= 0.0995) return value.toFixed(2);
  return String(Number(value.toPrecision(2)));
}

export const count = (value) => (known(value) ? grouped(value) : NOTHING);

function scaled(value) {
  let step = 0;
  while (Math.abs(value) >= 999.5 && step < UNITS.length - 1) {
    value /= 1024;
    step += 1;
  }
  return [value, UNITS[step]];
}

/** An amount of bytes, in binary units. */
export function bytes(value) {
  if (!known(value)) return NOTHING;
  const [rest, unit] = scaled(value);
  return number(rest) + BLANK + unit;
}

export const rate = (value) => (known(value) ? `${bytes(value)}/s` : NOTHING);

/** A time in seconds. */
export function seconds(value) {
  if (!known(value)) return NOTHING;
  const length = Math.abs(value);
  if (length >= 7200) {
    const minutes = Math.round(length / 60);
    return `${grouped(Math.floor(minutes / 60))}${BLANK}h${BLANK}${minutes % 60}${BLANK}min`;
  }
  if (length >= 600) {
    const whole = Math.round(length);
    return `${Math.floor(whole / 60)}${BLANK}min${BLANK}${whole % 60}${BLANK}s`;
  }
  if (length >= 1 || length === 0) return `${number(value)}${BLANK}s`;
  for (const [factor, unit] of [
    [1e3, "ms"],
    [1e6, "µs"],
  ]) {
    if (length * factor >= 0.9995) return number(value * factor) + BLANK + unit;
  }
  return `${number(value * 1e9)}${BLANK}ns`;
}

/** A share in per cent. A share below 100 % is never rounded to 100 %, and a share above 0 never to 0. */
export function share(value) {
  if (!known(value)) return NOTHING;
  const percent = value * 100;
  if (percent > 99.95 && percent < 100) return `> 99.9${BLANK}%`;
  if (percent > 0 && percent < 0.05) return `< 0.1${BLANK}%`;
  const whole = Math.round(percent);
  return `${Math.abs(percent - whole) < 1e-6 ? whole : percent.toFixed(1)}${BLANK}%`;
}

/** A relative change, with its sign. */
export function change(value) {
  if (!known(value)) return NOTHING;
  if (value >= 9) return `× ${number(1 + value)}`;
  const percent = Math.abs(value * 100);
  const digits = percent >= 9.95 || percent === 0 ? 0 : 1;
  return `${value > 0 ? "+" : value < 0 ? "−" : "±"}${percent.toFixed(digits)}${BLANK}%`;
}

export const counted = (value, noun, plural = `${noun}s`) => `${count(value)} ${value === 1 ? noun : plural}`;

/** A time in a view, with enough digits to distinguish bins of the width `span`. */
export function moment(value, span) {
  if (!known(value)) return NOTHING;
  const [factor, unit] = span >= 10 ? [1, "s"] : span >= 0.01 ? [1, "s"] : span >= 1e-5 ? [1e3, "ms"] : [1e6, "µs"];
  const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(Math.max(span * factor, 1e-12))) + 2));
  return (value * factor).toFixed(digits) + BLANK + unit;
}
