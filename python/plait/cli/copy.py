"""`plait copy`: an array from one store in another."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click
from rich.progress import (
    BarColumn,
    DownloadColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as Bar

import plait
from plait._amounts import count, shown, size
from plait.cli.copying import CopyResult, StoppedError, copy_by_ranks, copy_here, world
from plait.cli.lists import Bytes, Shape
from plait.cli.support import UserError, messages

_EXAMPLES = """
\b
Examples:
  plait copy field.npy 'distant:field?folder=/var/tmp' --ranks 4
  plait copy 'distant:field?folder=/var/tmp' field.npy --ranks 4
  plait copy field.npy 'stripe:field.bin?disks=/mnt/a,/mnt/b'
  plait copy field.bin field.npy --shape 6000x5000 --dtype f8
  mpiexec -n 64 plait copy distant:field field.npy --memory 8G
"""


@click.command("copy", short_help="Copy an array from one store to another.", epilog=_EXAMPLES)
@click.argument("source")
@click.argument("target")
@click.option("--ranks", type=click.IntRange(min=1), help="Start so many MPI processes that copy together.")
@click.option("--shape", type=Shape(), help="What SOURCE holds, where it does not tell: its sizes, such as 6000x5000.")
@click.option("--dtype", metavar="TYPE", help="The type of its elements, as NumPy spells it, such as f8 or >i4.")
@click.option("--order", type=click.Choice(["C", "F"]), help="The order of its elements; C if not given.")
@click.option("--offset", type=click.IntRange(min=0), help="Bytes in front of the array in SOURCE.")
@click.option("--layout", metavar="TEXT", help="How the ranks hold each window, such as '(block, cyclic) onto (2, 2)'.")
@click.option("--memory", type=Bytes(), default="256M", show_default=True, help="Most memory of all ranks together.")
@click.option("--json", "json_", is_flag=True, help="Print the result as JSON.")
def copy_command(source: str, target: str, ranks: int | None, json_: bool, **given: Any) -> None:
    """Copy the array SOURCE to TARGET: any two names that plait.open knows.

    It goes through in windows that fit the memory, and keeps its shape, the type and byte order of its elements, and
    their order. TARGET appears whole or not at all; what is there under its name is replaced. Started by mpiexec, the
    ranks copy together; so do those that --ranks starts.
    """
    for name in (source, target):
        if name == "-":
            raise UserError(
                "'-' would be the standard input or output, which is no file that ranks can read or write at offsets; "
                "name a file, or ./- for one of that name"
            )
    job = {"source": source, "target": target, **{name: value for name, value in given.items() if value is not None}}
    comm = world()
    if comm is not None and ranks not in (None, comm.size):
        raise UserError(f"mpiexec has started {comm.size} ranks, but --ranks says {ranks}; leave it out")
    first = comm is None or comm.rank == 0
    try:
        result = _run(job, comm, None if comm is not None or ranks == 1 else ranks, first)
    except (plait.Error, OSError, StoppedError) as error:
        if not first:
            raise SystemExit(UserError.exit_code) from error
        if isinstance(error, StoppedError):
            raise click.ClickException(str(error)) from error
        raise
    if first:
        click.echo(json.dumps({"source": source, "target": target, **asdict(result)}) if json_ else _line(job, result))


def _run(job: dict[str, Any], comm: Any, ranks: int | None, first: bool) -> CopyResult:
    console = messages()
    bar = Bar(
        BarColumn(30),
        TextColumn("{task.percentage:>3.0f} %"),
        DownloadColumn(binary_units=True),
        TransferSpeedColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not (first and console.is_terminal),
    )
    with bar:
        task = bar.add_task("", total=None)

        def progress(done: int, total: int) -> None:
            bar.update(task, completed=done, total=total)

        return copy_here(job, comm, progress) if ranks is None else copy_by_ranks(job, ranks, progress)


def _line(job: dict[str, Any], result: CopyResult) -> str:
    where = "" if result.ranks == 1 else f" by {count(result.ranks, 'rank')}"
    return (
        f"{shown(job['source'])} -> {shown(job['target'])}: {size(result.bytes)} in {result.seconds:.3g} s"
        f"{where}, {size(result.rate)}/s"
    )
