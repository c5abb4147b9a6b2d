"""`plait bench redistribute`: moves arrays in memory, beside a plain copy and beside MPI_Alltoallw."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from plait.bench.redistribute import RedistributeResults, RedistributeSettings, run_redistribute
from plait.bench.redistribute_table import draw_redistribute_chart, redistribute_table
from plait.cli.support import messages, output

_EXAMPLES = """
\b
Examples:
  plait bench redistribute
  plait bench redistribute --size 2000 --rounds 15 --chart redistribute.png
  plait bench redistribute --ranks 8 --json results.json
"""


@click.command("redistribute", epilog=_EXAMPLES)
@click.option(
    "--size", type=click.IntRange(min=1), default=6000, show_default=True, help="Rows and columns of doubles."
)
@click.option("--ranks", type=click.IntRange(min=1), default=4, show_default=True, help="Number of MPI processes.")
@click.option("--rounds", type=click.IntRange(min=1), default=7, show_default=True, help="Measurements of each way.")
@click.option(
    "--cut",
    type=click.FloatRange(min=0.1),
    default=20.0,
    show_default=True,
    metavar="SECONDS",
    help="Give up an MPI_Alltoallw that takes longer.",
)
@click.option(
    "--json",
    "json_",
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write all samples as JSON; - writes them to standard output instead of the table.",
)
@click.option("--chart", type=click.Path(dir_okay=False, path_type=Path), help="Draw a chart to this PNG file.")
def redistribute_command(size: int, ranks: int, rounds: int, cut: float, json_: str | None, chart: Path | None) -> None:
    """Move an array between layouts in memory, beside a plain copy of its bytes and beside MPI_Alltoallw.

    Each rank holds its part in memory that the node shares, and for comparison in private arrays. Everything is
    measured in the same rounds, and the first round's result is compared byte by byte.
    """
    results = _run_with_progress(RedistributeSettings(size=size, ranks=ranks, rounds=rounds, cut=cut))
    text = json.dumps(results.to_json(), indent=2)
    if json_ == "-":
        click.echo(text)
    else:
        output().print(redistribute_table(results))
    if json_ is not None and json_ != "-":
        Path(json_).write_text(text + "\n", encoding="utf-8")
        messages().print(f"samples written to {json_}", soft_wrap=True)
    if chart is not None:
        draw_redistribute_chart(results, chart)
        messages().print(f"chart written to {chart}", soft_wrap=True)
    if results.wrong():
        raise SystemExit(1)


def _run_with_progress(settings: RedistributeSettings) -> RedistributeResults:
    console = messages()
    bar = Progress(
        BarColumn(30),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task("starting the ranks", total=1.0)
        return run_redistribute(settings, lambda text, share: bar.update(task, description=text, completed=share))
