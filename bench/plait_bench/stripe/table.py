"""The results of `plait bench stripe` as a table, next to those of 1993."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from plait_bench.stripe.driver import GOAL, OPERATIONS, PAPER, StripeResults
from plait_bench.text import (
    NOTHING,
    count_text,
    machine_line,
    notes,
    rate,
    short_bytes,
    three_digits,
    titled_table,
    version_line,
)


def stripe_table(results: StripeResults) -> RenderableType:
    """Return the results as header, table and notes, which state how many rates are nearly proportional."""
    settings, machine = results.settings, results.machine
    table = titled_table(
        f"A matrix of {settings['edge']} x {settings['edge']} bytes, by rows on {settings['ranks']} ranks, on disks of "
        f"{settings['limits']} each: MB/s"
    )
    table.add_column("Disks", justify="right")
    for operation in (*OPERATIONS, "1993"):
        table.add_column(operation.capitalize(), justify="right", no_wrap=True)
        table.add_column("of linear", justify="right", no_wrap=True, style="bold")
    for run in results.runs:
        row = [str(run.disks)]
        for operation in OPERATIONS:
            row += [rate(run.rate(operation)), _percent(results.linear_share(run, operation))]
        known = PAPER.get(run.disks)
        row += [NOTHING, NOTHING] if known is None else [three_digits(known), _percent(known / PAPER[1] / run.disks)]
        table.add_row(*row)
    reached = [results.linear_share(run, operation) >= GOAL for run in results.runs for operation in OPERATIONS]
    header = Text(f"{machine_line(machine)}\ndisks on {machine['file system']}; {version_line(machine)}\n")
    lines = [
        f"Medians of {count_text(settings['rounds'], 'round')}, in stripes of {short_bytes(settings['unit'])}. Writing "
        "ends when the data is durable; reading begins with an empty page cache.",
        "1993: table II of DeBenedictis and del Rosario, output of 1024 x 1024 bytes by rows from 64 processors.",
        f"{sum(reached)} of {len(reached)} rates are at least {100 * GOAL:.0f} % of linear.",
    ]
    return Group(header, table, notes(lines, results.find_wrong_data(), "Every byte was compared."))


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
