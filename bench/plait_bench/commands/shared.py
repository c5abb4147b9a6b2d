"""`plait bench shared`: bandwidth of Shared Files by the number of hosts."""

from __future__ import annotations

from pathlib import Path

import click

from plait.cli.lists import Bytes, Several, parse_count
from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver, result_options

_EXAMPLES = """
\b
Examples:
  plait bench shared --ranks 8 --dir /var/tmp/mine
  scripts/hosts.py exec --hosts 4 --disk 40MB/s --link 400mbit -- plait bench shared --dir /var/tmp
"""


@click.command("shared", epilog=_EXAMPLES)
@click.option("--ranks", type=click.IntRange(min=1), default=4, show_default=True, help="Number of MPI processes.")
@click.option(
    "--hosts",
    type=Several("a number of hosts", parse_count),
    default=(),
    metavar="LIST",
    help="Numbers of hosts that take part.  [default: 1,2,4 … and all that the ranks are on]",
)
@click.option(
    "--megabytes",
    type=click.IntRange(min=1),
    default=64,
    show_default=True,
    help="MiB that each host reads or writes in one measurement.",
)
@click.option("--request", type=Bytes(), default="256K", show_default=True, help="Bytes of a request, and of a stripe.")
@click.option(
    "--ahead",
    type=click.IntRange(min=1),
    default=16,
    show_default=True,
    help="Number of requests of each rank in flight at a time.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Number of measurements of each file, for each number of hosts.",
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False),
    help="Folder on each host's own disk.  [default: a temporary one]",
)
@result_options()
def shared_command(
    ranks: int,
    hosts: tuple[int, ...],
    megabytes: int,
    request: int,
    ahead: int,
    rounds: int,
    folder: str | None,
    json_: str | None,
    chart: Path | None,
) -> None:
    """Measure how the bandwidth of Shared Files grows with the number of hosts, compared with one disk that serves all.

    All ranks write and read one file at once, each a different part. The file is striped over the disks of the hosts,
    and for comparison it is on the disk of the first host, which then serves the other hosts through Distant I/O. Each
    host adds the same amount of data.
    """
    from plait_bench.shared.driver import SharedSettings, run_shared
    from plait_bench.shared.table import draw_shared_chart, shared_table

    settings = SharedSettings(
        ranks=ranks, hosts=hosts, megabytes=megabytes, request=request, ahead=ahead, rounds=rounds, folder=folder
    )
    results = run_with_bar(lambda progress: run_shared(settings, progress))
    deliver(results, shared_table, draw_shared_chart, json_, chart)
