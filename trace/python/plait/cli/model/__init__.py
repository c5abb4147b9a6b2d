"""`plait model`: predicts the times of reading and writing an array, on a machine that a file describes."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from plait.cli.support import Commands

_EXAMPLES = """
\b
Examples:
  plait model machine
  plait model machine laptop-nvme > mine.toml
"""


@click.group(
    "model",
    cls=Commands,
    later={
        "calibrate": ("plait.cli.model.calibrate", "Measure the constants of the cost model on this host."),
        "delta": ("plait.cli.model.delta", "Compare the model with the measurements of 1993."),
        "predict": ("plait.cli.model.predict", "Predict times for many numbers of ranks."),
    },
)
def model_command() -> None:
    """Predict the time of reading and writing an array, by the cost model of Bordawekar's thesis (1993)."""


def _names(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the names of the machines in the package."""
    from plait.model import examples

    return [CompletionItem(name) for name in examples() if name.startswith(incomplete)]


@model_command.command("machine", short_help="Print a machine file as a starting point.", epilog=_EXAMPLES)
@click.argument("name", required=False, shell_complete=_names)
def machine_command(name: str | None) -> None:
    """Print the file of a machine that comes with Plait, with comments; without NAME, list which there are."""
    from plait.model import example_text, examples

    click.echo(example_text(name) if name else "\n".join(examples()), nl=not name)
