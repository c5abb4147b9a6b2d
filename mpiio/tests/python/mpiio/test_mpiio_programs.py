"""Programs of MPI-IO that are run with Plait, unchanged."""

import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
from mpiio_programs import PROGRAMS, accesses, needs_mpi, run, run_python

pytestmark = needs_mpi


@pytest.fixture(scope="module")
def darray_program(tmp_path_factory):
    """The C program darray.c."""
    program = tmp_path_factory.mktemp("program") / "darray"
    command = [shutil.which("mpicc"), "-O1", "-Wall", "-Werror", PROGRAMS / "darray.c", "-o", program]
    subprocess.run(command, check=True)
    return program


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_a_program_in_c(ranks, darray_program, tmp_path):
    run(ranks, darray_program, tmp_path / "without", 50, plait=None)
    done = run(ranks, darray_program, tmp_path / "with", 50, plait="explain,always")
    assert accesses(done.stderr) == (1, 1)
    content = np.fromfile(tmp_path / "with", np.uint8)
    assert len(content) == 64 + 8 * 50 * 50
    assert np.array_equal(content[64:], np.fromfile(tmp_path / "without", np.uint8)[64:])


@pytest.mark.parametrize("mode", ["off", "off,explain", "explain,off"])
def test_off_leaves_everything_to_the_mpi(mode, darray_program, tmp_path):
    done = run(2, darray_program, tmp_path / "file", 10, plait=mode)
    assert done.stderr == ""


def test_an_unknown_mode_counts_as_on(darray_program, tmp_path):
    done = run(1, darray_program, tmp_path / "file", 10, plait="fast")
    assert 'PLAIT_MPIIO contains "fast"; expected off, on, always, explain or strict' in done.stderr


