"""The results of `plait bench plan` as tables for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby

from rich import box
from rich.console import Group as Parts
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from plait.bench.plan import PlanResult, PlanResults
from plait.bench.plan_cases import TITLES, Group
from plait.bench.table import factor


def plan_table(results: PlanResults) -> RenderableType:
    """Return everything for people: header, one table a group, what the columns mean."""
    parts: list[RenderableType] = [plan_header(results)]
    for group, title in TITLES.items():
        chosen = [result for result in results.results if result.case.group == group]
        if chosen:
            parts += [Text(), _group_table(group, title, chosen), *map(Text, _footers(group, chosen))]
    return Parts(*parts, Text(), _notes(results))


def plan_header(results: PlanResults) -> Text:
    """Return on what, and how, was measured."""
    machine, settings = results.machine, results.settings
    return Text(
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory']}, {machine['system']}; "
        f"Plait {machine['plait']}, Python {machine['python']}\n"
        f"Conversion.sends(rank) by the middle rank: processor time, median of {settings['rounds']} samples"
    )


def by_series(results: list[PlanResult]) -> Iterator[tuple[str, list[PlanResult]]]:
    """Yield each series with its results, in the order of the cases."""
    for name, members in groupby(results, key=lambda result: result.case.series):
        yield name, list(members)


def duration(seconds: float | None) -> str:
    """Return a time in microseconds, with three digits where it is below 100."""
    if seconds is None:
        return "–"
    value = seconds * 1e6
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def power(value: int) -> str:
    """Return ``10^6``, ``1,009`` or ``3.2·10^6``."""
    exponent = int(math.log10(value)) if value > 0 else 0
    if value < 1000:
        return str(value)
    if value == 10**exponent:
        return f"10^{exponent}"
    return f"{value:,}" if value < 10**6 else f"{value / 10**exponent:.1f}·10^{exponent}"


def size(count: int) -> str:
    """Return a number of bytes in KiB."""
    return "< 4" if count < 4096 else f"{count / 1024:,.0f}"


def _group_table(group: Group, title: str, results: list[PlanResult]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left", title_style="bold")
    counted = any(result.pieces is not None for result in results)
    naive = any(result.case.naive for result in results)
    table.add_column("Conversion", no_wrap=True)
    names = ["P" if group == "ranks" else "N", "Messages", *(["Pieces"] if counted else []), "Runs", "µs"]
    names += ["µs/message", *(["µs/piece"] if counted else []), "KiB"]
    names += ["By block", "By element"] if naive else []
    for name in names:
        table.add_column(name, justify="right", no_wrap=True, style="bold" if name == "µs" else "")
    for name, members in by_series(results):
        for number, result in enumerate(members):
            row = [name if number == 0 else "", power(result.case.at), f"{result.messages:,}"]
            if counted:
                row.append("–" if result.pieces is None else f"{result.pieces:,}")
            row += [power(result.runs), duration(result.seconds), _each(result.seconds, result.messages)]
            if counted:
                row.append(_each(result.seconds, result.pieces))
            row.append(size(result.memory))
            if naive:
                row += [_beside(result.by_blocks, result.seconds), _beside(result.by_elements, result.seconds)]
            table.add_row(*row, style="" if result.exact else "red", end_section=number == len(members) - 1)
    return table


def _each(seconds: float, count: int | None) -> str:
    return f"{seconds * 1e6 / count:.2f}" if count else "–"


def _beside(naive: float | None, seconds: float) -> str:
    return "–" if naive is None else f"{duration(naive)} ({factor(naive / seconds)})"


def _footers(group: Group, results: list[PlanResult]) -> Iterator[str]:
    """Say how the time grows along each series."""
    for name, members in by_series(results):
        times = [result.seconds for result in members]
        if group in ("extent", "features"):
            full = [result for result in members if result.messages == members[-1].messages]
            spread = max(result.best for result in full) / min(result.best for result in full)
            yield (
                f"{name}: slowest over fastest {spread:.2f} (best samples), from N = {power(full[0].case.at)} to "
                f"{power(full[-1].case.at)}"
            )
        elif group == "ranks":
            each = [result.seconds / result.messages for result in members if result.messages]
            yield (
                f"{name}: {duration(times[-1])} µs on {power(members[-1].case.at)} ranks, "
                f"{duration(min(each))} to {duration(max(each))} µs a message"
            )


def _notes(results: PlanResults) -> Text:
    lines = [
        "Pieces: stretches of one common period, or of the array where that is shorter.  Runs: stretches of all.",
        "KiB: most memory of one call, the list of messages included.  By block, by element: µs of enumerating with "
        "NumPy, and how many times Plait's time that is.",
    ]
    wrong = results.wrong()
    if not wrong:
        lines.append("Each element goes out once, receivers expect what is sent, enumerations agree.")
    lines += [f"WRONG: {result.case.source} to {result.case.target}" for result in wrong]
    return Text("\n".join(lines), style="dim" if not wrong else "red")
