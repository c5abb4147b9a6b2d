"""Zarr: Plait reads arrays of zarr-python, in both versions of the format."""

import gzip
import json
import shutil
import zlib

import numpy as np
import pytest
from array_reads import check_parts, open_error_text
from zarr_locations import Location, zarr_store

import plait
from plait._copying.windows import choose_cut
from plait._core import Content
from plait.cli.describing import describe

zarr = pytest.importorskip("zarr")
zstd = pytest.importorskip("zstandard")

SHAPE, CHUNK = (13, 7, 10), (4, 3, 10)


def make_array(dtype: str, shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 2 if "b" in dtype else 90, shape).astype(dtype)


def write_array(path: Location, array: np.ndarray, **options: object) -> Location:
    options = {"chunks": CHUNK, "compressors": None, **options}
    stored = zarr.create_array(zarr_store(path), shape=array.shape, dtype=array.dtype, **options)
    stored[...] = array
    return path


def check_array(url: object, array: np.ndarray) -> None:
    with plait.open(url) as file:
        assert (file.shape, file.dtype) == (array.shape, array.dtype)
        check_parts(file, array)


def make_compressor(name: str, version: int) -> object:
    if version == 2:
        numcodecs = pytest.importorskip("numcodecs")
        return {"gzip": numcodecs.GZip, "zlib": numcodecs.Zlib, "zstd": numcodecs.Zstd}[name]()
    return {"gzip": zarr.codecs.GzipCodec, "zstd": zarr.codecs.ZstdCodec}[name]()


@pytest.mark.parametrize(
    "dtype",
    ["bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"],
)
@pytest.mark.parametrize("endian", ["<", ">"])
def test_types_of_version_3(location, dtype, endian):
    array = make_array(dtype).astype(np.dtype(dtype).newbyteorder(endian))
    serializer = zarr.codecs.BytesCodec(endian="little" if endian == "<" else "big")
    check_array(write_array(location / "a.zarr", array.astype(dtype), serializer=serializer), array)


@pytest.mark.parametrize("dtype", ["|b1", "|i1", "<i2", ">i4", ">u8", "<f4", ">f8", "<c16"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_types_and_orders_of_version_2(location, dtype, order):
    array = make_array(dtype)
    path = write_array(location / "a.zarr", array, zarr_format=2, order=order)
    check_array(path, array)
    assert plait.open(path).order == order


@pytest.mark.parametrize(("version", "name"), [(2, "gzip"), (2, "zlib"), (2, "zstd"), (3, "gzip"), (3, "zstd")])
def test_compressed_chunks(location, version, name):
    array = make_array("f4")
    path = write_array(location / "a.zarr", array, compressors=make_compressor(name, version), zarr_format=version)
    check_array(path, array)
    assert plait.arrays_in(path)[0].storage == f"chunks 4x3x10, {name}"


@pytest.mark.parametrize("separator", [".", "/"])
@pytest.mark.parametrize("version", [2, 3])
def test_chunk_names_may_have_either_separator(location, version, separator):
    array = make_array("i4")
    kind = "v2" if version == 2 else "default"
    encoding = {"name": kind, "separator": separator}
    check_array(write_array(location / "a.zarr", array, zarr_format=version, chunk_key_encoding=encoding), array)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        ("f8", 2.5), ("f8", np.nan), ("f4", -np.inf), ("f2", 0.333251953125), ("f2", 6e-8), ("f2", -65504),
        ("i8", -(2**63)), ("u8", 2**64 - 1), ("i1", -7), ("bool", True), ("c8", 1 - 2j),
    ],
)  # fmt: skip
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("endian", ["little", "big"])
def test_missing_chunks_have_the_fill_value(location, dtype, value, version, endian):
    kind = np.dtype(dtype).newbyteorder("<" if endian == "little" else ">")
    options = {"serializer": zarr.codecs.BytesCodec(endian=endian)} if version == 3 else {}
    stored = zarr.create_array(
        zarr_store(location / "a.zarr"), shape=SHAPE, chunks=CHUNK, dtype=kind if version == 2 else dtype,
        compressors=None, fill_value=np.dtype(dtype).type(value), zarr_format=version, **options,
    )  # fmt: skip
    stored[5:6, 3:5] = 1
    np.testing.assert_array_equal(plait.open(location / "a.zarr").read(), stored[...])


