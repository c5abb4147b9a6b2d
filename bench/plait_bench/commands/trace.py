"""`plait bench trace`: measures the cost of recording a program."""

from __future__ import annotations

import click

from plait.cli.support import run_with_bar
from plait_bench.commands._results import deliver_table, json_option

_EXAMPLES = """
\b
Examples:
  plait bench trace
  plait bench trace --rounds 501 --dir /scratch --json results.json
"""


@click.command("trace", epilog=_EXAMPLES)
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=101,
    show_default=True,
    help="Number of measurements of each kind of call.",
)
@click.option(
    "--calls", type=click.IntRange(min=1), default=1000, show_default=True, help="Calls of each kind in each round."
)
@click.option(
    "--dir",
    "folder",
    type=click.Path(file_okay=False, exists=True),
    help="Folder for the file and the trace.  [default: a temporary one]",
)
@json_option
def trace_command(rounds: int, calls: int, folder: str | None, json_: str | None) -> None:
    """Measure the time that `plait trace record` adds to a call, and the size of its traces.

    Two processes take turns to make the same calls on a file in the page cache; one of them is recorded. The benchmark
    states whether these bounds hold: 200 ns and 15 % of a cached read of 4 KiB, and 8 bytes of trace per event.
    """
    from plait_bench.trace.driver import TraceSettings, run_trace
    from plait_bench.trace.table import trace_table

    settings = TraceSettings(rounds=rounds, calls=calls, folder=folder)
    results = run_with_bar(lambda progress: run_trace(settings, progress), "starting")
    deliver_table(results, trace_table, json_)
