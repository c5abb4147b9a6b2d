"""`plait bench blocks`: blocks of arrays of three and four dimensions, by Plait and by MPI-IO."""

from __future__ import annotations

import click

from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver_table, json_option

_EXAMPLES = """
\b
Examples:
  plait bench blocks
  plait bench blocks --ranks 16 --megabytes 128
  plait bench blocks --dir /scratch --json results.json
"""


@click.command("blocks", epilog=_EXAMPLES)
@click.option(
    "--megabytes", type=click.IntRange(min=1), default=64, show_default=True, help="Size of each array in MiB."
)
@click.option(
    "--ranks", type=click.IntRange(min=1), default=4, show_default=True, help="Number of MPI processes."
)  # fmt: skip
@click.option(
    "--rounds", type=click.IntRange(min=1), default=7, show_default=True, help="Number of measurements of each access."
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, exists=True),
    help="Folder for the file.  [default: a temporary one]",
)
@json_option
def blocks_command(megabytes: int, ranks: int, rounds: int, folder: str | None, json_: str | None) -> None:
    """Read and write blocks of arrays of three and four dimensions, by Plait and by MPI-IO, side by side.

    Each rank has one block, whose runs of a few KiB are contiguous in the file.  The block is in contiguous memory, and
    then in memory with 16 bytes between its rows.  Every byte of every access is checked.  The exit code is 1 if any
    data was wrong.
    """
    from plait_bench.blocks.driver import BlocksSettings, run_blocks
    from plait_bench.blocks.table import blocks_table

    settings = BlocksSettings(megabytes, ranks, rounds, folder)
    results = run_with_bar(lambda progress: run_blocks(settings, progress))
    deliver_table(results, blocks_table, json_)
    if results.find_wrong_data():
        raise SystemExit(1)
