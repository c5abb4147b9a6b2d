"""`plait bench join`: joins many files into one, by Plait and by other programs."""

from __future__ import annotations

from typing import Any

import click

from plait.cli.lists import Bytes, Several
from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver_table, work_options

_TARGETS = ("zarr", "nc")
_EXAMPLES = """
\b
Examples:
  plait bench join
  plait bench join --files 365 --size 8M --rounds 7 --dir /scratch
  plait bench join --targets nc --json results.json
"""


def _parse_target(text: str) -> str:
    """Return the format.  errors  ValueError: no join into this format is measured"""
    if text not in _TARGETS:
        raise ValueError(text)
    return text


@click.command("join", epilog=_EXAMPLES)
@click.option("--files", type=click.IntRange(min=2), default=100, show_default=True, help="Files to join.")
@click.option("--size", "file_bytes", type=Bytes(), default="2M", show_default=True, help="Approximate size of a file.")
@click.option(
    "--targets",
    type=Several("target", _parse_target, _TARGETS),
    default=",".join(_TARGETS),
    show_default=True,
    help="Formats to join into.",
)
@work_options("join", rounds=5, cut=120.0)
def join_command(json_: str | None, files: int, file_bytes: int, targets: tuple[str, ...], **options: Any) -> None:
    """Join netCDF-4 files with six variables along time, by Plait, by ncrcat, and by xarray with Dask.

    The benchmark measures those that are installed. Each join runs in a new process; the programs take turns.
    """
    from plait_bench.joins.data import JoinSize
    from plait_bench.joins.driver import JoinSettings, run_joins
    from plait_bench.joins.table import join_table

    settings = JoinSettings(JoinSize(files, file_bytes, texts=0), targets, **options)
    results = run_with_bar(lambda progress: run_joins(settings, progress), "starting")
    deliver_table(results, join_table, json_)
    if results.find_wrong_data():
        raise SystemExit(1)
