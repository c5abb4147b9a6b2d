"""Simulated accesses compared with real ones of MPI ranks: traces must show the same requests to the file."""

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from launching import WELCOME, needs_mpi

from plait import simulate, trace
from plait.launch import find_mpiexec

SHAPE = (600, 500)
MEMORY = 1 << 18
LAYOUTS = ("(block, *)", "(*, block)", "(cyclic(3), *)", "(*, cyclic)")
PROGRAM = """
import sys
import numpy as np
from mpi4py import MPI
import plait

comm = MPI.COMM_WORLD
order, strategy, memory, *layouts = sys.argv[1:]
for number, text in enumerate(layouts):
    layout = plait.Layout.parse(text + f" onto ({comm.size})", (600, 500))
    options = dict(comm=comm, shape=(600, 500), dtype="f8", order=order, strategy=strategy, memory=int(memory))
    local = np.full(layout.local_shape(comm.rank), comm.rank, "f8")
    with plait.open(f"a{number}.bin", "w", **options) as file:
        file.write(local, layout)
    with plait.open(f"a{number}.bin", **options) as file:
        assert (file.read(layout) == local).all()
"""


def record_accesses(folder, ranks, node, *arguments):
    """Run the program traced; return the requests to the file and their bytes for each access, summed over ranks.

    A positive ``node`` is the number of ranks that share a simulated node.
    """
    environment = {**os.environ, **WELCOME, "PLAIT_TRACE": "t.plait", "PLAIT_MODEL": "builtin"}
    if node:
        environment["PLAIT_NODE_SIZE"] = str(node)
    command = [find_mpiexec(), "-n", str(ranks), sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    with trace.open(folder / "t.plait") as opened:
        events = opened.read()
    events = events[np.isin(events["kind"], (trace.Kind.READ, trace.Kind.WRITE))]
    logical = (events["flags"] & trace.Flag.LOGICAL) != 0
    requests, sizes = Counter(), Counter()
    for process in np.unique(events["process"]):
        process_events = events["process"] == process
        calls = np.sort(events[process_events & logical], order="start")["operation"].tolist()
        for event in events[process_events & ~logical & np.isin(events["operation"], calls)]:
            requests[calls.index(event["operation"])] += 1
            sizes[calls.index(event["operation"])] += int(event["length"])
    return [(requests[k], sizes[k]) for k in range(2 * len(LAYOUTS))]


@needs_mpi
@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("ranks", "node", "order", "strategy"),
    [(2, 1, "C", "automatic"), (3, 0, "F", "two-phase"), (4, 2, "C", "two-phase"), (6, 2, "F", "automatic")],
)
def test_simulated_and_real_requests_are_equal(tmp_path, ranks, node, order, strategy):
    real = record_accesses(tmp_path, ranks, node, order, strategy, str(MEMORY), *LAYOUTS)
    simulated = []
    for layout in LAYOUTS:
        for action in ("write", "read"):
            access = simulate.run_plan(
                action,
                f"{layout} onto ({ranks})",
                f"a.bin?shape={SHAPE[0]}x{SHAPE[1]}&order={order}",
                machine=MACHINE,
                per_node=node,
                cached=True,
                strategy=strategy,
                memory=MEMORY,
            )
            assert sum(access["ranks"]["received_bytes"]) == access.message_bytes
            assert node > 0 or access.messages == 0
            simulated.append((access.requests, access.bytes))
    assert simulated == real


MACHINE = simulate.parse("[simulate.device]\nkind = 'ssd'")


def test_machines_have_the_constants_of_the_planner():
    """Otherwise the simulation would select other strategies than programs."""
    text = (Path(__file__).parents[4] / "src/plan/access/costs.hpp").read_text(encoding="utf-8")
    built_in = {name: float(value) for name, value in re.findall(r"double (\w+) = ([\d.e-]+);", text)}
    names = {
        "request": "request_seconds",
        "write_request": "write_request_seconds",
        "store_rate": "store_bytes_per_second",
        "window_rate": "window_bytes_per_second",
        "copy_rate": "copy_bytes_per_second",
        "run": "run_seconds",
        "wait": "wait_seconds",
    }
    ranks = MACHINE.document()["ranks"]
    assert {name: ranks[name] for name in names} == {name: built_in[other] for name, other in names.items()}
