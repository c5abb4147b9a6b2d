"""`plait model calibrate`: measures the constants of the cost model on this machine."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from plait.cli.support import UserError, messages, output, run_with_bar

if TYPE_CHECKING:
    from plait.model.calibration import Costs

_EXAMPLES = """
\b
Examples:
  plait model calibrate
  plait model calibrate --dir /scratch --ranks 8
  plait model calibrate --output mine.toml
  plait model calibrate --show
  plait model calibrate --reset
"""

_MAX_UNREST = 1.5  # ratio of the median to the shortest time of equal accesses above which a warning is printed
_MAX_LOAD = 0.5  # load per core above which a warning is printed


@click.command("calibrate", epilog=_EXAMPLES)
@click.option("--ranks", type=click.IntRange(min=1), help="Ranks that measure.  [default: the cores, 2 to 8]")
@click.option(
    "--rounds", type=click.IntRange(min=1), default=15, show_default=True, help="Number of measurements of each access."
)
@click.option(
    "--edge",
    type=click.IntRange(min=64),
    default=4096,
    show_default=True,
    help="Rows and columns of the doubles that are read.",
)
@click.option(
    "--dir", "directory", type=click.Path(file_okay=False), help="Folder for the files.  [default: a temporary one]"
)
@click.option(
    "--output",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the constants to this file, for PLAIT_MODEL.  [default: the file of this host]",
)
@click.option("--show", is_flag=True, help="Print the constants in force, and measure nothing.")
@click.option("--reset", is_flag=True, help="Remove the file of this host, and measure nothing.")
def calibrate_command(
    ranks: int | None,
    rounds: int,
    edge: int,
    directory: str | None,
    target: Path | None,
    show: bool,
    reset: bool,
) -> None:
    """Measure the constants of the cost model by which Plait chooses strategies, and store them for this host.

    It takes less than a minute on a machine that has nothing else to do.  From then on every program of this user on
    this host plans with them; PLAIT_MODEL names another file, or says "builtin" to go without.
    """
    from plait.model.calibration import CalibrationSettings, Costs, calibrate, in_force, own_path, remove, save
    from plait.model.calibration.files import format_constants, make_folder

    if show and reset:
        raise UserError("--show and --reset exclude each other; give one of them")
    if show:
        _print(in_force())
        return
    if reset:
        path = own_path()
        messages().print(f"{path} removed" if remove() else f"there is no {path}", soft_wrap=True, markup=False)
        return
    path = target or own_path()
    make_folder(path)
    settings = CalibrationSettings(ranks or 0, rounds, edge, directory)
    load, cores = os.getloadavg()[0], len(os.sched_getaffinity(0))
    if load > _MAX_LOAD * cores:
        messages().print(
            f"other programs keep this machine busy (load {load:.1f} on {cores} cores): the constants will be those of "
            "a busy machine; measure again when it is quiet",
            soft_wrap=True,
        )
    measured = run_with_bar(lambda progress: calibrate(settings, progress))
    save(format_constants(measured.values, settings.workers), path)
    _print(Costs(str(path), measured.values))
    if measured.unrest > _MAX_UNREST:
        messages().print(
            f"other programs ran meanwhile: accesses took {measured.unrest:.1f} times as long as the shortest ones; "
            "measure again when the machine is quiet",
            soft_wrap=True,
        )


def _print(costs: Costs) -> None:
    from rich.table import Table

    from plait.model.calibration import builtin

    console = output()
    table = Table(box=None, padding=(0, 2, 0, 0))
    table.add_column("constant")
    table.add_column("value", justify="right")
    table.add_column("built in", justify="right")
    for name, value in builtin().values.items():
        table.add_row(name, f"{costs.values[name]:.4g}", f"{value:.4g}")
    console.print(
        f"constants of {costs.source}" if costs.source else "built-in constants", soft_wrap=True, markup=False
    )
    console.print(table)
