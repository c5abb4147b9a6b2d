"""The coverage of a report: the share of the I/O that its trace holds, and what the report leaves out."""

from __future__ import annotations

from typing import Any

from plait._base import amounts as _amounts
from plait.trace.analysis.severity import Conclusion
from plait.trace.recording.obstacles import is_about_mappings, is_about_program

Document = dict[str, Any]
# Classes of files that are left out by their names although data may have such names, and the limits from which a
# report mentions them.
_BY_NAME = ("libraries", "interpreters' files", "system settings")
_MIN_HIDDEN_BYTES = 1 << 20
_MIN_HIDDEN_SHARE = 0.10


def coverage(
    description: Document, known_bytes: int, events: int, is_partial_report: bool, counters: Document | None = None
) -> Document:
    """Return the share of the I/O that the trace holds, as events or as counters, as far as it is known.

    known_bytes         bytes moved by the events of the trace
    is_partial_report   True if the report is on some files or one process, so that gaps cannot be assigned to it
    """
    counted_bytes = counters["totals"]["read_bytes"] + counters["totals"]["write_bytes"] if counters else 0
    known_bytes += counted_bytes
    # A damaged trace may claim to miss a negative amount, which counts as unknown.
    amounts = ("events", "read_bytes", "written_bytes")
    missed = [{**gap, **{name: max(gap[name], 0) for name in amounts}} for gap in description["missed"]]
    gaps = _Gaps(missed, description["complete"])
    share: float | None
    if not missed and description["complete"]:
        share, text = 1.0, "100 % of the bytes: nothing is known to be missing."
        if not events and not counters:
            share, text = None, "The trace holds no events."
    elif gaps.lost_bytes and not gaps.has_unknown_size and not is_partial_report:
        share = known_bytes / (known_bytes + gaps.lost_bytes)
        text = (
            f"{_amounts.share(share)} of the bytes: {_amounts.size(gaps.lost_bytes)} are missing ({_reasons(missed)})."
        )
    else:
        share = None
        text = f"Not known what share of the bytes the trace holds: {gaps.text()}."
    if counted_bytes:
        remark = (
            "No call is known one by one"
            if not events
            else f"Of {_amounts.size(counted_bytes)} no single call is known"
        )
        text += f" {remark}: there are counters alone."
    return {"share": share, "text": text, "missed": missed}


class _Gaps:
    """The gaps of a trace, divided into those of known and of unknown size.

    The number of loads and stores on mapped files is unknown: a program that maps 1 GiB and accesses one page of it has
    read only that page.  The I/O of a program that was not recorded is unknown as well.
    """

    def __init__(self, missed: list[Document], complete: bool):
        self.programs = [gap for gap in missed if is_about_program(gap["reason"])]
        self.mapped = [gap for gap in missed if is_about_mappings(gap["reason"])]
        self.counted = [gap for gap in missed if gap not in self.programs and gap not in self.mapped]
        self.complete = complete
        self.lost_bytes = _bytes(self.counted)
        self.unsized = [gap for gap in self.counted if gap["events"] and not _bytes([gap])]
        self.has_unknown_size = bool(self.programs or self.mapped or self.unsized or not complete)

    def text(self) -> str:
        """Return the gaps as clauses of one sentence."""
        runs = _amounts.count(sum(max(gap["events"], 1) for gap in self.programs), "process")
        clauses = [f"it lacks {_amounts.size(self.lost_bytes)}"] if self.lost_bytes else []
        if self.unsized:
            events = _amounts.count(sum(gap["events"] for gap in self.unsized), "event")
            clauses.append(f"it lacks {events} of unknown size")
        if self.programs:
            clauses.append(f"it lacks all that {runs} did")
        if self.mapped:
            clauses.append(f"it lacks the loads and stores on {_amounts.size(_bytes(self.mapped))} of mapped files")
        if not self.complete:
            clauses.append("it was cut off")
        reasons = _reasons(self.programs + self.counted)
        return " and ".join(clauses or ["it lacks an unknown amount"]) + (f" ({reasons})" if reasons else "")


def _bytes(missed: list[Document]) -> int:
    return sum(gap["read_bytes"] + gap["written_bytes"] for gap in missed)


def _reasons(missed: list[Document]) -> str:
    reasons = list(dict.fromkeys(_amounts.shown(gap["reason"]) for gap in missed))
    return "; ".join(reasons[:3]) + (f"; and {len(reasons) - 3} more" if len(reasons) > 3 else "")


def without_left_out(description: Document, left_out_rows: list[Document]) -> Document:
    """Return the trace's description without the mappings of files that the report leaves out."""
    missed = []
    for gap in description["missed"]:
        remaining = dict(gap)
        if is_about_mappings(str(gap["reason"])):
            remaining["events"] -= sum(row["maps"] for row in left_out_rows)
            remaining["read_bytes"] -= sum(row["mapped_read_bytes"] for row in left_out_rows)
            remaining["written_bytes"] -= sum(row["mapped_write_bytes"] for row in left_out_rows)
            if max(remaining["events"], remaining["read_bytes"], remaining["written_bytes"]) <= 0:
                continue
        missed.append(remaining)
    return {**description, "missed": missed}


def find_hidden_writes(report: Document) -> Conclusion | None:
    """Return a conclusion if much is written to files that reports leave out by their names; else None."""
    rows = [row for row in report["left_out"]["kinds"] if row["what"] in _BY_NAME and row["write_bytes"]]
    hidden_bytes = sum(row["write_bytes"] for row in rows)
    all_bytes = hidden_bytes + sum(file["write_bytes"] for file in report["files"])
    if hidden_bytes < _MIN_HIDDEN_BYTES or hidden_bytes < _MIN_HIDDEN_SHARE * all_bytes:
        return None
    kinds = ", ".join(f"{row['what']}: {_amounts.size(row['write_bytes'])}" for row in rows)
    return Conclusion(
        "medium",
        "Much is written to files that are left out",
        f"{_amounts.share(hidden_bytes / all_bytes)} of what is written ({kinds}) goes to files that reports leave "
        "out by their names.",
        "trace",
        "Count them with --all, or those that are data with --include.",
    )


def left_out(rows: list[Document]) -> Document:
    """Return what the report leaves out: the sums, and a sentence with them."""
    names = ("what", "files", "calls", "seconds", "read_bytes", "write_bytes")
    kinds = [{name: row[name] for name in names} for row in rows]
    sums: Document = {name: sum(row[name] for row in kinds) for name in names[1:]}
    text = ""
    if kinds:
        parts = ", ".join(_describe_kind(row) for row in kinds)
        text = (
            f"Left out: {_amounts.count(sums['calls'], 'call')} on {_amounts.count(sums['files'], 'file')}, "
            f"{_amounts.size(sums['read_bytes'])} read, {_amounts.size(sums['write_bytes'])} written, "
            f"{_amounts.seconds(sums['seconds'])} ({parts}); --all counts them."
        )
    return {**sums, "kinds": kinds, "text": text}


def _describe_kind(row: Document) -> str:
    return f"{row['what']}: {row['calls']:,}"