@pytest.mark.parametrize("mode", [None, "on", "always"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_errors_reach_the_handler_of_the_file(mode, ranks, tmp_path):
    done = run_python(ranks, "errors.py", tmp_path, plait=mode)
    lines = re.findall(r"(full|space|full-lists|space-lists|read-only|replaced) (True|False)", done.stdout)
    # Without Plait, an MPI may report a full disk on some ranks only.
    expected = {("read-only", "True"), ("replaced", "True")} | ({("full", "True")} if mode else set())
    if mode == "always":
        expected |= {("space", "True"), ("full-lists", "True"), ("space-lists", "True")}
        assert not {("space", "False"), ("full-lists", "False"), ("space-lists", "False")} & set(lines)
    assert set(lines) >= expected
    assert len(lines) == 6 * ranks


@pytest.mark.parametrize("dtype", ["f8", "c16", "S3", "S24", "S7"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_local_arrays_with_ghost_cells(order, dtype, tmp_path):
    for ranks in (1, 4, 6):
        done = run_python(ranks, "ghosts.py", tmp_path / f"file{ranks}", order, dtype, plait="explain,always")
        assert accesses(done.stderr) == (1, 1), done.stderr


# A write of an array, and a read past the end of the file, which Plait leaves to the MPI.
PAST_THE_END = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
part = MPI.INT.Create_subarray([8, 6], [8 // comm.size, 6], [8 // comm.size * comm.rank, 0]).Commit()
file = MPI.File.Open(comm, "file", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(0, MPI.INT, part)
file.Write_all(np.ones(48 // comm.size, "i4"))
try:
    file.Read_at_all(48, np.zeros(1, "i4"))
except MPI.Exception as error:
    print("class", error.Get_error_class() == MPI.ERR_UNSUPPORTED_OPERATION)
file.Close()
"""


def test_explain_states_what_was_done_and_why_not_the_rest(tmp_path):
    command = [sys.executable, "-c", PAST_THE_END]
    done = run(2, "env", "-C", tmp_path, *command, plait="explain,always")
    assert done.stderr == (
        f"plait mpiio: {tmp_path}/file: Plait has carried out 1 write of 192 bytes and 0 reads of 0 bytes, the last "
        "one of 8x6 (block, *) onto (2); the MPI has carried out 1 collective access, because the file ends before "
        "the access does\n"
    )
    assert done.stdout == ""


def test_strict_makes_other_accesses_errors(tmp_path):
    done = run(2, "env", "-C", tmp_path, sys.executable, "-c", PAST_THE_END, plait="strict")
    assert done.stdout.split() == ["class", "True"] * 2
    assert "a collective read belongs to the MPI, because the file ends before the access does" in done.stderr


def test_a_rank_without_the_library_leaves_all_accesses_to_the_mpi(darray_program, tmp_path):
    """The preloaded library is alone in its folder on one of the hosts, that is in the environment of one rank."""
    from plait.cli.mpiio import find_library

    alone = tmp_path / "alone"
    alone.mkdir()
    shutil.copy(find_library(None), alone / "libplait_mpiio.so")
    script = 'if [ "$PMI_RANK$PMIX_RANK" = 1 ]; then export LD_PRELOAD=$0; fi; exec "$@"'
    command = ["sh", "-c", script, alone / "libplait_mpiio.so", darray_program, tmp_path / "file", 20]
    done = run(3, *command, plait="explain,always")
    assert "the MPI carries out all accesses, because Plait cannot be loaded" in done.stderr
    assert "the MPI has carried out 2 collective accesses, because some ranks cannot load Plait" in done.stderr


@pytest.mark.parametrize("other", ["on", "off", "off,explain"])
def test_ranks_with_other_settings_leave_all_accesses_to_the_mpi(other, darray_program, tmp_path):
    script = f'if [ "$PMI_RANK$PMIX_RANK" = 1 ]; then export PLAIT_MPIIO={other}; fi; exec "$@"'
    done = run(3, "sh", "-c", script, "sh", darray_program, tmp_path / "file", 20, plait="explain,always")
    assert "MPI has carried out 2 collective accesses, because some ranks cannot load Plait, or have" in done.stderr


def test_strict_is_no_error_if_other_ranks_call_the_mpi(darray_program, tmp_path):
    script = 'if [ "$PMI_RANK$PMIX_RANK" = 1 ]; then export PLAIT_MPIIO=off; fi; exec "$@"'
    done = run(3, "sh", "-c", script, "sh", darray_program, tmp_path / "file", 20, plait="strict")
    assert "all accesses belong to the MPI, because some ranks cannot load Plait" in done.stderr


def test_opening_neither_changes_nor_calls_the_error_handler_of_the_program(tmp_path):
    done = run_python(2, "opening.py", tmp_path, plait="explain,always")
    assert done.stdout.split() == ["opened"] * 2
    assert f"{tmp_path}/file: the MPI carries out all accesses, because the file is in sequential mode" in done.stderr


def test_a_split_access_that_fails_to_begin_leaves_later_ones_to_plait(tmp_path):
    done = run_python(2, "failed_begin.py", tmp_path / "file", plait="explain,always")
    assert accesses(done.stderr) == (0, 1)


@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_calls_that_depend_on_views_have_the_same_results(ranks, tmp_path):
    logs = {}
    for mode in (None, "explain,always"):
        folder = tmp_path / str(mode)
        folder.mkdir()
        done = run_python(ranks, "held_views.py", folder, plait=mode)
        logs[mode] = [(folder / f"log.{rank}").read_text() for rank in range(ranks)]
    assert logs["explain,always"] == logs[None]
    assert accesses(done.stderr)[0] >= 5


# The writes of the cases freed() and, with several threads, threads() of communicators.py.
@pytest.mark.parametrize(("threads", "writes"), [("multiple", 2 + 2 + 5 + 5), ("serialized", 2 + 2)])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_files_outlive_their_communicators(ranks, threads, writes, tmp_path):
    done = run_python(ranks, "communicators.py", tmp_path, threads, plait="explain,always")
    assert accesses(done.stderr) == (writes, 0)


@pytest.mark.parametrize("mode", ["on", "always", "strict"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_ranks_may_have_no_elements_of_a_darray(ranks, mode, tmp_path):
    done = run_python(ranks, "empty_parts.py", tmp_path / "file", plait=f"explain,{mode}", timeout=60)
    assert mode == "on" or accesses(done.stderr) == (5, 5)


@pytest.mark.parametrize("ranks", [1, 2])
def test_threads_use_held_views_at_once(ranks, tmp_path):
    done = run_python(ranks, "threads.py", tmp_path / "file", plait="explain,always", timeout=120)
    assert accesses(done.stderr)[0] == 20


@pytest.mark.long
@pytest.mark.parametrize("threads", ["multiple", "serialized"])
def test_more_files_may_be_opened_than_there_are_tags(threads, tmp_path):
    done = run_python(2, "many_opens.py", tmp_path, threads, plait="explain,always", timeout=300)
    assert accesses(done.stderr) == (2, 2)


# A write by the shared file pointer, which MPI allows only if all ranks have the same view.
SHARED = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
part = MPI.INT.Create_subarray([8, 6], [8, 6 // comm.size], [0, 6 // comm.size * comm.rank]).Commit()
file = MPI.File.Open(comm, "file", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(0, MPI.INT, part)
try:
    file.Write_shared(np.ones(1, "i4"))
except MPI.Exception as error:
    print("class", error.Get_error_class() == MPI.ERR_UNSUPPORTED_OPERATION)
file.Write_all(np.ones(48 // comm.size, "i4"))
file.Close()
"""


def test_a_shared_pointer_of_different_views_is_an_error(tmp_path):
    done = run(2, "env", "-C", tmp_path, sys.executable, "-c", SHARED, plait="explain,always")
    assert done.stdout.split() == ["class", "True"] * 2
    assert "uses the shared file pointer, but the views of the ranks differ" in done.stderr
    assert (np.fromfile(tmp_path / "file", "i4") == 1).all()


# Each rank has some columns of a matrix, by one of the types that blocks at regular distances can have. In the case
# "cyclic" the ranks have different numbers of rows.
STRIDED = """
import sys
import numpy as np
from mpi4py import MPI
comm, how = MPI.COMM_WORLD, sys.argv[1]
rows, width = 5 + comm.rank % 2 * (how == "cyclic"), 3
row = width * comm.size
part = {
    "columns": lambda: MPI.INT.Create_vector(rows, width, row),
    "bytes": lambda: MPI.INT.Create_hvector(rows, width, row * 4),
    "list": lambda: MPI.INT.Create_indexed_block(width, [row * i for i in range(rows)]),
    "lists": lambda: MPI.INT.Create_hindexed([width] * rows, [4 * (row * i + width * comm.rank) for i in range(rows)]),
    "block": lambda: MPI.INT.Create_contiguous(width).Create_resized(0, row * 4),
    "cyclic": lambda: MPI.INT.Create_vector(rows, width, row),
}[how]().Commit()
file = MPI.File.Open(comm, "file", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(8 + (how != "lists") * 4 * width * comm.rank, MPI.INT, part)
own = comm.rank * 100 + np.arange(rows * width, dtype="i4")
file.Write_all(own)
found = np.zeros_like(own)
file.Read_at_all(0, found)
assert (found == own).all()
file.Close()
"""


@pytest.mark.parametrize("how", ["columns", "bytes", "list", "lists", "block"])
def test_blocks_at_regular_distances_form_arrays(how, tmp_path):
    for ranks in (2, 3, 4):
        done = run(ranks, "env", "-C", tmp_path, sys.executable, "-c", STRIDED, how, plait="explain,always")
        assert accesses(done.stderr) == (1, 1), done.stderr
        found = np.fromfile(tmp_path / "file", "i4")[2:].reshape(5, 3 * ranks)
        for rank in range(ranks):
            assert (found[:, 3 * rank : 3 * rank + 3].ravel() == rank * 100 + np.arange(15)).all()
        (tmp_path / "file").unlink()


def test_blocks_that_form_no_grid_are_lists(tmp_path):
    done = run(2, "env", "-C", tmp_path, sys.executable, "-c", STRIDED, "cyclic", plait="explain,always")
    assert accesses(done.stderr) == (1, 1)
    assert "the last one of irregular lists" in done.stderr


# A write from memory without access rights.
UNREADABLE = """
import ctypes
import mmap
from mpi4py import MPI
comm = MPI.COMM_WORLD
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
address = libc.mmap(None, ctypes.c_size_t(4096), 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, ctypes.c_long(0))
part = MPI.BYTE.Create_subarray([8, 6], [8, 6 // comm.size], [0, 6 // comm.size * comm.rank]).Commit()
file = MPI.File.Open(comm, "file", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(0, MPI.BYTE, part)
try:
    file.Write_all([MPI.memory.fromaddress(address, 48 // comm.size), MPI.BYTE])
except MPI.Exception as error:
    print("class", error.Get_error_class() == MPI.ERR_UNSUPPORTED_OPERATION)
file.Close()
"""


def test_memory_that_the_host_cannot_read_belongs_to_the_mpi(tmp_path):
    """As the memory of a GPU, for which an MPI may have other ways; the mode strict does not try them."""
    done = run(2, "env", "-C", tmp_path, sys.executable, "-c", UNREADABLE, plait="strict")
    assert done.stdout.split() == ["class", "True"] * 2
    assert "because a memory type is unknown, or the host cannot read the memory" in done.stderr


ACCESSES = """
import sys
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
n, kind, number = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
none, default = MPI.DISTRIBUTE_NONE, MPI.DISTRIBUTE_DFLT_DARG
kinds = {"rows": [MPI.DISTRIBUTE_BLOCK, none], "columns": [none, MPI.DISTRIBUTE_CYCLIC]}[kind]
grid = {"rows": [comm.size, 1], "columns": [1, comm.size]}[kind]
part = MPI.INT.Create_darray(comm.size, comm.rank, [n, n], kinds, [default] * 2, grid, MPI.ORDER_C).Commit()
file = MPI.File.Open(comm, "file", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(0, MPI.INT, part)
for _ in range(number):
    file.Write_at_all(0, np.ones(part.size // 4, "i4"))
file.Close()
"""


@pytest.mark.parametrize(
    ("size", "kind", "number", "writes"),
    [(1000, "rows", 2, 0), (20, "columns", 2, 0), (20, "columns", 100, range(40, 80)), (400, "columns", 2, 2)],
)
def test_accesses_that_the_mpi_carries_out_as_fast_belong_to_it(size, kind, number, writes, tmp_path):
    """Rows are one piece of the file for each rank, and a few columns are not worth opening the file again."""
    command = ["env", "-C", tmp_path, sys.executable, "-c", ACCESSES, size, kind, number]
    found, _ = accesses(run(2, *command, plait="explain").stderr)
    assert found == writes or found in (writes if isinstance(writes, range) else ())
