"""`plait bench copy`: copies into other chunks, packing and orders, beside other libraries."""

from __future__ import annotations

import click

from plait.cli.lists import Bytes, Several
from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver_table, json_option

_ROWS = ("a", "b", "c", "f", "g")
_EXAMPLES = """
\b
Examples:
  plait bench copy
  plait bench copy --size 2G --memory 512M --rounds 5 --dir /scratch
  plait bench copy --rows a,b --json results.json
"""


def _row(text: str) -> str:
    if text not in _ROWS:
        raise ValueError(text)
    return text


@click.command("copy", epilog=_EXAMPLES)
@click.option("--size", type=Bytes(), default="256M", show_default=True, help="About the bytes of an array.")
@click.option("--memory", type=Bytes(), default="64M", show_default=True, help="Memory that each copy may use.")
@click.option("--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Measurements of each copy.")
@click.option(
    "--rows",
    type=Several("row", _row, _ROWS),
    default=",".join(_ROWS),
    show_default=True,
    help="Which copies: a, b: Zarr, rows to columns, as they are and by zstd; c: .npy, C to F; f: chunks into shards; "
    "g: frames to time series.",
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, exists=True),
    help="Folder for the files.  [default: a temporary one]",
)
@json_option
def copy_command(
    size: int, memory: int, rounds: int, rows: tuple[str, ...], folder: str | None, json_: str | None
) -> None:
    """Copy arrays into other chunks, packing and orders, by Plait and by zarr-python, TensorStore or NumPy.

    Those of them are measured that are installed. Each copy is a process of its own, whose largest memory is measured
    as well; the libraries take turns.
    """
    from plait_bench.copies.driver import CopySettings, run_copy
    from plait_bench.copies.table import copy_table

    settings = CopySettings(size=size, memory=memory, rounds=rounds, keys=rows, folder=folder)
    results = run_with_bar(lambda progress: run_copy(settings, progress), "starting")
    deliver_table(results, copy_table, json_)
    if results.wrong():
        raise SystemExit(1)
