"""`plait bench`: imports its commands from plait-bench, or says that this package is missing.

plait-bench is a package of its own. No other module of this package names its module.
"""

from __future__ import annotations

import importlib
import importlib.util

import click

from plait.cli.support import UserError

_PACKAGE = "plait_bench"


def is_bench_installed() -> bool:
    """Return True if plait-bench is installed."""
    return importlib.util.find_spec(_PACKAGE) is not None


def find_bench() -> click.Command | None:
    """Return the commands of plait-bench, or None where it is not installed."""
    try:
        module = importlib.import_module(f"{_PACKAGE}.commands")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != _PACKAGE:
            raise
        return None
    command: click.Command = module.bench_command
    return command


# The placeholder accepts every option, --help included: without the package, the options of `bench` are unknown.
@click.command(
    "bench",
    short_help="Measure Plait on this machine; needs plait[bench].",
    add_help_option=False,
    context_settings={"ignore_unknown_options": True},
)
@click.argument("rest", nargs=-1, type=click.UNPROCESSED)
def missing_bench(rest: tuple[str, ...]) -> None:
    """Raise an error that says what to install."""
    raise UserError("the benchmarks are not installed; install them with: pip install 'plait[bench]'")
