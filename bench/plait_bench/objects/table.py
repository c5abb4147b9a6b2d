"""The results of `plait bench objects` as tables."""

from __future__ import annotations

import statistics

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from plait_bench.objects.driver import ADVISED, GET, PUT, CellResult, ObjectResults
from plait_bench.objects.tools import PLAIT
from plait_bench.text import (
    NOTHING,
    count_text,
    machine_line,
    milliseconds,
    notes,
    rate,
    short_bytes,
    three_digits,
    titled_table,
    version_line,
)

_KINDS = {GET: "GET", PUT: "PUT"}


def objects_table(results: ObjectResults) -> RenderableType:
    """Return the results as header, tables and notes."""
    settings = results.settings
    parts: list[RenderableType] = [
        Text(f"{machine_line(results.machine)}; {version_line(results.machine)}"), Text(), _latencies_table(results),
    ]  # fmt: skip
    kinds = [kind for kind in _KINDS if results.find(kind) is not None]
    parts += [_rates_table(results, kind) for kind in kinds]
    if results.tools:
        parts.append(_tools_table(results))
    lines = [
        "Columns: bytes of a request. With n connections n requests are in flight, and PLAIT_MEMORY is 2 n of them.",
        f"Rates: medians of {count_text(settings.rounds, 'sample')} of about {settings.seconds:g} s, "
        "without connecting.",
        *_omission_lines([*results.cells, *results.tools.values()]),
        "Every element that was read was compared, and the first and the last chunk that was put."
        if results.tools else "What was read was not compared.",
    ]  # fmt: skip
    return Group(*parts, _advice_text(results), Text(), notes(lines[:-1], [], lines[-1]))


def _latencies_table(results: ObjectResults) -> Table:
    table = titled_table("Latency, ms")
    table.add_column("Request of 4 KiB")
    for title in ("Median", "p90", "Samples"):
        table.add_column(title, justify="right", no_wrap=True)
    for kind, seconds in results.latencies.items():
        p90 = sorted(seconds)[min(len(seconds) - 1, len(seconds) * 9 // 10)]
        table.add_row(
            _KINDS[kind], milliseconds(statistics.median(seconds)), milliseconds(p90), str(len(seconds))
        )  # fmt: skip
    return table


def _rates_table(results: ObjectResults, kind: str) -> Table:
    settings = results.settings
    table = titled_table(f"{_KINDS[kind]}, MB/s")
    table.add_column("Connections")
    for piece in settings.pieces:
        table.add_column(short_bytes(piece), justify="right", no_wrap=True)
    for connections in settings.connections:
        row = [results.find(kind, connections, piece) for piece in settings.pieces]
        table.add_row(str(connections), *(rate(None if result is None else result.rate) for result in row))
    table.add_row("defaults", rate(results.usual_rate(kind)), *[""] * (len(settings.pieces) - 1))
    return table


def _tools_table(results: ObjectResults) -> Table:
    table = titled_table("The same objects")
    table.add_column(f"Zarr array of {short_bytes(results.settings.size)}, chunks of 4M, read by")
    for title in ("MB/s", "Processor time, s/GB"):
        table.add_column(title, justify="right", no_wrap=True)
    for name, result in results.tools.items():
        cost = NOTHING if result.processor is None else three_digits(result.processor)
        table.add_row({PLAIT: "Plait", ADVISED: "Plait, with these settings"}.get(name, name), rate(result.rate), cost)
    return table


def _omission_lines(cells: list[CellResult]) -> list[str]:
    return [f"Left out: {reason}." for reason in dict.fromkeys(result.left_out for result in cells if result.left_out)]


def _advice_text(results: ObjectResults) -> Text:
    advice = results.advice
    lines = [f"  export {name}={value}" for name, value in advice.settings.items()]
    text = "\n".join(["Settings for this store:", *lines] if lines else ["The defaults suffice for this store."])
    if advice.chunk is not None:
        text += f"\nArrays to write there: chunks or shards of {short_bytes(advice.chunk)} or more."
    return Text(text, style="bold")
