"""Zarr: zarr-python reads the arrays that Plait writes, and new arrays appear completely or not at all."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from zarr_locations import Location, entries, zarr_store

import plait

zarr = pytest.importorskip("zarr")

SHAPE = (13, 7, 10)
TYPES = ["|b1", "|i1", "|u1", "<i2", ">u2", "<i4", ">u4", "<i8", ">u8", "<f2", ">f4", "<f8", "<c8", ">c16"]


def make_array(dtype: str = "<f4", shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 2 if "b" in dtype else 90, shape).astype(dtype)


def write_array(path: Path | str, array: np.ndarray, **options: object) -> None:
    with plait.open(path, "w", shape=array.shape, dtype=array.dtype, **options) as file:
        file.write(array)


def read_by_zarr(path: Location) -> np.ndarray:
    return zarr.open_array(zarr_store(path), mode="r")[...]


def open_error_text(*arguments: object, kind: type[plait.Error] = plait.ArgumentError, **options: object) -> str:
    with pytest.raises(kind) as raised:
        plait.open(*arguments, **options)
    return str(raised.value)


@pytest.mark.sampled(14)
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("codec", [None, "zstd:3", "gzip"])
def test_types_and_codecs_are_written(location, dtype, codec):
    array = make_array(dtype)
    for order in ("C", "F"):
        path = location / f"{order}.zarr"
        write_array(path, array, chunks=(4, 3, 10), codec=codec, order=order)
        stored = zarr.open_array(zarr_store(path), mode="r")
        assert (stored.chunks, stored.dtype.newbyteorder("=")) == ((4, 3, 10), array.dtype.newbyteorder("="))
        np.testing.assert_array_equal(stored[...], array)
        with plait.open(path) as file:
            assert (file.shape, file.dtype, file.order, file.chunks) == (SHAPE, array.dtype, order, (4, 3, 10))
            np.testing.assert_array_equal(file.read(), array)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("shape", [(), (1,), (5,), (0, 3), (3, 0), (6, 11), (2, 3, 4, 5)])
@pytest.mark.parametrize("chunk", [1, 2, 5, 100])
def test_chunks_need_not_divide_the_shape(location, shape, chunk):
    array = make_array("<i4", shape)
    for codec in ("none", "zstd"):
        path = location / f"{codec}.zarr"
        write_array(path, array, chunks=(chunk,) * len(shape), codec=codec)
        np.testing.assert_array_equal(read_by_zarr(path), array)


def test_random_layouts_are_written(location, effort):
    generator = random.Random(7)
    for number in range(effort.choose(10, 60)):
        shape = tuple(generator.randint(1, 9) for _ in range(generator.randint(1, 4)))
        chunks = tuple(generator.randint(1, 10) for _ in shape)
        array = make_array(generator.choice(TYPES), shape)
        path = location / f"{number}.zarr"
        distributions = [generator.choice(["block", "cyclic", "cyclic(2)", "*"]) for _ in shape]
        grid = tuple(generator.randint(1, 3) for distribution in distributions if distribution != "*")
        layout = plait.Layout(shape, distributions, grid=grid) if grid else plait.Layout(shape, distributions)
        parts = [np.ascontiguousarray(array[np.ix_(*layout.indices(rank))]) for rank in layout.rank_numbers]
        options = {"codec": generator.choice(["none", "zstd:1"]), "order": generator.choice("CF")}
        memory = generator.choice([0, 4096])
        with plait.open(path, "w", shape=shape, dtype=array.dtype, chunks=chunks, memory=memory, **options) as file:
            file.write(parts if len(parts) > 1 else parts[0], layout)
        np.testing.assert_array_equal(read_by_zarr(path), array)
        region = tuple(slice(generator.randint(0, size - 1), size, generator.randint(1, 3)) for size in shape)
        with plait.open(path, "r+", memory=memory) as file:
            file.write(np.zeros_like(array[region], order="C"), region=region)
            array[region] = 0
            np.testing.assert_array_equal(file.read(), array)
        np.testing.assert_array_equal(read_by_zarr(path), array)
        assert entries(path) == ["c", "zarr.json"]


def test_default_chunks_are_contiguous_pieces(location):
    for shape, order, expected in [
        ((100, 100), "C", (100, 100)),
        ((3000, 2048), "C", (1000, 2048)),
        ((2048, 3000), "F", (2048, 1000)),
        ((3, 5_000_000), "C", (1, 1_666_667)),
        ((20, 3, 1024, 1024), "C", (1, 2, 1024, 1024)),
    ]:
        path = location / "a.zarr"
        with plait.open(path, "w", shape=shape, dtype="f4", order=order) as file:
            assert file.chunks == expected
        assert zarr.open_array(zarr_store(path), mode="r").chunks == expected


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("f8", 2.5), ("f4", np.nan), ("f2", -np.inf), ("i8", -(2**63)), ("u8", 2**64 - 1), ("?", True), ("c8", 1 - 2j),
     ("c16", complex(np.nan, np.inf)), ("i2", np.int16(-7))],
)  # fmt: skip
@pytest.mark.parametrize("codec", ["none", "gzip:1"])
def test_unwritten_elements_have_the_fill_value(location, dtype, value, codec):
    path = location / "a.zarr"
    with plait.open(path, "w", shape=SHAPE, dtype=dtype, chunks=(4, 3, 10), fill_value=value, codec=codec) as file:
        file.write(np.ones((1, 2, 10), dtype), region=np.s_[5:6, 3:5])
    expected = np.full(SHAPE, value, dtype)
    expected[5:6, 3:5] = 1
    np.testing.assert_array_equal(read_by_zarr(path), expected)
    np.testing.assert_array_equal(plait.open(path).read(), expected)


def test_dimension_names_are_written(location):
    path = location / "a.zarr"
    write_array(path, make_array(), dimension_names=["time", "", "lat"])
    assert zarr.open_array(zarr_store(path), mode="r").metadata.dimension_names == ("time", None, "lat")
    assert plait.arrays_in(path)[0].dimension_names == ("time", "", "lat")


def test_groups_in_the_name_of_an_array_are_made(location):
    path = location / "a.zarr"
    arrays = {"group/inner/u": make_array("<i2"), "group/v": make_array("<f8"), "t": make_array()}
    for name, array in arrays.items():
        write_array(f"{path}::/{name}", array, codec="zstd")
    root = zarr.open_group(zarr_store(path), mode="r")
    for name, array in arrays.items():
        np.testing.assert_array_equal(root[name][...], array)
    write_array(f"{path}::group/v", arrays["t"])
    np.testing.assert_array_equal(root["group/v"][...], arrays["t"])
    np.testing.assert_array_equal(root["group/inner/u"][...], arrays["group/inner/u"])
    assert entries(location) == ["a.zarr"]


def test_groups_preserve_attributes_but_no_consolidated_metadata(location):
    path = location / "a.zarr"
    attributes = {"title": "x", "number": 2.5, "digits": 2**80 + 1, "nan": float("nan")}
    root = zarr.open_group(zarr_store(path), mode="w", attributes=attributes)
    root.create_array("one", shape=(2,), dtype="i4")
    zarr.consolidate_metadata(zarr_store(path))
    before = json.loads((path / "zarr.json").read_text())
    write_array(f"{path}::/two", make_array())
    group = zarr.open_group(zarr_store(path), mode="r")
    assert sorted(group.array_keys()) == ["one", "two"]
    assert repr(dict(group.attrs)) == repr(attributes)
    del before["consolidated_metadata"]
    assert repr(json.loads((path / "zarr.json").read_text())) == repr(before)


def test_arrays_of_version_2_are_written_in_place(location):
    array = make_array()
    path = location / "a.zarr"
    zarr.create_array(zarr_store(path), shape=SHAPE, dtype="f4", chunks=(4, 3, 10), zarr_format=2, order="F")[...] = 0
    with plait.open(path, "r+") as file:
        file.write(array)
    np.testing.assert_array_equal(read_by_zarr(path), array)


def test_an_array_replaces_another_array(tmp_path):
    path = tmp_path / "a.zarr"
    write_array(path, make_array("<i4", (3, 3)))
    with plait.open(path) as old, plait.open(path, "w", shape=SHAPE, dtype="f4") as file:
        file.write(make_array())
        np.testing.assert_array_equal(read_by_zarr(path), make_array("<i4", (3, 3)))
        assert old.shape == (3, 3)
    np.testing.assert_array_equal(read_by_zarr(path), make_array())
    assert os.listdir(tmp_path) == ["a.zarr"]


def test_a_discarded_array_leaves_nothing(tmp_path):
    path = tmp_path / "a.zarr"
    for exists in (False, True):
        file = plait.open(path, "w", shape=SHAPE, dtype="f4")
        file.write(make_array())
        file.__exit__(KeyError, KeyError(), None)
        assert os.listdir(tmp_path) == (["a.zarr"] if exists else [])
        write_array(path, make_array())


def test_targets_that_are_no_arrays_are_not_replaced(tmp_path):
    path = tmp_path / "a.zarr"
    options = {"shape": (3,), "dtype": "f4"}
    path.mkdir()
    write_array(path, make_array())  # an empty folder is treated like a missing one
    assert "is an array, which holds no other" in open_error_text(f"{path}::/x", "w", **options)
    root = zarr.open_group(tmp_path / "b.zarr", mode="w")
    root.create_array("one", shape=(2,), dtype="i4")
    assert "is a group that holds others" in open_error_text(tmp_path / "b.zarr", "w", **options)
    zarr.open_group(tmp_path / "c.zarr", mode="w", zarr_format=2)
    assert "a group of Zarr's version 2" in open_error_text(f"{tmp_path}/c.zarr::/x", "w", **options)
    (tmp_path / "d.zarr").mkdir()
    (tmp_path / "d.zarr/thesis.txt").write_text("x")
    assert "is a folder without Zarr's metadata" in open_error_text(tmp_path / "d.zarr", "w", **options)
    (tmp_path / "e.zarr").write_text("x")
    assert "is no folder" in open_error_text(tmp_path / "e.zarr", "w", **options)
    assert '".." is no part of the name' in open_error_text(f"{path}::/../x", "w", **options)
    open_error_text(tmp_path / "missing/a.zarr", "w", kind=plait.StoreError, **options)


def test_an_array_that_appears_meanwhile_is_not_replaced(tmp_path):
    path = tmp_path / "a.zarr"
    file = plait.open(path, "w", shape=SHAPE, dtype="f4")
    file.write(make_array())
    zarr.create_array(path, shape=(2,), dtype="i4")
    with pytest.raises(plait.StoreError, match=r"has appeared there since .* the new data is in .*/a.zarr.kept-1"):
        file.close()
    assert zarr.open_array(path, mode="r").shape == (2,)
    np.testing.assert_array_equal(read_by_zarr(tmp_path / "a.zarr.kept-1"), make_array())


def test_a_group_that_gets_arrays_meanwhile_is_not_replaced(tmp_path):
    path = tmp_path / "a.zarr"
    zarr.create_group(path)
    file = plait.open(path, "w", shape=SHAPE, dtype="f4")
    file.write(make_array())
    zarr.create_array(path, name="b", shape=(2,), dtype="i4")
    with pytest.raises(plait.StoreError, match=r"has appeared there since .* the new data is in .*/a.zarr.kept-1"):
        file.close()
    assert zarr.open_group(path, mode="r")["b"].shape == (2,)
    np.testing.assert_array_equal(read_by_zarr(tmp_path / "a.zarr.kept-1"), make_array())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chunks": (2, 3)}, "chunks of 2x3 do not fit an array 13x7x10"),
        ({"chunks": (2, 3, 0)}, "give a size of 1 or more for each dimension"),
        ({"codec": "zst"}, 'codec "zst" is not known'),
        ({"codec": "gzip:10"}, "the level of gzip is from 0 to 9"),
        ({"codec": "zlib"}, 'use "gzip"'),
        ({"dtype": "g"}, "Zarr has no type for elements of dtype"),
        ({"dtype": "i4", "fill_value": 1.5}, "the fill value 1.5 is none"),
        ({"dtype": "u1", "fill_value": -1}, "the fill value -1 is none"),
        ({"dimension_names": ["a", "b"]}, "2 names were given for 3 dimensions"),
        ({"shards": (4, 6, 10)}, "shards were given without chunks"),
        ({"chunks": (3, 3, 3), "shards": (4, 6, 10)}, "are not made of whole chunks"),
    ],
)
def test_invalid_options_are_errors(location, options, message):
    assert message in open_error_text(location / "a.zarr", "w", **{"shape": SHAPE, "dtype": "f4", **options})
    assert entries(location) == []


def test_zarr_options_are_errors_for_other_formats(tmp_path):
    for options in ({"chunks": 2}, {"codec": "zstd"}, {"fill_value": 1}, {"dimension_names": ["x"]}):
        assert "stores its array in one piece" in open_error_text(
            tmp_path / "a.npy", "w", shape=(3,), dtype="f4", **options
        )
    write_array(tmp_path / "a.zarr", make_array())
    assert 'only a new file takes; leave it out, or use mode "w"' in open_error_text(
        tmp_path / "a.zarr", chunks=(1, 1, 1)
    )


def test_damaged_chunks_are_not_written_in_part(location):
    path = location / "a.zarr"
    write_array(path, make_array(), chunks=(4, 3, 10), codec="zstd")
    chunk = path / "c/1/1/0"
    chunk.write_bytes(b"nothing")
    with plait.open(path, "r+") as file:
        with pytest.raises(plait.StoreError, match=f"cannot read the chunk {chunk}"):
            file.write(np.zeros(10, "f4"), region=np.s_[5, 4])
        file.write(make_array()[4:8, 3:6], region=np.s_[4:8, 3:6])  # as a whole
    np.testing.assert_array_equal(read_by_zarr(path), make_array())


def test_mode_r_plus_reads_what_other_programs_wrote(location):
    path = location / "a.zarr"
    write_array(path, make_array(), chunks=(13, 7, 10), codec="gzip")
    with plait.open(path, "r+") as file, plait.open(path) as reader:
        for value in range(5):
            file.write(np.full((7, 10), value, "f4"), region=np.s_[4])
            assert reader.read(region=np.s_[4, 2, 3]) == value
            assert file.read(region=np.s_[4, 2, 3]) == value


WRITE_FOREVER = """
import sys
import numpy as np
import plait

