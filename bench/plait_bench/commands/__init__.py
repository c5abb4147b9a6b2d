"""`plait bench`: measures Plait beside MPI on this machine."""

from __future__ import annotations

import click

from plait.cli.support import Commands
from plait_bench.commands.columbus import columbus_command
from plait_bench.commands.distant import distant_command
from plait_bench.commands.io import io_command
from plait_bench.commands.overlap import overlap_command
from plait_bench.commands.patterns import patterns_command
from plait_bench.commands.pipe import pipe_command
from plait_bench.commands.plan import plan_command
from plait_bench.commands.redistribute import redistribute_command
from plait_bench.commands.shared import shared_command
from plait_bench.commands.trace import trace_command

__all__ = ["bench_command"]


@click.group("bench", cls=Commands)
def bench_command() -> None:
    """Measure Plait on this machine, and MPI where it can do the same."""


bench_command.add_command(columbus_command)
bench_command.add_command(distant_command)
bench_command.add_command(io_command)
bench_command.add_command(overlap_command)
bench_command.add_command(patterns_command)
bench_command.add_command(pipe_command)
bench_command.add_command(plan_command)
bench_command.add_command(redistribute_command)
bench_command.add_command(shared_command)
bench_command.add_command(trace_command)
