"""`plait model predict`: times of direct and two-phase access for many numbers of ranks."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from plait._base.amounts import number, seconds
from plait.cli.lists import Shape
from plait.cli.support import UserError, output

if TYPE_CHECKING:
    from plait.model import Machine, Problem, Row, Time

    _Type = click.ParamType[Any]
else:
    _Type = click.ParamType  # takes no type before click 8.4

_MAX_RANKS = 1_000_000
_EXAMPLES = """
\b
Examples:
  plait model predict laptop-nvme --shape 20000x20000 --layout "(*, cyclic)" --ranks 1..64
  plait model predict cluster --shape 100000x100000 --layout "(block, block)" --ranks 1..10000 --figure out.svg
  plait model predict delta --shape 5120x5120 --layout "(block, *)" --dtype u1 --order F --ranks 16,64
  plait model predict mine.toml --shape 8192x8192 --layout "(cyclic, *)" --ranks 16 --compute 600 --json
"""


class _MachineName(_Type):
    """The type of an argument that is a machine file, or the name of a machine in the package."""

    name = "machine"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Machine:
        """Return the machine."""
        from plait.model import Machine, load

        return value if isinstance(value, Machine) else load(str(value))

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete the names of the machines, and files."""
        from plait.model import examples

        names = [CompletionItem(name) for name in examples() if name.startswith(incomplete)]
        return [*names, CompletionItem(incomplete, type="file")]


class _Ranks(_Type):
    """Numbers of ranks: with commas between, and ranges such as 1..10000."""

    name = "ranks"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        """Return the numbers in ascending order; a range A..B gives its ends, and 1, 2 and 5 of each power of ten
        between.
        """
        if isinstance(value, list):
            return value
        numbers: set[int] = set()
        for text in str(value).split(","):
            match = re.fullmatch(r"\s*(\d{1,9})(?:\.\.(\d{1,9}))?\s*", text)
            first, last = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
            if not 1 <= first <= last <= _MAX_RANKS:
                self.fail(
                    f"'{text}' is no number of ranks from 1 to {_MAX_RANKS:,}; write such as 16, 1,4,16 or 1..10000",
                    param,
                    ctx,
                )
            values = (factor * 10**power for power in range(7) for factor in (1, 2, 5))
            numbers |= {first, last, *(value for value in values if first < value < last)}
        return sorted(numbers)


@click.command("predict", epilog=_EXAMPLES)
@click.argument("machine", type=_MachineName())
@click.option("--shape", type=Shape(), required=True, help="Shape of the array, such as 6000x5000.")
@click.option(
    "--layout", required=True, metavar="LAYOUT", help='Layout of the array without a grid, such as "(*, cyclic)".'
)
@click.option(
    "--ranks", type=_Ranks(), default="1..10000", show_default=True, help="Numbers of ranks, such as 16,64 or 1..99."
)
@click.option("--dtype", metavar="TYPE", default="f8", show_default=True, help="Type of the elements, such as f8.")
@click.option(
    "--order", type=click.Choice(["C", "F"]), default="C", show_default=True, help="Order of the elements in the file."
)
@click.option(
    "--disks", type=click.IntRange(min=1), help="Number of disks over which the file is striped.  [default: all]"
)
@click.option(
    "--compute",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    metavar="SECONDS",
    help="Time that one processor would compute; the speed-up S counts it.",
)
@click.option(
    "--figure",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Also write a chart: SVG if FILE ends with .svg, else PNG.",
)
@click.option("--json", "json_", is_flag=True, help="Print JSON: one object with the machine and the rows.")
def predict_command(
    machine: Machine,
    shape: list[int],
    layout: str,
    ranks: list[int],
    dtype: str,
    order: str,
    disks: int | None,
    compute: float,
    figure: Path | None,
    json_: bool,
) -> None:
    """Predict the times of reading and writing an array on MACHINE, by direct and by two-phase access.

    MACHINE is a TOML file, or one of those that come with Plait: `plait model machine` lists and prints them.  The
    LAYOUT has no grid; each number of ranks gets one that is about square.  In a range the ends and 1, 2 and 5 of each
    power of ten are predicted.

    R_io is the number of requests of the rank that makes the most.  S_io is the speed-up of the faster way to read over
    one rank, and S, with --compute, that of the whole program.  alpha_d and alpha_p are the I/O speed-ups with twice
    the ranks and with twice the disks; they show what limits the I/O.  Nothing is measured: the times are only as good
    as the numbers in the file.
    """
    from plait.model import Problem, predict

    problem = Problem(tuple(shape), layout, _itemsize(dtype), order)
    rows = predict(machine, problem, ranks, compute=compute, disks=disks)
    if json_:
        click.echo(json.dumps(_document(machine, problem, rows)))
    else:
        _print(machine, problem, rows, compute > 0)
    if figure is not None:
        from plait.model.charts import draw_prediction

        draw_prediction(rows, f"{_title(problem)} on {machine.name}", figure)
        if not json_:
            output().print(f"picture written to {figure}", soft_wrap=True)


def _itemsize(dtype: str) -> int:
    import numpy as np

    try:
        size = np.dtype(dtype).itemsize
    except TypeError as error:
        raise UserError(f"'{dtype}' is not an element type; use a NumPy name such as f8, int32 or u1") from error
    if not size:
        raise UserError(f"'{dtype}' has elements of no bytes; use a NumPy name such as f8, int32 or u1")
    return size


def _title(problem: Problem) -> str:
    shape = "x".join(map(str, problem.shape)) or "scalar"
    return f"{shape} {problem.dist}, elements of {problem.itemsize} B, order {problem.order}"


def _time(time: Time) -> dict[str, Any]:
    return {
        **{field.name: getattr(time, field.name) for field in fields(time)},
        "total": time.total,
        "largest": time.largest,
    }


def _document(machine: Machine, problem: Problem, rows: list[Row]) -> dict[str, Any]:
    from plait.model import Time

    listed = []
    for row in rows:
        times = {field.name: getattr(row, field.name) for field in fields(row)}
        entry = {name: _time(value) if isinstance(value, Time) else value for name, value in times.items()}
        listed.append({**entry, "requests": asdict(row.requests), "faster": row.faster})
    return {"machine": asdict(machine), "problem": asdict(problem), "rows": listed}


def _print(machine: Machine, problem: Problem, rows: list[Row], compute: bool) -> None:
    from rich.table import Table

    console = output()
    console.print(f"{_title(problem)}\non {machine.name}", soft_wrap=True, markup=False)
    console.print()
    table = Table(box=None, padding=(0, 1, 0, 0))
    names = ["ranks", "R_io", "read\ndirect", "\ntwo-phase", "write\ndirect", "\ntwo-phase", "S_io"]
    for name in [*names, *(["S"] if compute else []), "alpha_d", "alpha_p"]:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("bound", no_wrap=True)
    for row in rows:
        times = (row.direct_read, row.two_phase_read, row.direct_write, row.two_phase_write)
        ratios = (row.io_speedup, *((row.speedup,) if compute else ()), row.alpha_d, row.alpha_p)
        table.add_row(
            f"{row.ranks}{'*' if row.beyond else ''}",
            f"{row.requests.max_requests:,}",
            *(f"{seconds(time.total)} {time.largest[0]}" for time in times),
            *map(number, ratios),
            row.bound.removesuffix(" bound"),
        )
    console.print(table)
    console.print(
        "The letter is the term that takes the longest: requests, disks, network, synchronization, exchange.",
        soft_wrap=True,
    )
    if any(row.beyond for row in rows):
        console.print(f"* more ranks than the {machine.processors:,} processors of the machine", soft_wrap=True)
