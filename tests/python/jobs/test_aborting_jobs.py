"""Ranks abort a job, or fail in the middle of a call, while the other ranks are in calls of Plait: no rank hangs."""

import re
import shutil
import sys
import time

import numpy as np
import pytest
from launching import launch

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
pytest.importorskip("plait._mpi", reason="Plait was built without MPI")

MPIEXEC = shutil.which("mpiexec")
pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="no mpiexec was found")
NODES = pytest.mark.parametrize("node", ["", "1"], ids=["one node", "nodes of 1"])

ABORTING = """
import sys
import numpy as np
from mpi4py import MPI
import plait

comm = MPI.COMM_WORLD
layout = plait.Layout((6, 4), "(*, cyclic)", grid=(comm.size,))
local = np.ones(layout.local_shape(comm.rank))
with plait.open(sys.argv[1], "w", comm=comm, shape=(6, 4), dtype="f8") as file:
    file.write(local, layout)
    with open(sys.argv[2] + str(comm.rank), "w") as written:  # printed text may be lost when the job is aborted
        written.write("all")
    if comm.rank == 1:
        comm.Abort(3)
    while True:
        file.write(local, layout)
"""


@pytest.mark.sampled(1)
@NODES
def test_a_rank_that_aborts_ends_the_job(tmp_path, node):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(3.0))
    begin = time.monotonic()
    job = launch(3, sys.executable, "-c", ABORTING, path, tmp_path / "written", PLAIT_NODE_SIZE=node)
    assert time.monotonic() - begin < 180
    assert (tmp_path / "written1").read_text() == "all", job.stdout
    assert job.returncode != 0, job.stdout
    np.testing.assert_array_equal(np.load(path), np.arange(3.0))


# Rank 1 fails while its arguments are converted, within a collective call.
RAISING = """
import sys, time
import numpy as np
from mpi4py import MPI
import plait

path, call, kind = sys.argv[1:]
comm = MPI.COMM_WORLD
layout = plait.Layout((6,), "(block)", grid=(comm.size,))
other = plait.Layout((6,), "(cyclic)", grid=(comm.size,))

def fail(*ignored, **also):
    raise KeyboardInterrupt if kind == "interrupt" else MemoryError if kind == "memory" else KeyError("the reason")

class FailingArray:
    __array__ = fail

class RaisingArray(np.ndarray):  # reads accept only arrays
    shape = property(fail)

with plait.open(path, "r+", comm=comm) as file:
    array = np.zeros(2)
    if comm.rank == 1:
        array = array.view(RaisingArray) if call == "read" else FailingArray()
    calls = {
        "read": lambda: file.read(layout, out=array),
        "write": lambda: file.write(array, layout),
        "redistribute": lambda: plait.redistribute(array, layout, other, comm),
    }
    begin = time.monotonic()
    try:
        calls[call]()
    except plait.Error as error:
        kinds = isinstance(error, MemoryError), isinstance(error, plait.ArgumentError)
        print(f"reported after {time.monotonic() - begin:.2f} s, {kinds}: {error}", flush=True)
        if kind != "interrupt":
            assert (file.read(layout) == np.arange(6.0)[2 * comm.rank : 2 * comm.rank + 2]).all()
            print("continues", flush=True)
"""


def find_errors(job):
    """Return the kinds and the message of each error that a rank printed, and check that it came within 10 s."""
    errors = re.findall(r"reported after ([\d.]+) s, (\(\w+, \w+\)): (.*)", job.stdout)
    assert all(float(seconds) < 10 for seconds, _, _ in errors), job.stdout  # much less on an idle machine
    return [(kinds, message) for _, kinds, message in errors]


@NODES
@pytest.mark.sampled(2)
@pytest.mark.parametrize("call", ["write", "read", "redistribute"])
@pytest.mark.parametrize("kind", ["error", "memory"])
def test_an_error_of_a_rank_within_a_call_reaches_the_others(tmp_path, call, kind, node):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(6.0))
    job = launch(3, sys.executable, "-c", RAISING, path, call, kind, PLAIT_NODE_SIZE=node)
    assert job.returncode == 0, job.stdout
    errors = find_errors(job)
    assert len(errors) == 3, job.stdout
    assert len(set(errors)) == 1, job.stdout
    kinds, message = errors[0]
    assert kinds == ("(True, False)" if kind == "memory" else "(False, True)")
    assert ("there is not enough memory" if kind == "memory" else "the reason") in message
    assert job.stdout.count("continues") == 3, job.stdout


@NODES
@pytest.mark.sampled(1)
@pytest.mark.parametrize("call", ["write", "read", "redistribute"])
def test_a_rank_interrupted_within_a_call_is_an_error_on_the_others(tmp_path, call, node):
    """An exception that is not an error of the call leaves the call, and usually the program."""
    path = tmp_path / "a.npy"
    np.save(path, np.arange(6.0))
    job = launch(3, sys.executable, "-c", RAISING, path, call, "interrupt", PLAIT_NODE_SIZE=node)
    assert job.returncode != 0, job.stdout
    assert len(find_errors(job)) == 2, job.stdout
    np.testing.assert_array_equal(np.load(path), np.arange(6.0))
