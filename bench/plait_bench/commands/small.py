"""`plait bench small`: measures the fixed costs of small accesses."""

from __future__ import annotations

import click

from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver_table, json_option, square_options

_EXAMPLES = """
\b
Examples:
  plait bench small
  plait bench small --ranks 2 --edges 16,100 --rounds 50 --json results.json
"""


@click.command("small", epilog=_EXAMPLES)
@square_options("16,100,300,1000,3000")
@click.option("--rounds", type=click.IntRange(min=1), default=25, show_default=True, help="Samples of each access.")
@click.option(
    "--sampling-time",
    "sampling_seconds",
    type=click.FloatRange(min=0.1),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Begin no more rounds of an access after this time.",
)
@json_option
@click.option(
    "--dir", "directory", type=click.Path(file_okay=False), help="Folder for the files.  [default: a temporary one]"
)
def small_command(
    ranks: tuple[int, ...],
    edges: tuple[int, ...],
    rounds: int,
    sampling_seconds: float,
    json_: str | None,
    directory: str | None,
) -> None:
    """Compare the times of accesses to small arrays with those of MPI-IO, NumPy, h5py and zarr-python.

    The exit code is 1 if any data was wrong.
    """
    from plait_bench.small.driver import SmallSettings, run_small
    from plait_bench.small.table import small_table

    settings = SmallSettings(ranks, edges, rounds, sampling_seconds, directory)
    results = run_with_bar(lambda progress: run_small(settings, progress))
    deliver_table(results, small_table, json_)
    if results.find_wrong_data():
        raise SystemExit(1)
