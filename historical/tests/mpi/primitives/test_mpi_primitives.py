"""The 1993 primitives, compared with brute-force models."""

import numpy as np
import pytest
from primitives import (
    BLOCK,
    BLOCK_CYCLIC,
    CYCLIC,
    DIRECT,
    LIBRARY,
    NEW,
    OK,
    OLD,
    SEQUENTIAL,
    TYPES,
    Mapping,
    array_map,
    check,
    declare_local_array,
    last_message,
    make_distinct_array,
    pclose_all,
    popen,
    pread,
    proc_map,
    pwrite,
    random_grid,
    random_mapping,
    rank_by_position,
)


@pytest.fixture(autouse=True)
def _units():
    """Close all units after each test, even if it fails."""
    yield
    pclose_all()


@pytest.mark.parametrize("part", range(6))
def test_any_mix_of_distributions(comm, shared, part):
    random = np.random.default_rng([part, comm.size])
    rank_random = np.random.default_rng([part, comm.size, comm.rank])  # ranks may declare their arrays differently
    for case in range(12):
        path = shared / f"a{case}"
        processors = int(random.integers(0, comm.size + 1)) or -1
        io_size = int(random.choice([-1, 1, 7, 1000]))
        access = int(random.integers(2))
        written = []
        check(popen(3, path, access, NEW, None, processors))
        for salt in range(int(random.integers(1, 4))):
            dtype = str(random.choice(list(TYPES)))
            mapping = random_mapping(random, comm.size)
            global_array = make_distinct_array(mapping.size, dtype, salt)
            sizes, array, share = declare_local_array(rank_random, mapping, global_array, comm.rank)
            share[...] = mapping.local(global_array, comm.rank)
            descriptor = mapping.describe(dtype=dtype)
            check(pwrite(array, sizes, descriptor, 3, io_size))
            written.append(global_array)
        check(LIBRARY.plait_pclose(3))
        content = b"".join(global_array.tobytes(order="F") for global_array in written)
        if access == DIRECT:  # each array was written at the beginning of the file
            lengths = [global_array.nbytes for global_array in written]
            content = bytearray(max(lengths))
            for global_array in written:
                content[: global_array.nbytes] = global_array.tobytes(order="F")
            written = written[-1:]
        assert path.read_bytes() == content

        processors = int(random.integers(0, comm.size + 1)) or -1
        check(popen(3, path, access, OLD, None, processors))
        for global_array in written:
            mapping = random_mapping(random, comm.size, global_array.shape)
            sizes, expected, share = declare_local_array(rank_random, mapping, global_array, comm.rank)
            array = expected.copy()
            share[...] = mapping.local(global_array, comm.rank)
            descriptor = mapping.describe(dtype=global_array.dtype.str[1:])
            check(pread(array, sizes, descriptor, 3, io_size))
            np.testing.assert_array_equal(array, expected)  # elements outside the share are unchanged
        check(LIBRARY.plait_pclose(3))


