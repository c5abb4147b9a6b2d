"""`plait bench columbus`: compressed records that change size, on Shared Files and on one file."""

from __future__ import annotations

from pathlib import Path

import click

from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver, result_options

_EXAMPLES = """
\b
Examples:
  plait bench columbus
  plait bench columbus --records 20000 --memory 64 --ranks 2 --chart columbus.png
  scripts/hosts.py exec --hosts 2 --disk 40MB/s -- plait bench columbus --ranks 2 --dir /var/tmp
"""


def _default_ranks() -> int:
    from plait_bench.columbus.driver import ColumbusSettings

    return ColumbusSettings().ranks


@click.command("columbus", epilog=_EXAMPLES)
@click.option(
    "--ranks",
    type=click.IntRange(min=1),
    default=_default_ranks,
    help="Number of MPI processes.  [default: the cores, at most 4]",
)
@click.option("--records", type=click.IntRange(min=1), default=2000, show_default=True, help="Number of records.")
@click.option(
    "--size",
    type=click.IntRange(min=200),
    default=30_000,
    show_default=True,
    metavar="BYTES",
    help="Size of a record, on average.",
)
@click.option(
    "--memory",
    type=click.IntRange(min=0),
    default=16,
    show_default=True,
    metavar="MIB",
    help="MiB of page cache that the records may occupy on a node; 0: none.",
)
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Updates of each record.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False),
    help="Folder for the records: on each rank's own disk, or shared by all ranks.  [default: a temporary one]",
)
@result_options()
def columbus_command(
    ranks: int,
    records: int,
    size: int,
    memory: int,
    rounds: int,
    folder: str | None,
    json_: str | None,
    chart: Path | None,
) -> None:
    """Update compressed records that change size, in random order: on Shared Files, and on one file.

    The command repeats the experiment in section 5 of the paper on Distant I/O (1998), and prints the paper's rates
    next to the measured ones. If all ranks share the folder, the one file is read and written by pread and pwrite;
    otherwise it is on the disk of rank 0, and the other ranks access it through Distant I/O.
    """
    from plait_bench.columbus.driver import ColumbusSettings, run_columbus
    from plait_bench.columbus.table import columbus_table, draw_columbus_chart

    settings = ColumbusSettings(ranks=ranks, records=records, size=size, memory=memory, rounds=rounds, folder=folder)
    results = run_with_bar(lambda progress: run_columbus(settings, progress))
    deliver(results, columbus_table, draw_columbus_chart, json_, chart)
