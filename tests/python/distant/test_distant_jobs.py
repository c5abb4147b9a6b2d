"""Jobs that lose a rank whose disk is read: the other ranks get an error within about a second, and none hangs."""

import os
import shutil
import subprocess
import sys

import pytest
from launching import WELCOME

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
pytest.importorskip("plait._mpi", reason="Plait was built without MPI")

MPIEXEC = shutil.which("mpiexec")
pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="no mpiexec was found")

# A rank that has got its error creates a file in the folder `reported`, and waits
# for the other rank, which may still be in its request.
HEAD = """
import os, time

def wait_for_the_other():
    open(f"{reported}/{comm.rank}", "w").close()
    deadline = time.monotonic() + 20
    while len(os.listdir(reported)) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
"""

# The last rank ends while the others read its disk; they print their error and how long it took.
JOB = """
import os, signal, sys, time
import numpy as np
from mpi4py import MPI
import plait
from plait import distant

folder, ending, reported = sys.argv[1:]
comm = MPI.COMM_WORLD
last = comm.size - 1
file = distant.open(f"{folder}/disk-{comm.rank}", "w", comm=comm)
file.write(0, bytes(4_000_000), comm.rank)
comm.Barrier()
begin = time.monotonic()
if comm.rank == last:
    time.sleep(0.5)
    if ending == "killed beside a child" and os.fork() == 0:
        os.closerange(0, 3)
        while len(os.listdir(reported)) < 2 and time.monotonic() < begin + 20:
            time.sleep(0.1)
        os._exit(0)
    if ending != "left":
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(0)
try:
    while time.monotonic() - begin < 20:
        distant.wait_all([file.iread(0, 3_000_000, last), file.iwrite(1000 * comm.rank, bytes(900), last)])
except plait.StoreError as error:
    print(f"reported {comm.rank} after {time.monotonic() - begin - 0.5:.1f} s: {error}", flush=True)
    # Accesses to the other ranks continue.
    other = 1 - comm.rank
    file.write(10, b"still here", other)
    assert file.read(10, 10, other).tobytes() == b"still here"
    try:
        file.write(0, b"x", last)
    except plait.StoreError as error:
        print(f"again {comm.rank}: {error}", flush=True)
wait_for_the_other()
os._exit(0)
"""

# As above for a shared file; the last rank stores every third stripe.
SHARED_JOB = """
import os, signal, sys, time
from mpi4py import MPI
import plait
from plait import shared

folder, ending, reported = sys.argv[1:]
comm = MPI.COMM_WORLD
last = comm.size - 1
file = shared.open(f"{folder}/data", "w", comm=comm, striped=True, unit=1000)
if comm.rank == 0:
    file.write(0, bytes(3_000_000))
comm.Barrier()
begin = time.monotonic()
if comm.rank == last:
    time.sleep(0.5)
    if ending == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(0)
try:
    while time.monotonic() - begin < 20:
        shared.wait_all([file.iread(5, 2_000_000), file.iwrite(2000 + comm.rank, b"x")])
except plait.StoreError as error:
    print(f"reported {comm.rank} after {time.monotonic() - begin - 0.5:.1f} s: {error}", flush=True)
    file.write(3000 + comm.rank, b"still here")
    assert file.read(3000, 2000).size == 2000
    try:
        file.sync()
    except plait.StoreError as error:
        print(f"again {comm.rank}: {error}", flush=True)
wait_for_the_other()
os._exit(0)
"""

# Rank 1 is killed after rank 0 has found its file.
FOUND_JOB = """
import os, signal, sys, time
from mpi4py import MPI
import plait
from plait import distant

folder, reported = sys.argv[1:]
comm = MPI.COMM_WORLD
none = distant.open(None, comm=comm)
if comm.rank == 1:
    offered = distant.offer("mine", f"{folder}/mine", "w", comm=comm)
    offered.write(0, b"12345")
comm.Barrier()
if comm.rank == 0:
    found = distant.find("mine", comm=comm)
comm.Barrier()
if comm.rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
time.sleep(1)
try:
    print("read", found.read(0, 5).tobytes().decode(), flush=True)
except plait.StoreError as error:
    print("failed:", error, flush=True)
for rank in (0, 1):
    open(f"{reported}/{rank}", "w").close()
os._exit(0)
"""

