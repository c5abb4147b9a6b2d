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

folder, kind, call = sys.argv[1:]
comm = MPI.COMM_WORLD
pids = comm.allgather(os.getpid())
bytes_ = 24 << 20
old = np.full(bytes_, 1, np.uint8)
signal.signal(signal.SIGINT, signal.default_int_handler)
if kind == "distant":
    file = distant.open(f"{folder}/disk-{comm.rank}", "w", comm=comm)
    rank_argument = (1,)
    if comm.rank == 1:
        file.write(0, old, 1)
else:
    file = shared.open(f"{folder}/shared", "w", comm=comm, striped=True)
    rank_argument = ()
    if comm.rank == 1:
        file.write(0, old)
comm.Barrier()

def interrupt():
    global begin
    begin = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

def access(data):
    if call == "read":
        file.read(0, data, *rank_argument)
    elif call == "write":
        file.write(0, data, *rank_argument)
    elif call == "size":
        file.size(*rank_argument)
    elif call == "request":
        requests.append(file.iread(0, data, *rank_argument))
        requests[-1].wait()
    else:
        requests.append(file.iwrite(0, data, *rank_argument))
        file.close()

def interrupt_access(data):
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
        interrupt_access(data)
    assert all(request.test() for request in requests)
    # An interrupted access does not use `data` afterwards: it neither writes these bytes to the file, nor changes them.
    data[:] = 3
    os.kill(pids[1], signal.SIGCONT)
    content = file.read(0, bytes_, *rank_argument)
    assert set(np.unique(content)) <= {1, 2}, np.unique(content)
    assert (data == 3).all()
    if call != "write" and call != "close":
        assert (content == 1).all()
    file.write(5, b"again", *rank_argument)
    assert bytes(file.read(5, 5, *rank_argument)) == b"again"
    print("continued", flush=True)
comm.Barrier()
file.close()
"""


@pytest.mark.parametrize("call", ["read", "write", "size", "request", "close"])
@pytest.mark.parametrize("kind", ["distant", "shared"])
def test_an_interrupted_access_ends_and_stops_using_memory(tmp_path, kind, call):
    job = launch(2, sys.executable, "-c", JOB, tmp_path, kind, call, PLAIT_NODE_SIZE="1")
    delays = [float(seconds) for seconds in re.findall(r"interrupted after ([\d.]+) s", job.stdout)]
    assert len(delays) == 2, job.stdout
    assert max(delays) < 5  # 0.1 s on an idle machine
    assert "continued" in job.stdout, job.stdout
    assert job.returncode == 0, job.stdout