def test_scalars_and_empty_arrays_are_read(location):
    for name, shape in (("a", ()), ("b", (0, 3)), ("c", (1,))):
        stored = zarr.create_array(zarr_store(location / f"{name}.zarr"), shape=shape, dtype="i4", compressors=None)
        stored[...] = 7
        actual = plait.open(location / f"{name}.zarr").read()
        np.testing.assert_array_equal(actual, np.full(shape, 7, "i4"))


@pytest.mark.parametrize("version", [2, 3])
def test_arrays_in_groups_are_read(tmp_path, location, version):
    path = location / "a.zarr"
    root = zarr.open_group(zarr_store(path), mode="w", zarr_format=version)
    arrays = {"t": make_array("f4"), "group/inner/u": make_array("i2"), "group/v": make_array("f8", (3, 4, 5))}
    for name, array in arrays.items():
        root.create_array(
            name, shape=array.shape, chunks=(2, 2, 2), dtype=array.dtype, compressors=make_compressor("gzip", version)
        )[...] = array
    assert sorted(info.name for info in plait.arrays_in(path)) == sorted(arrays)
    for name, array in arrays.items():
        check_array(f"{path}::/{name}", array)
        check_array(f"{path}::{name}", array)
    assert [info.name for info in plait.arrays_in(f"{path}::/group")] == ["group/inner/u", "group/v"]
    text = open_error_text(plait.ArgumentError, path)
    assert "is a group, which holds 3 arrays: group/inner/u, group/v, t; give the name" in text
    plait.copy(path, tmp_path / "b.npz")
    with np.load(tmp_path / "b.npz") as archive:
        for name, array in arrays.items():
            np.testing.assert_array_equal(archive[name], array)
    plait.copy(f"{path}::/t", tmp_path / "t.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "t.npy"), arrays["t"])


def test_an_array_alone_is_copied(tmp_path, location):
    array = make_array("f4")
    path = write_array(location / "a.zarr", array, compressors=zarr.codecs.ZstdCodec())
    for target in ("b.npy", "c.npz", "d.safetensors"):
        plait.copy(path, tmp_path / target, memory="8K")
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), array)
    np.testing.assert_array_equal(np.load(tmp_path / "c.npz")["arr_0"], array)
    np.testing.assert_array_equal(plait.open(tmp_path / "d.safetensors").read(), array)


def one_rank_layout(shape: tuple[int, ...], _dimension: int) -> plait.Layout:
    return plait.Layout(shape, ["*"] * len(shape))


def test_windows_of_copies_are_of_whole_chunks(tmp_path, location):
    array = np.arange(50 * 40, dtype="f8").reshape(50, 40)
    path = write_array(location / "a.zarr", array, chunks=(6, 15))
    with plait.open(path) as file:
        assert file.chunks == (6, 15)
    (info,) = plait.arrays_in(path)
    assert info.chunks == (6, 15)
    stored = Content((50, 40), "C", 8, info.chunks)
    # A row has 320 bytes: 15 fit into 5000 bytes, of which 12 are 2 whole chunks; 4 fit into 1300 bytes.
    begins = [window.region[0].start for window in choose_cut(stored, 2, 5000, one_rank_layout).windows()]
    assert begins == [0, 12, 24, 36, 48]
    begins = [window.region[0].start for window in choose_cut(stored, 2, 1300, one_rank_layout).windows()]
    assert begins == list(range(0, 50, 4))
    result = plait.copy(path, tmp_path / "a.npy", memory=10_000)
    assert result.windows < 8
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), array)


