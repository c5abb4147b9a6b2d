"""What copies, pipes, traces and errors are.  Checked by mypy and basedpyright, never run."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import assert_type

import plait
import plait.trace


def copies() -> None:
    """From one store to another."""
    done = plait.copy("a.npy", Path("b.npy"))
    assert_type(done, plait.CopyResult)
    assert_type((done.bytes, done.seconds, done.rate), tuple[int, float, float])
    for array in plait.arrays_in("a.npz"):
        assert_type(array, plait.ArrayInfo)
    assert_type(plait.pipe_names(), list[str])
    assert_type(plait.pipe_status("pipe:field"), plait.PipeStatus)


def steps() -> None:
    """A pipe's steps, with attributes."""
    with plait.open("pipe:field", "w", shape=(4,), dtype="f8") as file:
        assert_type(file.begin_step({"time": 0.5}), plait.Step | None)
        file.write([1.0, 2.0, 3.0, 4.0])
        file.end_step()
        assert_type(file.in_step, bool)


def traces() -> None:
    """A trace and its report."""
    report = plait.trace.report("run.plait")
    assert_type(report, plait.trace.Report)
    with plait.trace.open("run.plait") as trace:
        assert_type(trace, plait.trace.Trace)


def errors() -> None:
    """All of them are plait.Error, and what Python programs expect besides."""
    kinds: list[type[plait.Error]] = [plait.ArgumentError, plait.StoreError]
    values: list[type[ValueError]] = [plait.ArgumentError]
    systems: list[type[OSError]] = [plait.StoreError]
    print(kinds, values, systems, plait.__version__)


def ranks() -> None:
    """Ranks without MPI."""
    comm = plait.world()
    with plait.open("a.npy", comm=comm) as file:
        print(file.shape, comm.rank)
