"""Arrays in several files as one, compared with numpy.concatenate."""

import os
import pickle
import re
import threading
from pathlib import Path

import numpy as np
import pytest

import plait

SIZES = (3, 1, 0, 5, 4)


def make_parts(axis, sizes=SIZES, other_sizes=(4, 6), dtype="f8"):
    """Return arrays of different random numbers, to be joined along an axis; `other_sizes` are of the other axes."""
    shapes = [(*other_sizes[:axis], size, *other_sizes[axis:]) for size in sizes]
    return [np.random.default_rng(seed).integers(0, 99, shape).astype(dtype) for seed, shape in enumerate(shapes)]


def write_files(folder, arrays, ending="npy"):
    """Write the arrays to files of a format, and return the names."""
    names = []
    for number, array in enumerate(arrays):
        name = str(folder / f"part-{number}.{ending}")
        if ending == "npy":
            np.save(name, np.asfortranarray(array) if number % 2 else array)
        else:
            chunks = tuple(max(min(size, 2 + number % 2), 1) for size in array.shape)
            codec = "zstd:1" if number % 2 else "none"
            with plait.open(name, "w", shape=array.shape, dtype=array.dtype, chunks=chunks, codec=codec) as file:
                file.write(array)
        names.append(name)
    return names


@pytest.mark.sampled(4)
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("ending", ["npy", "zarr"])
def test_reads_equal_those_of_the_whole_array(tmp_path, location, axis, ending):
    arrays = make_parts(axis % 3)
    whole = np.concatenate(arrays, axis)
    with plait.concat(write_files(location if ending == "zarr" else tmp_path, arrays, ending), axis) as joined:
        assert (joined.shape, joined.dtype, joined.axis) == (whole.shape, whole.dtype, axis % 3)
        assert [part.end - part.begin for part in joined.parts] == list(SIZES)
        np.testing.assert_array_equal(joined.read(), whole)
        np.testing.assert_array_equal(np.asarray(joined), whole)
        for text in ("(cyclic, *, block)", "(*, cyclic(3), cyclic)", "(block, cyclic(2), *)"):
            layout = plait.Layout(whole.shape, text, grid=(2, 3))
            blocking_result = joined.read(layout)
            request = joined.iread(layout)
            for rank, (blocking, nonblocking) in enumerate(zip(blocking_result, request.wait(), strict=True)):
                np.testing.assert_array_equal(blocking, whole[np.ix_(*layout.indices(rank))])
                np.testing.assert_array_equal(nonblocking, blocking)
            assert request.test()


REGIONS = [
    np.s_[2:11:3],
    np.s_[:, 1:3],
    np.s_[1:2, ..., ::2],
    np.s_[3],
    np.s_[..., 5],
    np.s_[:, 3],
    np.s_[4:4],
    np.s_[:, :, 1:],
    np.s_[3:9, 2, 1::2],
]


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_regions_equal_those_of_the_whole_array(tmp_path, axis, region):
    arrays = make_parts(axis, other_sizes=(9, 7))
    whole = np.concatenate(arrays, axis)
    expected = whole[region]
    with plait.concat(write_files(tmp_path, arrays), axis) as joined:
        np.testing.assert_array_equal(joined.read(region=region), expected)
        np.testing.assert_array_equal(joined[region], expected)
        out = np.full((*expected.shape, 2), -1.0)[..., 1]
        assert joined.read(out=out, region=region) is out
        np.testing.assert_array_equal(out, expected)
        if expected.ndim:
            layout = plait.Layout(expected.shape, ["cyclic", *["*"] * (expected.ndim - 1)], grid=(3,), order="F")
            for rank, part in enumerate(joined.read(layout, region=region)):
                np.testing.assert_array_equal(part, expected[np.ix_(*layout.indices(rank))])


