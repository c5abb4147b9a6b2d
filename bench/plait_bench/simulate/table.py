"""The results of `plait bench simulate` as a table."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from plait_bench.simulate.measure import MIN_LRU_RATE, Measurement, SimulateResults
from plait_bench.text import NOTHING, machine_line, power, three_digits, titled_table, version_line


def simulate_table(results: SimulateResults) -> RenderableType:
    """Return the results as header, table, notes, and a line that states whether the bound holds."""
    settings, machine = results.settings, results.machine
    table = titled_table("Requests that one core counts")
    conditions = (
        f"{power(settings['requests'])} requests for {power(settings['objects'])} blocks, Zipf {settings['skew']:g}; "
        f"{power(settings['cache'])} blocks cached"
    )
    table.add_column("Policy")
    table.add_column("Million/s", justify="right", style="bold", no_wrap=True)
    table.add_column("Fastest", justify="right", no_wrap=True)
    table.add_column("Misses", justify="right", no_wrap=True)
    for measurement in [*results.policies, *results.curves, results.reading, results.traced]:
        rates = [three_digits(rate / 1e6) for rate in (measurement.rate, _fastest(measurement))]
        table.add_row(measurement.name, *rates, _misses(measurement))
    notes = Text(
        f"Medians of {settings['rounds']} samples of processor time. Reading a binary trace takes "
        f"{100 * results.share:.0f} % of the time of reading it and counting hits by LRU."
    )
    notes.stylize("dim")
    header = Text(f"{machine_line(machine)}\n{version_line(machine)}\n{conditions}\n")
    lines: list[RenderableType] = [header, table, notes]
    bound = results.bound()
    if bound is not None:
        rate, holds = bound
        verdict = "holds" if holds else "fails"
        lines.append(
            Text(
                f"{verdict}: lru {rate / 1e6:,.1f} million requests/s, at least {MIN_LRU_RATE / 1e6:,.0f}",
                style="green" if holds else "bold red",
            )
        )
    return Group(*lines)


def _fastest(measurement: Measurement) -> float:
    return measurement.requests / max(min(measurement.samples), 1e-9)


def _misses(measurement: Measurement) -> str:
    return NOTHING if measurement.miss_ratio is None else f"{100 * measurement.miss_ratio:.2f} %"
