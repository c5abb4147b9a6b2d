"""`plait bench overlap`: measures how much of an access a computation hides."""

from __future__ import annotations

from pathlib import Path

import click

from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver, result_options

_EXAMPLES = """
\b
Examples:
  plait bench overlap
  plait bench overlap --megabytes 1024 --ranks 2 --rounds 5
  plait bench overlap --dir /scratch --json results.json --chart overlap.png
"""


@click.command("overlap", epilog=_EXAMPLES)
@click.option(
    "--megabytes", type=click.IntRange(min=1), default=256, show_default=True, help="Size of the file in MiB."
)
@click.option("--ranks", type=click.IntRange(min=1), help="Number of MPI processes; default half the cores.")
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=7,
    show_default=True,
    help="Number of measurements of each access: alone, of the computation alone, and of both at once.",
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, exists=True),
    help="Folder for the file.  [default: a temporary one]",
)
@result_options()
def overlap_command(
    megabytes: int, ranks: int | None, rounds: int, folder: str | None, json_: str | None, chart: Path | None
) -> None:
    """Measure how much nonblocking reads and writes progress while the program computes.

    The benchmark times each access alone, a computation of the same length alone, and both at once, for collective
    accesses of a file and for independent accesses of a stream.
    """
    from plait_bench.overlap.driver import OverlapSettings, run_overlap
    from plait_bench.overlap.table import draw_overlap_chart, overlap_table

    options = {} if ranks is None else {"ranks": ranks}
    settings = OverlapSettings(megabytes=megabytes, rounds=rounds, folder=folder, **options)
    results = run_with_bar(lambda progress: run_overlap(settings, progress))
    deliver(results, overlap_table, draw_overlap_chart, json_, chart)
    if results.find_wrong_data():
        raise SystemExit(1)
