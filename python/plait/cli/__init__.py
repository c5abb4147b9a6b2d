"""The command line of Plait."""

from __future__ import annotations

import click

import plait
from plait.cli.bench import find_bench, is_bench_installed, missing_bench
from plait.cli.support import Commands, product_commands

__all__ = ["main"]


class _Main(Commands):
    """The commands of this package, and `bench`, which may be missing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted([*super().list_commands(ctx), "bench"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, or None."""
        return find_bench() or missing_bench if cmd_name == "bench" else super().get_command(ctx, cmd_name)

    def command_help(self, name: str) -> str:
        """Return the description of a command in the list of commands."""
        if name != "bench":
            return super().command_help(name)
        return (
            "Measure Plait on this machine, beside MPI." if is_bench_installed() else missing_bench.get_short_help_str()
        )


@click.group(
    cls=_Main,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    later={
        "clean": ("plait.cli.clean", "Remove what killed uploads have left in an object store."),
        "completion": ("plait.cli.completion", "Print the completion script of a shell."),
        "copy": ("plait.cli.copy", "Copy, convert and rechunk arrays."),
        "demo": ("plait.cli.demo", "Write and read real data under eight distributions."),
        "info": ("plait.cli.info", "Show what a store holds, and which programs use a pipe."),
        "layout": ("plait.cli.layout", "Draw which rank owns what, and what a conversion moves."),
        "run": ("plait.cli.run", "Start ranks of a program without MPI."),
        **product_commands(),
    },
)
@click.version_option(plait.__version__, prog_name="plait")
def main() -> None:
    """Plait moves distributed arrays between programs, disks and machines.

    State the layout of the data at each end, and Plait moves it in a few large requests.

    \b
    Examples:
      plait copy field.npy field.zarr --chunks 64,64,64 --codec zstd:3
      plait trace record -o run.plait -- mpiexec -n 4 ./simulation
      plait trace report run.plait
      plait layout "(block, cyclic(3)) onto (2, 2)" 8x12
    """
