"""`plait completion`: the script that completes commands and options in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from plait.cli.support import UserError

_EXAMPLES = """
\b
Examples:
  plait completion bash >> ~/.bashrc
  plait completion zsh >> ~/.zshrc
  plait completion fish > ~/.config/fish/completions/plait.fish
"""


@click.command("completion", epilog=_EXAMPLES)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion_command(context: click.Context, shell: str) -> None:
    """Print the script that makes SHELL complete the commands and options of plait."""
    kind = get_completion_class(shell)
    if kind is None:
        raise UserError(f"there is no completion for {shell}")
    click.echo(kind(context.find_root().command, {}, "plait", "_PLAIT_COMPLETE").source())
