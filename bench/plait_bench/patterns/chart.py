"""The results of `plait bench patterns` as figures 3 to 11 of Bordawekar's thesis, for the machine at hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from plait.draw.figure import new_figure, open_axis, save
from plait.draw.palette import line_style
from plait_bench.patterns.driver import PatternsResults
from plait_bench.patterns.job import BURST, MODE_PATTERNS, Cell
from plait_bench.patterns.table import Changes, patterns_header
from plait_bench.text import count_text, short_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Field of a cell → the setting that lists the field's values.
_SETTINGS = {"buffer": "buffers", "disks": "disks", "ranks": "ranks"}
# Field of a cell → its label below an axis.
_LABELS = {"buffer": "buffer, bytes", "disks": "disks", "ranks": "ranks"}
_WIDE = 20  # a panel has a logarithmic scale if its highest rate exceeds the lowest one by this factor


@dataclass(frozen=True)
class _Figure:
    """One figure of the thesis."""

    number: int
    title: str
    across: str
    """The field of a cell that grows from left to right."""
    base: Cell
    lines: Changes


def draw_patterns_chart(results: PatternsResults, path: Path) -> None:
    """Write the chart as a PNG file: one panel per figure of the thesis, rates in MB/s.

    errors  plait.Error if matplotlib is not installed
    """
    figure = new_figure(15, 13.5)
    for axis, each in zip(figure.subplots(3, 3).flat, _figures(results), strict=True):
        _draw(axis, each, results)
    figure.suptitle("Parallel file access: figures 3 to 11 of Bordawekar (1993), measured on this machine", fontsize=16)
    figure.supxlabel(patterns_header(results).plain, fontsize=9, color="#444444")
    save(figure, path)


def _figures(results: PatternsResults) -> Iterator[_Figure]:
    settings = results.settings
    size, page = max(settings["sizes"]), settings["page"]
    max_ranks, disks = max(settings["ranks"]), max(settings["disks"])
    file = f"{short_bytes(size)} file, {short_bytes(page)} buffer"
    sizes: Changes = [(f"{short_bytes(bytes_)} file", {"size": bytes_}) for bytes_ in settings["sizes"]]
    numbers: Changes = [(count_text(number, "disk"), {"disks": number}) for number in settings["disks"]]
    modes: Changes = [
        (f"mode {mode} ({MODE_PATTERNS[mode]})", {"mode": mode, "pattern": MODE_PATTERNS[mode]})
        for mode in settings["modes"]
        if mode > 0
    ]
    one_rank = Cell("GSA", 0, 1, disks, size, BURST, "read")
    many = Cell("GSA", 0, max_ranks, disks, size, page, "read")
    yield _Figure(3, f"One rank, paged read, {count_text(disks, 'disk')}", "buffer", one_rank, sizes)
    yield _Figure(4, "One rank, burst read", "disks", one_rank, sizes)
    yield _Figure(5, "One rank, burst write", "disks", replace(one_rank, kind="write"), sizes)
    yield _Figure(6, f"Mode 0 (GSA), read, {file}", "ranks", many, numbers)
    yield _Figure(7, f"Read, {count_text(max_ranks, 'rank')}, {file}", "disks", many, modes)
    yield _Figure(8, f"Read, {count_text(disks, 'disk')}, {file}", "ranks", many, modes)
    for number, mode in ((9, 3), (10, 2), (11, 1)):
        base = replace(many, mode=mode, pattern=MODE_PATTERNS[mode])
        yield _Figure(number, f"Mode {mode} ({base.pattern}), read, {file}", "ranks", base, numbers)


def _draw(axis: Axes, figure: _Figure, results: PatternsResults) -> None:
    positions = sorted(results.settings[_SETTINGS[figure.across]])
    drawn: list[float] = []
    for number, (name, line) in enumerate(figure.lines):
        fields: list[dict[str, Any]] = [{**line, figure.across: position} for position in positions]
        rates = [(each[figure.across], results.rate(replace(figure.base, **each))) for each in fields]
        points = [(position, rate / 1e6) for position, rate in rates if rate is not None]
        if points:
            axis.plot(*zip(*points, strict=True), label=name, linewidth=1.8, markersize=6, **line_style(number))
            drawn += [rate for _, rate in points]
    axis.set_title(f"{figure.number}.  {figure.title}", fontsize=12, loc="left")
    axis.set_xlabel(_LABELS[figure.across], fontsize=11)
    axis.set_ylabel("MB/s", fontsize=11)
    open_axis(axis)
    if not drawn:
        axis.text(0.5, 0.5, "not measured", ha="center", va="center", transform=axis.transAxes, color="#777777")
        axis.set_xticks([])
        axis.set_yticks([])
        return
    axis.set_xscale("log", base=2)
    axis.set_xticks(positions, [short_bytes(position) for position in positions])
    axis.minorticks_off()
    low, high = min(drawn), max(drawn)
    if high > _WIDE * low:
        axis.set_yscale("log")
        axis.set_ylim(low / 1.6, high * (high / low) ** 0.35)  # space for the legend above the lines
        axis.set_ylabel("MB/s (log scale)", fontsize=11)
    else:
        axis.set_ylim(0, high * 1.35)
    axis.yaxis.set_major_formatter("{x:,.0f}")
    axis.legend(fontsize=9, frameon=False)
