"""`plait bench pipe`: compares steps from one program to another with a plain copy and with files."""

from __future__ import annotations

from pathlib import Path

import click

from plait.cli.lists import Several, parse_count
from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver, result_options
from plait_bench.pipe.job import SIDES

_EXAMPLES = """
\b
Examples:
  plait bench pipe
  plait bench pipe --sides 4:4,4:1 --size 1024 --dtype u1
  plait bench pipe --no-files --json results.json --chart pipe.png
"""


def _parse_sides(text: str) -> tuple[int, int]:
    """Return the numbers of ranks of a writer and of its reader.  errors  ValueError: not of the form W:R"""
    writers, readers = (parse_count(count) for count in text.split(":"))
    return writers, readers


@click.command("pipe", epilog=_EXAMPLES)
@click.option("--size", type=click.IntRange(min=1), default=3000, show_default=True, help="Rows and columns.")
@click.option("--dtype", type=click.Choice(["f8", "u1"]), default="f8", show_default=True, help="Type of the elements.")
@click.option("--sides", type=Several("ranks of a writer and a reader such as 4:1", _parse_sides),
              default=",".join(f"{w}:{r}" for w, r in SIDES), show_default=True, metavar="W:R,...",
              help="Ranks of the writer and of the reader.")  # fmt: skip
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Number of measurements of each way to pass a step.",
)
@click.option("--steps", type=click.IntRange(min=1), default=8, show_default=True, help="Steps of one measurement.")
@click.option("--files/--no-files", default=True, help="Measure the same transfers through a file as well.")
@click.option("--small", type=click.IntRange(min=0), default=1000, show_default=True,
              help="Round trips of steps of 4 KiB; 0: none.")  # fmt: skip
@click.option("--sst/--no-sst", default=True, help="Measure ADIOS2's SST too, if the package adios2 is installed.")
@result_options()
def pipe_command(
    size: int,
    dtype: str,
    sides: tuple[tuple[int, int], ...],
    rounds: int,
    steps: int,
    files: bool,
    small: int,
    sst: bool,
    json_: str | None,
    chart: Path | None,
) -> None:
    """Move an array from a writer to a reader through a pipe, each in its own layout.

    Writers and readers are ranks of one job on this machine (DeBenedictis & del Rosario 1993, table I). For comparison,
    the same bytes are copied through shared memory, and transferred through a file by Plait and by MPI-IO.
    """
    from plait_bench.pipe.driver import PipeSettings, run_pipe
    from plait_bench.pipe.table import draw_pipe_chart, pipe_table

    settings = PipeSettings(
        size=size, dtype=dtype, sides=sides, rounds=rounds, steps=steps, small=small, files=files, sst=sst
    )
    results = run_with_bar(lambda progress: run_pipe(settings, progress))
    deliver(results, pipe_table, draw_pipe_chart, json_, chart)
    if results.find_wrong_data():
        raise SystemExit(1)
