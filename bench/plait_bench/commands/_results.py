"""The common parts of the commands: options for results, and the output of results."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from plait.cli.lists import Several, parse_count
from plait.cli.support import messages, output

if TYPE_CHECKING:
    from rich.console import RenderableType


class Results(Protocol):
    """The results of a benchmark."""

    def to_json(self) -> dict[str, Any]:
        """Return all results as plain lists, dictionaries, texts and numbers."""


Command = TypeVar("Command", bound=Callable[..., Any])
AnyResults = TypeVar("AnyResults", bound=Results)


def json_option(command: Command) -> Command:
    """Add the option `json_` to a command."""
    return click.option(
        "--json",
        "json_",
        type=click.Path(dir_okay=False, allow_dash=True),
        metavar="FILE",
        help="Write all samples as JSON; - writes them to standard output instead of the table.",
    )(command)


def square_options(edges: str) -> Callable[[Command], Command]:
    """Return the decorator that gives a command the options `ranks` and `edges`, for square arrays of doubles.

    edges  the default numbers of rows, such as ``16,512``
    """

    def decorate(command: Command) -> Command:
        command = click.option(
            "--edges",
            type=Several("a number of rows", parse_count),
            default=edges,
            show_default=True,
            metavar="LIST",
            help="Rows and columns of the squares of doubles.",
        )(command)
        return click.option(
            "--ranks",
            type=Several("a number of ranks", parse_count),
            default="1,2,4",
            show_default=True,
            metavar="LIST",
            help="Numbers of MPI processes.",
        )(command)

    return decorate


def work_options(noun: str, *, rounds: int, cut: float) -> Callable[[Command], Command]:
    """Return the decorator that gives a command the options `rounds`, `cut`, `folder` and `json_`.

    noun  the noun for one measured operation, such as ``join``
    """

    def decorate(command: Command) -> Command:
        options = (
            click.option(
                "--rounds",
                type=click.IntRange(min=1),
                default=rounds,
                show_default=True,
                help=f"Number of measurements of each {noun}.",
            ),
            click.option(
                "--cut",
                type=click.FloatRange(min=1),
                default=cut,
                show_default=True,
                help=f"Seconds that a {noun} may take.",
            ),
            click.option(
                "--dir",
                "folder",
                type=click.Path(file_okay=False, exists=True),
                help="Folder for the files.  [default: a temporary one]",
            ),
            json_option,
        )
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def result_options(chart: str = "--chart", chart_help: str = "Draw a chart to this PNG file.") -> Callable[..., Any]:
    """Return the decorator that gives a command the options `json_` and `chart`."""

    def decorate(command: Command) -> Command:
        command = click.option(
            chart, "chart", type=click.Path(dir_okay=False, path_type=Path), help=chart_help
        )(command)  # fmt: skip
        return json_option(command)

    return decorate


def deliver_table(results: AnyResults, table: Callable[[AnyResults], RenderableType], json_: str | None) -> None:
    """Print the results as a table, or as JSON if `json_` is ``-``; any other `json_` is a file to write them to."""
    text = json.dumps(results.to_json(), indent=2)
    if json_ == "-":
        click.echo(text)
        return
    output().print(table(results))
    if json_ is not None:
        Path(json_).write_text(text + "\n", encoding="utf-8")
        messages().print(f"samples written to {json_}", soft_wrap=True)


def deliver(
    results: AnyResults,
    table: Callable[[AnyResults], RenderableType],
    draw: Callable[[AnyResults, Path], None],
    json_: str | None,
    chart: Path | None,
) -> None:
    """Output the results like deliver_table(), and draw the requested chart."""
    deliver_table(results, table, json_)
    if chart is not None:
        draw(results, chart)
        messages().print(f"chart written to {chart}", soft_wrap=True)
