"""Zarr's codecs transpose, crc32c, blosc and sharding: Plait reads arrays that zarr-python writes with them."""

import ctypes
import struct

import numpy as np
import pytest
from zarr_locations import Location, zarr_store

import plait

zarr = pytest.importorskip("zarr")
codecs = zarr.codecs

SHAPE = (13, 7, 10)


def make_array(dtype: str = "f4") -> np.ndarray:
    return np.random.default_rng(1).integers(0, 90, SHAPE).astype(dtype)


def write_array(path: Location, array: np.ndarray, **options: object) -> Location:
    stored = zarr.create_array(
        zarr_store(path), shape=array.shape, dtype=array.dtype, **{"compressors": None, **options}
    )
    stored[...] = array
    return path


def check_array(path: Location, array: np.ndarray) -> None:
    np.testing.assert_array_equal(plait.open(path).read(), array)
    layout = plait.Layout(array.shape, "(cyclic(2), block, *)", grid=(2, 2))
    for rank, part in enumerate(plait.open(path, memory=1 << 12).read(layout)):
        np.testing.assert_array_equal(part, array[np.ix_(*layout.indices(rank))])
    np.testing.assert_array_equal(plait.open(path).read(region=np.s_[1::3, 2, 1:9]), array[1::3, 2, 1:9])


def has_blosc() -> bool:
    try:
        ctypes.CDLL("libblosc.so.1")
    except OSError:
        return False
    return True


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1), (2, 0, 1)])
@pytest.mark.parametrize("is_compressed", [False, True])
@pytest.mark.parametrize("dtype", ["u1", "f4", "c16"])
def test_transposed_chunks_are_read(location, order, is_compressed, dtype):
    array = make_array(dtype)
    options = {"compressors": codecs.ZstdCodec()} if is_compressed else {}
    path = write_array(
        location / "a.zarr", array, chunks=(4, 3, 10), filters=[codecs.TransposeCodec(order=order)], **options
    )
    check_array(path, array)
    assert plait.open(path).order == ("F" if order == (2, 1, 0) else "C")


def test_two_transposes_are_composed(location):
    array = make_array()
    filters = [codecs.TransposeCodec(order=(1, 2, 0)), codecs.TransposeCodec(order=(0, 2, 1))]
    check_array(write_array(location / "a.zarr", array, chunks=(4, 3, 10), filters=filters), array)


