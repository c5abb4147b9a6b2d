"""`plait bench mpiio`: runs a program that calls MPI-IO, with Plait and without."""

from __future__ import annotations

import click

from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver_table, json_option, square_options

_EXAMPLES = """
\b
Examples:
  plait bench mpiio
  plait bench mpiio --ranks 4 --edges 2000 --samples 5 --json results.json
  plait bench mpiio --ranks 2 --edges 16 --pieces 180000
"""


@click.command("mpiio", epilog=_EXAMPLES)
@square_options("16,128,512")
@click.option(
    "--pieces",
    type=click.IntRange(min=0),
    default=20_000,
    show_default=True,
    help="Pieces of each rank in long lists; 0: no lists.",
)
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Runs with Plait and without.")
@click.option("--samples", type=click.IntRange(min=1), default=200, show_default=True, help="Samples of each access.")
@click.option(
    "--sampling-time",
    "sampling_seconds",
    type=click.FloatRange(min=0.1),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Take no more samples of an access after this time.",
)
@json_option
@click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, exists=True),
    help="Folder for the files.  [default: a temporary one]",
)
def mpiio_command(
    ranks: tuple[int, ...],
    edges: tuple[int, ...],
    pieces: int,
    rounds: int,
    samples: int,
    sampling_seconds: float,
    json_: str | None,
    directory: str | None,
) -> None:
    """Time a program that calls MPI-IO, with MPI alone and with Plait.

    The two ways alternate. The exit code is 1 if any data was wrong.
    """
    from plait_bench.unchanged.driver import UnchangedSettings, run_unchanged
    from plait_bench.unchanged.table import unchanged_table

    settings = UnchangedSettings(
        ranks,
        edges,
        pieces=pieces,
        rounds=rounds,
        samples=samples,
        sampling_seconds=sampling_seconds,
        directory=directory,
    )
    results = run_with_bar(lambda progress: run_unchanged(settings, progress))
    deliver_table(results, unchanged_table, json_)
    if results.find_wrong_data():
        raise SystemExit(1)
