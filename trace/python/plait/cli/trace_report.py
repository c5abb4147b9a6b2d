"""`plait trace report` and `plait trace compare`: analyse one trace, or the difference of two."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import plait
from plait.cli.simulate.machine import complete_machines
from plait.cli.support import messages, output, progress_bar, run_with_bar
from plait.cli.trace_convert import make_callback, parse_separator, parse_time
from plait.trace.formats import read_names

if TYPE_CHECKING:
    from plait.trace import Comparison, Report

_REPORT_EXAMPLES = """
\b
Examples:
  plait trace report run.plait
  plait trace report run.plait --html run.html
  plait trace report run.plait --json - | jq .table1
  plait trace report old.1992 --from 1992 --clock wall
  plait trace report run.plait --file '*.dat' --process 4711
  plait trace report run.plait --machine mine.toml --gains 60
"""
_COMPARE_EXAMPLES = """
\b
Examples:
  plait trace compare before.plait after.plait
  plait trace compare before.plait after.plait --html changes.html
"""

# Those arguments of plait.trace.report that are also arguments of plait.trace.open.
_OPEN_ARGUMENTS = ("format", "base", "separator", "comment", "tick", "block")

Command = TypeVar("Command", bound=Callable[..., Any])


def _options(command: Command) -> Command:
    """Add the options that say how to read a trace and what to analyse."""
    file = click.Path(dir_okay=False, allow_dash=True)
    clock = "The time in which tables and rates are given."
    include = "Count files whose names match, even if they are of the system, libraries or interpreters; repeatable."
    exclude = "Also leave out files whose names match; repeatable."
    level = "The requests to count.  [default: logical if there are any]"
    json_ = "Write the document as JSON; - writes it to standard output instead of the text."
    option_decorators = [
        click.option("--clock", type=click.Choice(["wall", "cpu"]), default="wall", show_default=True, help=clock),
        click.option("--level", type=click.Choice(["logical", "physical"]), help=level),
        click.option("--file", "file", metavar="GLOB", help="Look only at files whose names match."),
        click.option("--include", multiple=True, metavar="GLOB", help=include),
        click.option("--exclude", multiple=True, metavar="GLOB", help=exclude),
        click.option("--process", type=click.IntRange(min=0), metavar="N", help="Look only at this process."),
        click.option(
            "--from",
            "format_",
            metavar="FORMAT",
            default="",
            help=f"Trace's format: {', '.join(read_names())}.  [default: detected]",
        ),
        click.option("--base", type=click.Choice(["10", "16"]), help="1992: base of the numbers."),
        click.option(
            "--separator",
            callback=make_callback(parse_separator),
            metavar="CHAR",
            help="1992 and csv: the character between two fields.",
        ),
        click.option("--comment", default="", metavar="TEXT", help="1992: what comment lines begin with."),
        click.option(
            "--tick",
            callback=make_callback(parse_time),
            metavar="TIME",
            help="Unit of the trace's times, such as 10us; a plain number is in ns.",
        ),
        click.option(
            "--block", type=click.IntRange(min=1), default=512, show_default=True, help="1992: bytes of a block."
        ),
        click.option("--json", "json_", type=file, metavar="FILE", help=json_),
        click.option(
            "--html",
            type=file,
            metavar="FILE",
            help="Write a self-contained page; - writes it to standard output.",
        ),
    ]
    for option in reversed(option_decorators):
        command = option(command)
    return command


def _report_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of plait.trace.report that the options state."""
    names = ("clock", "level", "file", "process", "include", "exclude", "comment", "block")
    base = int(options["base"] or 0)
    return {name: options[name] for name in names} | {
        "format": options["format_"],
        "all": options["everything"],
        "base": base,
        "tick": options["tick"] or 0,
        "separator": options["separator"] or "",
    }


