"""`plait bench strategies`: compares the cost model's choices with every forced strategy."""

from __future__ import annotations

from pathlib import Path

import click

from plait.cli.lists import Several, parse_count
from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver, deliver_table, result_options

_EXAMPLES = """
\b
Examples:
  plait bench strategies
  plait bench strategies --quick --cases 24
  plait bench strategies --cases 1000 --rounds 9 --json results.json --chart strategies.png
  plait bench strategies --ranks 4 --dir /scratch
  plait bench strategies --programs --cases 60
"""


@click.command("strategies", epilog=_EXAMPLES)
@click.option(
    "--cases",
    type=click.IntRange(min=1),
    default=240,
    show_default=True,
    help="Number of cases, evenly spaced over the whole grid.",
)
@click.option(
    "--ranks",
    type=Several("a number of ranks", parse_count),
    default="1,2,3,4",
    show_default=True,
    metavar="LIST",
    help="Numbers of MPI processes.",
)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=8,
    show_default=True,
    help="Number of measurements of each strategy.",
)
@click.option("--quick", is_flag=True, help="Measure small arrays only.")
@click.option("--no-cold", is_flag=True, help="Leave out reading from the disk.")
@click.option("--programs", is_flag=True, help="Measure whole programs of 1 to 50 accesses instead.")
@result_options()
@click.option(
    "--dir", "directory", type=click.Path(file_okay=False), help="Folder for the files.  [default: a temporary one]"
)
def strategies_command(
    cases: int,
    ranks: tuple[int, ...],
    rounds: int,
    quick: bool,
    no_cold: bool,
    programs: bool,
    json_: str | None,
    chart: Path | None,
    directory: str | None,
) -> None:
    """Compare the strategy that the cost model chooses with the best of all strategies, case by case.

    A case is an array of some size, layout and type, read or written by some number of ranks, in the page cache or from
    the disk. The benchmark forces each strategy, alternating with Plait's own choice; the last lines state in how many
    cases the choice is within 10 % of the best strategy, and in how many the noise is too large to decide. A strategy
    that takes more than four times as long as another one is tried only once. Every byte of that first try is checked.
    The exit code is 1 if any data was wrong.
    """
    if programs and chart is not None:
        raise click.UsageError("--programs has no chart; leave out --chart")
    from plait_bench.strategies.driver import StrategiesSettings, run_strategies
    from plait_bench.strategies.programs import programs_table, run_programs
    from plait_bench.strategies.table import draw_strategies_chart, strategies_table

    is_cold_measured = not no_cold and not programs
    settings = StrategiesSettings(cases, ranks, rounds, quick, is_cold_measured, directory)
    if programs:
        program_results = run_with_bar(lambda progress: run_programs(settings, progress))
        deliver_table(program_results, programs_table, json_)
        wrong = program_results.find_wrong_data()
    else:
        results = run_with_bar(lambda progress: run_strategies(settings, progress))
        deliver(results, strategies_table, draw_strategies_chart, json_, chart)
        wrong = results.find_wrong_data()
    if wrong:
        raise SystemExit(1)
