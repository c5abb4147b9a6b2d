"""Copies by several ranks: selection, verification, and copies that other ranks resume after an interruption."""

import os
import socket

import numpy as np
import pytest

import plait

SHAPE = (40, 36)
ARRAY = np.random.default_rng(3).integers(0, 1 << 30, SHAPE).astype("i4")


class StopError(Exception):
    pass


@pytest.fixture
def source(comm, shared):
    """The URL of the array in compressed chunks, on all ranks."""
    if comm.rank == 0:
        with plait.open(shared / "a.zarr", "w", shape=SHAPE, dtype="i4", chunks=(3, 36), codec="zstd:1") as file:
            file.write(ARRAY)
    comm.Barrier()
    return shared / "a.zarr"


def read_array(comm, path, shape=SHAPE):
    """Returns the array of a file on all ranks; rank 0 reads it."""
    actual = None
    if comm.rank == 0:
        raw_options = {"shape": shape, "dtype": "i4"} if path.suffix == ".bin" else {}
        with plait.open(path, **raw_options) as file:
            actual = file.read()
    return comm.bcast(actual, 0)


@pytest.mark.parametrize("target", ["b.npy", "b.zarr", "b.bin"])
def test_selected_elements_are_verified(comm, shared, source, target):
    done = plait.copy(
        source, shared / target, comm=comm, memory="4K", region="4:40:2,:", axes=(1, 0), target_dtype="i4", verify=True
    )
    assert done.shape == (36, 18)
    np.testing.assert_array_equal(read_array(comm, shared / target, done.shape), ARRAY[4:40:2].T)


def test_a_plan_is_the_same_on_all_ranks(comm, shared, source):
    done = plait.copy(source, shared / "b.zarr", comm=comm, chunks=(40, 3), memory="4K", dry_run=True)
    plans = comm.allgather(done.plan)
    assert all(plan == plans[0] for plan in plans)
    assert not (shared / "b.zarr").exists()


OPTIONS = [
    ("b.npy", {}),
    ("b.zarr", {"chunks": (7, 7), "codec": "zstd:1"}),
    ("b.zarr", {"chunks": (4, 4), "shards": (4, 36)}),
    ("b.npy", {"target_order": "F"}),
]


@pytest.mark.parametrize(("target", "options"), OPTIONS)
@pytest.mark.parametrize("started_by_one_rank", [False, True])
def test_a_copy_that_was_interrupted_is_resumed(comm, shared, source, target, options, started_by_one_rank):
    def stop(done, total):
        if done >= total // 2:
            raise StopError

    resume_options = {"memory": "4K", "resume": True, **options}
    if started_by_one_rank:
        if comm.rank == 0:
            with pytest.raises(StopError):
                plait.copy(source, shared / target, progress=stop, **resume_options)
        comm.Barrier()
    else:
        with pytest.raises(StopError):
            plait.copy(source, shared / target, comm=comm, progress=stop, **resume_options)
    comm.Barrier()
    assert (shared / f".{target}.plait-copy").exists()
    comm.Barrier()
    done = plait.copy(source, shared / target, comm=comm, verify=True, **resume_options)
    # On several hosts only synced data counts as copied, as after an orderly stop, and no chunk that other ranks share.
    assert done.resumed > 0 or (target != "b.npy" and len(set(comm.allgather(socket.gethostname()))) > 1)
    assert comm.allgather(done.resumed) == [done.resumed] * comm.size
    np.testing.assert_array_equal(read_array(comm, shared / target), ARRAY)
    assert sorted(os.listdir(shared)) == ["a.zarr", target]


@pytest.mark.several_ranks
@pytest.mark.parametrize("stopping_rank", [0, 1])
def test_an_orderly_stop_of_one_rank_is_durable(comm, shared, source, monkeypatch, stopping_rank):
    from plait._copying.resume import journal

    def stop(done, total):
        if comm.rank == stopping_rank and done >= total // 2:
            raise StopError

    with pytest.raises((StopError, plait.StoreError)):
        plait.copy(source, shared / "b.npy", comm=comm, progress=stop, memory="4K", resume=True)
    on_several_hosts = len(set(comm.allgather(socket.gethostname()))) > 1
    monkeypatch.setattr(journal, "boot_id", lambda: "another start of the host")
    done = plait.copy(source, shared / "b.npy", comm=comm, memory="4K", resume=True)
    assert done.resumed > 0 or (on_several_hosts and stopping_rank != 0)
    np.testing.assert_array_equal(read_array(comm, shared / "b.npy"), ARRAY)