def test_three_dimensions_in_two_sizes(comm, shared):
    """Three dimensions may be passed as two sizes, and ranks with a smaller share may declare the largest one."""
    ranks = comm.size
    global_array = make_distinct_array((4, 3, 4 * ranks - 3), "i4")
    mapping = Mapping(global_array.shape, (0, 0, BLOCK_CYCLIC), (-1, -1, 4), (1, 1, ranks), 0, ())
    descriptor = mapping.describe()
    local = mapping.local(global_array, comm.rank)
    largest = (4, 3, 4 if ranks > 1 else global_array.shape[2])
    check(popen(3, shared / "a", DIRECT, NEW))
    array = np.zeros(largest, "i4", order="F")
    array[:, :, : local.shape[2]] = local
    check(pwrite(array, (12, largest[2]), descriptor, 3))  # (n1 * n2, n3)
    check(LIBRARY.plait_pclose(3))
    assert (shared / "a").read_bytes() == global_array.tobytes(order="F")
    comm.Barrier()
    check(popen(3, shared / "a", DIRECT, OLD))
    other = Mapping(global_array.shape, (0, BLOCK, 0), (-1,) * 3, (1, ranks, 1), 0, ())
    descriptor = other.describe()
    local = other.local(global_array, comm.rank)
    middle, planes = -(-3 // ranks), global_array.shape[2]
    for sizes, first in (((4, middle * planes), 4), ((6, middle * planes), 6)):
        array = np.full((first, middle, planes), -1, "i4", order="F")
        expected = array.copy(order="F")
        expected[:4, : local.shape[1]] = local
        check(pread(array, sizes, descriptor, 3))
        np.testing.assert_array_equal(array, expected)
    # These sizes may come from an array declared as (6, middle, planes) or from other arrays, which is ambiguous.
    if middle > 1 and planes > 1:
        array = np.zeros((6 * middle, planes), "i4", order="F")
        assert pread(array, array.shape, descriptor, 3) == 1
        assert "is not clear" in last_message()
        assert f"4x{middle}x{planes}" in last_message()


def test_a_program_that_changes_its_grid(comm, shared):
    """A descriptor is interpreted by the grid that proc_map has declared last."""
    path = shared / "a"
    global_array = make_distinct_array((12, 10), "i4")
    if comm.rank == 0:
        path.write_bytes(global_array.tobytes(order="F"))
    grid = (comm.size, 1)
    mapping = Mapping(global_array.shape, (CYCLIC, 0), (-1, -1), grid, 0, ())
    descriptor = mapping.describe()
    check(popen(3, path, DIRECT, OLD))
    for mode in (0, -1, 1, 2, -1):
        mapping.mode, mapping.user_map = mode, tuple(reversed(range(comm.size)))
        check(proc_map(grid, mode, mapping.user_map))
        local = mapping.local(global_array, comm.rank)
        array = np.zeros(local.shape, "i4", order="F")
        check(pread(array, local.shape, descriptor, 3))
        np.testing.assert_array_equal(array, local)
    # Change to a grid of other dimensions and back; trailing dimensions of size 1 make no difference.
    check(proc_map((1, comm.size)))
    if comm.size > 1:
        assert pread(array, local.shape, descriptor, 3) != OK
        assert "call proc_map" in last_message()
    check(proc_map((comm.size,)))
    check(pread(array, local.shape, descriptor, 3))


def test_sequential_access_continues_and_direct_access_begins_anew(comm, shared):
    path = shared / "a"
    check(popen(0, path, SEQUENTIAL, NEW))
    mapping = Mapping((9,), (BLOCK,), (-1,), (comm.size,), 0, ())
    descriptor = mapping.describe()
    parts = [mapping.local(make_distinct_array((9,), "i4", salt), comm.rank) for salt in range(4)]
    for part in parts[:3]:
        check(pwrite(part.copy(), (part.size, 1), descriptor, 0))
    check(LIBRARY.plait_pclose(0))
    array = np.zeros_like(parts[0])

    def read(unit):
        check(pread(array, (array.size, 1), descriptor, unit))
        return array

    check(popen(0, path, SEQUENTIAL, OLD))
    check(popen(1, path, DIRECT, OLD))
    np.testing.assert_array_equal(read(0), parts[0])
    np.testing.assert_array_equal(read(1), parts[0])
    np.testing.assert_array_equal(read(0), parts[1])
    np.testing.assert_array_equal(read(1), parts[0])
    check(pwrite(parts[3].copy(), (array.size, 1), descriptor, 0))  # overwrites the third array
    assert pread(array, (array.size, 1), descriptor, 0) == 2  # the end of the file
    check(pwrite(parts[2].copy(), (array.size, 1), descriptor, 0))  # at the position of the failed read
    check(LIBRARY.plait_pclose(1))
    check(LIBRARY.plait_pclose(0))
    global_array = [make_distinct_array((9,), "i4", salt) for salt in (0, 1, 3, 2)]
    assert path.read_bytes() == b"".join(part.tobytes() for part in global_array)


def test_a_new_file_appears_whole(comm, shared):
    path = shared / "a"
    check(popen(5, path, SEQUENTIAL, NEW))
    mapping = Mapping((5,), (BLOCK,), (-1,), (comm.size,), 0, ())
    descriptor = mapping.describe()
    local = mapping.local(make_distinct_array((5,), "i4"), comm.rank)
    array = np.ascontiguousarray(local)
    check(pwrite(array, (array.size, 1), descriptor, 5))
    comm.Barrier()
    assert not path.exists()
    comm.Barrier()
    check(LIBRARY.plait_pclose(5))
    assert path.read_bytes() == make_distinct_array((5,), "i4").tobytes()


def read_io_counter(name):
    """Return how many bytes this process has read (rchar) or written (wchar) by system calls."""
    with open("/proc/self/io", encoding="ascii") as counters:
        return int(next(line for line in counters if line.startswith(name)).split()[1])


def test_at_most_the_requested_ranks_access_the_file(comm, shared):
    if not has_io_counters():
        pytest.skip("this system does not count what a process reads")
    size = (256, 512)
    global_array = make_distinct_array(size, "i4")
    path = shared / "a"
    if comm.rank == 0:
        path.write_bytes(global_array.tobytes(order="F"))
    mapping = Mapping(size, (0, CYCLIC), (-1, -1), (1, comm.size), 0, ())
    descriptor = mapping.describe()
    local = np.asfortranarray(mapping.local(global_array, comm.rank))
    array = np.zeros_like(local, order="F")
    for processors in range(1, comm.size + 1):
        check(popen(3, path, DIRECT, OLD, None, processors))
        before = read_io_counter("rchar"), read_io_counter("wchar")
        check(pread(array, array.shape, descriptor, 3))
        read = read_io_counter("rchar") - before[0]
        np.testing.assert_array_equal(array, local)
        check(pwrite(array, array.shape, descriptor, 3))
        written = read_io_counter("wchar") - before[1]
        check(LIBRARY.plait_pclose(3))
        for counts in (comm.allgather(read), comm.allgather(written)):
            # A rank that does not access the file has only read the counters, less than 4096 bytes. Plait decides at
            # run time which ranks access which bytes.
            assert sum(count >= 4096 for count in counts) <= processors
            assert 0 <= sum(counts) - global_array.nbytes < 4096 * comm.size
    assert path.read_bytes() == global_array.tobytes(order="F")


def has_io_counters():
    try:
        before = read_io_counter("rchar")
        return read_io_counter("rchar") > before
    except (OSError, StopIteration):
        return False


@pytest.mark.parametrize("mode", [-1, 0, 1, 2])
def test_p_info(comm, mode):
    random = np.random.default_rng([comm.size, mode + 1])
    for dimensions in range(1, 8):
        grid = random_grid(random, comm.size, dimensions)
        user_map = [int(rank) for rank in random.permutation(comm.size)]
        check(proc_map(grid, mode, user_map))
        table = np.zeros((dimensions + 1, comm.size), "i4")
        shape = np.zeros(2, "i4")
        check(LIBRARY.plait_p_info(table.size, table.ctypes.data, shape.ctypes.data, shape.ctypes.data + 4))
        assert tuple(shape) == table.shape
        expected = rank_by_position(tuple(grid), mode, user_map)
        columns = [tuple(int(n) for n in column) for column in table.T]
        assert {column[:-1]: column[-1] for column in columns} == expected
        # The columns are ordered with the first coordinate varying fastest.
        assert [tuple(reversed(column[:-1])) for column in columns] == sorted(tuple(reversed(c)) for c in expected)


def test_undefined_entries_before_a_grid(comm):
    """For dimensions that are not distributed, proc_map accepts -1 like array_map."""
    grid = np.array([-1, comm.size, -1, 7, 7, 7, 7], "i4")  # entries after the -1 that ends the list are ignored
    check(LIBRARY.plait_proc_map(grid.ctypes.data, 0, None))
    shape = np.zeros(2, "i4")
    check(LIBRARY.plait_p_info(0, None, shape.ctypes.data, shape.ctypes.data + 4))
    assert tuple(shape) == (3, comm.size)
    assert array_map((4, 4), (0, BLOCK), (-1, -1), (-1, comm.size)) > 0


def test_the_thesis_tables(comm, shared):
    """Tables 12 and 13 of the thesis; without 4 ranks, with a one-dimensional grid."""
    check(popen(3, shared / "TEST", SEQUENTIAL, NEW))
    row = np.zeros(6, "i4")
    check(LIBRARY.plait_fda(3, row.ctypes.data))
    assert list(row) == [3, 0, 0, 1, 1, comm.size]
    grid = (2, 2) if comm.size == 4 else (comm.size, 1)
    descriptor = array_map((64, 64), (BLOCK, BLOCK), (-1, -1), grid)
    table = np.zeros((4, 7), "i8")
    check(LIBRARY.plait_adt(descriptor, table.ctypes.data))
    none = [-1] * 5
    assert table.tolist() == [[64, 64, *none], [1, 1, *none], [-1, -1, *none], [*grid, *none]]


def test_printed_tables(comm, shared, capfd):
    check(popen(3, shared / "TEST", SEQUENTIAL, NEW))
    check(proc_map((comm.size, 1), 0))
    descriptor = array_map((64, 64), (BLOCK, CYCLIC), (-1, -1), (comm.size, 1), "PRESSURE")
    capfd.readouterr()
    check(LIBRARY.plait_print_fda())
    check(LIBRARY.plait_print_adt(descriptor))
    check(LIBRARY.plait_print_p_info())
    shown = capfd.readouterr().out
    if comm.rank > 0:
        assert shown == ""
        return
    fda, adt, p_info = shown[: shown.index("Array  ")], shown[shown.index("Array  ") :], shown[shown.index("x-coord") :]
    assert fda.splitlines()[1].split() == ["3", "0", "0", "1", "1", str(comm.size), str(shared / "TEST")]
    rows = [line.split() for line in adt.splitlines()]
    none = ["-1"] * 5
    assert rows[0] == ["Array", "PRESSURE", "(INTEGER*4)"]
    assert rows[1] == ["Global", "Size", "64", "64", *none]
    assert rows[2] == ["Distribution", "Code", "1", "2", *none]
    assert rows[3] == ["Block", "Size", "-1", "-1", *none]
    assert rows[4] == ["nprocs", str(comm.size), "1", *none]
    rows = [line.split() for line in p_info.splitlines()]
    assert rows[0] == ["x-coord", *map(str, range(comm.size))]
    assert rows[1] == ["y-coord", *["0"] * comm.size]
    assert rows[2] == ["Proc.", "Number", *map(str, range(comm.size))]
