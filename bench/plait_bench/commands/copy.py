"""`plait bench copy`: compares copies into other chunks, compression and orders with other libraries."""

from __future__ import annotations

from typing import Any

import click

from plait.cli.lists import Bytes, Several
from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver_table, json_option

_ROWS = tuple("abcdefgh")
"""The keys of the measured copies; the help of `--rows` describes them."""
_EXAMPLES = """
\b
Examples:
  plait bench copy
  plait bench copy --size 2G --memory 512M --rounds 5 --dir /scratch
  plait bench copy --rows a,b --json results.json
  plait bench copy --rows h --cold
"""

_TOOLS = (
    "zarrs_reencode",
    "tensorstore",
    "zarr-python",
    "zarr-python+zarrs",
    "dask",
    "h5repack",
    "nccopy",
    "h5py",
    "numpy",
)


def _parse_tool(text: str) -> str:
    """Return the tool.  errors  ValueError: there is no tool of this name"""
    if text not in _TOOLS:
        raise ValueError(text)
    return text


def _parse_row(text: str) -> str:
    """Return the key of a row of the table.  errors  ValueError: there is no such row"""
    if text not in _ROWS:
        raise ValueError(text)
    return text


@click.command("copy", epilog=_EXAMPLES)
@click.option("--size", type=Bytes(), default="256M", show_default=True, help="Approximate size of an array.")
@click.option("--memory", type=Bytes(), default="64M", show_default=True, help="Memory that each copy may use.")
@click.option(
    "--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Number of measurements of each copy."
)
@click.option(
    "--rows",
    type=Several("row", _parse_row, _ROWS),
    default=",".join(_ROWS),
    show_default=True,
    help="Which copies: a, b: Zarr, rows to columns, uncompressed and by zstd; c: .npy, C to F; d: HDF5 to Zarr; e: "
    "Zarr to netCDF-4; f: chunks into shards; g: frames to time series; h: netCDF-4, rows to columns.",
)
@click.option(
    "--tools",
    type=Several("tool", _parse_tool, _TOOLS),
    help="Compare Plait with these only.  [default: all that are installed]",
)
@click.option(
    "--cut", type=click.FloatRange(min=1), default=60.0, show_default=True, help="Seconds that a copy may take."
)
@click.option("--cold", is_flag=True, help="Drop the source from the page cache before each copy.")
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, exists=True),
    help="Folder for the files.  [default: a temporary one]",
)
@json_option
def copy_command(json_: str | None, rows: tuple[str, ...], **options: Any) -> None:
    """Copy arrays into other chunks, compression and orders, by Plait and by other libraries and programs.

    The benchmark measures those of the following that are installed: zarrs_reencode, TensorStore, zarr-python (also
    with the codecs of zarrs), Dask, h5repack, nccopy, h5py and NumPy. Each copy runs in a new process, whose peak
    memory is measured as well; the libraries take turns.
    """
    from plait_bench.copies.driver import CopySettings, run_copy
    from plait_bench.copies.table import copy_table

    settings = CopySettings(keys=rows, **options)
    results = run_with_bar(lambda progress: run_copy(settings, progress), "starting")
    deliver_table(results, copy_table, json_)
    if results.find_wrong_data():
        raise SystemExit(1)
