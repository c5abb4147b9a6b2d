"""Zarr's shards: what Plait writes into them zarr-python reads."""

import os
import random

import numpy as np
import pytest

import plait

zarr = pytest.importorskip("zarr")

SHAPE = (13, 7, 10)


def array_of(dtype: str = "<f4", shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 90, shape).astype(dtype)


def opened(path: object, array: np.ndarray, **options: object) -> plait.File:
    return plait.open(path, "w", shape=array.shape, dtype=array.dtype, **options)


@pytest.mark.parametrize("codec", ["none", "zstd:3", "gzip:1"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("chunks", [(2, 3, 5), (4, 6, 10), (1, 1, 1)])
def test_shards(tmp_path, codec, order, chunks):
    array = array_of()
    path = tmp_path / "a.zarr"
    with opened(path, array, chunks=chunks, shards=(4, 6, 10), codec=codec, order=order) as file:
        file.write(array)
    stored = zarr.open_array(path, mode="r")
    assert (stored.chunks, stored.shards) == (chunks, (4, 6, 10))
    np.testing.assert_array_equal(stored[...], array)
    with plait.open(path) as file:
        assert (file.order, file.chunks) == (order, chunks)
        np.testing.assert_array_equal(file.read(), array)


def test_random_shards_and_regions(tmp_path):
    chance = random.Random(11)
    for number in range(40):
        shape = tuple(chance.randint(1, 12) for _ in range(chance.randint(1, 4)))
        chunks = tuple(chance.randint(1, 4) for _ in shape)
        shards = tuple(size * chance.randint(1, 4) for size in chunks)
        array = array_of(chance.choice(["<i2", ">f8", "|u1"]), shape)
        path = tmp_path / f"{number}.zarr"
        how = {"codec": chance.choice(["none", "zstd:1"]), "order": chance.choice("CF")}
        expected = np.full(shape, 7, array.dtype)
        with opened(path, array, chunks=chunks, shards=shards, fill_value=7, memory=4096, **how) as file:
            for _ in range(3):
                region = tuple(slice(chance.randint(0, size - 1), size, chance.randint(1, 2)) for size in shape)
                file.write(np.ascontiguousarray(array[region]), region=region)
                expected[region] = array[region]
                np.testing.assert_array_equal(file.read(), expected)
        np.testing.assert_array_equal(zarr.open_array(path, mode="r")[...], expected)


def test_chunks_that_are_written_again_take_their_old_room_where_they_fit(tmp_path):
    array = array_of()
    path = tmp_path / "a.zarr"
    with opened(path, array, chunks=(2, 3, 5), shards=(14, 9, 10)) as file:
        file.write(array * 0)
        for _ in range(3):
            file.write(array)
    np.testing.assert_array_equal(zarr.open_array(path, mode="r")[...], array)
    assert (path / "c/0/0/0").stat().st_size == 7 * 3 * 2 * 2 * 3 * 5 * 4 + 16 * 42 + 4


def test_shards_that_others_see_are_not_changed(tmp_path):
    array = array_of()
    path = tmp_path / "a.zarr"
    with opened(path, array, chunks=(2, 3, 5), shards=(4, 6, 10), codec="zstd") as file:
        file.write(array)
    with plait.open(path, "r+") as file:
        with pytest.raises(plait.ArgumentError, match="chunks in shards are not written in place"):
            file.write(array)
        np.testing.assert_array_equal(file.read(), array)


def test_copies_into_and_out_of_shards(tmp_path):
    array = array_of("f4", (40, 33, 24))
    np.save(tmp_path / "a.npy", array)
    plait.copy(
        tmp_path / "a.npy", tmp_path / "b.zarr", chunks=(4, 4, 4), shards=(16, 32, 8), codec="zstd", memory="32K"
    )
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "b.zarr", mode="r")[...], array)
    plait.copy(tmp_path / "b.zarr", tmp_path / "c.zarr", chunks=(8, 8, 8), shards=(24, 24, 24), memory="64K")
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "c.zarr", mode="r")[...], array)
    plait.copy(tmp_path / "c.zarr", tmp_path / "d.npy", memory="32K")
    np.testing.assert_array_equal(np.load(tmp_path / "d.npy"), array)
    assert len(os.listdir(tmp_path)) == 4
