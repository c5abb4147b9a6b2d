"""The argument no_of_disks of popen: new files use the disks of PLAIT_DISKS, old files state their own disks."""

import numpy as np
import pytest
from primitives import (
    ARGUMENT,
    DIRECT,
    LIBRARY,
    NEW,
    OLD,
    SEQUENTIAL,
    SYSTEM,
    check,
    make_distinct_array,
    message,
    pclose_all,
    popen,
    pread,
    pwrite,
    random_mapping,
)

import plait


@pytest.fixture(autouse=True)
def _units():
    yield
    pclose_all()


@pytest.fixture
def disks(comm, shared, monkeypatch):
    """Three folders; PLAIT_DISKS names them on rank 0 only."""
    folders = [shared / f"disk{i}" for i in range(3)]
    if comm.rank == 0:
        for folder in folders:
            folder.mkdir()
        monkeypatch.setenv("PLAIT_DISKS", ":".join(map(str, folders)))
    else:
        monkeypatch.delenv("PLAIT_DISKS", raising=False)
    return folders


def components(folders):
    return sum(len(list(folder.iterdir())) for folder in folders)


@pytest.mark.parametrize(("asked", "expected"), [(-1, 3), (2, 2), (1, 1), (3, 3), (9, 3)])
def test_striped_files(comm, shared, disks, asked, expected):
    random = np.random.default_rng([comm.size, asked + 1])
    path = shared / "a"
    number = np.array([asked], "i4")
    check(popen(3, path, SEQUENTIAL, NEW, number, int(random.integers(1, comm.size + 1))))
    assert number[0] == expected
    written = []
    for salt in range(3):
        mapping = random_mapping(random, comm.size, (int(random.integers(100, 200)), 211))
        whole = make_distinct_array(mapping.size, ["i4", "c16", "i1"][salt], salt)
        mine = np.asfortranarray(mapping.local(whole, comm.rank))
        check(pwrite(mine, (mine.size, 1), mapping.describe(dtype=whole.dtype.str[1:]), 3))
        written.append(whole)
    comm.Barrier()
    assert not path.exists()
    comm.Barrier()
    check(LIBRARY.plait_pclose(3))
    content = b"".join(whole.tobytes(order="F") for whole in written)
    with plait.open(f"stripe:{path}", comm=comm, shape=(len(content),), dtype="u1") as file:
        layout = plait.Layout((len(content),), "(block)", grid=(comm.size,))
        assert file.read(layout).tobytes() == np.frombuffer(content, "u1")[layout.indices(comm.rank)[0]].tobytes()
    assert components(disks) == expected
    comm.Barrier()

    # The number of disks of an old file takes precedence over the argument.
    number[0] = 1 + asked % 3
    check(popen(4, path, SEQUENTIAL, OLD, number))
    assert number[0] == expected
    row = np.zeros(6, "i4")
    check(LIBRARY.plait_fda(4, row.ctypes.data))
    assert list(row) == [4, 0, 0, 0, expected, comm.size]
    for whole in written:
        mapping = random_mapping(random, comm.size, whole.shape)
        mine = np.asfortranarray(mapping.local(whole, comm.rank))
        found = np.zeros_like(mine)
        check(pread(found, (mine.size, 1), mapping.describe(dtype=whole.dtype.str[1:]), 4))
        np.testing.assert_array_equal(found, mine)
    # An existing striped file is changed in place and cannot grow.
    status = pwrite(found, (found.size, 1), last_descriptor(), 4)
    assert status == SYSTEM, message()
    check(LIBRARY.plait_pclose(4))
    check(popen(4, path, DIRECT, OLD))
    first = random_mapping(random, comm.size, written[0].shape)
    mine = np.asfortranarray(first.local(written[0] + 5, comm.rank))
    check(pwrite(mine, (mine.size, 1), first.describe(dtype="i4"), 4))
    found = np.zeros_like(mine)
    check(pread(found, (mine.size, 1), last_descriptor(), 4))
    np.testing.assert_array_equal(found, mine)


def last_descriptor():
    """Return the descriptor that was made last; descriptors are numbered from 1."""
    table = np.zeros(28, "i8")
    low, high = 1, 1 << 20
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if LIBRARY.plait_adt(middle, table.ctypes.data) == 0 else (low, middle - 1)
    return low


def test_without_plait_disks_a_file_has_one_disk(comm, shared, monkeypatch):
    monkeypatch.delenv("PLAIT_DISKS", raising=False)
    for asked in (-1, 1, 5):
        number = np.array([asked], "i4")
        check(popen(3, shared / f"a{asked}", SEQUENTIAL, NEW, number))
        assert number[0] == 1
        check(LIBRARY.plait_pclose(3))
    number[0] = 4
    check(popen(3, shared / "a5", SEQUENTIAL, OLD, number))
    assert number[0] == 1


def test_names_with_characters_that_striped_names_use(comm, shared, monkeypatch):
    odd = "50% a,b&c?d=%41"
    folders = [shared / f"{odd}{i}" for i in range(2)]
    if comm.rank == 0:
        for folder in folders:
            folder.mkdir()
    comm.Barrier()
    monkeypatch.setenv("PLAIT_DISKS", ":".join(map(str, folders)))
    number = np.array([-1], "i4")
    check(popen(3, shared / odd, SEQUENTIAL, NEW, number))
    check(LIBRARY.plait_pclose(3))
    check(popen(3, shared / odd, SEQUENTIAL, OLD, number))
    assert number[0] == 2
    check(LIBRARY.plait_pclose(3))
    assert [component.name.split(".")[0] for folder in folders for component in folder.iterdir()] == [odd, odd]


def test_names_that_choose_disks_themselves(comm, shared, disks):
    assert popen(3, f"stripe:{shared / 'a'}", SEQUENTIAL, NEW) == ARGUMENT
    assert "PLAIT_DISKS" in message()
    assert popen(3, shared / "none", SEQUENTIAL, OLD) == SYSTEM
    assert "No such file" in message()
