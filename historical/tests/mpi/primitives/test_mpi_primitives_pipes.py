"""The 1993 primitives on pipes, both ends on the same ranks, compared with brute-force models."""

import os

import numpy as np
import pytest
from primitives import (
    ARGUMENT,
    BLOCK,
    LIBRARY,
    NEW,
    OLD,
    SEQUENTIAL,
    SYSTEM,
    TYPES,
    Mapping,
    check,
    declare_local_array,
    last_message,
    make_distinct_array,
    pclose_all,
    popen,
    pread,
    pwrite,
    random_mapping,
)

import plait

WRITER = "pipe:flow?readers=0&queue=4"


@pytest.fixture(autouse=True)
def _meeting(comm, shared, monkeypatch):
    """Provide the folder in which the ends of pipes meet; close all units after each test, even if it fails."""
    folder = shared / "meet"
    if comm.rank == 0:
        folder.mkdir(mode=0o700)
    monkeypatch.setenv("PLAIT_MEET", str(folder))
    comm.Barrier()
    yield
    pclose_all()


def map_rows(comm, size, dtype="i4"):
    """Return a mapping by blocks of rows, and its descriptor."""
    mapping = Mapping(
        size, (BLOCK,) + (0,) * (len(size) - 1), (-1,) * len(size), (comm.size, *[1] * (len(size) - 1)), 0, ()
    )
    return mapping, mapping.describe(dtype=dtype)


def make_local_array(mapping, global_array, rank):
    """Return a rank's part as a dense array, and the two sizes with which it is passed."""
    local = mapping.local(global_array, rank)
    array = np.full(max(local.size, 1), -1, global_array.dtype)
    array[: local.size] = local.reshape(-1, order="F")
    return array, (local.size, 1)


@pytest.mark.parametrize("seed", range(4))
def test_each_write_is_a_step(comm, seed):
    random = np.random.default_rng([seed, comm.size])
    rank_random = np.random.default_rng([seed, comm.size, comm.rank])
    for _ in range(4):
        access = int(random.integers(2))
        disks = np.array([-1], "i4")
        check(popen(1, WRITER, access, NEW, disks))
        assert disks[0] == 0
        check(popen(2, "pipe:flow", access, OLD))
        written = []
        for salt in range(int(random.integers(1, 4))):
            dtype = str(random.choice(list(TYPES)))
            mapping = random_mapping(random, comm.size)
            global_array = make_distinct_array(mapping.size, dtype, salt)
            sizes, array, local = declare_local_array(rank_random, mapping, global_array, comm.rank)
            local[...] = mapping.local(global_array, comm.rank)
            check(pwrite(array, sizes, mapping.describe(dtype=dtype), 1))
            written.append(global_array)
        for global_array in written:
            mapping = random_mapping(random, comm.size, global_array.shape)
            sizes, expected, local = declare_local_array(rank_random, mapping, global_array, comm.rank)
            array = expected.copy()
            local[...] = mapping.local(global_array, comm.rank)
            check(pread(array, sizes, mapping.describe(dtype=global_array.dtype.str[1:]), 2))
            np.testing.assert_array_equal(array, expected)  # elements outside the share are unchanged
        check(LIBRARY.plait_pclose(2))
        check(LIBRARY.plait_pclose(1))


def test_other_programs_learn_the_type_with_each_step(comm):
    check(popen(1, WRITER, SEQUENTIAL, NEW))
    fields = [
        make_distinct_array((9, 5), "f8"),
        make_distinct_array((4, 3, 2), "c16", 1),
        make_distinct_array((6,), "i2", 2),
    ]
    with plait.open("pipe:flow", comm=comm) as file:
        for global_array in fields:
            mapping, descriptor = map_rows(comm, global_array.shape, global_array.dtype.str[1:])
            array, sizes = make_local_array(mapping, global_array, comm.rank)
            check(pwrite(array, sizes, descriptor, 1))
        with pytest.raises(plait.ArgumentError, match=r"call begin_step\(\) first"):
            file.read(plait.Layout((), (), grid=()))
        for number, global_array in enumerate(fields):
            step = file.begin_step()
            assert (step.number, file.shape, file.dtype) == (number, global_array.shape, global_array.dtype)
            layout = plait.Layout(global_array.shape, ["cyclic"] + ["*"] * (global_array.ndim - 1), grid=(comm.size,))
            np.testing.assert_array_equal(file.read(layout), global_array[layout.indices(comm.rank)[0]])
            file.end_step()
    check(LIBRARY.plait_pclose(1))


