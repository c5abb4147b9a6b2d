// The time range that charts show, and the time of the cursor. Charts that share a view move together.

/** A view of [begin, end]. `step` is the smallest width of bins in its charts, `clock` is "cpu" or "wall". */
export function makeView(begin, end, step, clock = "wall") {
  const whole = end > begin ? end - begin : 1;
  const least = Math.min(whole, Math.max(step * 2, whole * 1e-6));
  const listeners = [];
  const view = { begin, end: begin + whole, from: begin, to: begin + whole, clock, cursor: null };
  const notify = (what) => listeners.forEach((listener) => listener(what));

  view.listen = (listener) => listeners.push(listener);
  view.set = (from, to) => {
    let span = Math.min(whole, Math.max(least, to - from));
    const start = Math.min(Math.max((from + to - span) / 2, begin), begin + whole - span);
    if (span > whole * 0.9999) span = whole;
    view.from = start;
    view.to = start + span;
    notify("range");
  };
  view.zoom = (factor, about) => {
    const centre = about ?? (view.from + view.to) / 2;
    const span = (view.to - view.from) * factor;
    const part = (centre - view.from) / (view.to - view.from);
    const from = centre - span * part;
    view.set(from, from + span);
  };
  view.pan = (part) => {
    const by = (view.to - view.from) * part;
    const from = Math.min(Math.max(view.from + by, begin), view.end - (view.to - view.from));
    view.set(from, from + (view.to - view.from));
  };
  view.reset = () => view.set(begin, begin + whole);
  view.isWhole = () => view.to - view.from >= whole * 0.9999;
  view.point = (time) => {
    view.cursor = time === null ? null : Math.min(Math.max(time, begin), view.end);
    notify("cursor");
  };
  /** Moves the cursor by bins, and the view if the cursor leaves it. */
  view.stepBy = (bins, width) => {
    const middle = (view.from + view.to) / 2;
    const at = view.cursor ?? middle;
    const bin = Math.floor((at - begin) / width + 1e-9) + bins;
    const last = Math.max(0, Math.ceil(whole / width - 1e-9) - 1);
    view.cursor = begin + (Math.min(Math.max(bin, 0), last) + 0.5) * width;
    const span = view.to - view.from;
    if (view.cursor < view.from) view.set(view.cursor - span * 0.1, view.cursor + span * 0.9);
    if (view.cursor > view.to) view.set(view.cursor - span * 0.9, view.cursor + span * 0.1);
    notify("cursor");
  };
  return view;
}
