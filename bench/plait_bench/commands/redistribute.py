"""`plait bench redistribute`: compares moving arrays in memory with a plain copy and with MPI_Alltoallw."""

from __future__ import annotations

from pathlib import Path

import click

from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver, result_options

_EXAMPLES = """
\b
Examples:
  plait bench redistribute
  plait bench redistribute --size 2000 --rounds 15 --chart redistribute.png
  plait bench redistribute --ranks 8 --json results.json
"""


@click.command("redistribute", epilog=_EXAMPLES)
@click.option(
    "--size", type=click.IntRange(min=1), default=6000, show_default=True, help="Rows and columns of doubles."
)
@click.option("--ranks", type=click.IntRange(min=1), default=4, show_default=True, help="Number of MPI processes.")
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=7,
    show_default=True,
    help="Number of measurements of each way to redistribute.",
)
@click.option(
    "--cut",
    type=click.FloatRange(min=0.1),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="Abort an MPI_Alltoallw that takes longer.",
)
@result_options()
def redistribute_command(size: int, ranks: int, rounds: int, cut: float, json_: str | None, chart: Path | None) -> None:
    """Compare moving an array between layouts in memory with a plain copy of its bytes and with MPI_Alltoallw.

    Each rank holds its part in shared memory, and for comparison in a private array. All ways are measured in the same
    rounds, and the result of the first round is compared byte by byte.
    """
    from plait_bench.redistribute.driver import RedistributeSettings, run_redistribute
    from plait_bench.redistribute.table import draw_redistribute_chart, redistribute_table

    settings = RedistributeSettings(size=size, ranks=ranks, rounds=rounds, cut=cut)
    results = run_with_bar(lambda progress: run_redistribute(settings, progress))
    deliver(results, redistribute_table, draw_redistribute_chart, json_, chart)
    if results.find_wrong_data():
        raise SystemExit(1)
