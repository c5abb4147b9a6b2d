"""`plait model`: what reading and writing an array would take, on a machine that is described by a file."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

from plait.cli.model.delta import delta_command
from plait.cli.model.predict import predict_command
from plait.cli.support import Commands
from plait.model import example_text, examples

_EXAMPLES = """
\b
Examples:
  plait model machine
  plait model machine laptop-nvme > mine.toml
"""


@click.group("model", cls=Commands, short_help="Predict the time of reading and writing an array.")
def model_command() -> None:
    """Predict the time of reading and writing an array, by the cost model of Bordawekar's thesis (1993)."""


def _names(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the names of the machines that come with the package."""
    return [CompletionItem(name) for name in examples() if name.startswith(incomplete)]


@click.command("machine", short_help="Print a machine file to begin with.", epilog=_EXAMPLES)
@click.argument("name", required=False, shell_complete=_names)
def machine_command(name: str | None) -> None:
    """Print the file of a machine that comes with Plait, with comments; without NAME, list which there are."""
    click.echo(example_text(name) if name else "\n".join(examples()), nl=not name)


model_command.add_command(delta_command)
model_command.add_command(machine_command)
model_command.add_command(predict_command)
