"""The command line of Plait."""

from __future__ import annotations

import click

from plait.cli.bench import bench_command
from plait.cli.completion import completion_command
from plait.cli.copy import copy_command
from plait.cli.demo import demo_command
from plait.cli.layout import layout_command
from plait.cli.support import Commands
from plait.cli.trace import trace_command

__all__ = ["main"]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="plait", prog_name="plait")
def main() -> None:
    """Plait moves distributed arrays between programs, disks and machines.

    Say how the data lies at each end; Plait finds the shortest way across.
    """


main.add_command(bench_command)
main.add_command(completion_command)
main.add_command(copy_command)
main.add_command(demo_command)
main.add_command(layout_command)
main.add_command(trace_command)
