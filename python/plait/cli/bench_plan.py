"""`plait bench plan`: what finding one rank's messages costs."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from plait.bench.plan import PlanResults, PlanSettings, run_plan
from plait.bench.plan_table import plan_table
from plait.cli.support import messages, output

_EXAMPLES = """
\b
Examples:
  plait bench plan
  plait bench plan --quick --chart plan.png
  plait bench plan --rounds 15 --json results.json
"""


@click.command("plan", epilog=_EXAMPLES)
@click.option("--rounds", type=click.IntRange(min=1), default=7, show_default=True, help="Samples of each conversion.")
@click.option("--quick", is_flag=True, help="Leave out what takes more than about a second.")
@click.option(
    "--json",
    "json_",
    type=click.Path(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write all samples as JSON; - writes them to standard output instead of the table.",
)
@click.option("--chart", type=click.Path(dir_okay=False, path_type=Path), help="Draw a chart to this PNG file.")
def plan_command(rounds: int, quick: bool, json_: str | None, chart: Path | None) -> None:
    """Plan conversions of up to 10^15 elements between up to a million ranks; no element is moved.

    Measured is how long one rank takes to find what it sends to whom, and with how much memory: while the array grows,
    while the number of ranks grows, and where blocks and grids have no common divisor.  Small cases are also enumerated
    block by block and element by element, and compared.  Exit code 1 tells of a wrong plan.
    """
    results = _run_with_progress(PlanSettings(rounds=rounds, quick=quick))
    text = json.dumps(results.to_json(), indent=2)
    if json_ == "-":
        click.echo(text)
    else:
        output().print(plan_table(results))
    if json_ is not None and json_ != "-":
        Path(json_).write_text(text + "\n", encoding="utf-8")
        messages().print(f"samples written to {json_}", soft_wrap=True)
    if chart is not None:
        from plait.bench.plan_chart import draw_plan_chart

        draw_plan_chart(results, chart)
        messages().print(f"chart written to {chart}", soft_wrap=True)
    if results.wrong():
        raise SystemExit(1)


def _run_with_progress(settings: PlanSettings) -> PlanResults:
    """Run the benchmark with a progress bar on standard error, where that is a terminal."""
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
        task = bar.add_task("planning", total=1.0)
        return run_plan(settings, lambda text, share: bar.update(task, description=text, completed=share))
