"""`plait bench`: compares Plait with MPI on this machine."""

from __future__ import annotations

import click

from plait.cli.support import Commands

__all__ = ["bench_command"]


@click.group(
    "bench",
    cls=Commands,
    later={
        "accesses": ("plait_bench.commands.accesses", "Compare simulated accesses with real ones."),
        "blocks": ("plait_bench.commands.blocks", "Read and write blocks of arrays of several dimensions."),
        "columbus": ("plait_bench.commands.columbus", "Update compressed records on Shared Files and on one file."),
        "copy": ("plait_bench.commands.copy", "Copy arrays into other chunks, compression and orders."),
        "distant": ("plait_bench.commands.distant", "Read and write a local and a remote disk."),
        "io": ("plait_bench.commands.io", "Read or write a file by Plait and by MPI-IO, side by side."),
        "join": ("plait_bench.commands.join", "Join many files into one."),
        "mpiio": ("plait_bench.unchanged.command", "Run a program that calls MPI-IO with Plait and without."),
        "objects": ("plait_bench.commands.objects", "Measure an object store, and print settings that suit it."),
        "orders": ("plait_bench.commands.orders", "Compare predicted with measured times for different orders."),
        "overlap": ("plait_bench.commands.overlap", "Read and write while the program computes."),
        "patterns": ("plait_bench.commands.patterns", "Read and write files by the access patterns of programs."),
        "pipe": ("plait_bench.commands.pipe", "Move an array from a writer to a reader through a pipe."),
        "plan": ("plait_bench.commands.plan", "Plan conversions between up to a million ranks."),
        "predict": ("plait_bench.commands.predict", "Compare predicted times of programs with measured ones."),
        "rechunk": ("plait_bench.commands.rechunk", "Rechunk maps into time series, in parts."),
        "redistribute": ("plait_bench.commands.redistribute", "Move an array between layouts in memory."),
        "shared": ("plait_bench.commands.shared", "Read and write Shared Files on more and more hosts."),
        "simulate": ("plait_bench.commands.simulate", "Count hits in caches by each replacement policy."),
        "strategies": ("plait_bench.commands.strategies", "Compare the chosen strategy with every one forced."),
        "small": ("plait_bench.commands.small", "Read and write small arrays and slices."),
        "stripe": ("plait_bench.commands.stripe", "Write and read a striped file on more and more disks."),
        "texts": ("plait_bench.commands.texts", "Read, write and copy arrays of texts."),
        "trace": ("plait_bench.commands.trace", "Measure what recording adds to a call."),
    },
)
def bench_command() -> None:
    """Measure Plait on this machine, and MPI if it can do the same."""
