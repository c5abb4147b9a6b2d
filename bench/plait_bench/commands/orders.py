"""`plait bench orders`: predicted and measured times for different orders, chunks, memory limits and sizes."""

from __future__ import annotations

import click

from plait.cli.lists import Several
from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver_table, json_option

_EXAMPLES = """
\b
Examples:
  plait bench orders
  plait bench orders --cases 1000 --rounds 5
  plait bench orders --sizes 0.1,400 --dir /scratch --json results.json
"""


@click.command("orders", epilog=_EXAMPLES)
@click.option(
    "--cases",
    type=click.IntRange(min=1),
    default=120,
    show_default=True,
    help="Number of cases, evenly spaced over the whole grid.",
)
@click.option(
    "--sizes",
    type=Several("a number of MiB", float),
    default="1,16,128",
    show_default=True,
    metavar="LIST",
    help="Sizes of the arrays in MiB.",
)
@click.option(
    "--rounds", type=click.IntRange(min=1), default=3, show_default=True, help="Number of measurements of each case."
)
@click.option(
    "--dir",
    "directory",
    type=click.Path(file_okay=False, exists=True),
    help="Folder for the files.  [default: one in memory]",
)
@json_option
def orders_command(cases: int, sizes: tuple[float, ...], rounds: int, directory: str | None, json_: str | None) -> None:
    """Compare predicted with measured times of reads and copies.

    The cases are reads of whole arrays and of parts into arrays of either order, and copies between formats and into
    either order, each with several memory limits. Reads are also repeated with each strategy. The table begins with the
    worst prediction. Every element is checked; the exit code is 1 if any element was wrong.
    """
    from plait_bench.orders.driver import OrdersSettings, run_orders
    from plait_bench.orders.table import orders_table

    settings = OrdersSettings(cases=cases, sizes=sizes, rounds=rounds, directory=directory)
    results = run_with_bar(lambda progress: run_orders(settings, progress))
    deliver_table(results, orders_table, json_)
    if results.find_wrong_data():
        raise SystemExit(1)
