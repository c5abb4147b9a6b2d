"""`plait bench plan`: measures the cost of planning one rank's messages."""

from __future__ import annotations

from pathlib import Path

import click

from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver, result_options

_EXAMPLES = """
\b
Examples:
  plait bench plan
  plait bench plan --quick --chart plan.png
  plait bench plan --rounds 15 --json results.json
"""


@click.command("plan", epilog=_EXAMPLES)
@click.option("--rounds", type=click.IntRange(min=1), default=7, show_default=True, help="Samples of each conversion.")
@click.option("--quick", is_flag=True, help="Leave out conversions that take more than about a second.")
@result_options()
def plan_command(rounds: int, quick: bool, json_: str | None, chart: Path | None) -> None:
    """Plan conversions of up to 10^15 elements between up to a million ranks; no element is moved.

    The benchmark measures the time and the memory that one rank needs to find which elements it sends to which ranks:
    as the array grows, as the number of ranks grows, and for blocks and grids without a common divisor.  Plans of small
    cases are compared with enumerations by block and by element.  The exit code is 1 if a plan was wrong.
    """
    from plait_bench.plan.chart import draw_plan_chart
    from plait_bench.plan.measure import PlanSettings, run_plan
    from plait_bench.plan.table import plan_table

    settings = PlanSettings(rounds=rounds, quick=quick)
    results = run_with_bar(lambda progress: run_plan(settings, progress), "planning")
    deliver(results, plan_table, draw_plan_chart, json_, chart)
    if results.find_wrong_data():
        raise SystemExit(1)