@pytest.mark.several_ranks
def test_a_copy_that_cannot_be_resumed_is_an_error_on_all(comm, shared, source):
    def stop(done, total):
        raise StopError

    with pytest.raises(StopError):
        plait.copy(source, shared / "b.npy", comm=comm, progress=stop, memory="4K", resume=True)
    comm.Barrier()
    with pytest.raises(plait.ArgumentError, match="whose type was nothing, not int64"):
        plait.copy(source, shared / "b.npy", comm=comm, memory="4K", resume=True, target_dtype="i8")
    comm.Barrier()
    plait.copy(source, shared / "b.npy", comm=comm, memory="4K")
    comm.Barrier()
    assert sorted(os.listdir(shared)) == ["a.zarr", "b.npy"]


@pytest.mark.several_ranks
def test_a_difference_on_one_rank_is_an_error_on_all(comm, shared, source, monkeypatch):
    from plait._copying import verifying

    find_difference = verifying.find_difference
    if comm.rank == comm.size - 1:
        monkeypatch.setattr(
            verifying, "find_difference", lambda source, target: (0,) * source.ndim if source.size else None
        )
    with pytest.raises(plait.StoreError, match="the array data differs at index"):
        plait.copy(source, shared / "b.npy", comm=comm, memory="4K", verify=True)
    assert find_difference is not None
    comm.Barrier()
    assert sorted(os.listdir(shared)) == ["a.zarr"]


def write_packed_parts(comm, folder):
    """Returns the URLs of two files with different scale_factor attributes, on all ranks."""
    names = [folder / f"p_{number}.zarr::/v" for number in range(2)]
    if comm.rank == 0:
        for number, name in enumerate(names):
            attributes = {"scale_factor": (number + 1) / 2, "title": str(number)}
            with plait.open(name, "w", shape=(5, 4), dtype="i2", attributes=attributes) as file:
                file.write(np.arange(20, dtype="i2").reshape(5, 4))
    comm.Barrier()
    return names


def test_packed_parts_are_decoded_on_all_ranks(comm, shared):
    names = write_packed_parts(comm, shared)
    with pytest.raises(plait.ArgumentError, match=r"has scale_factor=1.0, but .* scale_factor=0.5"):
        plait.copy(names, shared / "b.zarr", comm=comm, concat=0)
    with plait.concat(names, comm=comm, unpack=True) as joined:
        layout = plait.Layout(joined.shape, "(cyclic, *)", grid=(comm.size,))
        expected = np.concatenate([np.arange(20).reshape(5, 4) / 2, np.arange(20).reshape(5, 4)])
        np.testing.assert_array_equal(joined.read(layout), expected[comm.rank :: comm.size])
        np.testing.assert_array_equal(joined.iread(layout).wait(), expected[comm.rank :: comm.size])


def test_times_without_an_exact_value_fail_on_all_ranks(comm, shared):
    names = [shared / f"t_{number}.zarr" for number in range(2)]
    if comm.rank == 0:
        for name, units in zip(names, ("days since 2000-01-01", "hours since 2000-01-01"), strict=True):
            with plait.open(name, "w", shape=(7,), dtype="f8", attributes={"units": units}) as file:
                file.write(np.array([0.0, 12, 24, 36, 48, 60, 61]))
    comm.Barrier()
    with pytest.raises(plait.ArgumentError, match=r"the time 61.0 in 'hours since"):
        plait.copy(names, shared / "t.npy", comm=comm, concat=0)
    comm.Barrier()
    assert not (shared / "t.npy").exists()


def test_a_hierarchy_appears_only_when_complete(comm, shared):
    if comm.rank == 0:
        arrays = {name: {"shape": (30, 40), "dtype": "f8"} for name in ("g/a", "g/b", "c")}
        with plait.open(shared / "a.h5", "w", arrays=arrays) as file:
            for name in arrays:
                file.write(np.full((30, 40), len(name) * 1.0), variable=name)
    comm.Barrier()

    def stop(done, total):
        if comm.rank == comm.size - 1 and done > total / 2:
            raise StopError

    with pytest.raises((StopError, plait.Error)):
        plait.copy(shared / "a.h5", shared / "b.zarr", comm=comm, progress=stop)
    comm.Barrier()
    if comm.rank == 0:
        assert sorted(path.name for path in shared.iterdir()) == ["a.h5"]
    comm.Barrier()
    plait.copy(shared / "a.h5", shared / "b.zarr", comm=comm)
    assert [array.name for array in plait.arrays_in(shared / "b.zarr")] == ["c", "g/a", "g/b"]