def test_checksums_are_checked(location):
    array = make_array()
    path = write_array(
        location / "a.zarr", array, chunks=(4, 3, 10), compressors=[codecs.ZstdCodec(), codecs.Crc32cCodec()]
    )
    check_array(path, array)
    chunk = path / "c/1/1/0"
    damaged = bytearray(chunk.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    chunk.write_bytes(damaged)
    with pytest.raises(plait.StoreError, match=r"cannot read the chunk .*/c/1/1/0: its check sum is"):
        plait.open(path).read()


@pytest.mark.skipif(not has_blosc(), reason="libblosc.so.1 is not there")
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("name", ["lz4", "lz4hc", "zstd", "zlib", "blosclz"])
@pytest.mark.parametrize("shuffle", ["noshuffle", "shuffle", "bitshuffle"])
def test_blosc_chunks_are_read_and_changed(location, version, name, shuffle):
    array = make_array("i4")
    if version == 3:
        codec = codecs.BloscCodec(cname=name, clevel=5, shuffle=shuffle)
    else:
        numcodecs = pytest.importorskip("numcodecs")
        codec = numcodecs.Blosc(cname=name, shuffle=["noshuffle", "shuffle", "bitshuffle"].index(shuffle))
    path = write_array(location / "a.zarr", array, chunks=(4, 3, 10), compressors=codec, zarr_format=version)
    check_array(path, array)
    with plait.open(path, "r+") as file:
        file.write(array[2:9] + 1, region=np.s_[2:9])
    array[2:9] += 1
    np.testing.assert_array_equal(zarr.open_array(zarr_store(path), mode="r")[...], array)
    chunk = path / ("0.0.0" if version == 2 else "c/0/0/0")
    intact = chunk.read_bytes()
    for data in (b"", intact[:10], intact[:-1], bytes(100), struct.pack("<4B3i", 2, 1, 0, 4, 1 << 30, 100, 1 << 20)):
        chunk.write_bytes(data)
        with pytest.raises(plait.StoreError, match=f"cannot read the chunk {chunk}: "):
            plait.open(path).read()


@pytest.mark.skipif(not has_blosc(), reason="libblosc.so.1 is not there")
@pytest.mark.parametrize("codec", ["blosc", "blosc:9", "blosc-zstd:1"])
def test_blosc_chunks_are_written(location, codec):
    array = make_array("i4")
    with plait.open(location / "a.zarr", "w", shape=array.shape, dtype="i4", chunks=(4, 3, 10), codec=codec) as file:
        file.write(array)
    stored = zarr.open_array(zarr_store(location / "a.zarr"), mode="r")
    np.testing.assert_array_equal(stored[...], array)
    (compressor,) = stored.compressors
    assert (compressor.cname.value, compressor.typesize) == ("zstd" if "zstd" in codec else "lz4", 4)
    check_array(location / "a.zarr", array)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("inner", [(2, 3, 5), (4, 6, 10), (1, 1, 1)])
@pytest.mark.parametrize("codec", [None, "zstd", "gzip"])
@pytest.mark.parametrize("index", ["end", "start"])
def test_shards_are_read(location, inner, codec, index):
    array = make_array("i2")
    compressors = {"zstd": codecs.ZstdCodec(), "gzip": codecs.GzipCodec(), None: None}[codec]
    shards = {"shape": (4, 6, 10), "index_location": index}
    path = write_array(location / "a.zarr", array, chunks=inner, shards=shards, compressors=compressors, fill_value=-1)
    check_array(path, array)
    (info,) = plait.arrays_in(path)
    assert info.chunks == inner
    assert info.whole_chunks == (codec is not None)
    assert "in shards of 4x6x10" in info.storage


def test_missing_shards_and_chunks_have_the_fill_value(location):
    path = location / "a.zarr"
    options = {"chunks": (2, 3, 5), "shards": (4, 6, 10), "fill_value": 9, "compressors": codecs.ZstdCodec()}
    stored = zarr.create_array(zarr_store(path), shape=SHAPE, dtype="i4", **options)
    stored[1, 1, 7] = 5
    stored[12, 6, 9] = 6
    np.testing.assert_array_equal(plait.open(path).read(), stored[...])


def test_transposed_chunks_in_shards_are_read(location):
    array = make_array()
    for number, order in enumerate([(2, 1, 0), (1, 0, 2)]):
        filters = [codecs.TransposeCodec(order=order)]
        path = write_array(location / f"{number}.zarr", array, chunks=(2, 3, 5), shards=(4, 6, 10), filters=filters)
        check_array(path, array)


def replace_index(path: Location, entries: dict[int, tuple[int, int]]) -> bytes:
    """Return the bytes of a shard of four chunks with other entries in its index, and the correct checksum.

    The index is at the end: an offset and a length of 8 bytes each for every chunk, and a checksum of 4 bytes.
    """
    intact = path.read_bytes()
    index = bytearray(intact[-68:-4])
    for number, entry in entries.items():
        struct.pack_into("<2Q", index, 16 * number, *entry)
    google = pytest.importorskip("google_crc32c")
    return intact[:-68] + bytes(index) + struct.pack("<I", google.value(bytes(index)))


NOTHING = (1 << 64) - 1  # offset and length of a missing chunk


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ((1 << 40, 20), "has chunk 1 at offset 1099511627776 with 20 bytes"),
        ((0, 1 << 40), "with 1099511627776 bytes"),
        ((NOTHING, 5), "its index has chunk 1"),
        ((5, NOTHING), "its index has chunk 1"),
        ((NOTHING - 1, 20), "its index has chunk 1"),
        ((0, 0), "cannot read chunk 1 of the shard"),
        ((0, 7), "cannot read chunk 1 of the shard"),
    ],
)
def test_damaged_shard_indices_are_errors(location, entry, message):
    array = np.arange(4 * 6, dtype="i4").reshape(4, 6)
    path = write_array(location / "a.zarr", array, chunks=(2, 3), shards=(4, 6), compressors=codecs.ZstdCodec())
    shard = path / "c/0/0"
    shard.write_bytes(replace_index(shard, {1: entry}))
    with pytest.raises(plait.StoreError) as raised:
        plait.open(path).read()
    assert message in str(raised.value)
    assert str(shard) in str(raised.value)


def test_truncated_and_changed_shards_are_errors(location):
    array = np.arange(4 * 6, dtype="i4").reshape(4, 6)
    path = write_array(location / "a.zarr", array, chunks=(2, 3), shards=(4, 6), compressors=codecs.ZstdCodec())
    shard = path / "c/0/0"
    intact = shard.read_bytes()
    for size in (0, 1, 67, 68, len(intact) - 1):
        shard.write_bytes(intact[:size])
        with pytest.raises(plait.StoreError, match=str(shard)):
            plait.open(path).read()
    for position in range(len(intact) - 68, len(intact), 5):
        shard.write_bytes(intact[:position] + bytes([intact[position] ^ 4]) + intact[position + 1 :])
        with pytest.raises(plait.StoreError, match=f"cannot read the index of the shard {shard}: its check sum"):
            plait.open(path).read()
    shard.write_bytes(intact)
    np.testing.assert_array_equal(plait.open(path).read(), array)