def test_names_of_arrays_are_checked(location):
    path = write_array(location / "a.zarr", make_array("f4"))
    assert plait.open(f"{path}/").shape == SHAPE
    assert '".." is no part of the name' in open_error_text(plait.ArgumentError, f"{path}::/../a.zarr")
    with pytest.raises(FileNotFoundError):
        plait.open(f"{path}::/missing")


def change_metadata(path: Location, **values: object) -> Location:
    document = json.loads((path / "zarr.json").read_text())
    for name, value in values.items():
        if value is None:
            del document[name]
        else:
            document[name] = value
    (path / "zarr.json").write_text(json.dumps(document))
    return path


def sharding(chunk: list[int], codec: str = "zstd", index: str = "crc32c") -> list[object]:
    inner = [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": codec}]
    configuration = {"chunk_shape": chunk, "codecs": inner, "index_codecs": [inner[0], {"name": index}]}
    return [{"name": "sharding_indexed", "configuration": configuration}]


@pytest.mark.parametrize(
    ("values", "kind", "message"),
    [
        ({"shape": [2**62, 2**62, 4]}, plait.StoreError, "all chunks have more than 2^63 - 1 bytes"),
        ({"shape": [-1, 2, 3]}, plait.StoreError, '"shape" has -1'),
        ({"shape": [1.5, 2, 3]}, plait.StoreError, '"shape" has 1.5'),
        ({"shape": [2**63, 2, 3]}, plait.StoreError, '"shape" has 9223372036854775808'),
        ({"shape": [3, 4]}, plait.StoreError, "the shape has 2 dimensions, but chunks have 3"),
        ({"shape": None}, plait.StoreError, '"shape" is not there'),
        ({"zarr_format": 4}, plait.StoreError, '"zarr_format" is 4'),
        ({"data_type": "string"}, plait.ArgumentError, "its chunks have the codec bytes"),
        ({"data_type": "float8"}, plait.ArgumentError, "its elements have the type float8"),
        ({"data_type": {"name": "x"}}, plait.ArgumentError, "its elements have the type {"),
        ({"fill_value": "x"}, plait.ArgumentError, 'elements without a file have the value "x"'),
        ({"codecs": []}, plait.StoreError, '"codecs" is no list with codecs'),
        ({"codecs": [{"name": "transpose"}]}, plait.StoreError, '"order" is not there'),
        (
            {"codecs": [{"name": "transpose", "configuration": {"order": [0, 1, 1]}}]},
            plait.StoreError,
            "which does not have each of 3 dimensions once",
        ),
        ({"codecs": [{"name": "bytes"}, {"name": "lzma"}]}, plait.ArgumentError, "the codec lzma"),
        ({"codecs": [{"name": "zstd"}]}, plait.ArgumentError, "the codec zstd"),
        ({"codecs": [{"name": "sharding_indexed"}]}, plait.StoreError, '"chunk_shape" is not there'),
        ({"codecs": sharding([2, 3, 10], "lzma")}, plait.ArgumentError, "the codec lzma"),
        ({"codecs": sharding([3, 3, 10])}, plait.StoreError, "shards of 4x3x10 are not made of whole chunks of 3x3x10"),
        ({"codecs": sharding([2, 3])}, plait.StoreError, "shards have 3 dimensions, but the chunks in them 2"),
        (
            {"codecs": sharding([2, 3, 10], index="gzip")},
            plait.ArgumentError,
            "the indices of its shards have the codec",
        ),
        ({"codecs": [*sharding([2, 3, 10]), {"name": "zstd"}]}, plait.ArgumentError, "other codecs beside"),
        ({"codecs": [3]}, plait.StoreError, "a codec is 3"),
        ({"chunk_grid": {"name": "rectilinear"}}, plait.ArgumentError, "its chunks have the grid"),
        (
            {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [0, 1, 1]}}},
            plait.StoreError,
            '"chunk_shape" has 0',
        ),
        (
            {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2**40, 2**40, 1]}}},
            plait.StoreError,
            "a chunk has more than 2^63 - 1 bytes",
        ),
        (
            {
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2**20, 2**20, 1]}},
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "zstd"}],
            },
            plait.ArgumentError,
            "and are packed",
        ),
    ],
)
def test_unsupported_metadata_is_an_error(location, values, kind, message):
    path = change_metadata(write_array(location / "a.zarr", make_array("f4")), **values)
    text = open_error_text(kind, path)
    assert message in text
    assert f"{path}/zarr.json" in text


