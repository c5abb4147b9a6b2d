"""Jobs that lose a process: the old file stays, no rank hangs, and no files remain."""

import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from launching import WELCOME

import plait

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
pytest.importorskip("plait._mpi", reason="Plait was built without MPI")

MPIEXEC = shutil.which("mpiexec")
pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="no mpiexec was found")

# A rank kills itself while the other ranks write; the survivors print their error and exit.
JOB = """
import os, signal, sys, threading
import numpy as np
from mpi4py import MPI
import plait

path, victim, moment = sys.argv[1], int(sys.argv[2]), sys.argv[3]
comm = MPI.COMM_WORLD
layout = plait.Layout((64, 48), "(*, cyclic)", grid=(comm.size,))
local = np.ones(layout.local_shape(comm.rank))

def die():
    if comm.rank == victim:
        os.kill(os.getpid(), signal.SIGKILL)

try:
    with plait.open(path, "w", comm=comm, shape=(64, 48), dtype="f8", strategy="two-phase", memory=4096) as file:
        file.write(local, layout)
        if moment == "write":
            die()
        if moment == "middle":
            threading.Timer(0.1, die).start()
            while True:
                file.write(local, layout)
        file.write(local, layout)
        if moment == "close":
            die()
except plait.Error as error:
    print(f"reported {comm.rank}: {type(error).__name__}: {error}", flush=True)
    os._exit(7)
os._exit(0)
"""


# A rank is killed while all ranks exchange messages between nodes; the other rank of its node makes no call afterwards.
EXCHANGING = """
import os, signal, threading, time
import numpy as np
from mpi4py import MPI
import plait

comm = MPI.COMM_WORLD
before, after = (plait.Layout((3000, 1500), text, grid=(comm.size,)) for text in ("(*, cyclic)", "(cyclic, *)"))
local = np.ones(before.local_shape(comm.rank))
plait.redistribute(local, before, after, comm)
if comm.rank == 3:
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGKILL)).start()
try:
    while True:
        plait.redistribute(local, before, after, comm)
except plait.Error as error:
    print(f"reported {comm.rank}: {error}", flush=True)
end = time.monotonic() + 3
while time.monotonic() < end:
    comm.Iprobe()
    time.sleep(0.01)
os._exit(7)
"""


# The shell outlives its program, so that the launcher does not kill the other ranks before they detect the loss.  The
# shell of a killed rank runs until the exit status of a survivor makes the launcher kill it.
OUTLIVE = ["sh", "-c", '"$@"; status=$?; [ $status != 137 ] || sleep 60; sleep 2; exit $status', "sh"]


def run_job(path, ranks, victim, moment, shell=()):
    """Run the job, and return its exit status, its output and the seconds it took.

    moment  when the victim is killed: "write", "middle" or "close"
    shell   OUTLIVE or nothing, the command that starts each rank
    """
    environment = {**os.environ, **WELCOME}
    begin = time.monotonic()
    process = subprocess.Popen(
        [MPIEXEC, "-n", str(ranks), *shell, sys.executable, "-c", JOB, str(path), str(victim), moment],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        env=environment,
    )
    try:
        output, _ = process.communicate(timeout=300)
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
        pytest.fail(f"the job hangs; its output:\n{output}")
    return process.returncode, output, time.monotonic() - begin


def check_files_and_leftovers(path):
    """Check that the old file exists, and that the next writer removes the leftovers of the dead processes."""
    np.testing.assert_array_equal(np.load(path), [1, 2, 3])
    with plait.open(path, "w", shape=(2,), dtype="f8") as file:
        file.write(np.array([4.0, 5.0]))
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    np.testing.assert_array_equal(np.load(path), [4, 5])


def list_shared_memory(prefix):
    """Return the names of files of shared memory with this prefix."""
    folder = Path("/dev/shm")
    return {path.name for path in folder.iterdir() if path.name.startswith(prefix)} if folder.is_dir() else set()


def read_all_memory_maps():
    """Return the memory maps of all processes."""
    maps = []
    for process in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):
            maps.append(process.read_text(errors="replace"))
    return "\n".join(maps)


@pytest.fixture(autouse=True)
def _shared_memory_of_killed_jobs():
    """Check that no shared memory of Plait remains, and remove that of the MPI library, which stays after kills."""
    plait_names, mpich_names = list_shared_memory("plait-"), list_shared_memory("mpich_shm_")
    yield
    limit = time.monotonic() + 60
    remaining = list_shared_memory("plait-") - plait_names
    while remaining:
        assert time.monotonic() < limit, remaining
        time.sleep(0.1)
        remaining &= list_shared_memory("plait-")  # other jobs here have such names only briefly
    for name in list_shared_memory("mpich_shm_") - mpich_names:
        path = Path("/dev/shm", name)
        with suppress(OSError):
            is_old = time.time() - path.stat().st_mtime > 5  # another job may be about to map a newer file
            if is_old and name not in read_all_memory_maps():
                path.unlink(missing_ok=True)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("victim", [0, 2])