# MPI is initialized with a lower thread level.
FEW_THREADS = """
import sys
import mpi4py
mpi4py.rc.thread_level = sys.argv[2]
from mpi4py import MPI
import numpy as np
import plait
from plait import distant

comm = MPI.COMM_WORLD
assert MPI.Query_thread() < MPI.THREAD_MULTIPLE
layout = plait.Layout((6, 4), "(cyclic, *)", grid=(comm.size,))
local = np.full(layout.local_shape(comm.rank), comm.rank, "f8")
for url in (f"distant:a?folder={sys.argv[1]}&striped=true", f"distant:b?folder={sys.argv[1]}"):
    with plait.open(url, "w", comm=comm, shape=(6, 4), dtype="f8") as file:
        file.write(local, layout)
    with plait.open(url, comm=comm) as file:
        assert (file.read(layout) == comm.rank).all()
with distant.open(f"{sys.argv[1]}/disk-{comm.rank}", "w", comm=comm, temporary=True) as file:
    file.write(0, local, 1 - comm.rank)
    comm.Barrier()
    assert (file.read(0, np.empty(12), comm.rank) == 1 - comm.rank).all()
print(f"done {comm.rank}", flush=True)
"""

# The shell outlives its program, so that the launcher does not kill the other ranks before they detect the loss.
OUTLIVE = [
    "sh",
    "-c",
    'reported=$1; shift; "$@"; n=0; until [ -e "$reported/0" ] && [ -e "$reported/1" ] || [ $n -gt 200 ]; '
    "do sleep 0.1; n=$((n + 1)); done",
    "sh",
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ending", ["killed", "killed beside a child", "left"])
def test_a_lost_rank_is_an_error_on_the_others(tmp_path, ending):
    output = run(JOB, tmp_path, ending)
    for rank in (0, 1):
        assert f"again {rank}: rank 2 has ended or left" in output
        assert "rank 2 has ended or left" in find_error(rank, output)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ending", ["killed", "left"])
def test_a_lost_part_of_a_shared_file_is_an_error(tmp_path, ending):
    output = run(SHARED_JOB, tmp_path, ending)
    for rank in (0, 1):
        assert f"again {rank}: rank 2 has ended or left" in output
        assert "rank 2 has ended or left" in find_error(rank, output)
        assert f"of the shared file {tmp_path}/data)" in find_error(rank, output)
    assert not any(tmp_path.iterdir())  # no rank closed the file, so that it got no name


def run(job, folder, ending):
    """Return the output of three ranks, each on a separate node, the last of which ends."""
    environment = {**os.environ, **WELCOME}
    reported = folder.with_name(f"{folder.name}-reported")
    reported.mkdir()
    command = [MPIEXEC, "-n", "3", *OUTLIVE, reported, sys.executable, "-c", HEAD + job, folder, ending, reported]
    result = subprocess.run(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
        env={**environment, "PLAIT_NODE_SIZE": "1"},
    )
    return result.stdout


def find_error(rank, output):
    """Return the only error line of a rank, and check that the error came within 15 s."""
    lines = [line for line in output.splitlines() if line.startswith(f"reported {rank} after ")]
    assert len(lines) == 1, output
    assert float(lines[0].split()[3]) < 15
    return lines[0]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("node", ["", "1"], ids=["one node", "nodes of 1"])
def test_only_ranks_of_its_node_reach_the_found_file_of_a_killed_rank(tmp_path, node):
    reported = tmp_path / "reported"
    reported.mkdir()
    result = subprocess.run(
        [MPIEXEC, "-n", "2", *OUTLIVE, reported, sys.executable, "-c", FOUND_JOB, tmp_path, reported],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **WELCOME, "PLAIT_NODE_SIZE": node},
    )
    expected = "failed: rank 1 has ended or left" if node else "read 12345"
    assert expected in result.stdout


@pytest.mark.sampled(1)
@pytest.mark.parametrize("level", ["single", "funneled", "serialized"])
@pytest.mark.parametrize("node", ["", "1"], ids=["one node", "nodes of 1"])
def test_every_thread_level_of_mpi_suffices(tmp_path, level, node):
    result = subprocess.run(
        [MPIEXEC, "-n", "2", sys.executable, "-c", FEW_THREADS, str(tmp_path), level],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, **WELCOME, "PLAIT_NODE_SIZE": node},
    )
    assert result.returncode == 0, result.stdout
    assert sorted(result.stdout.split("\n")) == ["", "done 0", "done 1"]
