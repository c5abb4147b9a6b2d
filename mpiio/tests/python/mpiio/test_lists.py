"""Accesses by lists of runs, and memory types that are lists, in programs that are run with Plait."""

import sys

import pytest
from mpiio_programs import accesses, needs_mpi, run, run_python

pytestmark = needs_mpi


@pytest.mark.parametrize("case", ["dense", "holes", "large", "sparse", "idle", "nothing"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4, 6])
def test_lists_of_runs(ranks, case, tmp_path):
    done = run_python(ranks, "lists.py", case, tmp_path / "file", plait="explain,always")
    assert accesses(done.stderr) == (1, 1), done.stderr
    assert "the last one of irregular lists" in done.stderr


# Memory types in blocks and in records, of 48 integers each, as many as the part of a rank in the file.
MEMORY = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
part = MPI.INT.Create_subarray([8, 6 * comm.size], [8, 6], [0, 6 * comm.rank]).Commit()
blocks = MPI.INT.Create_hindexed([3, 5, 20, 20], [400, 0, 100, 180]).Commit()
record = MPI.Datatype.Create_struct([1, 2], [4, 12], [MPI.INT, MPI.INT]).Create_resized(0, 20).Commit()
in_blocks = np.r_[100:103, 0:5, 25:65]
in_records = (np.arange(16)[:, None] * 5 + [1, 3, 4]).ravel()
file = MPI.File.Open(comm, "file", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(0, MPI.INT, part)
own = np.arange(200, dtype="i4") + 1000 * comm.rank
for memory, count, at in ((blocks, 1, in_blocks), (record, 16, in_records)):
    file.Write_at_all(0, [own, count, memory])
    found = np.full(200, -1, "i4")
    file.Read_at_all(0, [found, count, memory])
    expected = np.full(200, -1, "i4")
    expected[at] = own[at]
    assert (found == expected).all()
    dense = np.zeros(48, "i4")
    file.Read_at_all(0, dense)
    assert (dense == own[at]).all()
file.Close()
"""


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_memory_types_may_be_lists_and_structures(ranks, tmp_path):
    done = run(ranks, "env", "-C", tmp_path, sys.executable, "-c", MEMORY, plait="explain,always")
    assert accesses(done.stderr) == (2, 4), done.stderr


# Local arrays of 72 MB with holes, above the 64 MiB that Plait copies at most.
LARGE = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
rows, width = 100, 90_000
part = MPI.DOUBLE.Create_subarray([rows, width * comm.size], [rows, width], [0, width * comm.rank]).Commit()
memory = MPI.DOUBLE.Create_vector(rows * width // 2, 2, 3).Commit()
own = np.arange(rows * width // 2 * 3, dtype=np.float64) + comm.rank
file = MPI.File.Open(comm, "file", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(0, MPI.DOUBLE, part)
file.Write_at_all(0, [own, 1, memory])
found = np.zeros(rows * width)
file.Read_at_all(0, found)
assert (found == own.reshape(-1, 3)[:, :2].ravel()).all()
file.Close()
"""


def test_local_arrays_with_holes_that_are_too_large_to_copy_are_lists(tmp_path):
    done = run(2, "env", "-C", tmp_path, sys.executable, "-c", LARGE, plait="explain,always")
    assert accesses(done.stderr) == (1, 1), done.stderr


# Writes of one or several filetypes, each with so many pieces of so many bytes.
PIECES = """
import sys
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
pieces, length, filetypes, number = map(int, sys.argv[1:])
at = np.arange(pieces)
starts = ((at + at // 5) * comm.size + comm.rank) * length
part = MPI.BYTE.Create_hindexed_block(length, starts.tolist())
part = part.Create_resized(0, 2 * pieces * comm.size * length).Commit()
file = MPI.File.Open(comm, "file", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(0, MPI.BYTE, part)
for _ in range(number):
    file.Write_at_all(0, np.ones(pieces * length * filetypes, "u1"))
file.Close()
"""


@pytest.mark.parametrize(
    ("pieces", "length", "filetypes", "number", "writes"),
    [(20_000, 8, 1, 2, {2}), (10, 8, 1, 50, {0}), (20, 8, 1000, 2, {2}), (20_000, 4096, 1, 1, {0})],
)
def test_lists_that_the_mpi_carries_out_as_fast_belong_to_it(pieces, length, filetypes, number, writes, tmp_path):
    """Few pieces take less time than the messages about them, and large ones as much as with the MPI."""
    command = ["env", "-C", tmp_path, sys.executable, "-c", PIECES, pieces, length, filetypes, number]
    found, _ = accesses(run(2, *command, plait="explain").stderr)
    assert found in writes


INVALID = """
from mpi4py import MPI
comm = MPI.COMM_WORLD
file = MPI.File.Open(comm, "file", MPI.MODE_CREATE | MPI.MODE_RDWR)
for offsets in ([0, 8, 1 + comm.rank], [1, 0, 8 + comm.rank]):
    try:
        file.Set_view(0, MPI.INT, MPI.INT.Create_indexed([2, 2, 2], offsets).Commit())
        print("accepted")
    except MPI.Exception:
        print("rejected")
file.Close()
"""


def test_lists_that_the_mpi_rejects_are_errors_at_once(tmp_path):
    printed = [
        run(2, "env", "-C", tmp_path, sys.executable, "-c", INVALID, plait=mode).stdout for mode in (None, "always")
    ]
    assert sorted(printed[0].split()) == sorted(printed[1].split())


TWO_HANDLES = """
import numpy as np
from mpi4py import MPI
number, half = MPI.COMM_WORLD.rank, MPI.COMM_WORLD.size // 2
comm = MPI.COMM_WORLD.Split(number % 2)
owners = np.random.default_rng(7).integers(0, half + 1, 4000)
starts = 16 * np.flatnonzero(owners == number // 2) + 8 * (number % 2)
part = MPI.BYTE.Create_hindexed([8] * len(starts), [int(start) for start in starts]).Commit()
file = MPI.File.Open(comm, "file", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(0, MPI.BYTE, part)
for step in range(30):
    own = np.arange(len(starts)) + 10_000 * step + number
    MPI.COMM_WORLD.Barrier()
    file.Write_at_all(0, own.view("u1"))
    MPI.COMM_WORLD.Barrier()
    content = np.fromfile("file", "i8")
    assert (content[starts // 8] == own).all()
file.Close()
"""


@pytest.mark.parametrize("ranks", [2, 4])
def test_writes_leave_bytes_between_pieces_to_other_handles(ranks, tmp_path):
    """Two groups of ranks write interleaved pieces of one file at once, each through its own handle."""
    done = run(ranks, "env", "-C", tmp_path, sys.executable, "-c", TWO_HANDLES, plait="explain,always")
    assert done.stderr.count("the last one of irregular lists") == 2, done.stderr


# Each `period`-th access has 20,000 filetypes, the others have one.
PAUSES = """
import sys
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
period, number, rows = map(int, sys.argv[1:])
part = MPI.BYTE.Create_vector(rows, 8, 8 * comm.size).Create_resized(0, 8 * rows * comm.size).Commit()
file = MPI.File.Open(comm, "file", MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Set_view(8 * comm.rank, MPI.BYTE, part)
for turn in range(number):
    filetypes = 20_000 if turn % period == period - 1 else 1
    own = np.random.default_rng([turn, comm.rank]).integers(0, 256, 8 * rows * filetypes, np.uint8)
    file.Write_at_all(0, own)
    found = np.zeros_like(own)
    file.Read_at_all(0, found)
    assert (found == own).all()
    all_parts = comm.gather(own.reshape(-1, 8))
    if comm.rank == 0:
        content = np.fromfile("file", "u1", 8 * rows * filetypes * comm.size).reshape(-1, comm.size, 8)
        assert (content == np.stack(all_parts, 1)).all()
file.Close()
"""


@pytest.mark.parametrize(("period", "rows"), [(2, 1), (3, 1), (2, 3)])
@pytest.mark.parametrize("ranks", [2, 3])
def test_large_accesses_among_small_ones_are_attempted(ranks, period, rows, tmp_path):
    """Attempts pause after small accesses of an array, on all ranks alike, and go on."""
    number = 30
    command = ["env", "-C", tmp_path, sys.executable, "-c", PAUSES, period, number, rows]
    done = run(ranks, *command, plait="explain")
    writes, reads = accesses(done.stderr)
    # At least a third of the large accesses.
    assert writes >= number / period / 3, done.stderr
    assert reads >= number / period / 3, done.stderr


# Views of four kinds follow each other, each for five accesses: contiguous bytes, one block, a list, and a vector. Some
# ranks access nothing.
CHANGING = """
import numpy as np
from mpi4py import MPI
comm = MPI.COMM_WORLD
file = MPI.File.Open(comm, "file", MPI.MODE_CREATE | MPI.MODE_RDWR)
number = 4000
for turn in range(40):
    has_data = comm.rank != turn % comm.size or turn % 3 == 0
    owners = np.random.default_rng(turn).integers(0, comm.size, number)
    starts = 64 * np.flatnonzero(owners == comm.rank)
    kind = turn // 5 % 4
    if kind == 0 or not has_data:
        file.Set_view(1000 * comm.rank, MPI.BYTE, MPI.BYTE)
        at = 1000 * comm.rank + np.arange(1000 if has_data else 0)
    elif kind == 1:
        part = MPI.BYTE.Create_indexed([1000], [1000 * comm.rank]).Commit()
        file.Set_view(0, MPI.BYTE, part)
        at = 1000 * comm.rank + np.arange(1000)
    elif kind == 2:
        part = MPI.BYTE.Create_hindexed_block(64, starts.tolist()).Commit()
        file.Set_view(0, MPI.BYTE, part)
        at = (starts[:, None] + np.arange(64)).ravel()
    else:
        part = MPI.BYTE.Create_vector(number, 64, 64 * comm.size).Commit()
        file.Set_view(64 * comm.rank, MPI.BYTE, part)
        at = (64 * comm.rank + 64 * comm.size * np.arange(number)[:, None] + np.arange(64)).ravel()
    own = np.random.default_rng([turn, comm.rank]).integers(0, 256, len(at), np.uint8)
    file.Write_all(own)
    assert file.Get_position() == len(at)
    found = np.zeros_like(own)
    file.Read_at_all(0, found)
    assert (found == own).all()
    file.Sync()
    comm.Barrier()
    content = np.fromfile("file", "u1")
    assert (content[at] == own).all()
    comm.Barrier()
file.Close()
"""


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_views_of_many_kinds_may_follow_each_other(ranks, tmp_path):
    """Ranks without data, which pause their votes, and ranks with one piece take part in views that Plait holds."""
    done = run(ranks, "env", "-C", tmp_path, sys.executable, "-c", CHANGING, plait="explain")
    writes, reads = accesses(done.stderr)
    assert min(writes, reads) >= 5, done.stderr
