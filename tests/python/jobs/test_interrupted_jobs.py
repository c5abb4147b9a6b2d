"""Ctrl-C on a rank that waits for the other ranks: the wait ends, and the other ranks get an error."""

import re
import shutil
import sys

import numpy as np
import pytest
from compiling import compile_program
from launching import launch

pytest.importorskip("mpi4py", reason="mpi4py is not installed")
pytest.importorskip("plait._mpi", reason="Plait was built without MPI")

pytestmark = pytest.mark.skipif(shutil.which("mpiexec") is None, reason="no mpiexec was found")
NODES = pytest.mark.parametrize("node", ["", "1", "2"], ids=["one node", "nodes of 1", "nodes of 2"])

# Rank 1 enters the call after rank 0 has been interrupted in it; rank 2 waits there as well.
INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
from mpi4py import MPI
import plait

path, kind, go = sys.argv[1:]
comm = MPI.COMM_WORLD
rows = plait.Layout((6, 6), "(block, *)", grid=(comm.size,))
columns = plait.Layout((6, 6), "(*, block)", grid=(comm.size,))
local = np.zeros(rows.local_shape(comm.rank))
file = plait.open(path, comm=comm)
requests = []

def call():
    if kind == "exchange":
        plait.redistribute(local, rows, columns, comm)
    elif kind == "request":
        requests.append(file.iread(rows))
        requests[-1].wait()
    elif kind == "queue":
        requests.append(file.iread(rows))
        file.read(columns)
    elif kind == "close":
        requests.append(file.iread(rows))
        file.close()
    else:
        plait.open(path, comm=comm).close()

def interrupt():
    global begin
    begin = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

if kind != "close":
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
        print(f"{comm.rank}: no error", flush=True)
    except KeyboardInterrupt:
        print(f"interrupted after {time.monotonic() - begin:.2f} s", flush=True)
        open(go, "w").close()
    except plait.Error as error:
        print(f"{comm.rank}: {error}", flush=True)
    if kind not in ("agreement", "exchange"):
        kind = "agreement"
# All started requests have ended, even those without a wait.
assert all(request.test() for request in requests)
np.ones(1 << 20)
"""


@NODES
@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["agreement", "exchange", "request", "queue", "close"])
def test_an_interrupted_rank_is_an_error_on_the_others(tmp_path, kind, node):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(36.0).reshape(6, 6))
    job = launch(3, sys.executable, "-c", INTERRUPTED, path, kind, tmp_path / "go", PLAIT_NODE_SIZE=node)
    delays = re.findall(r"interrupted after ([\d.]+) s", job.stdout)
    assert len(delays) == 1, job.stdout
    assert float(delays[0]) < 5  # 0.1 s on an idle machine
    # A read that all ranks had started may succeed on the other ranks; then their next call fails.
    interrupted = "rank 0 was interrupted in a collective call; nothing more can be done"
    other = {"request": "no error", "close": "no error", "queue": "an earlier collective call failed"}
    for rank in range(3):
        *before, last = re.findall(rf"^{rank}: (.*)$", job.stdout, re.MULTILINE)
        assert len(before) == (rank != 0), job.stdout
        assert interrupted in last, job.stdout
        assert all(interrupted in text or other.get(kind, interrupted) in text for text in before), job.stdout
    assert job.returncode == 0, job.stdout


# MPI calls that block, once armed, on the rank that PLAIT_LATE or PLAIT_SLOW names, until PLAIT_GO exists.
BLOCKING_MPI = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* MPI's library, which may have been loaded where RTLD_NEXT does not look. */
static int open_mpi(struct dl_phdr_info *info, size_t size, void *found) {
  (void)size;
  if (strstr(info->dlpi_name, "libmpi") == NULL) return 0;
  *(void **)found = dlopen(info->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
  return dlsym(*(void **)found, "PMPI_Ibarrier") != NULL;
}

static void *real(const char *name) {
  void *library = NULL;
  dl_iterate_phdr(open_mpi, &library);
  return dlsym(library, name);
}

static void wait_for_go(const char *variable) {
  const char *blocked_rank = getenv(variable);
  const char *rank = getenv("PMI_RANK") != NULL ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
  const char *armed = getenv("PLAIT_ARMED");
  if (blocked_rank == NULL || rank == NULL || blocked_rank[0] != rank[0] || access(armed, F_OK) != 0) return;
  while (access(getenv("PLAIT_GO"), F_OK) != 0) usleep(10000);
}

int MPI_Ibarrier(long comm, void *request) {
  wait_for_go("PLAIT_LATE");
  return ((int (*)(long, void *))real("PMPI_Ibarrier"))(comm, request);
}

int MPI_Win_flush(long rank, long window) {
  wait_for_go("PLAIT_SLOW");
  return ((int (*)(long, long))real("PMPI_Win_flush"))(rank, window);
}
"""

