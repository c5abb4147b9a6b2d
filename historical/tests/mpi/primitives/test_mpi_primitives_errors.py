"""Mistakes in calls of the 1993 primitives: every rank gets the same status and message, and the program goes on."""

import os

import numpy as np
import pytest
from primitives import (
    ARGUMENT,
    BLOCK,
    BLOCK_CYCLIC,
    COLLAPSED,
    CYCLIC,
    DIRECT,
    LIBRARY,
    NEW,
    OK,
    OLD,
    SEQUENTIAL,
    SYSTEM,
    array_map,
    check,
    last_message,
    pclose_all,
    popen,
    pread,
    proc_map,
    pwrite,
)


@pytest.fixture(autouse=True)
def _units():
    yield
    pclose_all()


@pytest.fixture
def vector(comm):
    """The descriptor of a vector with two elements per rank."""
    check(proc_map((comm.size,)))
    return array_map((2 * comm.size,), (BLOCK,), (-1,), (comm.size,))


def expect_error(comm, status, expected, *words):
    """Check that a call returned the status `expected` and the same message, which has these words, on all ranks."""
    assert status == expected, (status, last_message())
    texts = comm.allgather(last_message())
    assert set(texts) == {texts[0]}
    for word in words:
        assert word in texts[0], texts[0]
    return texts[0]


def test_names_of_other_formats(comm, shared, vector):
    expect_error(comm, popen(3, shared / "a.cdf", SEQUENTIAL, NEW), ARGUMENT, "netCDF", f"raw:{shared}/a.cdf")
    expect_error(comm, popen(3, "distnt:a", SEQUENTIAL, NEW), ARGUMENT, "did you mean distant:a?")
    for _ in range(2):
        check(popen(3, f"raw:{shared}/a.nc", SEQUENTIAL, OLD if (shared / "a.nc").exists() else NEW))
        check(pwrite(np.full(2, comm.rank, "i4"), (2, 1), vector, 3))
        check(LIBRARY.plait_pclose(3))
        comm.Barrier()
    expect_error(comm, popen(3, f"raw:{shared}/a.nc", SEQUENTIAL, NEW), SYSTEM, "it exists")
    if comm.rank == 0:
        assert [entry.name for entry in shared.iterdir()] == ["a.nc"]


def test_units(comm, shared, vector):
    array = np.zeros(2, "i4")
    expect_error(comm, pread(array, (2, 1), vector, 7), ARGUMENT, "unit 7 is not open", "no unit is", "popen")
    expect_error(comm, LIBRARY.plait_pclose(7), ARGUMENT, "unit 7 is not open")
    check(popen(3, shared / "a", SEQUENTIAL, NEW))
    expect_error(comm, popen(3, shared / "b", SEQUENTIAL, NEW), ARGUMENT, "unit 3 is open on", "/a", "pclose")
    expect_error(comm, pwrite(array, (2, 1), vector, 4), ARGUMENT, "unit 4 is not open; open are (3)")
    check(LIBRARY.plait_pclose(3))
    expect_error(comm, LIBRARY.plait_pclose(3), ARGUMENT, "unit 3 is not open")
    expect_error(comm, popen(-1, shared / "b", SEQUENTIAL, NEW), ARGUMENT, "unit -1 is negative")


def test_files(comm, shared, vector):
    path = shared / "a"
    expect_error(comm, popen(3, path, SEQUENTIAL, OLD), SYSTEM, "cannot open", "No such file")
    expect_error(comm, popen(3, "", SEQUENTIAL, OLD), ARGUMENT, "name of the file is empty")
    expect_error(comm, popen(3, shared / "a.npy", SEQUENTIAL, NEW), ARGUMENT, "a .npy file holds one array")
    expect_error(comm, popen(3, shared / "no" / "a", SEQUENTIAL, NEW), SYSTEM, "No such file or directory")
    if comm.rank == 0:
        path.write_bytes(b"12345")
    expect_error(comm, popen(3, path, SEQUENTIAL, NEW), SYSTEM, "with status NEW: it exists", "OLD")
    check(popen(3, path, SEQUENTIAL, OLD))
    array = np.zeros(2, "i4")
    expect_error(comm, pread(array, (2, 1), vector, 3), SYSTEM, "cannot read", "the file ends there")
    comm.Barrier()


def test_new_files_that_others_make(comm, shared, vector):
    path = shared / "a"
    check(popen(3, path, SEQUENTIAL, NEW))
    again = shared / "." / ".." / shared.name / "a"
    expect_error(comm, popen(4, again, SEQUENTIAL, NEW), ARGUMENT, "unit 3 is making it already", "pclose")
    check(popen(4, shared / "b", SEQUENTIAL, NEW))
    check(pwrite(np.ones(2, "i4"), (2, 1), vector, 3))
    if comm.rank == 0:
        path.write_bytes(b"of someone else")
    expect_error(comm, LIBRARY.plait_pclose(3), SYSTEM, "cannot close unit 3", "exists by now", "pclose again")
    assert path.read_bytes() == b"of someone else"
    comm.Barrier()
    if comm.rank == 0:
        path.unlink()
    check(LIBRARY.plait_pclose(3))
    assert path.read_bytes() == np.ones(2 * comm.size, "i4").tobytes()
    check(LIBRARY.plait_pclose(4))