INDICES = [
    np.s_[5],
    np.s_[::-2, 1],
    np.s_[[12, 0, 3, 3]],
    np.s_[:, [0, 2], None],
    np.s_[[1, 7], [0, 3]],
    np.s_[-1, -1, -1],
    np.s_[...],
    np.s_[8:2:-1, ..., 2],
]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_indexing_equals_numpy(tmp_path, index):
    arrays = make_parts(0)
    whole = np.concatenate(arrays)
    with plait.concat(write_files(tmp_path, arrays)) as joined:
        actual = joined[index]
        np.testing.assert_array_equal(actual, whole[index])
        assert np.shape(actual) == np.shape(whole[index])
        np.testing.assert_array_equal(joined.astype("f4")[index], whole.astype("f4")[index])
        mask = np.arange(len(whole)) % 3 == 1
        np.testing.assert_array_equal(joined[mask], whole[mask])


def test_layouts_may_have_halos_and_replicas(tmp_path):
    """Halos outside the section of a layout stay unchanged."""
    arrays = make_parts(0)
    whole = np.concatenate(arrays)
    layout = plait.Layout(whole.shape, "(block, *, *)", grid=(3,), halo=(1, 2, 0))
    with plait.concat(write_files(tmp_path, arrays)) as joined:
        out = [np.full(layout.padded_shape(rank), -5.0) for rank in range(3)]
        joined.read(layout, out)
        for rank, part in enumerate(out):
            expected = np.full(layout.padded_shape(rank), -5.0)
            expected[1:-1, 2:-2] = whole[np.ix_(*layout.indices(rank))]
            np.testing.assert_array_equal(part, expected)
        replicated = plait.Layout(whole.shape, "(cyclic, *, *)", grid=(2, 2), replicate=[1])
        for rank, part in enumerate(joined.read(replicated)):
            np.testing.assert_array_equal(part, whole[np.ix_(*replicated.indices(rank))])


def test_patterns_are_in_natural_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in (10, 9, 1, 100):
        np.savez(f"run-{number}.npz", t=np.full((1, 2), number))
    with plait.concat("run-*.npz::t") as joined:
        assert [part.url for part in joined.parts] == [f"run-{n}.npz::t" for n in (1, 9, 10, 100)]
        np.testing.assert_array_equal(joined[:, 0], [1, 9, 10, 100])
    with plait.concat(["run-10.npz::t", "run-?.npz::t"]) as joined:
        np.testing.assert_array_equal(joined[:, 1], [10, 1, 9])
    Path("run-[a].npy").touch()
    np.save("run-[a].npy", np.ones((2, 2)))
    assert plait.concat("run-[a].npy").shape == (2, 2)  # the literal name of a file, not a pattern


def test_incompatible_parts_are_named(tmp_path):
    arrays = make_parts(0)
    names = write_files(tmp_path, arrays)
    np.save(tmp_path / "other.npy", np.zeros((2, 4, 7)))
    np.save(tmp_path / "flat.npy", np.zeros((2, 4)))
    np.save(tmp_path / "whole.npy", np.zeros((2, 4, 6), "i4"))
    for odd_name, message in (
        ("other.npy", "has shape 2x4x7, but"),
        ("flat.npy", "has shape 2x4, but"),
        ("whole.npy", "has elements of type int32"),
    ):
        with pytest.raises(plait.ArgumentError, match=f"{odd_name} {message}"):
            plait.concat([*names, tmp_path / odd_name])
    for axis, message in ((3, "axis=3, but"), ("t", "without names"), (1.5, "not a whole number")):
        with pytest.raises(plait.ArgumentError, match=message):
            plait.concat(names, axis)
    with pytest.raises(plait.ArgumentError, match="no file matches"):
        plait.concat(str(tmp_path / "none-*.npy"))
    with pytest.raises(plait.ArgumentError, match="no array to join"):
        plait.concat([])
    with pytest.raises(plait.ArgumentError, match="is a pipe"):
        plait.concat(["pipe:a"])
    with pytest.raises(FileNotFoundError):
        plait.concat([*names, str(tmp_path / "none.npy")])
    joined = plait.concat(names)
    with pytest.raises(plait.ArgumentError, match="layout is of an array"):
        joined.read(plait.Layout((3, 3), "(*, *)"))
    with pytest.raises(IndexError):
        joined[99]
    joined.close()
    for access in (joined.read, lambda: joined[0]):
        with pytest.raises(plait.ArgumentError, match="is closed"):
            access()


