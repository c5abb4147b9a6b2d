"""Ranks exit, or abandon a file, while the other ranks wait for them: no rank hangs, and all get an error."""

import os
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from launching import WELCOME, launch

import plait

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
pytest.importorskip("plait._mpi", reason="Plait was built without MPI")

MPIEXEC = shutil.which("mpiexec")
MPICC = shutil.which("mpicc")
MPICXX = shutil.which("mpicxx")
LIBRARIES = os.path.dirname(plait.__file__)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
pytestmark = pytest.mark.skipif(MPIEXEC is None, reason="no mpiexec was found")
NODES = pytest.mark.parametrize("node", ["", "1", "2"], ids=["one node", "nodes of 1", "nodes of 2"])


# Rank 1 ends in one of several ways; the other ranks print their error and how long it took.
LEAVING = """
import sys, time
import numpy as np
from mpi4py import MPI
import plait

path, ending = sys.argv[1:]
comm = MPI.COMM_WORLD
with plait.open(path, comm=comm) as file:
    file.read(plait.Layout((6,), "(block)", grid=(comm.size,)))
comm.Barrier()
begin = time.monotonic()
if comm.rank == 1:
    if ending == "error":
        raise KeyError("the reason")
    if ending == "exit":
        sys.exit(3)
    if ending == "started":
        file = plait.open(path, "r+", comm=comm)
        file.iwrite(np.zeros(2), plait.Layout((6,), "(block)", grid=(comm.size,)))
        raise KeyError("the reason")
    sys.exit(0)
try:
    if ending == "started":
        plait.open(path, "r+", comm=comm)
    for _ in range(3):
        with plait.open(path, comm=comm) as file:
            pass
except plait.Error as error:
    print(f"reported after {time.monotonic() - begin:.2f} s: {error}", flush=True)
    raise
"""


@NODES
@pytest.mark.sampled(1)
@pytest.mark.parametrize("ending", ["error", "exit", "end"])
def test_a_rank_that_exits_is_an_error_on_the_others(tmp_path, ending, node):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(6.0))
    job = launch(3, sys.executable, "-c", LEAVING, path, ending, PLAIT_NODE_SIZE=node)
    assert job.returncode != 0, job.stdout
    why = r" \(KeyError: 'the reason'\)" if ending == "error" else ""
    delays = re.findall(
        rf"reported after ([\d.]+) s: rank 1 has left the program{why}; nothing more can be", job.stdout
    )
    assert len(delays) == 2, job.stdout
    assert all(float(seconds) < 30 for seconds in delays)  # much less on an idle machine


def test_pending_operations_of_an_exiting_rank_precede_its_exit(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(6.0))
    job = launch(3, sys.executable, "-c", LEAVING, path, "started")
    assert job.returncode != 0, job.stdout
    assert job.stdout.count("the ranks of a collective call differ") >= 2, job.stdout
    np.testing.assert_array_equal(np.load(path), np.arange(6.0))


