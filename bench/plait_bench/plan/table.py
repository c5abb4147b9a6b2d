"""The results of `plait bench plan` as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.console import Group as Parts
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from plait_bench.plan.cases import TITLES, Group
from plait_bench.plan.measure import PlanResult, PlanResults
from plait_bench.text import NOTHING, factor, kibibytes, machine_line, microseconds, power, titled_table, version_line


def plan_table(results: PlanResults) -> RenderableType:
    """Return the results as header, one table per group, and explanations of the columns."""
    parts: list[RenderableType] = [plan_header(results)]
    for group, title in TITLES.items():
        members = [result for result in results.results if result.case.group == group]
        if members:
            parts += [Text(), _group_table(group, title, members), *map(Text, _growth_lines(group, members))]
    return Parts(*parts, Text(), _make_notes(results))


def plan_header(results: PlanResults) -> Text:
    """Return a description of the machine and the measurements."""
    machine, settings = results.machine, results.settings
    return Text(
        f"{machine_line(machine)}; {version_line(machine)}\n"
        f"Conversion.sends(rank) by the middle rank: processor time, median of {settings['rounds']} samples"
    )


def by_series(results: list[PlanResult]) -> Iterator[tuple[str, list[PlanResult]]]:
    """Yield each series with its results, in the order of the cases."""
    for name, members in groupby(results, key=lambda result: result.case.series):
        yield name, list(members)


def _group_table(group: Group, title: str, results: list[PlanResult]) -> Table:
    table = titled_table(title)
    has_pieces = any(result.pieces is not None for result in results)
    has_naive = any(result.case.naive for result in results)
    table.add_column("Conversion", no_wrap=True)
    names = ["P" if group in ("ranks", "pipe") else "N", "Messages", *(["Pieces"] if has_pieces else []), "Runs", "µs"]
    names += ["µs/message", *(["µs/piece"] if has_pieces else []), "KiB"]
    names += ["By block", "By element"] if has_naive else []
    for name in names:
        table.add_column(name, justify="right", no_wrap=True, style="bold" if name == "µs" else "")
    for name, members in by_series(results):
        for number, result in enumerate(members):
            row = [name if number == 0 else "", power(result.case.at), f"{result.messages:,}"]
            if has_pieces:
                row.append(NOTHING if result.pieces is None else f"{result.pieces:,}")
            row += [power(result.runs), microseconds(result.seconds), _time_per_piece(result.seconds, result.messages)]
            if has_pieces:
                row.append(_time_per_piece(result.seconds, result.pieces))
            row.append(kibibytes(result.memory))
            if has_naive:
                row += [
                    _format_naive_time(result.by_blocks, result.seconds),
                    _format_naive_time(result.by_elements, result.seconds),
                ]
            table.add_row(*row, style="" if result.exact else "red", end_section=number == len(members) - 1)
    return table


def _time_per_piece(seconds: float, count: int | None) -> str:
    return f"{seconds * 1e6 / count:.2f}" if count else NOTHING


def _format_naive_time(naive: float | None, seconds: float) -> str:
    return NOTHING if naive is None else f"{microseconds(naive)} ({factor(naive / seconds)})"


def _growth_lines(group: Group, results: list[PlanResult]) -> Iterator[str]:
    """Yield lines about the growth of the time along each series."""
    for name, members in by_series(results):
        times = [result.seconds for result in members]
        if group in ("extent", "features"):
            # Small arrays have fewer messages; only results with all messages can be compared.
            full = [result for result in members if result.messages == members[-1].messages]
            spread = max(result.best for result in full) / min(result.best for result in full)
            yield (
                f"{name}: slowest over fastest {spread:.2f} (best samples), from N = {power(full[0].case.at)} to "
                f"{power(full[-1].case.at)}"
            )
        elif group == "ranks":
            times_per_message = [result.seconds / result.messages for result in members if result.messages]
            yield (
                f"{name}: {microseconds(times[-1])} µs on {power(members[-1].case.at)} ranks, "
                f"{microseconds(min(times_per_message))} to {microseconds(max(times_per_message))} µs a message"
            )


def _make_notes(results: PlanResults) -> Text:
    lines = [
        "Pieces: stretches of one common period, or of the array if that is shorter.  Runs: stretches of the array.",
        "KiB: peak memory of one call, including the list of messages.  By block, by element: µs of enumerating with "
        "NumPy, and the ratio to Plait's time.",
    ]
    wrong = results.find_wrong_data()
    if not wrong:
        lines.append("Each element goes out once, receivers expect what is sent, enumerations agree.")
    lines += [f"WRONG: {result.case.source} to {result.case.target}" for result in wrong]
    return Text("\n".join(lines), style="dim" if not wrong else "red")
