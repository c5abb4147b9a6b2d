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
    last_message,
    make_distinct_array,
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


def count_components(folders):
    return sum(len(list(folder.iterdir())) for folder in folders)


@pytest.mark.parametrize(("requested", "expected"), [(-1, 3), (2, 2), (1, 1), (3, 3), (9, 3)])
def test_striped_files(comm, shared, disks, requested, expected):
    random = np.random.default_rng([comm.size, requested + 1])
    path = shared / "a"
    disks_argument = np.array([requested], "i4")
    check(popen(3, path, SEQUENTIAL, NEW, disks_argument, int(random.integers(1, comm.size + 1))))
    assert disks_argument[0] == expected
    written = []
    for salt in range(3):
        mapping = random_mapping(random, comm.size, (int(random.integers(100, 200)), 211))
        global_array = make_distinct_array(mapping.size, ["i4", "c16", "i1"][salt], salt)
        local = np.asfortranarray(mapping.local(global_array, comm.rank))
        check(pwrite(local, (local.size, 1), mapping.describe(dtype=global_array.dtype.str[1:]), 3))
        written.append(global_array)
    comm.Barrier()
    assert not path.exists()
    comm.Barrier()
    check(LIBRARY.plait_pclose(3))
    content = b"".join(global_array.tobytes(order="F") for global_array in written)
    with plait.open(f"stripe:{path}", comm=comm, shape=(len(content),), dtype="u1") as file:
        layout = plait.Layout((len(content),), "(block)", grid=(comm.size,))
        assert file.read(layout).tobytes() == np.frombuffer(content, "u1")[layout.indices(comm.rank)[0]].tobytes()
    assert count_components(disks) == expected
    comm.Barrier()

    # The number of disks of an old file takes precedence over the argument.
    disks_argument[0] = 1 + requested % 3
    check(popen(4, path, SEQUENTIAL, OLD, disks_argument))
    assert disks_argument[0] == expected
    row = np.zeros(6, "i4")
    check(LIBRARY.plait_fda(4, row.ctypes.data))
    assert list(row) == [4, 0, 0, 0, expected, comm.size]
    for global_array in written:
        mapping = random_mapping(random, comm.size, global_array.shape)
        local = np.asfortranarray(mapping.local(global_array, comm.rank))
        read_back = np.zeros_like(local)
        check(pread(read_back, (local.size, 1), mapping.describe(dtype=global_array.dtype.str[1:]), 4))
        np.testing.assert_array_equal(read_back, local)
    # An existing striped file is changed in place and cannot grow.
    status = pwrite(read_back, (read_back.size, 1), last_descriptor(), 4)
    assert status == SYSTEM, last_message()
    check(LIBRARY.plait_pclose(4))
    check(popen(4, path, DIRECT, OLD))
    first = random_mapping(random, comm.size, written[0].shape)
    local = np.asfortranarray(first.local(written[0] + 5, comm.rank))
    check(pwrite(local, (local.size, 1), first.describe(dtype="i4"), 4))
    read_back = np.zeros_like(local)
    check(pread(read_back, (local.size, 1), last_descriptor(), 4))
    np.testing.assert_array_equal(read_back, local)


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
    for requested in (-1, 1, 5):
        disks_argument = np.array([requested], "i4")
        check(popen(3, shared / f"a{requested}", SEQUENTIAL, NEW, disks_argument))
        assert disks_argument[0] == 1
        check(LIBRARY.plait_pclose(3))
    disks_argument[0] = 4
    check(popen(3, shared / "a5", SEQUENTIAL, OLD, disks_argument))
    assert disks_argument[0] == 1


def test_names_with_characters_that_striped_names_use(comm, shared, monkeypatch):
    special_name = "50% a,b&c?d=%41"
    folders = [shared / f"{special_name}{i}" for i in range(2)]
    if comm.rank == 0:
        for folder in folders:
            folder.mkdir()
    comm.Barrier()
    monkeypatch.setenv("PLAIT_DISKS", ":".join(map(str, folders)))
    disks_argument = np.array([-1], "i4")
    check(popen(3, shared / special_name, SEQUENTIAL, NEW, disks_argument))
    check(LIBRARY.plait_pclose(3))
    check(popen(3, shared / special_name, SEQUENTIAL, OLD, disks_argument))
    assert disks_argument[0] == 2
    check(LIBRARY.plait_pclose(3))
    assert [component.name.split(".")[0] for folder in folders for component in folder.iterdir()] == [
        special_name,
        special_name,
    ]


def test_names_that_choose_disks_themselves(comm, shared, disks):
    assert popen(3, f"stripe:{shared / 'a'}", SEQUENTIAL, NEW) == ARGUMENT
    assert "PLAIT_DISKS" in last_message()
    assert popen(3, shared / "none", SEQUENTIAL, OLD) == SYSTEM
    assert "No such file" in last_message()
