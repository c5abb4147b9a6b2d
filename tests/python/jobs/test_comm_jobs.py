"""Requirements on MPI communicators: threads for accesses in the background, and contexts for many communicators."""

import shutil
import sys

import numpy as np
import pytest
from launching import launch

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
pytest.importorskip("plait._mpi", reason="Plait was built without MPI")

MPIEXEC = shutil.which("mpiexec")
pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="no mpiexec was found")
NODES = pytest.mark.parametrize("node", ["", "1"], ids=["one node", "nodes of 1"])


def run_ranks(ranks, program, *arguments, **environment):
    """Return the output of a program, and check that it succeeds."""
    job = launch(ranks, sys.executable, "-c", program, *arguments, **environment)
    assert job.returncode == 0, job.stdout
    return job.stdout


# Starts accesses and calls MPI on the same thread before it waits for them.
STARTED = """
import sys
import mpi4py
mpi4py.rc.thread_level = sys.argv[2]
import numpy as np
from mpi4py import MPI
import plait

comm = MPI.COMM_WORLD
rows = plait.Layout((12, 5), "(block, *)", grid=(comm.size,))
columns = plait.Layout((12, 5), "(*, cyclic)", grid=(comm.size,))
whole = np.arange(60.0).reshape(12, 5)
local = whole[4 * comm.rank : 4 * comm.rank + 4]
with plait.open(sys.argv[1], "w", comm=comm, shape=(12, 5), dtype="f8", strategy="two-phase", memory=4096) as file:
    writes = [file.iwrite(local, rows) for _ in range(3)]
    for _ in range(50):  # MPI is called on this thread meanwhile
        assert comm.allreduce(1) == comm.size
    for write in writes:
        write.wait()
    redistributed = plait.redistribute(local, rows, columns, comm)
    assert (redistributed == whole[:, comm.rank :: comm.size]).all()
with plait.open(sys.argv[1], comm=comm) as file:
    reads = [file.iread(columns) for _ in range(3)]
    for _ in range(50):
        comm.Barrier()
    for read in reads:
        assert (read.wait() == whole[:, comm.rank :: comm.size]).all()
        assert read.test()
    stream = file.stream(2)
    request = stream.iread(comm.rank)
    comm.Barrier()
    assert request.wait().size == comm.rank
    failing = file.iwrite(local, rows)  # wait() raises the error, at every thread level
    try:
        failing.wait()
    except plait.ArgumentError:
        print("correct", flush=True)
"""


@NODES
@pytest.mark.sampled(1)
@pytest.mark.parametrize("level", ["single", "funneled", "serialized", "multiple"])
def test_nonblocking_accesses_succeed_at_every_thread_level(tmp_path, level, node):
    output = run_ranks(3, STARTED, tmp_path / "a.npy", level, PLAIT_NODE_SIZE=node)
    assert output.count("correct") == 3, output
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.arange(60.0).reshape(12, 5))


# Opens a file on many duplicated communicators at once.
MANY = """
import sys
import numpy as np
from mpi4py import MPI
import plait

path, *counts = sys.argv[1:]
world = MPI.COMM_WORLD
layout = plait.Layout((4,), "(block)", grid=(world.size,))

def use(comm):
    with plait.open(path, comm=comm) as file:
        assert (file.read(layout) == np.arange(4.0)[layout.indices(comm.rank)[0]]).all()

def use_many(count):
    alive = []
    for _ in range(count):
        alive.append(world.Dup())
        use(alive[-1])
        plait.open(path, comm=alive[-1]).close()
    use(alive[0])
    for comm in alive:
        comm.Free()

for count in counts:
    use_many(int(count))  # the second round uses contexts that the first has freed
for _ in range(3):
    files = [plait.open(path, comm=world) for _ in range(100)]
    for file in files:
        file.close()
if world.rank == 0:
    print("correct", flush=True)
"""


def test_contexts_of_freed_communicators_are_reused(tmp_path, effort):
    np.save(tmp_path / "a.npy", np.arange(4.0))
    # MPICH has 2048 contexts: each communicator needs one for the program and one for Plait.
    counts = effort.choose((30, 20), (980, 540))
    assert "correct" in run_ranks(2, MANY, tmp_path / "a.npy", *counts)