def test_what_python_writes_is_read(comm):
    global_array = make_distinct_array((8, 3), "f8")
    layout = plait.Layout(global_array.shape, "(cyclic, *)", grid=(comm.size,))
    with plait.open(WRITER, "w", comm=comm, shape=global_array.shape, dtype="f8") as file:
        check(popen(2, "pipe:flow", SEQUENTIAL, OLD))
        for factor in (1, 2):
            file.begin_step({"factor": factor})
            file.write(global_array[layout.indices(comm.rank)[0]] * factor, layout)
            file.end_step()
        mapping, descriptor = map_rows(comm, global_array.shape, "f8")
        for factor in (1, 2):
            array, sizes = make_local_array(mapping, np.zeros_like(global_array), comm.rank)
            expected, _ = make_local_array(mapping, global_array * factor, comm.rank)
            check(pread(array, sizes, descriptor, 2))
            np.testing.assert_array_equal(array[: sizes[0]], expected[: sizes[0]])
        check(LIBRARY.plait_pclose(2))


def test_mistakes(comm, shared, monkeypatch):
    monkeypatch.setenv("PLAIT_DISKS", str(shared))  # pipes ignore it
    assert popen(1, "pipe:flow?timeout=0.1", SEQUENTIAL, OLD) == SYSTEM
    assert "no writer has come within 0.1 s" in last_message()
    assert popen(1, "pipe:flow?timeout=0.1", SEQUENTIAL, NEW) == SYSTEM
    assert "no reader has come within 0.1 s" in last_message()
    assert popen(1, "pipe:flow?disks=2", SEQUENTIAL, NEW) == ARGUMENT
    check(popen(1, WRITER, SEQUENTIAL, NEW))
    assert popen(3, WRITER, SEQUENTIAL, NEW) == ARGUMENT
    assert "unit 1 is making it already" in last_message()
    check(popen(2, "pipe:flow", SEQUENTIAL, OLD))
    row = np.zeros(6, "i4")
    check(LIBRARY.plait_fda(2, row.ctypes.data))
    assert row.tolist() == [2, 0, 0, OLD, 0, comm.size]

    global_array = make_distinct_array((7, 4), "i4")
    mapping, descriptor = map_rows(comm, global_array.shape)
    array, sizes = make_local_array(mapping, global_array, comm.rank)
    assert pread(array, sizes, descriptor, 1) == ARGUMENT
    assert "open for writing" in last_message()
    assert pwrite(array, sizes, descriptor, 2) == ARGUMENT
    assert "open for reading" in last_message()
    for _ in range(3):
        check(pwrite(array, sizes, descriptor, 1))
    other, wider = map_rows(comm, global_array.shape, "f8")
    double, sizes_of_double = make_local_array(other, global_array.astype("f8"), comm.rank)
    assert pread(double, sizes_of_double, wider, 2) == ARGUMENT
    assert "is 7x4 elements of 4 bytes (<i4), but the read expected 7x4 elements of 8 bytes" in last_message()
    smaller, shorter = map_rows(comm, (7, 3))
    _, sizes_of_smaller = make_local_array(smaller, global_array[:, :3], comm.rank)
    assert pread(array, sizes_of_smaller, shorter, 2) == ARGUMENT
    assert "the read expected 7x3 elements of 4 bytes" in last_message()
    found = np.full_like(array, -1)
    check(pread(found, sizes, mapping.describe(), 2))  # the third step
    np.testing.assert_array_equal(found[: sizes[0]], array[: sizes[0]])
    check(LIBRARY.plait_pclose(2))
    check(LIBRARY.plait_pclose(1))
    comm.Barrier()  # rank 0 removes its invitation after the others have left
    assert os.listdir(shared) == ["meet"]
    assert os.listdir(shared / "meet") == []
