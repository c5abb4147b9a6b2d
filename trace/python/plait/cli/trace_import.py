"""`plait trace import`: other tools' traces."""

from __future__ import annotations

import click

from plait.cli.support import run_with_bar, writing_to
from plait.trace.formats import foreign_names, written_names

_EXAMPLES = """
\b
Examples:
  plait trace import job.darshan -o job.plait
  plait trace import strace.out.* -o program.plait
  plait trace import iolog.txt.gz -o fio.plait
  plait trace import disk.csv --columns time,op,lba,size --tick 1000000 -o disk.plait
"""


@click.command("import", epilog=_EXAMPLES)
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@click.option(
    "-o", "--output", required=True, metavar="FILE", help="The trace to write; its ending determines the format."
)
@click.option(
    "--to",
    "to_format",
    metavar="FORMAT",
    help=f"Format of the trace to write, if the ending of FILE does not determine it: {', '.join(written_names())}.",
)
@click.option(
    "--format", "format_", type=click.Choice(foreign_names()), help="Format of the source.  [default: detected]"
)
@click.option(
    "--columns",
    default="",
    metavar="LIST",
    help="blkcsv: what the columns hold, such as time,op,lba,size; - for a column to ignore.",
)
@click.option(
    "--separator", default="", metavar="CHAR", help="blkcsv: the character between columns.  [default: detected]"
)
@click.option("--tick", type=click.IntRange(min=1), metavar="NS", help="Unit of the source's times, in ns.")
@click.option(
    "--block", type=click.IntRange(min=1), default=512, show_default=True, help="Bytes of a block in the source."
)
def import_command(
    sources: tuple[str, ...],
    output: str,
    to_format: str | None,
    format_: str | None,
    columns: str,
    separator: str,
    tick: int | None,
    block: int,
) -> None:
    """Convert a trace of another tool into one of Plait.

    A SOURCE may be a log of Darshan (each access with DXT, otherwise counters), a trace of DFTracer, an output of
    strace, a log that fio writes (write_iolog), or a trace of a block device or cache: text of blkparse, text with
    columns, vscsi, oracle-general. It may be compressed by gzip or zstd. SOURCE may be - for standard input, and FILE
    for standard output. Several sources are read as one trace: the files of strace -ff, or those of DFTracer.

    What could not be read, is missing in the source or had to be guessed is printed, and kept in the trace.
    """
    from plait.cli.trace_summary import print_summary
    from plait.trace import import_trace

    with writing_to(output):
        summary = run_with_bar(
            lambda bar: import_trace(
                sources,
                output,
                format_,
                target_format=to_format,
                columns=columns,
                separator=separator,
                tick=tick or 0,
                block=block,
                progress=bar,
            ),
            "reading",
        )
    print_summary(summary, output)