def compile_program(source, folder):
    """Compile a program of tests/jobs that uses internals of Plait."""
    if MPICXX is None:
        pytest.skip("no MPI compiler wrapper")
    program = folder / "program"
    command = [MPICXX, "-std=c++20", f"-I{ROOT}/include", f"-I{ROOT}/src", f"{ROOT}/tests/jobs/{source}"]
    command += ["-o", program, f"-L{LIBRARIES}", "-lplait_mpi", "-lplait", f"-Wl,-rpath,{LIBRARIES}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return program


@pytest.fixture(scope="module")
def exchange(tmp_path_factory):
    """Return the program in which a rank leaves the others in the middle of an exchange."""
    return compile_program("leaves_exchange.cpp", tmp_path_factory.mktemp("exchange"))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("node", ["1", "2"], ids=["nodes of 1", "nodes of 2"])
@pytest.mark.parametrize("exchange_kind", ["message", "broadcast"])
def test_a_rank_that_exits_during_an_exchange_is_an_error_on_the_others(exchange, exchange_kind, node):
    job = launch(4, exchange, exchange_kind, "finalize", PLAIT_NODE_SIZE=node)
    assert job.stdout.count("reported: rank 1 has left the program; nothing more can be done together") == 3, job.stdout


@pytest.mark.sampled(1)
@pytest.mark.parametrize("node", ["1", "2"], ids=["nodes of 1", "nodes of 2"])
@pytest.mark.parametrize("exchange_kind", ["message", "broadcast"])
def test_no_rank_waits_for_one_that_exits_during_an_exchange(exchange, exchange_kind, node):
    # Without MPI_Finalize the launcher kills the other ranks, usually before they detect the exit.
    begin = time.monotonic()
    job = launch(4, exchange, exchange_kind, "exit", PLAIT_NODE_SIZE=node)
    assert time.monotonic() - begin < 60, job.stdout
    assert job.returncode != 0, job.stdout
    assert "nothing was reported" not in job.stdout
    for line in job.stdout.splitlines():
        if line.startswith("reported: "):
            assert re.match(r"reported: rank 1 has (left|ended)", line), job.stdout


@pytest.mark.sampled(1)
@pytest.mark.parametrize("exchange_kind", ["message", "broadcast"])
def test_a_rank_without_memory_announces_its_exit(exchange, exchange_kind):
    job = launch(3, exchange, exchange_kind, "starved", PLAIT_NODE_SIZE="1")
    assert job.returncode == 0, job.stdout
    assert job.stdout.count("reported: rank 1 has left the program; nothing more can be done together") == 2, job.stdout


@pytest.mark.long
@pytest.mark.parametrize("node", ["1", "2"], ids=["nodes of 1", "nodes of 2"])
def test_a_rank_that_exits_after_fewer_calls_is_an_error_on_the_others(tmp_path, node):
    # With this algorithm of MPICH, the sender of a broadcast does not wait for other ranks: rank 1 has ended the call.
    algorithm = {"MPIR_CVAR_IBCAST_INTRA_ALGORITHM": "sched_binomial"}
    job = launch(4, compile_program("leaves_later.cpp", tmp_path), PLAIT_NODE_SIZE=node, **algorithm)
    assert job.returncode == 0, job.stdout
    assert job.stdout.count("reported: rank 3 has left the program; nothing more can be done together") >= 2, job.stdout
    assert "nothing was reported" not in job.stdout


@pytest.mark.long
def test_the_target_of_a_pending_message_is_not_freed(tmp_path):
    job = launch(2, compile_program("keeps_memory.cpp", tmp_path), PLAIT_NODE_SIZE="1")
    assert job.returncode == 0, job.stdout
    assert job.stdout.count("reported: ") == 2, job.stdout
    assert "kept" in job.stdout.splitlines(), job.stdout


@pytest.mark.skipif(MPICC is None, reason="no MPI compiler wrapper")
@pytest.mark.sampled(1)
@NODES
def test_a_rank_of_a_c_program_that_ends_is_an_error_on_the_others(tmp_path, node):
    program = tmp_path / "leaves"
    command = [MPICC, "-Wall", "-Werror", f"-I{ROOT}/include", f"{ROOT}/tests/jobs/leaves.c", "-o", program]
    command += [f"-L{LIBRARIES}", "-lplait_mpi", "-lplait", f"-Wl,-rpath,{LIBRARIES}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    job = launch(3, program, tmp_path / "missing.npy", PLAIT_NODE_SIZE=node)
    assert job.returncode == 0, job.stdout
    assert job.stdout.count("reported: rank 1 has left the program; nothing more can be done together") == 2, job.stdout


# Rank 1 is killed while all ranks have temporary files on their disks.
KILLED = """
import os, signal, sys
from mpi4py import MPI
from plait import distant

comm = MPI.COMM_WORLD
with distant.open(f"{sys.argv[1]}/disk-{comm.rank}", "w", comm=comm, temporary=True) as file:
    with distant.offer(f"own {comm.rank}", f"{sys.argv[1]}/own-{comm.rank}", "w", comm=comm, temporary=True) as own:
        comm.Barrier()
        other = (comm.rank + 1) % comm.size
        file.write(0, b"abc", other)
        file.sync(other)
        assert file.read(0, 3, other).tobytes() == b"abc"
        own.write(0, b"abc")
        comm.Barrier()
        if comm.rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        comm.Barrier()
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("node", ["", "1"], ids=["one node", "nodes of 1"])
def test_a_killed_rank_leaves_no_temporary_distant_file(tmp_path, node):
    job = launch(3, sys.executable, "-c", KILLED, tmp_path, PLAIT_NODE_SIZE=node)
    assert job.returncode != 0
    assert "Error" not in job.stdout
    assert list(tmp_path.iterdir()) == []


# A rank leaves a block by an exception while the other rank waits for it in a call of another library.
GIVING_UP = """
import sys
from mpi4py import MPI
import plait
from plait import distant, shared

kind, path, ending = sys.argv[1:]
comm = MPI.COMM_WORLD

def open_file(name):
    if kind == "distant":
        return distant.open(f"{name}-{comm.rank}", "w", comm=comm)
    if kind == "shared":
        return shared.open(name, "w", comm=comm)
    return plait.open(name, "w", comm=comm, shape=(4,), dtype="f8")

try:
    with open_file(path + "1"), open_file(path + "2"):
        if comm.rank == 1:
            raise KeyError("the reason")
        if ending == "caught":
            comm.recv(source=1)
        comm.recv(source=1)
except KeyError:
    if ending == "uncaught":
        raise
    print("left", flush=True)
    comm.send(None, dest=0)
    comm.send(None, dest=0)
except plait.Error as error:
    print("reported:", error, flush=True)
with open_file(path + "3"):
    pass
print("opened", flush=True)
"""


@NODES
@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["array", "distant", "shared"])
def test_a_rank_that_abandons_a_block_does_not_wait(tmp_path, kind, node):
    job = launch(2, sys.executable, "-c", GIVING_UP, kind, tmp_path / "a.npy", "caught", PLAIT_NODE_SIZE=node)
    assert job.returncode == 0, job.stdout
    assert "left" in job.stdout
    assert re.search("reported: .*abandoned", job.stdout), job.stdout
    assert job.stdout.count("opened") == 2, job.stdout


def test_an_error_is_reported_while_the_others_wait_in_mpi(tmp_path):
    job = subprocess.Popen(
        [MPIEXEC, "-n", "2", sys.executable, "-c", GIVING_UP, "array", str(tmp_path / "a.npy"), "uncaught"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **WELCOME},
    )
    try:  # a rank that never gets the error hangs
        assert any("KeyError: 'the reason'" in line for line in job.stderr)
    finally:
        job.terminate()
        job.communicate(timeout=300)
