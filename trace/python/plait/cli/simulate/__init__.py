"""`plait simulate`: predicts the I/O time of a traced program on another machine."""

from __future__ import annotations

import difflib
from pathlib import Path

import click

from plait.cli.support import Commands

_DEFAULT = "replay"


class _Simulate(Commands):
    """Commands of the simulation; a trace in the place of a command is replayed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the default command, which replays traces, before arguments that begin with a trace."""
        commands = self.list_commands(ctx)
        if args and args[0] not in (*commands, "-h", "--help"):
            similar = difflib.get_close_matches(args[0], commands, 1, 0.75)
            if similar and not args[0].startswith("-") and not Path(args[0]).exists():
                ctx.fail(f"There is neither a trace nor a command {args[0]!r}; did you mean {similar[0]!r}?")
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


@click.group(
    "simulate",
    cls=_Simulate,
    later={
        "advise": ("plait.cli.simulate.advise", "Rank what would make a traced program faster."),
        "calibrate": ("plait.cli.simulate.calibrate", "Measure this machine into a machine file."),
        "machine": ("plait.cli.simulate.machine", "Print a machine file as a starting point."),
        "paper": ("plait.cli.simulate.paper", "Redo the simulations of a paper of 1992."),
        "replay": ("plait.cli.simulate.replay", "Replay traces on a machine; the default."),
        "run": ("plait.cli.simulate.run", "Simulate an access of an array by many ranks."),
    },
)
def simulate_command() -> None:
    """Replay traces on another machine: another cache, other policies, another device.

    `plait simulate TRACE…` is short for `plait simulate replay TRACE…`.
    """
