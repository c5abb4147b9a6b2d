"""Simulates one access by many ranks, on a machine."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from plait import _simulation
from plait._arguments.layouts import to_layout
from plait._arguments.sizes import parse_bytes
from plait._base.errors import ArgumentError
from plait._calls.guard import entry
from plait.simulate._machine import Machine, load
from plait.simulate._quantities import suggest
from plait.simulate._settings import device_settings
from plait.simulate.plans._result import PlanRun
from plait.simulate.plans._store import StoredArray, stored_array

if TYPE_CHECKING:
    from plait import Layout

STRATEGIES = ("automatic", "direct", "two-phase")
ACTIONS = ("read", "write")
_NO_LIMIT = 1e15


@entry
def run_plan(
    action: str,
    layout: Layout | str,
    store: str | os.PathLike[str] | StoredArray,
    *,
    ranks: int | None = None,
    machine: str | os.PathLike[str] | Machine = "cluster",
    per_node: int | None = None,
    cached: bool = False,
    strategy: str = "automatic",
    memory: int | str | None = None,
    readers: int | None = None,
    windows: int | None = None,
    progress: Callable[[str, float], None] | None = None,
) -> PlanRun:
    """Simulate a collective read or write of an array, as Plait would carry it out on a machine.

    Args:
        action: ``read`` or ``write``.
        layout: the layout of the array on the ranks; a text may leave out the shape.
        store: a file, or one that need not exist: ``big.npy?shape=100000x100000&dtype=float32``; ``order``, ``offset``
            and ``chunks`` may follow.
        ranks: number of ranks of the communicator; by default that of the layout.
        machine: a machine file, a machine of the package, or a Machine.
        per_node: consecutive ranks that share a node, instead of the machine's number.
        cached: True if the data to read is in the memory of each node already.
        strategy: ``automatic``, ``direct`` or ``two-phase``, as in :func:`plait.open`.
        memory: bytes of staging memory of a rank, as in :func:`plait.open`.
        readers: number of ranks that access the file, as in :func:`plait.open`.
        windows: number of windows of each reader to simulate, from the first; by default as many as take some ten
            seconds.
        progress: called with a description of the current work and the share done, 0 to 1.

    Raises:
        plait.ArgumentError: an invalid value; the message lists the valid ones.
        plait.StoreError: the store, or the machine file, cannot be read.
    """
    for name, word, choices in (("action", action, ACTIONS), ("strategy", strategy, STRATEGIES)):
        if word not in choices:
            raise ArgumentError(
                f"{name}: found {word!r}, expected one of {', '.join(choices)}{suggest(str(word), choices)}"
            )
    array = store if isinstance(store, StoredArray) else stored_array(store)
    rank_layout = to_layout(layout, array.shape)
    model = load(machine)
    if per_node is not None:
        model = model.changed("ranks", per_node=per_node)
    rank_count = rank_layout.ranks_end if ranks is None else ranks
    request = {
        "store": array.name,
        "shape": list(array.shape),
        "fortran": array.order == "F",
        "chunks": list(array.chunks),
        "itemsize": array.itemsize,
        "offset": array.offset,
        "ranks": rank_count,
        "write": action == "write",
        "strategy": STRATEGIES.index(strategy),
        "memory": 0 if memory is None else parse_bytes(memory, "memory"),
        "readers": readers or 0,
    }
    begin = time.perf_counter()
    on_progress = None if progress is None else lambda share: progress("simulating", share)
    settings = _settings(model, rank_count, array, cached=cached, windows=windows or 0)
    outcome = _simulation.simulate_access(rank_layout, request, settings, on_progress)
    access = {
        "action": action,
        "layout": str(rank_layout),
        "store": array.name,
        "shape": list(array.shape),
        "dtype": array.dtype,
        "order": array.order,
        "offset": array.offset,
        "chunks": list(array.chunks),
        "ranks": rank_count,
        "cached": cached,
        "strategy": strategy,
    }
    return PlanRun(
        {
            "access": access,
            "machine": {"name": model.name, "source": model.source, **model.document()},
            "notes": _notes(model, rank_count, outcome),
            **outcome,
        },
        simulating=time.perf_counter() - begin,
    )


def _settings(machine: Machine, rank_count: int, array: StoredArray, *, cached: bool, windows: int) -> dict[str, Any]:
    """Return the arguments of the compiled simulation."""
    values = machine.document()
    ranks_section, cache, network = values["ranks"], values["cache"], values["network"]
    device = device_settings(machine, "device")
    several_nodes = 0 < ranks_section["per_node"] < rank_count
    if several_nodes and "link_rate" in device["values"]:
        device["values"]["link_rate"] = _NO_LIMIT  # bytes of files use the links of the nodes
    through = cache["write"] == "through" or cache["size"] == 0
    start = {"behind": 0.0, "full": 1.0}.get(cache["write"], cache["dirty_start"])
    limit = int(cache["dirty_limit"] * cache["size"])
    return {
        "nodes": {
            "ranks": ranks_section["per_node"],
            "cores": values["processors"]["count"],
            "plan": ranks_section["plan"],
            "message": ranks_section["message"],
        },
        "network": network,
        "device": device,
        "files": {
            "cached": cached,
            "through": through,
            "turns": ranks_section["turns"],
            "dirty_start": min(int(start * cache["size"]), limit),
            "dirty_limit": limit,
        },
        "costs": {
            "request_seconds": ranks_section["request"],
            "write_request_seconds": ranks_section["write_request"],
            "store_bytes_per_second": ranks_section["store_rate"],
            "window_bytes_per_second": ranks_section["window_rate"],
            "copy_bytes_per_second": ranks_section["copy_rate"],
            "run_seconds": ranks_section["run"],
            "wait_seconds": ranks_section["wait"],
        },
        "source": machine.name,
        "windows": windows,
        "file_end": array.end,
    }


def _notes(machine: Machine, rank_count: int, outcome: dict[str, Any]) -> list[str]:
    """Return remarks about the limits of the result."""
    notes = []
    cores = machine.get("processors", "count") * outcome["nodes"]
    if rank_count > cores:
        notes.append(f"{rank_count:,} ranks share {cores:,} cores")
    if outcome["simulated"] < outcome["windows"]:
        notes.append(
            f"{outcome['simulated']:,} of {outcome['windows']:,} windows of each reader were simulated; "
            "times, bytes and messages are of these alone"
        )
    if outcome["whole_windows"]:
        notes.append("there are too many messages to follow each: the exchange of a window was taken as a whole")
    return notes
