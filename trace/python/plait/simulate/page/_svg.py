"""Charts as SVG: rates over time, and lines over a parameter.  Style sheets of the page define their colours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from plait.trace.page._words import amount, escape_html, number, seconds

_WIDTH, _HEIGHT = 960, 220  # pixels of a chart
_LEFT, _RIGHT, _TOP, _BOTTOM = 78, 12, 28, 30  # its margins
_MAX_POINTS = 480
_COLOUR_COUNT = 6


class Line(NamedTuple):
    """A line over the values of a parameter."""

    name: str
    values: Sequence[float]
    css_classes: str
    """The CSS classes of its colour and dashes."""


def line_classes(index: int) -> str:
    """Return the CSS classes of a line by its index. Lines differ in colour first, then in dashes."""
    return f"c{index % _COLOUR_COUNT} d{index // _COLOUR_COUNT % 3}"


def ticks(top: float, max_count: int = 4, base: float = 10) -> list[float]:
    """Return round values from 0 to at least ``top``.

    Their distance is 1, 2 or 5 times a power of ten; a power of two if ``base`` is 1024.
    """
    if not top > 0:
        return [0.0, 1.0]
    if base == 1024:
        interval = 2.0 ** math.ceil(math.log2(top / max_count))
    else:
        power = 10.0 ** math.floor(math.log10(top / max_count))
        interval = next(power * factor for factor in (1, 2, 5, 10) if power * factor * max_count >= top * (1 - 1e-9))
    return [interval * k for k in range(math.ceil(top / interval - 1e-9) + 1)]


def average_series(series: Mapping[str, Any], until: float) -> tuple[list[float], float]:
    """Return the means per second of a series over at most about 480 equal intervals, and the length of an interval."""
    interval, sums = series["interval"], series["sums"]
    intervals = max(math.ceil(until / interval - 1e-9), 1)
    intervals_per_point = math.ceil(intervals / _MAX_POINTS)
    padded = [*sums[:intervals], *[0] * (intervals - len(sums[:intervals]))]
    length = intervals_per_point * interval
    return [sum(padded[k : k + intervals_per_point]) / length for k in range(0, intervals, intervals_per_point)], length


def rates_chart(title: str, read: Mapping[str, Any], write: Mapping[str, Any], until: float) -> str:
    """Return a chart of bytes per second over time, as figures 6 and 7 of 1992: reads upwards, writes downwards."""
    reads, read_interval = average_series(read, until)
    writes, write_interval = average_series(write, until)
    interval = ticks(max(*reads, *writes), base=1024)[1]
    top, bottom = (interval * max(math.ceil(max(values) / interval - 1e-9), 1) for values in (reads, writes))
    summary = "; ".join(
        f"{direction} {amount(sum(values) * width / max(until, 1e-12))}/s on average, {amount(max(values))}/s at most"
        for direction, values, width in (("reads", reads, read_interval), ("writes", writes, write_interval))
    )
    scale = _Scale(top, -bottom, until)
    marks = [k * interval for k in range(-round(bottom / interval), round(top / interval) + 1)]
    body = [
        f'<path class="read" d="{scale.area(reads, read_interval)}"/>',
        f'<path class="write" d="{scale.area([-value for value in writes], write_interval)}"/>',
    ]
    return _chart(title, f"{title}: {summary}", scale, [(value, f"{amount(abs(value))}/s") for value in marks], body)


def idle_chart(title: str, series: Mapping[str, Any], until: float, processors: int) -> str:
    """Return a chart of the idle share of the processors over time."""
    values, length = average_series(series, until)
    shares = [min(value / 1e9 / processors, 1.0) for value in values]
    marks = [(k / 4, f"{25 * k} %") for k in range(5)]
    mean = sum(shares) / len(shares)
    scale = _Scale(1.0, 0.0, until)
    body = [f'<path class="idle" d="{scale.area(shares, length)}"/>']
    return _chart(title, f"{title}: {100 * mean:.1f} % on average", scale, marks, body)


def lines_chart(title: str, labels: Sequence[str], chart_lines: Sequence[Line]) -> str:
    """Return a chart of seconds over a parameter, as figure 8 of 1992: a line for each combination of the other
    parameters.
    """
    marks = ticks(max(value for line in chart_lines for value in line.values))
    scale = _Scale(marks[-1], 0.0, 0.0)
    width = _WIDTH - _LEFT - _RIGHT
    x_positions = [_LEFT + width * (index + 0.5) / len(labels) for index in range(len(labels))]
    body = []
    for line in chart_lines:
        points = [(f"{x:.1f}", f"{scale.y(value):.1f}") for x, value in zip(x_positions, line.values, strict=False)]
        body.append(f'<path class="line {line.css_classes}" d="M{" L".join(" ".join(point) for point in points)}"/>')
        for (x, y), label, value in zip(points, labels, line.values, strict=False):
            tooltip = escape_html(f"{line.name}, {label}: " if line.name else f"{label}: ") + seconds(value)
            dot = f'class="dot {line.css_classes.split()[0]}" cx="{x}" cy="{y}" r="3.5"'
            body.append(f"<circle {dot}><title>{tooltip}</title></circle>")
    labels_per_text = math.ceil(len(labels) / 12)
    body += [
        f'<text x="{x:.1f}" y="{_HEIGHT - 10}" text-anchor="middle">{escape_html(label)}</text>'
        for index, (x, label) in enumerate(zip(x_positions, labels, strict=True))
        if index % labels_per_text == 0
    ]
    summary = "; ".join(
        f"{line.name or 'seconds'}: from {seconds(line.values[0])} to {seconds(line.values[-1])}"
        for line in chart_lines[:8]
    )
    return _chart(title, f"{title}: {summary}", scale, [(value, f"{number(value)} s") for value in marks], body)


class _Scale(NamedTuple):
    """The scale of a chart: values from ``bottom`` to ``top``, and times from 0 to ``until`` seconds."""

    top: float
    bottom: float
    until: float

    def x(self, value: float) -> float:
        """Return the x coordinate of a time."""
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (value / self.until if self.until > 0 else 0)

    def y(self, value: float) -> float:
        """Return the y coordinate of a value."""
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (self.top - value) / (self.top - self.bottom)

    def area(self, values: Sequence[float], length: float) -> str:
        """Return the path of the area between 0 and the values, each of which covers ``length`` seconds."""
        parts: list[str] = []
        for k, value in enumerate(values):
            begin, end = (f"{self.x(min(at, self.until)):.1f}" for at in (k * length, (k + 1) * length))
            parts.append(f"{'L' if parts else 'M'}{begin} {self.y(value):.1f} H{end}")
        ground = f"{self.y(0):.1f}"
        return f"{' '.join(parts)} L{self.x(self.until):.1f} {ground} L{self.x(0):.1f} {ground} Z"


def _chart(title: str, summary: str, scale: _Scale, marks: list[tuple[float, str]], content: list[str]) -> str:
    """Return a chart with its frame. If ``scale.until`` is above 0, the x axis is a time axis with marks."""
    frame = []
    for value, label in marks:
        height = round(scale.y(value), 1)
        kind = "base" if value == 0 else "grid"
        frame.append(f'<line class="{kind}" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{height}" y2="{height}"/>')
        frame.append(f'<text x="{_LEFT - 8}" y="{height + 4}" text-anchor="end">{escape_html(label)}</text>')
    if scale.until > 0:
        time_marks = [value for value in ticks(scale.until, 8) if value <= scale.until * (1 + 1e-9)]
        unit, name = (1.0, "s") if scale.until >= 1 else (1e3, "ms") if scale.until >= 1e-3 else (1e6, "µs")
        for value in time_marks:
            anchor = "end" if value > 0.97 * scale.until else "middle"
            label = f"{number(value * unit)} {name}"
            frame.append(f'<text x="{scale.x(value):.1f}" y="{_HEIGHT - 10}" text-anchor="{anchor}">{label}</text>')
    return (
        f'<figure class="drawn"><svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape_html(summary)}">'
        f'<text class="title" x="{_LEFT}" y="16">{escape_html(title)}</text>'
        f"{''.join(content)}{''.join(frame)}</svg></figure>"
    )