def test_an_axis_may_be_named(tmp_path):
    for number in range(3):
        with plait.open(
            tmp_path / f"{number}.zarr", "w", shape=(2, 3), dtype="i4", dimension_names=["x", "time"]
        ) as file:
            file.write(np.full((2, 3), number, "i4"))
    with plait.concat(str(tmp_path / "?.zarr"), "time") as joined:
        assert joined.shape == (2, 9)
        np.testing.assert_array_equal(joined[0], np.repeat([0, 1, 2], 3))


def test_many_parts_are_not_open_at_once(tmp_path):
    np.save(tmp_path / "one.npy", np.arange(4.0))
    descriptors = Path("/proc/self/fd")
    open_before = len(list(descriptors.iterdir()))
    with plait.concat([tmp_path / "one.npy"] * 300) as joined:
        np.testing.assert_array_equal(joined.read(), np.tile(np.arange(4.0), 300))
        assert len(list(descriptors.iterdir())) <= open_before + 64
    assert len(list(descriptors.iterdir())) == open_before


def test_a_part_stays_open_while_a_thread_reads_it(tmp_path, monkeypatch):
    """Reading the first part is slow: meanwhile other parts are opened and closed."""
    arrays = make_parts(0, (2,) * 12)
    with plait.concat(write_files(tmp_path, arrays, "zarr")) as joined:
        slow_url, read_parts, files = joined.parts[0].url, threading.Semaphore(0), joined._files.files
        read_region, limit = plait.File._read_region, 4

        def read(file, slices, out):
            if file.url == slow_url:
                for _ in range(10):
                    assert read_parts.acquire(timeout=20)
            read_region(file, slices, out)
            read_parts.release()

        joined._files.close()
        monkeypatch.setattr(files, "_limit", limit)
        monkeypatch.setattr(plait.File, "_read_region", read)
        monkeypatch.setattr(os, "cpu_count", lambda: 2)
        np.testing.assert_array_equal(joined[...], np.concatenate(arrays))
        assert len(files._files) == limit
        assert not any(file.closed for file in files._files.values())


def test_a_part_that_changes_is_an_error(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((2, 3)))
    names = [tmp_path / "a.npy", *[tmp_path / "b.npy"] * 70]
    np.save(tmp_path / "b.npy", np.zeros((2, 3)))
    with plait.concat(names) as joined:
        np.save(tmp_path / "a.npy", np.zeros((1, 3)))
        with pytest.raises(plait.StoreError, match="when it was joined with others"):
            joined.read()


def test_joined_arrays_are_read_by_threads_and_pickled(tmp_path):
    arrays = make_parts(1)
    whole = np.concatenate(arrays, 1)
    with plait.concat(write_files(tmp_path, arrays), 1) as joined:
        mismatches = []

        def read(number):
            for step in range(20):
                if not (joined[:, (step + number) % 13] == whole[:, (step + number) % 13]).all():
                    mismatches.append((step, number))

        threads = [threading.Thread(target=read, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not mismatches
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(joined))[2:], whole[2:])
        assert "part 4" in joined.explain(region=np.s_[:, 10:])
        assert "part 0" not in joined.explain(region=np.s_[:, 10:])
        assert re.fullmatch(r"<plait.Concatenation of 5 arrays along 1 4x13x6 float64>", repr(joined))


def test_dask_accepts_joined_arrays(location):
    array = pytest.importorskip("dask.array", reason="dask is not installed")
    arrays = make_parts(0)
    whole = np.concatenate(arrays)
    with plait.concat(write_files(location, arrays, "zarr")) as joined:
        lazy = array.from_array(joined, chunks=joined.chunks)
        assert lazy.chunksize == joined.chunks
        np.testing.assert_array_equal((lazy * 2).sum(axis=1).compute(), (whole * 2).sum(axis=1))