# Rank 0 is interrupted in a call of a stream with a shared position; then both ranks continue.
STREAMS = """
import os, signal, sys, threading, time
import numpy as np
from mpi4py import MPI
import plait

path, kind = sys.argv[1:]
armed, go = os.environ["PLAIT_ARMED"], os.environ["PLAIT_GO"]
comm = MPI.COMM_WORLD
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt():
    global begin
    begin = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

def report(call):
    try:
        print(f"{comm.rank}: {call()}", flush=True)
    except KeyboardInterrupt:
        print(f"interrupted after {time.monotonic() - begin:.2f} s", flush=True)
    except plait.Error as error:
        print(f"{comm.rank}: {error}", flush=True)

def arm():
    comm.Barrier()
    if comm.rank == 0:
        open(armed, "w").close()
        threading.Timer(0.6, interrupt).start()
    comm.Barrier()

file = plait.open(path, comm=comm)
if kind == "making":
    arm()
    report(lambda: file.stream(1))
    if comm.rank == 0:
        open(go, "w").close()
    report(lambda: file.stream(1))
else:
    stream = file.stream(1)
    arm()
    if comm.rank == 0:
        report(lambda: stream.read(2).tolist())
        open(go, "w").close()
        report(lambda: len(stream.read(2)))
    comm.Barrier()
    report(lambda: len(stream.read(1)))
    stream.close()
    file.close()
"""


def interrupt_call(tmp_path, kind, **environment):
    """Return what the two ranks print: pairs of a rank and a number of elements or an error.

    kind         "making" interrupts rank 0 while a stream is created, "moving" while it reads
    environment  names the rank whose MPI calls block (BLOCKING_MPI)
    """
    path = tmp_path / "a.npy"
    np.save(path, np.arange(60.0))
    source = tmp_path / "blocking_mpi.c"
    source.write_text(BLOCKING_MPI)
    shim = compile_program(tmp_path, source, "-shared", "-fPIC", "-ldl")
    job = launch(
        2,
        sys.executable,
        "-c",
        STREAMS,
        path,
        kind,
        PLAIT_NODE_SIZE="1",
        LD_PRELOAD=str(shim),
        PLAIT_ARMED=str(tmp_path / "armed"),
        PLAIT_GO=str(tmp_path / "go"),
        **environment,
    )
    delays = re.findall(r"interrupted after ([\d.]+) s", job.stdout)
    assert len(delays) == 1, job.stdout
    assert float(delays[0]) < 5  # 0.1 s on an idle machine
    assert job.returncode == 0, job.stdout
    return re.findall(r"(\d): (.*)", job.stdout)


def test_creating_a_shared_position_is_interrupted(tmp_path):
    results = interrupt_call(tmp_path, "making", PLAIT_LATE="1")
    assert sorted(rank for rank, _ in results) == ["0", "1", "1"]
    assert any(rank == "1" and "rank 0 was interrupted in a collective call" in text for rank, text in results), results


def test_moving_a_shared_position_is_interrupted(tmp_path):
    # Rank 0 left its first call, whose elements are skipped; afterwards the ranks continue together.
    assert sorted(interrupt_call(tmp_path, "moving", PLAIT_SLOW="0")) == [("0", "1"), ("0", "2"), ("1", "1")]
