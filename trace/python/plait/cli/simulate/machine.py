"""`plait simulate machine`: machine files to begin with."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem

_EXAMPLES = """
\b
Examples:
  plait simulate machine
  plait simulate machine laptop-nvme > mine.toml
  plait simulate machine --keys
"""


def complete_machines(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the names of the machines in the package, and files."""
    from plait.simulate import examples

    names = [CompletionItem(name) for name in examples() if name.startswith(incomplete)]
    return [*names, CompletionItem(incomplete, type="file")]


@click.command("machine", epilog=_EXAMPLES)
@click.argument("name", required=False, shell_complete=complete_machines)
@click.option("--keys", is_flag=True, help="Print all sections, devices and keys, with units and defaults.")
def machine_command(name: str | None, keys: bool) -> None:
    """Print the file of a machine that comes with Plait, with comments; without NAME, list which there are."""
    from plait.simulate import example_text, examples

    if keys:
        from plait.simulate._keys import key_table

        click.echo("\n".join(key_table()))
        return
    click.echo(example_text(name) if name else "\n".join(examples()), nl=not name)