@pytest.mark.several_ranks
def test_long_calls_that_differ_at_their_end(comm, shared):
    long = "x" * 5000 + ("a" if comm.rank == 0 else "b")
    expect_error(comm, -array_map((4,), (BLOCK,), (-1,), (comm.size,), long), ARGUMENT, "differ after the first 4000")


def test_codes_of_popen(comm, shared):
    path = shared / "a"
    expect_error(comm, popen(3, path, 2, NEW), ARGUMENT, "access is 2", "1 (DIRECT)")
    expect_error(comm, popen(3, path, 0, 5), ARGUMENT, "status is 5", "1 (NEW)")
    expect_error(comm, popen(3, path, 0, NEW, form=1), ARGUMENT, "FORMATTED", "UNFORMATTED")
    expect_error(comm, popen(3, path, 0, NEW, form=-3), ARGUMENT, "form is -3")
    expect_error(comm, popen(3, path, 0, NEW, None, 0), ARGUMENT, "no_of_processors is 0")
    expect_error(comm, popen(3, path, 0, NEW, None, comm.size + 1), ARGUMENT, f"runs on {comm.size}")
    for wrong in (0, -2):
        disks = np.array([wrong], "i4")
        expect_error(comm, popen(3, path, 0, NEW, disks), ARGUMENT, f"no_of_disks is {wrong}")
        assert disks[0] == wrong
    assert not path.exists()


def test_descriptors(comm, shared, vector):
    array = np.zeros(2, "i4")
    check(popen(3, shared / "a", SEQUENTIAL, NEW))
    for wrong in (0, -1, vector + 1):
        expect_error(comm, pwrite(array, (2, 1), wrong, 3), ARGUMENT, f"no array descriptor {wrong}", f"1 to {vector}")
    expect_error(comm, LIBRARY.plait_array_type(vector + 1, b"REAL*8"), ARGUMENT, f"no array descriptor {vector + 1}")
    for wrong in (b"REAL", b"REAL*", b"REAL*0", b"REAL*8x", b"", b"double"):
        expect_error(comm, LIBRARY.plait_array_type(vector, wrong), ARGUMENT, "is not known", "REAL*n")


def test_lists(comm):
    ranks = comm.size

    def expect_invalid_lists(size, codes, blocks, grid, *words):
        expect_error(comm, -array_map(size, codes, blocks, grid), ARGUMENT, *words)

    expect_invalid_lists((), (), (), (), "size_info has no entries")
    expect_invalid_lists((4, 0, 4), (1, 0, 0), (-1,) * 3, (ranks, 1, 1), "size_info(2) is 0")
    expect_invalid_lists((4, -7), (1, 0), (-1,) * 2, (ranks, 1), "size_info(2) is -7")
    expect_invalid_lists((4,), (4,), (-1,), (ranks,), "distr_info(1) is 4", "3 (BLOCK-CYCLIC)")
    expect_invalid_lists((4, 4), (1,), (-1,), (ranks, 1), "distr_info(2) is -1")
    expect_invalid_lists((4,), (BLOCK_CYCLIC,), (-1,), (ranks,), "block_size(1) is -1")
    expect_invalid_lists((4,), (BLOCK_CYCLIC,), (0,), (ranks,), "block_size(1) is 0")
    expect_invalid_lists((4,), (CYCLIC,), (-1,), (ranks + 1,), f"has {ranks + 1} processors", f"runs on {ranks}")
    expect_invalid_lists((4,), (CYCLIC,), (-1,), (-1,), "proc_info(1) is -1")
    expect_invalid_lists(
        (4, 4), (COLLAPSED, BLOCK), (-1, -1), (2, ranks), "dimension 1 is not distributed", "proc_info(1) is 2"
    )


def test_maps(comm):
    ranks = comm.size
    expect_error(comm, proc_map((ranks + 1,)), ARGUMENT, f"has {ranks + 1} processors, but the program runs on {ranks}")
    expect_error(comm, proc_map((ranks,), 3), ARGUMENT, "map_mode is 3", "2 (snake)")
    expect_error(comm, proc_map((ranks,), -2), ARGUMENT, "map_mode is -2")
    expect_error(comm, proc_map((), 0), ARGUMENT, "proc_info has no entries")
    expect_error(comm, proc_map((-5,), 0), ARGUMENT, "proc_info(1) is -5")
    expect_error(comm, proc_map((ranks,), -1), ARGUMENT, "there is no user_map")
    expect_error(comm, proc_map((ranks,), -1, [*range(ranks - 1), ranks]), ARGUMENT, f"user_map({ranks}) is {ranks}")
    expect_error(comm, proc_map((ranks,), -1, [-1] * ranks), ARGUMENT, "user_map(1) is -1")
    if ranks > 1:
        twice = [0, *range(ranks - 1)]
        expect_error(comm, proc_map((ranks,), -1, twice), ARGUMENT, "names rank 0 twice, in entries 1 and 2")


