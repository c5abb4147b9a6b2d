"""Zarr shards: zarr-python reads what Plait writes into them."""

import random

import numpy as np
import pytest
from zarr_locations import entries, version, zarr_store

import plait

zarr = pytest.importorskip("zarr")
codecs = pytest.importorskip("zarr.codecs")

SHAPE = (13, 7, 10)


def make_array(dtype: str = "<f4", shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 90, shape).astype(dtype)


def create_array(path: object, array: np.ndarray, **options: object) -> plait.File:
    return plait.open(path, "w", shape=array.shape, dtype=array.dtype, **options)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("codec", ["none", "zstd:3", "gzip:1"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("chunks", [(2, 3, 5), (4, 6, 10), (1, 1, 1)])
def test_shards_are_written(location, codec, order, chunks):
    array = make_array()
    path = location / "a.zarr"
    with create_array(path, array, chunks=chunks, shards=(4, 6, 10), codec=codec, order=order) as file:
        file.write(array)
    stored = zarr.open_array(zarr_store(path), mode="r")
    assert (stored.chunks, stored.shards) == (chunks, (4, 6, 10))
    np.testing.assert_array_equal(stored[...], array)
    with plait.open(path) as file:
        assert (file.order, file.chunks) == (order, chunks)
        np.testing.assert_array_equal(file.read(), array)


def draw_array(generator):
    """Return the shapes of an array, of its chunks and of its shards, and the array."""
    shape = tuple(generator.randint(1, 12) for _ in range(generator.randint(1, 4)))
    chunks = tuple(generator.randint(1, 4) for _ in shape)
    shards = tuple(size * generator.randint(1, 4) for size in chunks)
    return shape, chunks, shards, make_array(generator.choice(["<i2", ">f8", "|u1"]), shape)


def test_random_regions_of_shards_are_written(location, effort):
    generator = random.Random(11)
    for number in range(effort.choose(8, 40)):
        shape, chunks, shards, array = draw_array(generator)
        path = location / f"{number}.zarr"
        storage = {"codec": generator.choice(["none", "zstd:1"]), "order": generator.choice("CF")}
        expected = np.full(shape, 7, array.dtype)
        with create_array(path, array, chunks=chunks, shards=shards, fill_value=7, memory=4096, **storage) as file:
            for _ in range(3):
                region = tuple(slice(generator.randint(0, size - 1), size, generator.randint(1, 2)) for size in shape)
                file.write(np.ascontiguousarray(array[region]), region=region)
                expected[region] = array[region]
                np.testing.assert_array_equal(file.read(), expected)
        np.testing.assert_array_equal(zarr.open_array(zarr_store(path), mode="r")[...], expected)


def test_rewritten_chunks_reuse_their_old_space_if_they_fit(location):
    array = make_array()
    path = location / "a.zarr"
    with create_array(path, array, chunks=(2, 3, 5), shards=(14, 9, 10)) as file:
        file.write(array * 0)
        for _ in range(3):
            file.write(array)
    np.testing.assert_array_equal(zarr.open_array(zarr_store(path), mode="r")[...], array)
    # 7 x 3 x 2 chunks of 2 x 3 x 5 elements of 4 bytes, 16 bytes of index for each chunk, and a checksum.
    assert len((path / "c/0/0/0").read_bytes()) == 7 * 3 * 2 * 2 * 3 * 5 * 4 + 16 * 42 + 4


@pytest.mark.parametrize("index", ["start", "end"])
def test_changed_shards_preserve_the_compressed_bytes_of_other_chunks(location, index):
    """Unchanged chunks are not decoded: a chunk that is not valid zstd stays as it is."""
    path = location / "a.zarr"
    codec = codecs.ShardingCodec(
        chunk_shape=(2, 2), codecs=[codecs.BytesCodec(), codecs.ZstdCodec()], index_location=index
    )
    zarr.create_array(zarr_store(path), shape=(8, 8), chunks=(4, 4), dtype="i4", serializer=codec, compressors=None)[
        ...
    ] = 5
    shard = path / "c/0/0"
    damaged = bytearray(shard.read_bytes())
    last = len(damaged) - 20 if index == "end" else 48  # the entry of the last of 4 chunks, followed by a checksum
    offset, length = (int.from_bytes(damaged[begin : begin + 8], "little") for begin in (last, last + 8))
    damaged[offset : offset + length] = b"x" * length
    shard.write_bytes(damaged)
    other_version = version(path / "c/1/1")
    with plait.open(path, "r+") as file:
        file.write(np.full((3, 1), 7, "i4"), region=np.s_[:3, :1])
        assert file.read(region=np.s_[:4, :2]).tolist() == [[7, 5], [7, 5], [7, 5], [5, 5]]
        with pytest.raises(plait.StoreError, match="chunk 3 of the shard"):
            file.read(region=np.s_[2:4, 2:4])
    assert b"x" * length in shard.read_bytes()
    assert version(path / "c/1/1") == other_version
    assert entries(path) == ["c", "zarr.json"]


def test_random_regions_of_shards_are_changed(location, effort):
    generator = random.Random(12)
    for number in range(effort.choose(5, 40)):
        shape, chunks, shards, array = draw_array(generator)
        path = location / f"{number}.zarr"
        storage = {"codec": generator.choice(["none", "zstd:1"]), "order": generator.choice("CF"), "fill_value": 7}
        expected = np.full(shape, 7, array.dtype)
        with create_array(path, array, chunks=chunks, shards=shards, **storage) as file:
            if number % 2:
                file.write(array)
                expected[...] = array
        with plait.open(path, "r+", memory=generator.choice([4096, 1 << 20])) as file:
            for value in range(3):
                region = tuple(slice(generator.randint(0, size - 1), size, generator.randint(1, 2)) for size in shape)
                expected[region] = value
                file.write(np.ascontiguousarray(expected[region]), region=region)
                np.testing.assert_array_equal(file.read(), expected)
                np.testing.assert_array_equal(zarr.open_array(zarr_store(path), mode="r")[...], expected)


def test_a_shard_that_cannot_be_rewritten_stays(location):
    array = make_array()
    path = location / "a.zarr"
    with create_array(path, array, chunks=(2, 3, 5), shards=(4, 6, 10), codec="zstd") as file:
        file.write(array)
    shard = path / "c/0/0/0"
    shard.write_bytes(shard.read_bytes()[:-1])
    before = shard.read_bytes()
    with plait.open(path, "r+") as file:
        with pytest.raises(plait.StoreError, match="cannot read the index of the shard"):
            file.write(array[:2, :3, :5].copy(), region=np.s_[:2, :3, :5])
        file.write(-array[4:], region=np.s_[4:])
    assert shard.read_bytes() == before
    np.testing.assert_array_equal(plait.open(path).read(region=np.s_[4:]), -array[4:])
    assert entries(path) == ["c", "zarr.json"]


def test_shards_are_copied(tmp_path, location):
    array = make_array("f4", (40, 33, 24))
    np.save(tmp_path / "a.npy", array)
    plait.copy(
        tmp_path / "a.npy", location / "b.zarr", chunks=(4, 4, 4), shards=(16, 32, 8), codec="zstd", memory="32K"
    )
    np.testing.assert_array_equal(zarr.open_array(zarr_store(location / "b.zarr"), mode="r")[...], array)
    plait.copy(location / "b.zarr", location / "c.zarr", chunks=(8, 8, 8), shards=(24, 24, 24), memory="64K")
    np.testing.assert_array_equal(zarr.open_array(zarr_store(location / "c.zarr"), mode="r")[...], array)
    plait.copy(location / "c.zarr", tmp_path / "d.npy", memory="32K")
    np.testing.assert_array_equal(np.load(tmp_path / "d.npy"), array)
    assert entries(location) == ["b.zarr", "c.zarr"]
