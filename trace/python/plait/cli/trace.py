"""`plait trace`: records programs, reads traces and reports on them."""

from __future__ import annotations

import click

from plait.cli.support import Commands


@click.group(
    "trace",
    cls=Commands,
    later={
        "compare": ("plait.cli.trace_report", "Show what changed from one trace to another."),
        "convert": ("plait.cli.trace_convert", "Write a trace in another format."),
        "generate": ("plait.cli.trace_generate", "Generate the trace of a supercomputer program."),
        "import": ("plait.cli.trace_import", "Convert a trace of another tool into one of Plait."),
        "record": ("plait.cli.trace_record", "Run a program and record its I/O."),
        "report": ("plait.cli.trace_report", "Show what a trace means."),
    },
)
def trace_command() -> None:
    """Record the input and output of any program, read traces of any origin, and show what they mean."""
