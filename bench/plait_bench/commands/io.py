"""`plait bench io`: compares reading and writing files under eight distributions with MPI-IO."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from plait.cli.support import UserError, run_with_bar
from plait_bench.commands._results import deliver, result_options

if TYPE_CHECKING:
    from plait_bench.job import Operation

_OPERATIONS: dict[str, tuple[Operation, ...]] = {"read": ("read",), "write": ("write",), "both": ("read", "write")}

_EXAMPLES = """
\b
Examples:
  plait bench io
  plait bench io --size 1000 --rounds 3 --both
  plait bench io --doubles 3000 --ranks 4 --json results.json --png results.png
  plait bench io --bytes 5000 --no-mpiio --dir /scratch
  plait bench io --doubles 5000 --fortran
  plait bench io --doubles 11600 --cold --no-mpiio
  plait bench io --memory 8M --busy 1
"""


@click.command("io", epilog=_EXAMPLES)
@click.option("--size", type=click.IntRange(min=1), help="Rows and columns of both arrays, doubles and bytes.")
@click.option(
    "--doubles", type=click.IntRange(min=1), help="Measure an array of doubles of this many rows and columns."
)
@click.option(
    "--bytes", "bytes_", type=click.IntRange(min=1), help="Measure an array of bytes of this many rows and columns."
)
@click.option("--ranks", type=click.IntRange(min=1), default=4, show_default=True, help="Number of MPI processes.")
@click.option(
    "--rounds", type=click.IntRange(min=1), default=5, show_default=True, help="Number of measurements of each access."
)
@click.option(
    "--cut",
    type=click.FloatRange(min=0.1),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="Abort an access by MPI-IO, or a direct one, that takes longer.",
)
@click.option("--read", "operation", flag_value="read", help="Measure reading (the default).")
@click.option("--write", "operation", flag_value="write", help="Measure writing into an existing file.")
@click.option("--both", "operation", flag_value="both", help="Measure reading and writing.")
@result_options("--png", "Draw a chart to this file.")
@click.option(
    "--dir", "directory", type=click.Path(file_okay=False), help="Folder for the files.  [default: a temporary one]"
)
@click.option("--no-mpiio", is_flag=True, help="Leave MPI-IO out.")
@click.option("--fortran", is_flag=True, help="Measure the Fortran primitives as well.")
@click.option("--memory", metavar="BYTES", help="Memory of each rank for windows, as for plait.open().")
@click.option("--cold", is_flag=True, help="Drop the file from the page cache before each read.")
@click.option(
    "--busy", type=click.IntRange(min=0), default=0, help="Number of other programs that compute at the same time."
)
def io_command(
    size: int | None,
    doubles: int | None,
    bytes_: int | None,
    ranks: int,
    rounds: int,
    cut: float,
    operation: str | None,
    json_: str | None,
    chart: Path | None,
    directory: str | None,
    no_mpiio: bool,
    fortran: bool,
    memory: str | None,
    cold: bool,
    busy: int,
) -> None:
    """Read or write a file under eight distributions, by Plait and by MPI-IO, side by side.

    The file holds a square array column by column.  Without a size, 3000 x 3000 doubles and 5000 x 5000 bytes are
    measured.  Every byte of every access is checked.  The exit code is 1 if any data was wrong.
    """
    from plait_bench.chart import draw_chart
    from plait_bench.io.driver import IoSettings, run_io
    from plait_bench.job import Conditions
    from plait_bench.table import results_table

    if size is not None and (doubles is not None or bytes_ is not None):
        raise UserError("--size sets both arrays; give either --size, or --doubles and --bytes")
    if size is None and doubles is None and bytes_ is None:
        doubles, bytes_ = IoSettings.doubles, IoSettings.bytes
    settings = IoSettings(
        doubles=size or doubles or 0,
        bytes=size or bytes_ or 0,
        ranks=ranks,
        rounds=rounds,
        cut=cut,
        operations=_OPERATIONS[operation or "read"],
        mpiio=not no_mpiio,
        fortran=fortran,
        directory=directory,
        conditions=Conditions(memory or 0, cold),
        busy=busy,
    )
    results = run_with_bar(lambda progress: run_io(settings, progress))
    deliver(results, results_table, draw_chart, json_, chart)
    if any(results.find_wrong_data()):
        raise SystemExit(1)
