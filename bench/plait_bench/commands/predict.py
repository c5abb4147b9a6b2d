"""`plait bench predict`: how well replays predict programs on another disk."""

from __future__ import annotations

import signal
import sys
from typing import Any

import click

from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver_table, json_option

_EXAMPLES = """
\b
Examples:
  plait bench predict
  plait bench predict --on 20MB/s,100 --for 5MB/s,100 --for 20MB/s,25
  plait bench predict --program 'random reader' --rounds 3 --json results.json
"""


@click.command("predict", epilog=_EXAMPLES)
@click.option(
    "--on",
    "known",
    metavar="LIMITS",
    default="20MB/s,100",
    show_default=True,
    help="The calibrated disk, on which the programs are traced: bytes and requests a second.",
)
@click.option(
    "--for",
    "others",
    metavar="LIMITS",
    multiple=True,
    default=("10MB/s,100", "20MB/s,50", "50MB/s,200"),
    show_default=True,
    help="A disk to predict for; repeatable.",
)
@click.option("--program", "programs", metavar="NAME", multiple=True, help="Run only this program; repeatable.")
@click.option("--rounds", type=click.IntRange(min=1), default=1, show_default=True, help="Runs of each program.")
@click.option(
    "--seconds", type=click.FloatRange(1, 600), default=20.0, show_default=True, help="About how long to calibrate."
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, exists=True),
    help="Folder for the blocks of the disk.  [default: a temporary one]",
)
@json_option
def predict_command(json_: str | None, programs: tuple[str, ...], **options: Any) -> None:
    """Run four programs on disks of limited rates, and compare their times with the predictions of `plait simulate`.

    The programs (a writer with O_DSYNC, a random reader, an out-of-core solver, two ranks) are traced on one calibrated
    disk. From their traces, their times on other disks are predicted, and then measured there. The benchmark takes some
    minutes, and needs the superuser, loop devices and the controller blkio of cgroup version 1.
    """
    from plait_bench.predict.driver import PredictSettings, run_predict
    from plait_bench.predict.programs import PROGRAMS
    from plait_bench.predict.table import predict_table

    settings = PredictSettings(programs=programs or tuple(PROGRAMS), **options)
    # The disk is removed even if a signal ends the process.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: sys.exit(128 + number))
    results = run_with_bar(lambda progress: run_predict(settings, progress), "making the disk")
    deliver_table(results, predict_table, json_)
