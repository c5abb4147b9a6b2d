"""Large files read past the page cache by any number of ranks: the data is right, and explain() says how it is read."""

import os

import numpy as np
import pytest

import plait

SHAPE = (1531, 1777)  # of doubles, 20.8 MiB
LAYOUTS = (("block", "*"), ("*", "cyclic(5)"), ("cyclic", "block"))


def drop_from_page_cache(name):
    """Writes the file to its disk, if it has one, and drops it from the page cache."""
    descriptor = os.open(name, os.O_RDONLY)
    os.fdatasync(descriptor)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


@pytest.fixture
def path(comm, shared):
    """A file with a header, so that few elements begin at a page boundary."""
    name = shared / "a.npy"
    if comm.rank == 0:
        np.save(name, np.asfortranarray(make_array()))
        drop_from_page_cache(name)
    comm.Barrier()
    return name


def make_array():
    return np.arange(SHAPE[0] * SHAPE[1], dtype="f8").reshape(SHAPE)


def make_layout(comm, dist):
    distributed = [distribution for distribution in dist if distribution != "*"]
    grid = (comm.size,) if len(distributed) == 1 else (1, comm.size)
    return plait.Layout(SHAPE, list(dist), grid=grid, order="F")


def check(comm, file, layout, global_array):
    local = global_array[np.ix_(*layout.indices(comm.rank))]
    np.testing.assert_array_equal(file.read(layout), local)


@pytest.mark.parametrize("setting", ["auto", "always", "never"])
@pytest.mark.parametrize("strategy", [None, "direct", "two-phase"])
def test_all_bytes_are_read(comm, path, monkeypatch, setting, strategy):
    monkeypatch.setenv("PLAIT_DIRECT_IO", setting)
    with plait.open(path, comm=comm, strategy=strategy) as file:
        for dist in LAYOUTS:
            check(comm, file, make_layout(comm, dist), make_array())
            comm.Barrier()
            if comm.rank == 0:
                drop_from_page_cache(path)
            comm.Barrier()


def test_reads_changes_of_other_programs(comm, path, monkeypatch):
    monkeypatch.setenv("PLAIT_DIRECT_IO", "always")
    global_array = make_array()
    with plait.open(path, comm=comm) as file:
        layout = make_layout(comm, LAYOUTS[0])
        for change in range(3):
            check(comm, file, layout, global_array)
            comm.Barrier()
            # The mapping acts as another program: its changes are in the page cache and not yet on the disk.
            rows = slice(100 * change, 100 * change + 700)
            global_array[rows] += 1
            if comm.rank == change % comm.size:
                np.load(path, mmap_mode="r+")[rows] = global_array[rows]
            comm.Barrier()
        check(comm, file, layout, global_array)


def test_explain_states_how_files_are_read(comm, path, monkeypatch):
    monkeypatch.setenv("PLAIT_DIRECT_IO", "auto")
    layout = make_layout(comm, LAYOUTS[0])
    with plait.open(path, comm=comm) as file:
        is_not_cached = "two-phase, as the file was not cached when it was opened" in file.explain(layout)
        assert len(set(comm.allgather(is_not_cached))) == 1
        file.read(layout)
        if is_not_cached:
            text = "".join(comm.allgather(file.explain(layout)))
            assert "store      large reads of what is not cached: past the page cache " in text
            assert "through it " in text
    monkeypatch.setenv("PLAIT_DIRECT_IO", "never")
    comm.Barrier()
    if comm.rank == 0:
        drop_from_page_cache(path)
    comm.Barrier()
    with plait.open(path, comm=comm) as file:
        assert "not cached" not in file.explain(layout)
        file.read(layout)
        assert "past the page cache" not in file.explain(layout)


def test_an_unknown_setting_is_an_error_on_all_ranks(comm, path, monkeypatch):
    if comm.rank == 0:
        monkeypatch.setenv("PLAIT_DIRECT_IO", "sometimes")
    with pytest.raises(plait.ArgumentError, match="PLAIT_DIRECT_IO=sometimes is not known; use auto, never or always"):
        plait.open(path, comm=comm)
