"""The results of replays: values that print, compare, plot and convert to JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from plait._base.amounts import seconds, share, size


@dataclass(frozen=True)
class Result:
    """One replay.  ``document`` has all results, as docs/reference/simulation.md lists them; times in seconds."""

    document: dict[str, Any]
    reading: float = 0.0
    """Seconds that reading the traces took on this machine."""
    replaying: float = 0.0
    """Seconds that the replay took on this machine."""

    def __getitem__(self, name: str) -> Any:
        """Return the entry of the document with this name."""
        return self.document[name]

    @property
    def elapsed(self) -> float:
        """Seconds until the last process ends."""
        return float(self.document["elapsed"])

    @property
    def idle(self) -> float:
        """Seconds in which a processor was idle, summed over processors."""
        return float(self.document["idle"])

    @property
    def utilization(self) -> float:
        """The share of processor time that was used, 0 to 1."""
        processor_seconds = self.elapsed * self.document["machine"]["processors"]["count"]
        return 1.0 - self.idle / processor_seconds if processor_seconds > 0 else 0.0

    @property
    def hit_ratio(self) -> float:
        """The share of the bytes read that were in the cache, or on their way into it."""
        cache = self.document["cache"]
        return cache["hit_blocks"] / cache["read_blocks"] if cache["read_blocks"] else 0.0

    @property
    def request_hit_ratio(self) -> float:
        """The share of reads that the cache served entirely."""
        cache = self.document["cache"]
        return cache["hit_requests"] / cache["read_requests"] if cache["read_requests"] else 0.0

    @property
    def device_bytes(self) -> tuple[int, int]:
        """Bytes read from and written to the devices, without the tier."""
        devices = [device for device in self.document["devices"] if device["name"] != "tier"]
        return sum(device["read_bytes"] for device in devices), sum(device["write_bytes"] for device in devices)

    @property
    def notes(self) -> list[str]:
        """Remarks about irregularities, and how the replay treated them."""
        remarks = list(self.document["notes"])
        if self.document["unmatched"]:
            remarks.append(
                f"{self.document['unmatched']} collective operations for which not all processes came; "
                "those who waited went on"
            )
        return remarks

    def to_json(self) -> str:
        """Return the document as JSON."""
        return json.dumps(self.document)

    def compare(self, other: Result) -> Sweep:
        """Return this result and another one side by side."""
        return Sweep(["run"], [{"run": "this"}, {"run": "other"}], [self, other])

    def plot(self, path: str | Path) -> None:
        """Write a chart of rates over time; SVG if the name ends in .svg, else PNG.

        errors  plait.Error if matplotlib is not installed
        """
        from plait.simulate._charts import draw_rates

        draw_rates(self.document, Path(path))

    def page(self) -> str:
        """Return a page in HTML that needs no network: tables, and charts of rates over time."""
        from plait.simulate.page import result_page

        return result_page(self)

    def html(self, path: str | Path) -> None:
        """Write the page of `page()` to a file, completely or not at all.

        errors  plait.StoreError: it cannot be written
        """
        from plait.simulate.page import write

        write(self.page(), path)

    def __str__(self) -> str:
        """Return some 30 lines of text."""
        return "\n".join(_lines(self))


def _lines(result: Result) -> Iterator[str]:
    document = result.document
    processors = document["machine"]["processors"]["count"]
    yield f"{', '.join(document['traces'])} on {document['machine']['name']}"
    yield ""
    yield f"elapsed          {seconds(result.elapsed)}"
    if document["drained"] > result.elapsed:
        yield f"  on the device  {seconds(document['drained'])}"
    processor_count = f" of {processors} processors" if processors > 1 else ""
    yield f"idle             {seconds(result.idle)}{processor_count}; {share(result.utilization)} used"
    system = seconds(document["system"] + document["interrupts"])
    yield f"computing        {seconds(document['computing'])}, system {system}"
    if document["program"]["measured"]:
        return
    yield (
        f"reads served     {share(result.request_hit_ratio)} of requests, "
        f"{share(result.hit_ratio)} of bytes from the cache"
    )
    cache, block = document["cache"], document["machine"]["cache"]["block"]
    if cache["ahead_blocks"]:
        used, wasted = (share(cache[name] / cache["ahead_blocks"]) for name in ("ahead_used", "ahead_wasted"))
        yield f"read ahead       {size(cache['ahead_blocks'] * block)}, {used} used, {wasted} dropped unread"
    if document["max_dirty"]:
        yield f"dirty            {size(document['max_dirty'])} at most"
    for name, key in (("reads take", "read_latency"), ("writes take", "write_latency")):
        times = document[key]
        if times["count"]:
            yield (
                f"{name:<17}{seconds(times['p50'])} (median), {seconds(times['p99'])} (99 %), "
                f"{seconds(times['most'])} (most)"
            )
    yield ""
    yield "device               reads      bytes     writes      bytes    busy  queue"
    for device in document["devices"]:
        yield (
            f"{device['name'][:16]:<16}{device['reads']:>10,} {size(device['read_bytes']):>10} {device['writes']:>10,} "
            f"{size(device['write_bytes']):>10} {100 * device['busy'] / max(document['drained'], 1e-9):>5.0f} % "
            f"{device['queue_mean']:>6.3g}"
        )
    if len(document["processes"]) > 1:
        yield ""
        yield "process              elapsed  computing    waiting      ready"
        for process in document["processes"][:16]:
            name = process["command"] or str(process["process"])
            process_seconds = process["end"] - process["start"]
            yield (
                f"{name[:16]:<16}{seconds(process_seconds):>12} {seconds(process['computing']):>10} "
                f"{seconds(process['waiting']):>10} {seconds(process['ready']):>10}"
            )
        if len(document["processes"]) > 16:
            yield f"and {len(document['processes']) - 16} more"
    for note in result.notes:
        yield f"note: {note}"


@dataclass(frozen=True)
class Sweep:
    """Several replays with different parameters, and their results."""

    names: list[str]
    points: list[dict[str, Any]]
    results: list[Result]

    def __len__(self) -> int:
        """Return the number of replays."""
        return len(self.results)

    def __iter__(self) -> Iterator[tuple[dict[str, Any], Result]]:
        """Iterate over the parameters and the result of each replay."""
        return iter(zip(self.points, self.results, strict=True))

    def rows(self) -> list[dict[str, Any]]:
        """Return the parameters and the main figures of each replay, as flat dictionaries."""
        return [
            {
                **point,
                "elapsed": result.elapsed,
                "idle": result.idle,
                "utilization": result.utilization,
                "hit_ratio": result.hit_ratio,
                "request_hit_ratio": result.request_hit_ratio,
                "device_read_bytes": result.device_bytes[0],
                "device_write_bytes": result.device_bytes[1],
            }
            for point, result in self
        ]

    def best(self) -> tuple[dict[str, Any], Result]:
        """Return the parameters and the result with the shortest elapsed time; the first of several equal ones."""
        return min(self, key=lambda pair: pair[1].elapsed)

    def to_json(self) -> str:
        """Return the rows as JSON."""
        return json.dumps(self.rows())

    def plot(self, path: str | Path) -> None:
        """Write a chart of elapsed and idle time; SVG if the name ends in .svg, else PNG.

        errors  plait.Error if matplotlib is not installed
        """
        from plait.simulate._charts import draw_sweep

        draw_sweep(self.names, self.rows(), Path(path))

    def page(self) -> str:
        """Return a page in HTML that needs no network: a table, and charts over the parameters."""
        from plait.simulate.page import sweep_page

        return sweep_page(self)

    def html(self, path: str | Path) -> None:
        """Write the page of `page()` to a file, completely or not at all.

        errors  plait.StoreError: it cannot be written
        """
        from plait.simulate.page import write

        write(self.page(), path)

    def __str__(self) -> str:
        """Return a table."""
        heads = [*self.names, "elapsed", "idle", "used", "hits", "device reads", "device writes"]
        table = [
            [
                *(str(row[name]) for name in self.names),
                seconds(row["elapsed"]),
                seconds(row["idle"]),
                f"{100 * row['utilization']:.1f} %",
                f"{100 * row['hit_ratio']:.1f} %",
                size(row["device_read_bytes"]),
                size(row["device_write_bytes"]),
            ]
            for row in self.rows()
        ]
        return "\n".join(_align_columns([heads, *table]))


def _align_columns(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the rows as lines of text with right-aligned columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)).rstrip()
