"""`plait trace convert`: a trace of one format in another."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from plait._base.amounts import shown
from plait.cli.support import messages, progress_bar, writing_to
from plait.trace.formats import read_names, written_names

if TYPE_CHECKING:
    from plait.trace import Conversion

_EXAMPLES = """
\b
Examples:
  plait trace convert run.plait run.json            look at it in ui.perfetto.dev
  plait trace convert run.plait run.parquet         for pandas, DuckDB and the like
  plait trace convert run.plait run.1992 --tick 1ns without any loss
  plait trace convert run.plait old.1992 --plain    for programs that know the paper alone
  plait trace convert cray.txt cray.plait --from 1992 --from-base 10 --from-tick 10us
  plait trace convert run.plait - --to csv | head
"""
_UNITS = {"": 1, "ns": 1, "us": 1000, "ms": 1_000_000, "s": 1_000_000_000}


def parse_time(value: str) -> int:
    """Return a unit of time in ns."""
    match = re.fullmatch(r"(\d{1,18})\s*(ns|us|ms|s|)", value)
    if match is None or int(match[1]) == 0:
        raise click.BadParameter(f"'{value}' is not a unit of time; write one such as 1ns, 10us or 1s")
    return int(match[1]) * _UNITS[match[2]]


def parse_separator(value: str) -> str:
    """Return one character, which may be given by its name."""
    character = {"blank": " ", "tab": "\t"}.get(value, value)
    if len(character) != 1:
        raise click.BadParameter(f"'{value}' is not a separator; write one character, blank or tab")
    return character


def make_callback(read: Callable[[str], Any]) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """Return the callback that reads an option's text, where it is given."""
    return lambda ctx, param, value: None if value is None else read(value)


@click.command("convert", epilog=_EXAMPLES)
@click.argument("source")
@click.argument("target")
@click.option(
    "--from",
    "from_format",
    metavar="FORMAT",
    help=f"Format of SOURCE, if its content does not show it: {', '.join(read_names())}.",
)
@click.option(
    "--to",
    "to_format",
    metavar="FORMAT",
    help=f"Format of TARGET, if its ending does not determine it: {', '.join(written_names())}.",
)
@click.option("--base", type=click.Choice(["10", "16"]), help="1992: base of TARGET's numbers; 16 if not given.")
@click.option(
    "--separator", callback=make_callback(parse_separator), help="1992, CSV: what stands between TARGET's fields."
)
@click.option("--comment", metavar="TEXT", help="1992: what TARGET's comments begin with; ff if not given.")
@click.option(
    "--tick", callback=make_callback(parse_time), help="1992, CSV: unit of TARGET's times; 1us, 1ns if not given."
)
@click.option("--block", type=click.IntRange(min=1), help="1992: bytes of a block in TARGET; 512 if not given.")
@click.option("--plain", is_flag=True, help="1992: leave out the comments that hold what records cannot.")
@click.option("--from-base", type=click.Choice(["10", "16"]), help="1992: base of SOURCE's numbers.")
@click.option(
    "--from-separator", callback=make_callback(parse_separator), help="1992, CSV: what stands between SOURCE's fields."
)
@click.option("--from-comment", metavar="TEXT", help="1992: what SOURCE's comments begin with.")
@click.option("--from-tick", callback=make_callback(parse_time), help="Unit of SOURCE's times.")
@click.option("--from-block", type=click.IntRange(min=1), help="1992: bytes of a block in SOURCE.")
def convert_command(source: str, target: str, **options: Any) -> None:
    """Read the trace SOURCE and write it as TARGET.

    The format of SOURCE is found from its content, that of TARGET from its ending. Either may be - for standard input
    or output. TARGET appears whole or not at all. What its format cannot hold is listed at the end.
    """
    from plait.trace import convert

    settings = {name: value for name, value in options.items() if value is not None}
    for name in ("base", "from_base"):
        if name in settings:
            settings[name] = int(settings[name])
    console = messages()
    with writing_to(target), progress_bar(remaining=True) as bar:
        task = bar.add_task("", total=None)
        conversion = convert(
            source,
            target,
            progress=lambda bytes_read, bytes_in_all: bar.update(
                task, completed=bytes_read, total=bytes_in_all or None
            ),
            **settings,
        )
    console.print(summary_line(target, conversion), soft_wrap=True, markup=False)
    for lost in conversion.lost:
        console.print(f"not in {shown(target)}: {shown(lost)}", soft_wrap=True, markup=False)


def summary_line(target: str, conversion: Conversion) -> str:
    """Return the line that summarizes a conversion."""
    mean_size = f", {conversion.bytes / conversion.events:.1f} bytes an event" if conversion.events else ""
    remark = "" if conversion.description.complete else "; the source is not complete"
    return f"{shown(target)}: {conversion.events} events in {conversion.bytes} bytes{mean_size}{remark}"
