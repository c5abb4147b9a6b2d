"""The results of `plait bench orders` as a table."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from plait_bench.orders.driver import FAR, SLOW, OrdersResults
from plait_bench.text import count_text, factor, machine_line, milliseconds, notes, titled_table, version_line


def orders_table(results: OrdersResults) -> RenderableType:
    """Return the results as header, table and notes."""
    table = titled_table(f"Milliseconds, median of {results.settings['rounds']} rounds")
    table.add_column("Case", no_wrap=True)
    for title in ("Predicted", "Measured", "Off by", "Best way", "Loss"):
        table.add_column(title, justify="right")
    for result in sorted(results.cases, key=lambda result: -result.error):
        best = min(result.seconds / result.loss, result.seconds)
        cells: list[RenderableType] = [
            milliseconds(result.predicted),
            milliseconds(result.seconds),
            _highlight_if_above(result.error, FAR),
        ]
        if len(result.samples) > 1:
            cells += [milliseconds(best), _highlight_if_above(result.loss, SLOW)]
        table.add_row(result.case.title, *cells)
    header = Text(
        f"{machine_line(results.machine)}\n"
        f"constants {results.machine['constants']}, files on {results.machine['file system']}; "
        f"{version_line(results.machine)}"
    )
    return Group(
        header, Text(), table, notes(_make_notes(results), results.find_wrong_data(), "Every element was checked.")
    )


def _highlight_if_above(value: float, limit: float) -> Text:
    return Text(factor(value), style="bold red" if value > limit else "")


def _make_notes(results: OrdersResults) -> list[str]:
    far = sum(result.error > FAR for result in results.cases)
    forced = [result for result in results.cases if len(result.samples) > 1]
    slow = sum(result.loss > SLOW for result in forced)
    return [
        "Off by: the factor between prediction and measurement.  Loss: the time over that of the best strategy.",
        f"Predictions off by more than {factor(FAR)}: {far} of {count_text(len(results.cases), 'case')}.",
        f"Choices slower than {factor(SLOW)} the best strategy: {slow} of {count_text(len(forced), 'read')}.",
    ]