@pytest.mark.parametrize("moment", ["write", "middle", "close"])
def test_a_killed_rank_leaves_the_old_file(tmp_path, victim, moment):
    path = tmp_path / "a.npy"
    np.save(path, np.array([1, 2, 3]))
    status, output, seconds = run_job(path, 3, victim, moment)
    assert status != 0, output
    assert seconds < 120
    check_files_and_leftovers(path)


@pytest.mark.long
@pytest.mark.parametrize("_", range(3))
def test_other_nodes_report_the_killed_rank(_):
    result = subprocess.run(
        [MPIEXEC, "-n", "4", *OUTLIVE, sys.executable, "-c", EXCHANGING],
        env={**os.environ, **WELCOME, "PLAIT_NODE_SIZE": "2"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    reporting = re.findall(r"reported (\d): rank 3 has ended during a collective call; nothing more", result.stdout)
    assert sorted(reporting) == ["0", "1", "2"], result


@pytest.mark.sampled(1)
@pytest.mark.parametrize("victim", [0, 2])
@pytest.mark.parametrize("moment", ["write", "middle", "close"])
def test_survivors_report_the_killed_rank(tmp_path, victim, moment):
    path = tmp_path / "a.npy"
    np.save(path, np.array([1, 2, 3]))
    _, output, seconds = run_job(path, 3, victim, moment, OUTLIVE)
    reports = re.findall(
        r"reported (\d): StoreError: rank (\d) has ended during a collective call; nothing more", output
    )
    survivors = [str(rank) for rank in range(3) if rank != victim]
    assert sorted(rank for rank, _ in reports) == survivors, output
    # A late survivor may report another rank, which got its error and exited earlier.
    ended = [named_rank for _, named_rank in reports]
    assert str(victim) in ended, output
    assert set(ended) <= {str(victim), *survivors}, output
    assert all(rank != named_rank for rank, named_rank in reports), output
    assert seconds < 120
    check_files_and_leftovers(path)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("victim", [0, 2])
@pytest.mark.parametrize("moment", ["middle", "close"])
def test_a_killed_rank_leaves_the_old_striped_file(tmp_path, victim, moment):
    disks = [tmp_path / "disk0", tmp_path / "disk1"]
    for disk in disks:
        disk.mkdir()
    name = f"stripe:{tmp_path / 'a'}?disks={disks[0]},{disks[1]}&unit=1000"
    with plait.open(name, "w", shape=(3,), dtype="f8") as file:
        file.write(np.array([1.0, 2.0, 3.0]))
    before = {entry.name for disk in disks for entry in disk.iterdir()}
    status, output, seconds = run_job(name, 3, victim, moment)
    assert status != 0, output
    assert seconds < 120
    with plait.open(name, shape=(3,), dtype="f8") as file:
        assert file.read().tolist() == [1, 2, 3]
    # The next writer, even if it discards its file, removes the leftovers of the dead processes.
    with pytest.raises(KeyError), plait.open(name, "w", shape=(3,), dtype="f8"):
        raise KeyError("stop")
    assert {entry.name for disk in disks for entry in disk.iterdir()} == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["a", "disk0", "disk1"]


POSITIONS = """
import sys
import mpi4py
mpi4py.rc.thread_level = sys.argv[2]
from mpi4py import MPI
import plait

comm = MPI.COMM_WORLD
with plait.open(sys.argv[1], comm=comm) as file:
    try:
        print("read", file.stream(1).read(1).size, flush=True)
    except plait.ArgumentError as error:
        print(error, flush=True)
    assert file.stream(2).read(1) == [comm.rank]
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("level", ["single", "serialized", "multiple"])
def test_shared_positions_between_nodes_need_threads(tmp_path, level):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(3))
    environment = {**os.environ, **WELCOME}
    job = subprocess.run(
        [MPIEXEC, "-n", "2", sys.executable, "-c", POSITIONS, str(path), level],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        env={**environment, "PLAIT_NODE_SIZE": "1"},
        timeout=300,
        check=False,
    )
    assert job.returncode == 0, job.stdout
    assert job.stdout.count("read 1" if level == "multiple" else "needs MPI_THREAD_MULTIPLE") == 2, job.stdout