def _analyse(path: str, options: dict[str, Any]) -> Report:
    """Read a trace with a progress bar on standard error, where that is a terminal."""
    from plait.trace import report

    with progress_bar() as bar:
        task = bar.add_task(f"reading {path}", total=None)
        return report(
            path,
            progress=lambda bytes_read, bytes_in_all: bar.update(
                task, completed=bytes_read, total=bytes_in_all or None
            ),
            **_report_arguments(options),
        )


def _add_gains(document: Report, machine: str, limit: float, options: dict[str, Any]) -> None:
    """Predict what the advice of a report gains, with a progress bar; print why not if this build has no simulation."""
    try:
        from plait.simulate import add_gains
    except plait.Error as error:
        messages().print(f"gains are not predicted: {error}", soft_wrap=True)
        return
    from plait.simulate._gains import make_filter
    from plait.trace.recording.choice import Choice, read_choice

    choice = Choice(list(options["include"]), list(options["exclude"]), options["everything"])
    if choice.is_default():
        choice = read_choice(document["trace"]["path"])
    reading = {name: value for name, value in _report_arguments(options).items() if name in _OPEN_ARGUMENTS}
    run_with_bar(
        lambda progress: add_gains(
            document,
            machine,
            limit=limit,
            reading=reading,
            on_device=make_filter(options["file"], choice.include, choice.exclude, choice.all),
            progress=progress,
        ),
        "predicting gains",
    )


def _deliver(document: Report | Comparison, json_: str | None, html: str | None) -> bool:
    """Write the requested files; return True if the standard output holds one of them."""
    if json_ == html == "-":
        raise click.UsageError("the document and the page cannot both go to standard output")
    if json_ == "-":
        sys.stdout.write(document.json() + "\n")
    elif json_ is not None:
        Path(json_).write_text(document.json() + "\n", encoding="utf-8")
        messages().print(f"document written to {json_}", soft_wrap=True)
    if html == "-":
        sys.stdout.write(document.page())
    elif html is not None:
        document.html(html)
        messages().print(f"page written to {html}", soft_wrap=True)
    return "-" in (json_, html)


@click.command("report", epilog=_REPORT_EXAMPLES)
@click.argument("trace", type=click.Path())
@_options
@click.option("--all", "everything", is_flag=True, help="Leave out only the files of --exclude.")
@click.option("--top", type=click.IntRange(min=1), default=10, show_default=True, help="Rows of the longer tables.")
@click.option(
    "--machine",
    default="laptop-nvme",
    show_default=True,
    shell_complete=complete_machines,
    help="Machine file or name, as for `plait simulate`, for which the gains of advice are predicted.",
)
@click.option(
    "--gains",
    type=click.FloatRange(min=0),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Most time to spend on predicting gains; 0 for no gains.",
)
def report_command(trace: str, top: int, json_: str | None, html: str | None, **options: Any) -> None:
    """Show what a trace means: its totals, rates, order, files, cycles, and what to look at first.

    TRACE is a trace of any format that Plait reads.  It is read once from front to back, and, if that takes little
    time, once more to predict the gains of the advice.
    """
    from plait.trace.analysis.text import render_report

    machine, limit = options.pop("machine"), options.pop("gains")
    document = _analyse(trace, options)
    if limit > 0 and options["level"] is None and options["process"] is None:
        _add_gains(document, machine, limit, options)
    if not _deliver(document, json_, html):
        console = output()
        console.print(render_report(document, console.width, top))


@click.command("compare", epilog=_COMPARE_EXAMPLES)
@click.argument("a", type=click.Path())
@click.argument("b", type=click.Path())
@_options
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Leave out only the files of --exclude, and also show what did not change.",
)
def compare_command(a: str, b: str, json_: str | None, html: str | None, **options: Any) -> None:
    """Show what changed from trace A to trace B: times, rates, sizes, order, cycles, files."""
    from plait.trace import compare
    from plait.trace.analysis.comparison_text import render_comparison

    document = compare(_analyse(a, options), _analyse(b, options))
    if not _deliver(document, json_, html):
        console = output()
        console.print(render_comparison(document, console.width, options["everything"]))
