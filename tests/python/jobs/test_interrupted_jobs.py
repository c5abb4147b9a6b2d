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

path, what, go = sys.argv[1:]
comm = MPI.COMM_WORLD
rows = plait.Layout((6, 6), "(block, *)", grid=(comm.size,))
columns = plait.Layout((6, 6), "(*, block)", grid=(comm.size,))
mine = np.zeros(rows.local_shape(comm.rank))
file = plait.open(path, comm=comm)
waited = []

def call():
    if what == "exchange":
        plait.redistribute(mine, rows, columns, comm)
    elif what == "request":
        waited.append(file.iread(rows))
        waited[-1].wait()
    elif what == "queue":
        waited.append(file.iread(rows))
        file.read(columns)
    elif what == "close":
        waited.append(file.iread(rows))
        file.close()
    else:
        plait.open(path, comm=comm).close()

def interrupt():
    global begin
    begin = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

if what != "close":
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
    if what not in ("agreement", "exchange"):
        what = "agreement"
# All started requests have ended, even those without a wait.
assert all(request.test() for request in waited)
np.ones(1 << 20)
"""


@NODES
@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", ["agreement", "exchange", "request", "queue", "close"])
def test_an_interrupted_rank_is_an_error_on_the_others(tmp_path, what, node):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(36.0).reshape(6, 6))
    job = launch(3, sys.executable, "-c", INTERRUPTED, path, what, tmp_path / "go", PLAIT_NODE_SIZE=node)
    after = re.findall(r"interrupted after ([\d.]+) s", job.stdout)
    assert len(after) == 1, job.stdout
    assert float(after[0]) < 5  # 0.1 s on an idle machine
    # A read that all ranks had started may succeed on the other ranks; then their next call fails.
    interrupted = "rank 0 was interrupted in a collective call; nothing more can be done"
    other = {"request": "no error", "close": "no error", "queue": "an earlier collective call failed"}
    for rank in range(3):
        *before, last = re.findall(rf"^{rank}: (.*)$", job.stdout, re.MULTILINE)
        assert len(before) == (rank != 0), job.stdout
        assert interrupted in last, job.stdout
        assert all(interrupted in text or other.get(what, interrupted) in text for text in before), job.stdout
    assert job.returncode == 0, job.stdout


# MPI calls that block, once armed, on the rank that PLAIT_LATE or PLAIT_SLOW names, until PLAIT_GO exists.
LASTING = """
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
  const char *where = getenv(variable);
  const char *rank = getenv("PMI_RANK") != NULL ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
  const char *armed = getenv("PLAIT_ARMED");
  if (where == NULL || rank == NULL || where[0] != rank[0] || access(armed, F_OK) != 0) return;
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

COUNTING = """
import os, signal, sys, threading, time
import numpy as np
from mpi4py import MPI
import plait

path, what = sys.argv[1:]
armed, go = os.environ["PLAIT_ARMED"], os.environ["PLAIT_GO"]
comm = MPI.COMM_WORLD
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt():
    global begin
    begin = time.monotonic()
    os.kill(os.getpid(), signal.SIGINT)

def tried(call):
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
if what == "making":
    arm()
    tried(lambda: file.stream(1))
    if comm.rank == 0:
        open(go, "w").close()
    tried(lambda: file.stream(1))
else:
    stream = file.stream(1)
    arm()
    if comm.rank == 0:
        tried(lambda: stream.read(2).tolist())
        open(go, "w").close()
        tried(lambda: len(stream.read(2)))
    comm.Barrier()
    tried(lambda: len(stream.read(1)))
    stream.close()
    file.close()
"""


def count(tmp_path, what, **environment):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(60.0))
    source = tmp_path / "lasting.c"
    source.write_text(LASTING)
    shim = compile_program(tmp_path, source, "-shared", "-fPIC", "-ldl")
    job = launch(
        2,
        sys.executable,
        "-c",
        COUNTING,
        path,
        what,
        PLAIT_NODE_SIZE="1",
        LD_PRELOAD=str(shim),
        PLAIT_ARMED=str(tmp_path / "armed"),
        PLAIT_GO=str(tmp_path / "go"),
        **environment,
    )
    after = re.findall(r"interrupted after ([\d.]+) s", job.stdout)
    assert len(after) == 1, job.stdout
    assert float(after[0]) < 5  # 0.1 s on an idle machine
    assert job.returncode == 0, job.stdout
    return re.findall(r"(\d): (.*)", job.stdout)


def test_creating_a_shared_position_is_interrupted(tmp_path):
    counts = count(tmp_path, "making", PLAIT_LATE="1")
    assert sorted(rank for rank, _ in counts) == ["0", "1", "1"]
    assert any(rank == "1" and "rank 0 was interrupted in a collective call" in text for rank, text in counts), counts


def test_moving_a_shared_position_is_interrupted(tmp_path):
    # Rank 0 left its first call, whose elements are skipped; afterwards the ranks continue together.
    assert sorted(count(tmp_path, "moving", PLAIT_SLOW="0")) == [("0", "1"), ("0", "2"), ("1", "1")]