@pytest.mark.parametrize("value", [{"a": 1}, {"must_understand": True}, {}, "text", 1, [], None])
def test_extensions_that_readers_must_understand_are_errors(location, value):
    array = write_array(location / "a.zarr", make_array("f4"))
    group = location / "g.zarr"
    zarr.open_group(zarr_store(group), mode="w").create_array("b", shape=(2,), dtype="i4")
    for path in (array, group):
        document = json.loads((path / "zarr.json").read_text())
        (path / "zarr.json").write_text(json.dumps({**document, "ext": value}))
        text = open_error_text(plait.ArgumentError, path)
        assert f'{path}/zarr.json: the metadata has the field "ext"' in text
        assert [info.error for info in plait.arrays_in(path)] == [text]


def test_extensions_that_readers_may_ignore_are_ignored(location):
    array = make_array("f4")
    path = change_metadata(write_array(location / "a.zarr", array), ext={"must_understand": False, "a": 1})
    check_array(path, array)
    group = zarr.open_group(zarr_store(location / "g.zarr"), mode="w")
    group.create_array("b", shape=(2,), dtype="i4")
    zarr.consolidate_metadata(zarr_store(location / "g.zarr"))
    change_metadata(location / "g.zarr", ext={"must_understand": False})
    assert [info.error for info in plait.arrays_in(location / "g.zarr")] == [""]


@pytest.mark.parametrize(
    ("text", "value"),
    [("NaN", np.nan), ("Infinity", np.inf), ("-Infinity", -np.inf), ("[-32767]", -32767), ("[NaN]", np.nan)],
)
def test_fill_values_in_spellings_of_other_writers_are_read(location, text, value):
    path = location / "a.zarr"
    zarr.create_array(zarr_store(path), shape=(3,), dtype="f4", zarr_format=2)
    document = json.loads((path / ".zarray").read_text())
    (path / ".zarray").write_text(json.dumps({**document, "fill_value": "?"}).replace('"?"', text))
    with plait.open(path) as file:
        np.testing.assert_array_equal(file.read(), np.full(3, value, "f4"))


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("fault", ["codec", "type"])
def test_arrays_that_cannot_be_opened_are_described(location, version, fault):
    path = location / "a.zarr"
    names = {"dimension_names": ["y", "x"]} if version == 3 else {}
    attributes = {"units": "m", **({} if names else {"_ARRAY_DIMENSIONS": ["y", "x"]})}
    zarr.create_array(zarr_store(path), shape=(3, 4), dtype="f4", zarr_format=version, attributes=attributes, **names)
    file = path / ("zarr.json" if version == 3 else ".zarray")
    document = json.loads(file.read_text())
    if fault == "type":
        document["data_type" if version == 3 else "dtype"] = "unknown"
    elif version == 3:
        document["codecs"].append({"name": "unknown"})
    else:
        document["compressor"] = {"id": "unknown"}
    file.write_text(json.dumps(document))
    (info,) = plait.arrays_in(path)
    assert "unknown" in info.error
    assert (info.shape, info.dimension_names, dict(info.attributes)) == ((3, 4), ("y", "x"), {"units": "m"})
    assert (info.dtype, info.element) == (
        (None, "unknown") if fault == "type" else ("f4", "float32" if version == 3 else "<f4")
    )
    assert describe(str(path), {})["arrays"][0]["shape"] == [3, 4]


def test_metadata_that_is_not_json_is_an_error(location):
    path = write_array(location / "a.zarr", make_array("f4"))
    for text in ("", "{", "[" * 100_000, "3", '{"a": '):
        (path / "zarr.json").write_text(text)
        assert str(path) in open_error_text(plait.StoreError, path)


