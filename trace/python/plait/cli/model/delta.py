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
    predicted = predictions()
    if json_:
        click.echo(json.dumps(_document(fits, predicted)))
    else:
        _print(fits, predicted)
    if figure is not None:
        from plait.model.charts import draw_delta

        draw_delta(predicted, figure)
        if not json_:
            output().print(f"picture written to {figure}", soft_wrap=True)


def _document(fits: Sequence[Fit], predicted: Sequence[Prediction]) -> dict[str, object]:
    from plait.model.thesis.delta import FITTED, errors
    from plait.model.thesis.measurements import measurements

    rows = [
        {
            **asdict(prediction.measured),
            "predicted": prediction.seconds,
            "error": prediction.error,
            "fitted": prediction.measured.table == FITTED,
        }
        for prediction in predicted
    ]
    unreadable = [asdict(entry) for entry in measurements() if entry.unreadable]
    return {
        "parameters": [asdict(fitted) for fitted in fits],
        "rows": rows,
        "errors": [asdict(row) for row in errors(predicted)],
        "unreadable": unreadable,
    }


def _print(fits: Sequence[Fit], predicted: Sequence[Prediction]) -> None:
    from plait.model.thesis.delta import FITTED, errors
    from plait.model.thesis.measurements import measurements

    console = output()
    console.print(f"Fitted to table {FITTED}: 64 disks, blocks of 4 KB, 8 of them prefetched")
    for fitted in fits:
        console.print(
            f"  mode {fitted.mode}   t_disk {seconds(fitted.t_disk)}   "
            f"step of synchronization {seconds(fitted.t_step)}   t_io not determined",
            soft_wrap=True,
        )
    console.print()
    console.print(_rows(predicted))
    console.print()
    console.print(_summary(errors(predicted)))
    hidden = [entry for entry in measurements() if entry.unreadable]
    tables = ", ".join(map(str, sorted({entry.table for entry in hidden})))
    console.print(f"{len(hidden)} entries of tables {tables} cannot be read in full and are left out.")


def _rows(predicted: Sequence[Prediction]) -> Table:
    from rich.table import Table

    from plait.model.thesis.delta import FITTED
    from plait.model.thesis.measurements import K

    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("table", "distribution", "size", "processors", "mode", "measured", "predicted", "error"):
        table.add_column(name, justify="left" if name == "distribution" else "right")
    for prediction in predicted:
        entry = prediction.measured
        size = f"{entry.size // K}K"
        measured = seconds(entry.seconds) if entry.seconds is not None else f"> {seconds(entry.above or 0)}"
        table.add_row(
            f"{entry.table}{' fit' if entry.table == FITTED else ''}",
            entry.distribution,
            f"{size}x{size}",
            str(entry.processors),
            str(entry.mode),
            measured,
            seconds(prediction.seconds),
            _error(prediction),
        )
    return table


def _error(prediction: Prediction) -> str:
    if prediction.error is not None:
        return f"{100 * prediction.error:+.0f} %"
    return "" if prediction.seconds > (prediction.measured.above or 0) else "too small"


def _summary(rows: Sequence[Errors]) -> Table:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0))
    for name in ("table", "mode", "rows", "median error", "largest error", "mean factor"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            str(row.table),
            str(row.mode),
            str(row.rows),
            f"{100 * row.median:.0f} %",
            f"{100 * row.largest:.0f} %",
            f"{row.factor:.2f}",
        )
    return table
