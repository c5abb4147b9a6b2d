"""`plait trace`: record programs, read traces, and show what they mean."""

from __future__ import annotations

import click

from plait.cli.support import Commands
from plait.cli.trace_report import compare_command, report_command


@click.group("trace", cls=Commands, short_help="Record programs' I/O, read any trace, show what it means.")
def trace_command() -> None:
    """Record the input and output of any program, read traces of any origin, and show what they mean."""


trace_command.add_command(report_command)
trace_command.add_command(compare_command)
