"""`plait model delta`: the Touchstone Delta, fitted to one table of the thesis and compared with its other tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plait._base.amounts import seconds
from plait.cli.support import output

if TYPE_CHECKING:
    from rich.table import Table

    from plait.model.thesis.delta import Errors, Fit, Prediction

_EXAMPLES = """
\b
Examples:
  plait model delta
  plait model delta --figure delta.svg
  plait model delta --json | jq .errors
"""


@click.command("delta", epilog=_EXAMPLES)
@click.option(
    "--figure",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write a chart: SVG if FILE ends with .svg, else PNG.",
)
@click.option("--json", "json_", is_flag=True, help="Print JSON: one object with parameters, rows and errors.")
def delta_command(figure: Path | None, json_: bool) -> None:
    """Fit the model of the Intel Touchstone Delta to table 9 of the thesis, and predict its tables 10, 11 and 15 to 18.

    Each row has the time that the thesis prints, or that follows from its rate, the time that the model predicts, and
    the error relative to the printed one.  Rows of table 9 are fitted, all others predicted.
    """
    from plait.model.thesis.delta import MODES, fit, predictions

    fits = [fit(mode) for mode in MODES]
    found = predictions()
    if json_:
        click.echo(json.dumps(_document(fits, found)))
    else:
        _print(fits, found)
    if figure is not None:
        from plait.model.charts import draw_delta

        draw_delta(found, figure)
        if not json_:
            output().print(f"picture written to {figure}", soft_wrap=True)


def _document(fits: Sequence[Fit], found: Sequence[Prediction]) -> dict[str, object]:
    from plait.model.thesis.delta import FITTED, errors
    from plait.model.thesis.measurements import measurements

    rows = [
        {**asdict(one.measured), "predicted": one.seconds, "error": one.error, "fitted": one.measured.table == FITTED}
        for one in found
    ]
    unreadable = [asdict(one) for one in measurements() if one.unreadable]
    return {
        "parameters": [asdict(one) for one in fits],
        "rows": rows,
        "errors": [asdict(one) for one in errors(found)],
        "unreadable": unreadable,
    }


def _print(fits: Sequence[Fit], found: Sequence[Prediction]) -> None:
    from plait.model.thesis.delta import FITTED, errors
    from plait.model.thesis.measurements import measurements

    console = output()
    console.print(f"Fitted to table {FITTED}: 64 disks, blocks of 4 KB, 8 of them prefetched")
    for one in fits:
        console.print(
            f"  mode {one.mode}   t_disk {seconds(one.t_disk)}   "
            f"step of synchronization {seconds(one.t_step)}   t_io not determined",
            soft_wrap=True,
        )
    console.print()
    console.print(_rows(found))
    console.print()
    console.print(_summary(errors(found)))
    hidden = [one for one in measurements() if one.unreadable]
    tables = ", ".join(map(str, sorted({one.table for one in hidden})))
    console.print(f"{len(hidden)} entries of tables {tables} cannot be read in full and are left out.")


def _rows(found: Sequence[Prediction]) -> Table:
    from rich.table import Table

    from plait.model.thesis.delta import FITTED
    from plait.model.thesis.measurements import K

    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("table", "distribution", "size", "processors", "mode", "measured", "predicted", "error"):
        table.add_column(name, justify="left" if name == "distribution" else "right")
    for one in found:
        taken = one.measured
        size = f"{taken.size // K}K"
        measured = seconds(taken.seconds) if taken.seconds is not None else f"> {seconds(taken.above or 0)}"
        table.add_row(
            f"{taken.table}{' fit' if taken.table == FITTED else ''}",
            taken.distribution,
            f"{size}x{size}",
            str(taken.processors),
            str(taken.mode),
            measured,
            seconds(one.seconds),
            _error(one),
        )
    return table


def _error(one: Prediction) -> str:
    if one.error is not None:
        return f"{100 * one.error:+.0f} %"
    return "" if one.seconds > (one.measured.above or 0) else "too small"


def _summary(found: Sequence[Errors]) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("table", "mode", "rows", "median error", "largest error", "mean factor"):
        table.add_column(name, justify="right")
    for one in found:
        table.add_row(
            str(one.table),
            str(one.mode),
            str(one.rows),
            f"{100 * one.median:.0f} %",
            f"{100 * one.largest:.0f} %",
            f"{one.factor:.2f}",
        )
    return table
