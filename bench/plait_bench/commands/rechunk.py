"""`plait bench rechunk`: rechunks maps into time series, by Plait in parts and by Dask."""

from __future__ import annotations

from typing import Any

import click

from plait.cli.lists import Shape
from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver_table, work_options

_EXAMPLES = """
\b
Examples:
  plait bench rechunk
  plait bench rechunk --shape 24108x180x360 --cut 3600 --dir /scratch
"""


def _check_shape(context: click.Context, option: click.Parameter, value: list[int]) -> tuple[int, ...]:
    """Return the shape of the maps.  errors  click.BadParameter: it has not three positive extents"""
    if len(value) != 3 or min(value) < 1:
        raise click.BadParameter(
            f"the shape is {'x'.join(map(str, value))}; give times, rows and columns", context, option
        )
    return tuple(value)


@click.command("rechunk", epilog=_EXAMPLES)
@click.option(
    "--shape",
    type=Shape(),
    callback=_check_shape,
    default="2200x180x360",
    show_default=True,
    help="Times, rows and columns of the maps.",
)
@work_options("conversion", rounds=3, cut=600.0)
def rechunk_command(json_: str | None, shape: tuple[int, int, int], **options: Any) -> None:
    """Rechunk compressed maps of 4-byte floats into time series, by Plait in parts and by Dask's P2P rechunk.

    A chunk of the source is one map, as in ERA5; a chunk of the target has an eleventh of the times, and a tenth of the
    rows and of the columns. Each conversion runs in a new process, which starts others; the tools take turns.
    """
    from plait_bench.joins.data import JoinSize
    from plait_bench.joins.driver import JoinSettings, run_joins
    from plait_bench.joins.table import join_table
    from plait_bench.joins.tools import RECHUNKS

    settings = JoinSettings(JoinSize(files=0, file_bytes=0, texts=0, maps=shape), RECHUNKS, **options)
    results = run_with_bar(lambda progress: run_joins(settings, progress), "starting")
    deliver_table(results, join_table, json_)
    if results.find_wrong_data():
        raise SystemExit(1)
