// The documents that the page carries.  Large ones are read when they are first looked at.

const read = new Map();

/** A document of the page by its name; null where there is none. */
export function island(name) {
  if (!read.has(name)) {
    const node = document.getElementById(`data-${name}`);
    read.set(name, node ? JSON.parse(node.textContent) : null);
  }
  return read.get(name);
}

export const total = (values) => (values ?? []).reduce((sum, value) => sum + (value ?? 0), 0);
export const most = (values) => (values ?? []).reduce((top, value) => (value > top ? value : top), 0);
export const isSomething = (values) => (values ?? []).some((value) => value > 0);

/** Bytes a column of a map, reads and writes apart. */
export function profile(map) {
  const columns = (rows) => {
    const sums = new Array(map.columns).fill(0);
    for (const row of rows ?? []) row.forEach((value, i) => (sums[i] += value ?? 0));
    return sums;
  };
  return { begin: map.begin ?? 0, width: map.width, read_bytes: columns(map.read), write_bytes: columns(map.write) };
}

/** Sums over the bins whose middle lies in a range, each bin once. */
export function sumBetween(timeline, from, to) {
  const first = Math.max(0, Math.ceil((from - timeline.begin) / timeline.width - 0.5 - 1e-9));
  const end = Math.min(timeline.read_bytes.length, Math.ceil((to - timeline.begin) / timeline.width - 0.5 - 1e-9));
  const sum = { read: 0, write: 0, reads: 0, writes: 0, busy: 0, present: 0, bins: Math.max(0, end - first) };
  for (let i = first; i < end; i += 1) {
    sum.read += timeline.read_bytes[i];
    sum.write += timeline.write_bytes[i];
    sum.reads += timeline.reads?.[i] ?? 0;
    sum.writes += timeline.writes?.[i] ?? 0;
    const present = timeline.present?.[i] ?? 1;
    sum.busy += (timeline.busy?.[i] ?? 0) * present;
    sum.present += present;
  }
  return sum;
}
