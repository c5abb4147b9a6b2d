"""`plait bench stripe`: a striped file on more and more disks."""

from __future__ import annotations

import signal
import sys
from typing import Any

import click

from plait.cli.lists import Bytes, Several, parse_count
from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver_table, json_option

_EXAMPLES = """
\b
Examples:
  plait bench stripe
  plait bench stripe --limits 50MB/s,4000 --disks 1,2,3,4 --edge 16384 --json results.json
"""


@click.command("stripe", epilog=_EXAMPLES)
@click.option(
    "--limits",
    metavar="LIMITS",
    default="20MB/s,2000",
    show_default=True,
    help="Limits of each disk: bytes and requests a second.",
)
@click.option(
    "--disks",
    type=Several("a number of disks", parse_count),
    default="1,2,4",
    show_default=True,
    metavar="LIST",
    help="Numbers of disks, in increasing order.",
)
@click.option(
    "--edge",
    type=click.IntRange(min=64),
    default=8192,
    show_default=True,
    help="Rows and columns of the matrix of bytes.",
)
@click.option(
    "--ranks",
    type=click.IntRange(min=1),
    default=64,
    show_default=True,
    help="Number of ranks that hold the rows, all of them in one process.",
)
@click.option("--unit", type=Bytes(), default="64K", show_default=True, help="Bytes of a stripe.")
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="Number of measurements of each number of disks.",
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, exists=True),
    help="Folder for the blocks of the disks.  [default: a temporary one]",
)
@json_option
def stripe_command(json_: str | None, **options: Any) -> None:
    """Write and read a matrix on 1, 2 and 4 disks of limited rates, as table II of the paper of 1993 does.

    It needs the superuser, loop devices and the controller blkio of cgroup version 1. The exit code is 1 if any byte
    was wrong.
    """
    from plait_bench.stripe.driver import StripeSettings, run_stripe
    from plait_bench.stripe.table import stripe_table

    settings = StripeSettings(**options)
    # The disks are removed even if a signal ends the process.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    results = run_with_bar(lambda progress: run_stripe(settings, progress), "making the disks")
    deliver_table(results, stripe_table, json_)
    if results.find_wrong_data():
        raise SystemExit(1)
