"""The command line of Plait."""

from __future__ import annotations

import click

from plait.cli.bench import find_bench, missing_bench
from plait.cli.completion import completion_command
from plait.cli.copy import copy_command
from plait.cli.demo import demo_command
from plait.cli.info import info_command
from plait.cli.layout import layout_command
from plait.cli.run import run_command
from plait.cli.support import Commands

__all__ = ["main"]


class _Main(Commands):
    """The commands of this package; `bench`, `model` and `trace` are looked for, or loaded, only when needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted([*super().list_commands(ctx), "bench", "model", "trace"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None."""
        if cmd_name == "bench":
            return find_bench() or missing_bench
        if cmd_name == "model":
            from plait.cli.model import model_command

            return model_command
        if cmd_name == "trace":
            from plait.cli.trace import trace_command

            return trace_command
        return super().get_command(ctx, cmd_name)


@click.group(cls=_Main, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="plait", prog_name="plait")
def main() -> None:
    """Plait moves distributed arrays between programs, disks and machines.

    Say how the data lies at each end; Plait finds the shortest way across.
    """


main.add_command(completion_command)
main.add_command(copy_command)
main.add_command(demo_command)
main.add_command(info_command)
main.add_command(layout_command)
main.add_command(run_command)
