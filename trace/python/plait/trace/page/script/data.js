// The documents that are embedded in the page.  Each is parsed when it is first used.

const read = new Map();

/** The document of the page with this name; null if there is none. */
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

/** The bytes of each column of a map, separately for reads and writes. */
export function profile(map) {
  const columns = (rows) => {
    const sums = new Array(map.columns).fill(0);
    for (const row of rows ?? []) row.forEach((value, i) => (sums[i] += value ?? 0));
    return sums;
  };
  return { begin: map.begin ?? 0, width: map.width, read_bytes: columns(map.read), write_bytes: columns(map.write) };
}

/** Sums over the bins whose middle is in a range, so that adjacent ranges count each bin once. */
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