@pytest.mark.parametrize("name", ["gzip", "zstd"])
def test_damaged_chunks_are_errors(location, name):
    array = make_array("f4")
    path = write_array(location / "a.zarr", array, compressors=make_compressor(name, 3))
    chunk = path / "c" / "1" / "1" / "0"
    intact = chunk.read_bytes()
    compress = zstd.ZstdCompressor().compress if name == "zstd" else gzip.compress
    for data in (intact[:-1], intact[: len(intact) // 2], b"", bytes(100), compress(bytes(481)), compress(bytes(479)),
                 compress(bytes(50 << 20)), bytes(4 << 20)):  # fmt: skip
        chunk.write_bytes(data)
        assert f"cannot read the chunk {chunk}: " in open_error_text(plait.StoreError, path)
        assert plait.open(path).read(region=np.s_[0]).tolist() == array[0].tolist()


def test_chunks_of_another_size_are_errors(location):
    path = write_array(location / "a.zarr", make_array("f4"))
    chunk = path / "c" / "1" / "1" / "0"
    chunk.write_bytes(chunk.read_bytes()[:-1])
    assert f"cannot read the chunk {chunk}: it has 479 bytes, but a chunk has 480" in open_error_text(
        plait.StoreError, path
    )


def test_zlib_chunks_of_version_2_reject_gzip_data(location):
    pytest.importorskip("numcodecs")
    path = write_array(location / "a.zarr", make_array("f4"), compressors=make_compressor("zlib", 2), zarr_format=2)
    chunk = path / "0.0.0"
    assert len(zlib.decompress(chunk.read_bytes())) == 480
    chunk.write_bytes(gzip.compress(bytes(480)))
    assert "incorrect header check" in open_error_text(plait.StoreError, path)


def test_chunks_are_found_from_another_folder(tmp_path, monkeypatch):
    write_array(tmp_path / "a.zarr", make_array("i4"))
    monkeypatch.chdir(tmp_path)
    with plait.open("a.zarr") as file:
        monkeypatch.chdir("/")
        np.testing.assert_array_equal(file.read(), make_array("i4"))


def test_a_deleted_folder_is_an_error(tmp_path):
    path = write_array(tmp_path / "a.zarr", make_array("i4"))
    with plait.open(path) as file:
        shutil.rmtree(path)
        with pytest.raises(plait.StoreError, match="is no longer there; open it again"):
            file.read()


@pytest.mark.parametrize("name", ["data_type", "fill_value", "attributes"])
def test_too_deeply_nested_metadata_is_an_error(location, name):
    path = write_array(location / "a.zarr", make_array("i4"))
    document = json.loads((path / "zarr.json").read_text())
    document[name] = "?"
    depth = 2_000_000
    (path / "zarr.json").write_text(json.dumps(document).replace('"?"', "[" * depth + "]" * depth))
    assert "it is nested deeper than 256" in open_error_text(plait.StoreError, path)


def test_attributes_that_are_not_finite_do_not_hide_the_array(location):
    path = write_array(location / "a.zarr", make_array("f4"))
    document = json.loads((path / "zarr.json").read_text())
    document["attributes"] = {"a": float("nan"), "b": [float("inf"), -float("inf")], "NaN": 'a "NaN"'}
    (path / "zarr.json").write_text(json.dumps(document))
    check_array(path, make_array("f4"))


def test_damaged_metadata_does_not_hide_other_arrays(location):
    root = zarr.open_group(zarr_store(location / "a.zarr"), mode="w")
    root.create_array("good", shape=(2,), dtype="i4")
    root.create_array("bad", shape=(2,), dtype="i4")
    (location / "a.zarr/bad/zarr.json").write_text("{")
    infos = {info.name: info.error for info in plait.arrays_in(f"{location}/a.zarr/")}
    assert infos["good"] == ""
    assert "it is not JSON" in infos["bad"]
