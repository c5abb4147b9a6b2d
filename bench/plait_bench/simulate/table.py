"""The results of `plait bench simulate` as a table."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from plait_bench.simulate.measure import MIN, Measurement, SimulateResults
from plait_bench.text import NOTHING, machine_line, power, three_digits, titled_table, version_line


def simulate_table(results: SimulateResults) -> RenderableType:
    """Return everything for people: header, table, whether the bound holds."""
    settings, machine = results.settings, results.machine
    table = titled_table("Requests that one core counts")
    what = (
        f"{power(settings['requests'])} requests for {power(settings['objects'])} blocks, Zipf {settings['skew']:g}; "
        f"{power(settings['cache'])} blocks cached"
    )
    table.add_column("Policy")
    table.add_column("Million/s", justify="right", style="bold", no_wrap=True)
    table.add_column("Fastest", justify="right", no_wrap=True)
    table.add_column("Misses", justify="right", no_wrap=True)
    for one in [*results.policies, *results.curves, results.reading, results.traced]:
        table.add_row(one.name, three_digits(one.rate / 1e6), three_digits(_fastest(one) / 1e6), _misses(one))
    notes = Text(
        f"Medians of {settings['rounds']} samples of processor time. Of the time that a binary trace takes to be read "
        f"and counted by LRU, reading is {100 * results.share:.0f} %."
    )
    notes.stylize("dim")
    lines: list[RenderableType] = [Text(f"{machine_line(machine)}\n{version_line(machine)}\n{what}\n"), table, notes]
    bound = results.bound()
    if bound is not None:
        rate, holds = bound
        lines.append(
            Text(
                f"{'holds' if holds else 'fails'}: lru {rate / 1e6:,.1f} million requests/s, at least {MIN / 1e6:,.0f}",
                style="green" if holds else "bold red",
            )
        )
    return Group(*lines)


def _fastest(one: Measurement) -> float:
    return one.requests / max(min(one.samples), 1e-9)


def _misses(one: Measurement) -> str:
    return NOTHING if one.miss_ratio is None else f"{100 * one.miss_ratio:.2f} %"