def test_a_local_array_that_is_too_small(comm, shared, vector):
    check(popen(3, shared / "a", DIRECT, NEW))
    array = np.zeros(2, "i4")
    check(pwrite(array, (2, 1), vector, 3))
    last = comm.size - 1
    too_small_sizes = (1, 1) if comm.rank == last else (2, 1)
    words = ["'A'", "2 elements", "has room for 1"] + ([f"(on rank {last})"] if comm.size > 1 else [])
    expect_error(comm, pwrite(array, too_small_sizes, vector, 3), ARGUMENT, *words)
    expect_error(comm, pread(array, too_small_sizes, vector, 3), ARGUMENT, *words)
    expect_error(comm, pwrite(array, (-2, -1), vector, 3), ARGUMENT, "-2 x -1")
    # The failed calls have not changed the position of the unit.
    check(pwrite(array, (1, 2), vector, 3))
    for wrong in (0, -2):
        expect_error(comm, pwrite(array, (2, 1), vector, 3, wrong), ARGUMENT, f"io_size is {wrong}")
    check(LIBRARY.plait_pclose(3))
    assert (shared / "a").stat().st_size == 8 * comm.size


@pytest.mark.several_ranks
def test_ranks_that_call_differently(comm, shared, vector):
    is_last_rank = comm.rank == comm.size - 1
    different_path = shared / ("b" if is_last_rank else "a")
    expect_error(
        comm, popen(3, different_path, SEQUENTIAL, NEW), ARGUMENT, "the ranks of a collective call differ", "popen(3, '"
    )
    assert list(shared.iterdir()) == []
    check(popen(3, shared / "a", SEQUENTIAL, NEW))
    check(popen(4, shared / "b", SEQUENTIAL, NEW))
    array = np.zeros(2, "i4")
    expect_error(
        comm, pwrite(array, (2, 1), vector, 4 if is_last_rank else 3), ARGUMENT, "the ranks of a collective call differ"
    )
    expect_error(
        comm, pwrite(array, (2, 1), vector, 3, 9 if is_last_rank else 8), ARGUMENT, "differ", "memory 32", "memory 36"
    )
    # The rank that reads finds the end of the file before the ranks compare their calls.
    transfer = pread if is_last_rank else pwrite
    expect_error(comm, transfer(array, (2, 1), vector, 3), SYSTEM, "the file ends there")
    # One rank makes a mistake while the others make a different call.
    mistake = LIBRARY.plait_pclose(9) if is_last_rank else pwrite(array, (2, 1), vector, 3)
    expect_error(comm, mistake, ARGUMENT, "unit 9 is not open", f"(on rank {comm.size - 1})")
    expect_error(comm, LIBRARY.plait_pclose(4 if is_last_rank else 3), ARGUMENT, "differ", "pclose(3)", "pclose(4)")
    expect_error(comm, proc_map((comm.size,), 1 if is_last_rank else 0), ARGUMENT, "differ", "proc_map(")
    codes = (CYCLIC,) if is_last_rank else (BLOCK,)
    expect_error(comm, -array_map((8,), codes, (-1,), (comm.size,)), ARGUMENT, "differ", "array_map('A'")
    expect_error(
        comm, LIBRARY.plait_array_type(vector, b"REAL*8" if is_last_rank else b"REAL*4"), ARGUMENT, "differ", "REAL*8"
    )
    # The failed calls have changed nothing.
    check(pwrite(array, (2, 1), vector, 3))
    check(LIBRARY.plait_pclose(3))
    check(LIBRARY.plait_pclose(4))
    assert sorted(entry.stat().st_size for entry in shared.iterdir()) == [0, 8 * comm.size]


def test_a_file_that_may_only_be_read(comm, shared, vector):
    if os.geteuid() == 0:
        pytest.skip("the superuser may write everything")
    path = shared / "a"
    if comm.rank == 0:
        path.write_bytes(bytes(8 * comm.size))
        path.chmod(0o444)
    check(popen(3, path, DIRECT, OLD))
    array = np.ones(2, "i4")
    check(pread(array, (2, 1), vector, 3))
    assert array.tolist() == [0, 0]
    expect_error(comm, pwrite(array, (2, 1), vector, 3), ARGUMENT, "open for reading")


def test_tables_without_content(comm, vector):
    assert LIBRARY.plait_fda(8, np.zeros(6, "i4").ctypes.data) == ARGUMENT
    assert "unit 8 is not open" in last_message()
    assert LIBRARY.plait_fda(8, None) == ARGUMENT
    assert LIBRARY.plait_adt(vector, None) == ARGUMENT
    assert "table is NULL" in last_message()
    assert LIBRARY.plait_adt(vector + 1, np.zeros(28, "i8").ctypes.data) == ARGUMENT
    small = np.zeros(2 * comm.size - 1, "i4")
    assert LIBRARY.plait_p_info(small.size, small.ctypes.data, None, None) == ARGUMENT
    assert f"needs {2 * comm.size}" in last_message()
    assert LIBRARY.plait_p_info(0, None, None, None) == OK
