"""`plait bench accesses`: measures the error of simulated accesses."""

from __future__ import annotations

import click

from plait.cli.lists import Several, parse_count
from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver_table, json_option

_EXAMPLES = """
\b
Examples:
  plait model calibrate && plait bench accesses
  plait bench accesses --ranks 2,4 --edge 4096 --machine mine.toml --json results.json
"""


@click.command("accesses", epilog=_EXAMPLES)
@click.option(
    "--ranks",
    type=Several("a number of ranks", parse_count),
    default="2,3,4,6",
    show_default=True,
    metavar="LIST",
    help="Numbers of MPI processes.",
)
@click.option(
    "--edge", type=click.IntRange(min=8), default=2048, show_default=True, help="Rows and columns of doubles."
)
@click.option("--rounds", type=click.IntRange(min=1), default=15, show_default=True, help="Samples of each access.")
@click.option("--machine", help="A machine file.  [default: this host, with the constants in force]")
@json_option
@click.option(
    "--dir", "directory", type=click.Path(file_okay=False), help="Folder for the files.  [default: a temporary one]"
)
def accesses_command(
    ranks: tuple[int, ...], edge: int, rounds: int, machine: str | None, json_: str | None, directory: str | None
) -> None:
    """Time collective reads and writes of a file in memory, and predict each by `plait simulate run`.

    The exit code is 1 if any data was wrong.
    """
    from plait_bench.accesses.driver import AccessesSettings, run_accesses
    from plait_bench.accesses.table import accesses_table

    settings = AccessesSettings(ranks, edge, rounds, machine, directory)
    results = run_with_bar(lambda progress: run_accesses(settings, progress))
    deliver_table(results, accesses_table, json_)
    if results.find_wrong_data():
        raise SystemExit(1)
