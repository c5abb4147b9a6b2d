"""The results of `plait bench stripe` as a table, with those of 1993."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from plait_bench.stripe.driver import GOAL, PAPER, WAYS, StripeResults
from plait_bench.text import (
    NOTHING,
    counted,
    machine_line,
    notes,
    rate,
    short_bytes,
    three_digits,
    titled_table,
    version_line,
)


def stripe_table(results: StripeResults) -> RenderableType:
    """Return everything for people: header, table, and how far the rates are proportional."""
    settings, machine = results.settings, results.machine
    table = titled_table(
        f"A matrix of {settings['edge']} x {settings['edge']} bytes, by rows on {settings['ranks']} ranks, on disks of "
        f"{settings['limits']} each: MB/s"
    )
    table.add_column("Disks", justify="right")
    for way in (*WAYS, "1993"):
        table.add_column(way.capitalize(), justify="right", no_wrap=True)
        table.add_column("of linear", justify="right", no_wrap=True, style="bold")
    for one in results.runs:
        row = [str(one.disks)]
        for way in WAYS:
            row += [rate(one.rate(way)), _percent(results.of_linear(one, way))]
        known = PAPER.get(one.disks)
        row += [NOTHING, NOTHING] if known is None else [three_digits(known), _percent(known / PAPER[1] / one.disks)]
        table.add_row(*row)
    held = [results.of_linear(one, way) >= GOAL for one in results.runs for way in WAYS]
    header = Text(f"{machine_line(machine)}\ndisks on {machine['file system']}; {version_line(machine)}\n")
    lines = [
        f"Medians of {counted(settings['rounds'], 'round')}, in stripes of {short_bytes(settings['unit'])}; writing "
        "until durable, reading with nothing in the page cache.",
        "1993: table II of DeBenedictis and del Rosario, output of 1024 x 1024 bytes by rows from 64 processors.",
        f"{sum(held)} of {len(held)} rates are at least {100 * GOAL:.0f} % of linear.",
    ]
    return Group(header, table, notes(lines, results.wrong(), "Every byte was compared."))


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
