"""Ctrl-C on a rank that waits for the others: it gets out of the wait, and they are told."""

import re
import shutil
import sys

import numpy as np
import pytest
from launching import launch

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
pytest.importorskip("plait._mpi", reason="Plait was built without MPI")

pytestmark = pytest.mark.skipif(shutil.which("mpiexec") is None, reason="no mpiexec was found")
NODES = pytest.mark.parametrize("node", ["", "1", "2"], ids=["one node", "nodes of 1", "nodes of 2"])

# Rank 1 comes to the call after rank 0 has been interrupted in it; rank 2 waits there as well.
INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
from mpi4py import MPI
import plait

path, what, go = sys.argv[1:]
comm = MPI.COMM_WORLD
rows = plait.Layout((6, 6), "(block, *)", grid=(comm.size,))
columns = plait.Layout((6, 6), "(*, block)", grid=(comm.size,))
mine = np.zeros(rows.local_shape(comm.rank))

def call():
    if what == "exchange":
        plait.redistribute(mine, rows, columns, comm)
    elif what == "request":
        plait.iredistribute(mine, rows, columns, comm).wait()
    elif what == "queue":
        plait.iredistribute(mine, rows, columns, comm)
        plait.redistribute(mine, rows, columns, comm)
    else:
        plait.open(path, comm=comm).close()

def interrupt():
    global begin
    begin = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

for _ in range(2):
    call()
comm.Barrier()
signal.signal(signal.SIGINT, signal.default_int_handler)
if comm.rank == 0:
    threading.Timer(0.6, interrupt).start()
while comm.rank == 1 and not os.path.exists(go):
    time.sleep(0.01)
for attempt in range(2):
    try:
        call()
    except KeyboardInterrupt:
        print(f"interrupted after {time.monotonic() - begin:.2f} s", flush=True)
        open(go, "w").close()
    except plait.Error as error:
        print(f"{comm.rank}: {error}", flush=True)
"""


@NODES
@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", ["agreement", "exchange"])
def test_an_interrupted_rank_is_an_error_on_the_others(tmp_path, what, node):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(6.0))
    job = launch(3, sys.executable, "-c", INTERRUPTED, path, what, tmp_path / "go", PLAIT_NODE_SIZE=node)
    after = re.findall(r"interrupted after ([\d.]+) s", job.stdout)
    assert len(after) == 1, job.stdout
    assert float(after[0]) < 5  # 0.1 s on a machine that does nothing else
    told = re.findall(r"(\d): rank 0 was interrupted in a collective call; nothing more can be done", job.stdout)
    assert sorted(told) == ["0", "1", "1", "2", "2"], job.stdout
