"""Ctrl-C on a rank that waits for another rank's disk: the access ends, and its memory is not used afterwards."""

import re
import shutil
import sys

import pytest
from launching import launch

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
pytest.importorskip("plait._mpi", reason="Plait was built without MPI")

pytestmark = pytest.mark.skipif(shutil.which("mpiexec") is None, reason="no mpiexec was found")

# Rank 1 is stopped while rank 0 accesses its disk, and continues after rank 0 has been interrupted.
JOB = """
import os, signal, sys, threading, time
import numpy as np
from mpi4py import MPI
import plait
from plait import distant, shared

folder, kind, what = sys.argv[1:]
comm = MPI.COMM_WORLD
pids = comm.allgather(os.getpid())
bytes_ = 24 << 20
old = np.full(bytes_, 1, np.uint8)
signal.signal(signal.SIGINT, signal.default_int_handler)
if kind == "distant":
    file = distant.open(f"{folder}/disk-{comm.rank}", "w", comm=comm)
    where = (1,)
    if comm.rank == 1:
        file.write(0, old, 1)
else:
    file = shared.open(f"{folder}/shared", "w", comm=comm, striped=True)
    where = ()
    if comm.rank == 1:
        file.write(0, old)
comm.Barrier()

def interrupt():
    global begin
    begin = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

def access(data):
    if what == "read":
        file.read(0, data, *where)
    elif what == "write":
        file.write(0, data, *where)
    elif what == "size":
        file.size(*where)
    elif what == "request":
        requests.append(file.iread(0, data, *where))
        requests[-1].wait()
    else:
        requests.append(file.iwrite(0, data, *where))
        file.close()

def interrupted(data):
    threading.Timer(0.6, interrupt).start()
    try:
        access(data)
    except KeyboardInterrupt:
        print(f"interrupted after {time.monotonic() - begin:.2f} s", flush=True)

requests = []
if comm.rank == 0:
    os.kill(pids[1], signal.SIGSTOP)
    data = np.full(bytes_, 2, np.uint8)
    for _ in range(2):
        interrupted(data)
    assert all(request.test() for request in requests)
    # Nothing of this reaches the file, and nothing of the file is put here any more.
    data[:] = 3
    os.kill(pids[1], signal.SIGCONT)
    found = file.read(0, bytes_, *where)
    assert set(np.unique(found)) <= {1, 2}, np.unique(found)
    assert (data == 3).all()
    if what != "write" and what != "close":
        assert (found == 1).all()
    file.write(5, b"again", *where)
    assert bytes(file.read(5, 5, *where)) == b"again"
    print("went on", flush=True)
comm.Barrier()
file.close()
"""


@pytest.mark.parametrize("what", ["read", "write", "size", "request", "close"])
@pytest.mark.parametrize("kind", ["distant", "shared"])
def test_an_interrupted_access_ends_and_stops_using_memory(tmp_path, kind, what):
    job = launch(2, sys.executable, "-c", JOB, tmp_path, kind, what, PLAIT_NODE_SIZE="1")
    after = [float(seconds) for seconds in re.findall(r"interrupted after ([\d.]+) s", job.stdout)]
    assert len(after) == 2, job.stdout
    assert max(after) < 5  # 0.1 s on an idle machine
    assert "went on" in job.stdout, job.stdout
    assert job.returncode == 0, job.stdout
