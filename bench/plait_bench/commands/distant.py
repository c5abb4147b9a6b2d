"""`plait bench distant`: local and remote disks."""

from __future__ import annotations

from pathlib import Path

import click

from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver, result_options

_EXAMPLES = """
\b
Examples:
  plait bench distant
  plait bench distant --megabytes 1024 --ahead 1 --ahead 16
  plait bench distant --disk /disk1 --disk /disk2 --chart distant.png
"""


@click.command("distant", epilog=_EXAMPLES)
@click.option(
    "--megabytes",
    type=click.IntRange(min=1),
    default=64,
    show_default=True,
    help="MiB that one measurement of a rate transfers.",
)
@click.option(
    "--ahead",
    type=click.IntRange(min=1),
    multiple=True,
    default=(1, 8),
    show_default=True,
    help="Number of requests in flight at a time; may be repeated.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Number of measurements of each rate, and of the other costs.",
)
@click.option(
    "--disk",
    "disks",
    type=click.Path(file_okay=False),
    multiple=True,
    help="Folder for the file of rank 0, and then of rank 1.  [default: a temporary one]",
)
@result_options()
def distant_command(
    megabytes: int, ahead: tuple[int, ...], rounds: int, disks: tuple[str, ...], json_: str | None, chart: Path | None
) -> None:
    """Read and write a local and a remote disk, in requests of 4 KiB to 1 MiB.

    The command repeats figures 3 and 4 of the paper on Distant I/O (1998) with two ranks of this machine, which
    exchange messages as if they were on two nodes, and access each other's files directly as on one node. It also
    measures the time of small accesses, the processor time of an idle handler, and how much longer a computing rank
    takes while another rank reads its disk.
    """
    from plait_bench.distant.driver import DistantSettings, run_distant
    from plait_bench.distant.table import distant_table, draw_distant_chart

    settings = DistantSettings(megabytes=megabytes, ahead=ahead, rounds=rounds, folders=disks)
    results = run_with_bar(lambda progress: run_distant(settings, progress))
    deliver(results, distant_table, draw_distant_chart, json_, chart)