path, mode, codec = sys.argv[1:]
print("begins", flush=True)
for value in range(1, 1000):
    array = np.full((64, 64, 64), value, "i4")
    if mode == "w":
        with plait.open(path, "w", shape=array.shape, dtype="i4", chunks=(16, 16, 16), codec=codec) as file:
            file.write(array)
    else:
        with plait.open(path, "r+") as file:
            file.write(array)
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("mode", ["w", "r+"])
@pytest.mark.parametrize("codec", ["none", "zstd:1"])
def test_a_kill_leaves_the_old_or_the_new_array(tmp_path, mode, codec):
    path = tmp_path / "a.zarr"
    generator = random.Random(3)
    for _ in range(4):
        if mode == "r+" and not path.exists():
            write_array(path, np.zeros((64, 64, 64), "i4"), chunks=(16, 16, 16), codec=codec)
        with subprocess.Popen(
            [sys.executable, "-c", WRITE_FOREVER, path, mode, codec], stdout=subprocess.PIPE
        ) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == b"begins\n"
            time.sleep(generator.uniform(0, 0.15))
            writer.send_signal(signal.SIGKILL)
        if not path.exists():
            continue
        actual = read_by_zarr(path)
        if mode == "w":
            assert len(np.unique(actual)) == 1
        elif codec != "none":  # uncompressed chunks are written in place, so any part may be new
            for chunk in np.ndindex(4, 4, 4):
                part = tuple(slice(16 * index, 16 * index + 16) for index in chunk)
                assert len(np.unique(actual[part])) == 1
        assert [path for path in os.listdir(tmp_path) if not path.startswith(".")] == ["a.zarr"]
    write_array(path, np.zeros((2, 2), "i4"))
    assert os.listdir(tmp_path) == ["a.zarr"]


def test_metadata_follows_the_specification(location):
    path = location / "a.zarr"
    write_array(path, make_array(), chunks=(4, 3, 10), codec="zstd:7", order="F")
    document = json.loads((path / "zarr.json").read_text())
    assert document["codecs"] == [
        {"name": "transpose", "configuration": {"order": [2, 1, 0]}},
        {"name": "bytes", "configuration": {"endian": "little"}},
        {"name": "zstd", "configuration": {"level": 7, "checksum": False}},
    ]
    assert document["chunk_key_encoding"] == {"name": "default", "configuration": {"separator": "/"}}
