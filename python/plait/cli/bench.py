"""`plait bench`: where its commands come from.

They are the package plait-bench, which is installed on its own. This is the only module that knows its module.
"""

from __future__ import annotations

import importlib
import importlib.util

import click

from plait.cli.support import UserError

_PACKAGE = "plait_bench"


def bench_is_here() -> bool:
    """Whether plait-bench is installed."""
    return importlib.util.find_spec(_PACKAGE) is not None


def find_bench() -> click.Command | None:
    """Return the commands of plait-bench, or None where it is not installed."""
    try:
        found = importlib.import_module(f"{_PACKAGE}.commands")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != _PACKAGE:
            raise
        return None
    command: click.Command = found.bench_command
    return command


# It takes every option, --help too: nothing that stands behind `bench` can be told apart without the package.
@click.command(
    "bench",
    short_help="Measure Plait on this machine; needs plait[bench].",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
)
@click.argument("rest", nargs=-1, type=click.UNPROCESSED)
def missing_bench(rest: tuple[str, ...]) -> None:
    """Say what to install."""
    raise UserError("the benchmarks are not installed; install them with: pip install 'plait[bench]'")
