"""`plait bench patterns`: the access patterns of parallel files, in the modes of a stream."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from plait.cli.lists import Bytes, Several, parse_bytes, parse_count
from plait.cli.support import UserError, run_with_bar
from plait.patterns import PATTERNS
from plait_bench.commands._results import deliver, result_options

_EXAMPLES = """
\b
Examples:
  plait bench patterns --quick
  plait bench patterns --chart patterns.png --json results.json
  plait bench patterns --modes 1,2,3 --ranks 2,4,8 --paged --read
  plait bench patterns --patterns GSP,GDP,GDR --sizes 64M --page 64K
  plait bench patterns --disks 1,2 --disk-dir /disk1/scratch --disk-dir /disk2/scratch
"""

_MODES = ("0", "1", "2", "3", "4")


def _parse_pattern(text: str) -> str:
    return {name.lower(): name for name in PATTERNS}[text.lower()]


def _parse_mode(text: str) -> int:
    return _MODES.index(text)


@click.command("patterns", epilog=_EXAMPLES)
@click.option(
    "--patterns",
    type=Several("pattern", _parse_pattern, tuple(PATTERNS)),
    metavar="NAMES",
    help="Patterns by the names of plait.patterns.  [default: all]",
)
@click.option(
    "--modes", type=Several("mode", _parse_mode, _MODES), metavar="LIST", help="Stream modes.  [default: all]"
)
@click.option(
    "--ranks",
    type=Several("a number of ranks", parse_count),
    metavar="LIST",
    help="Numbers of MPI processes.  [default: 1,2,4]",
)
@click.option(
    "--disks",
    type=Several("a number of disks", parse_count),
    metavar="LIST",
    help="Numbers of disks to stripe a file over; 1 is an ordinary file.  [default: 1,2,4]",
)
@click.option(
    "--sizes",
    type=Several("a number of bytes such as 4096, 64K or 16M", parse_bytes),
    metavar="LIST",
    help="Sizes of the files; with several ranks only the largest is used.  [default: 1M,4M,16M]",
)
@click.option(
    "--buffers",
    type=Several("a number of bytes such as 4096, 64K or 16M", parse_bytes),
    metavar="LIST",
    help="Sizes of one rank's paged requests.  [default: 1K,4K,16K,64K]",
)
@click.option("--page", type=Bytes(), metavar="BYTES", help="Size of several ranks' paged requests.  [default: 4K]")
@click.option("--unit", type=Bytes(), metavar="BYTES", help="Contiguous bytes of a stripe on one disk.  [default: 64K]")
@click.option("--paged", "request_size", flag_value="paged", help="Measure paged requests only.")
@click.option("--burst", "request_size", flag_value="burst", help="Measure burst requests only.")
@click.option("--read", "operation", flag_value="read", help="Measure reading only.")
@click.option("--write", "operation", flag_value="write", help="Measure writing only.")
@click.option("--rounds", type=click.IntRange(min=1), help="Number of measurements of each cell.  [default: 5]")
@click.option("--quick", is_flag=True, help="Measure less, on smaller files: seconds rather than minutes.")
@result_options()
@click.option(
    "--dir", "directory", type=click.Path(file_okay=False), help="Folder for the files.  [default: a temporary one]"
)
@click.option(
    "--disk-dir",
    "folders",
    type=click.Path(file_okay=False),
    multiple=True,
    help="Folder on a disk; repeat it for each disk.  [default: all in --dir]",
)
def patterns_command(
    request_size: str | None,
    operation: str | None,
    quick: bool,
    json_: str | None,
    chart: Path | None,
    folders: tuple[str, ...],
    **options: Any,
) -> None:
    """Read and write files by the access patterns of parallel programs, in each mode of a stream.

    The patterns are those of plait.patterns; the experiments are those of Bordawekar's thesis of 1993, figures 3 to 11
    and tables 3 to 7: small requests of one size (paged) or the largest possible ones (burst), for several numbers of
    ranks and disks. Every byte of every pattern is checked once. The exit code is 1 if any data was wrong.
    """
    from plait_bench.patterns.chart import draw_patterns_chart
    from plait_bench.patterns.driver import PatternsSettings, run_patterns
    from plait_bench.patterns.table import patterns_table

    settings = PatternsSettings(folders=folders)
    if quick:
        settings = settings.quick_subset()
    settings = replace(settings, **{name: value for name, value in options.items() if value is not None})
    if request_size is not None:
        settings = replace(settings, ways=(request_size,))
    if operation is not None:
        settings = replace(settings, kinds=(operation,))  # type: ignore[arg-type]
    if folders and max(settings.disks) > len(folders):
        raise UserError(f"--disks {max(settings.disks)} needs as many --disk-dir and there are {len(folders)}")
    sizes = [*settings.sizes, *settings.buffers, settings.page, settings.unit]
    if any(size % 8 for size in sizes):
        raise UserError("sizes must be multiples of 8 bytes, for the files hold numbers of 8 bytes")
    results = run_with_bar(lambda progress: run_patterns(settings, progress))
    deliver(results, patterns_table, draw_patterns_chart, json_, chart)
    if results.find_wrong_data():
        raise SystemExit(1)
