"""`plait bench texts`: reads, writes and copies arrays of texts, by Plait and by other libraries."""

from __future__ import annotations

from typing import Any

import click

from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver_table, work_options

_EXAMPLES = """
\b
Examples:
  plait bench texts
  plait bench texts --count 10000 --rounds 3 --json results.json
"""


@click.command("texts", epilog=_EXAMPLES)
@click.option("--count", type=click.IntRange(min=1), default=1_000_000, show_default=True, help="Number of texts.")
@work_options("task", rounds=5, cut=120.0)
def texts_command(json_: str | None, count: int, **options: Any) -> None:
    """Read, write and copy texts of 12 bytes in HDF5 and Zarr, by Plait, h5py and zarr-python.

    Each task runs in a new process; the libraries take turns.
    """
    from plait_bench.joins.data import JoinSize
    from plait_bench.joins.driver import JoinSettings, run_joins
    from plait_bench.joins.table import join_table
    from plait_bench.joins.tools import TEXTS

    settings = JoinSettings(JoinSize(files=0, file_bytes=0, texts=count), TEXTS, **options)
    results = run_with_bar(lambda progress: run_joins(settings, progress), "starting")
    deliver_table(results, join_table, json_)
    if results.find_wrong_data():
        raise SystemExit(1)
