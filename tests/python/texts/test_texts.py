"""Arrays of texts of any length, against h5py, netCDF4 and zarr."""

import json

import h5py
import netCDF4
import numpy as np
import pytest
import zarr
from numpy.testing import assert_array_equal

import plait
from plait import _core

TEXTS = ["", "a", "Grüße", "x" * 10_000, "日本", "tail"]


def make_texts(shape):
    """Return an array of texts of many lengths."""
    count = int(np.prod(shape, dtype=int))
    items = [TEXTS[i % len(TEXTS)] + str(i) * (i % 3) for i in range(count)]
    return np.array(items, object).reshape(shape)


def write_texts(path, shape, **options):
    """Write a file of one array of texts, and return the texts."""
    texts = make_texts(shape)
    with plait.open(path, "w", shape=shape, dtype="text", **options) as file:
        file.write(texts)
    return texts


def read_by_h5py(path, name="data"):
    """Return the texts of a dataset."""
    with h5py.File(path) as file:
        return file[name].asstr()[()]


@pytest.mark.parametrize(
    "options",
    [{}, {"chunks": (3, 4)}, {"chunks": (3, 4), "compression": "gzip", "shuffle": True}, {"maxshape": (None, 5)}],
    ids=["whole", "chunks", "packed", "unlimited"],
)
def test_texts_of_hdf5_are_read_as_by_h5py(tmp_path, options):
    texts = make_texts((7, 5))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("data", data=texts, dtype=h5py.string_dtype(), **options)
    with plait.open(tmp_path / "a.h5::/data") as file:
        assert file.shape == (7, 5)
        assert file.dtype == np.dtypes.StringDType()
        actual = file.read()
        assert_array_equal(actual.astype(object), texts)
        assert_array_equal(file.read(region=np.s_[1:6:2, 1:4]).astype(object), texts[1:6:2, 1:4])
        assert file[2, 3] == texts[2, 3]
        assert_array_equal(file[[5, 1], 1:].astype(object), texts[[5, 1], 1:])
        parts = file.read("(cyclic, block) onto (2, 2)")
        assert_array_equal(parts[1].astype(object), texts[::2, 3:])


def test_ascii_unwritten_and_scalar_texts_of_hdf5_are_read(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w", userblock_size=512) as file:
        file["scalar"] = "one"
        file.create_dataset("ascii", data=np.array([b"ab", b"", b"cde"], object), dtype=h5py.string_dtype("ascii"))
        file.create_dataset("unwritten", (4,), h5py.string_dtype())
        file.create_dataset("chunked", (9,), h5py.string_dtype(), chunks=(2,), fillvalue="none")[3] = "x"
    for name, texts in (
        ("scalar", "one"),
        ("ascii", ["ab", "", "cde"]),
        ("unwritten", [""] * 4),
        ("chunked", ["none"] * 3 + ["x"] + ["none"] * 5),
    ):
        with plait.open(tmp_path / f"a.h5::/{name}") as file:
            assert_array_equal(file[...], texts)


@pytest.mark.parametrize("shape", [(), (0,), (1,), (200_000,), (7, 5)])
@pytest.mark.parametrize("codec", ["none", "shuffle,gzip:1"])
def test_h5py_reads_written_texts(tmp_path, shape, codec):
    options = {} if not shape or 0 in shape or codec == "none" else {"codec": codec}
    texts = write_texts(tmp_path / "a.h5", shape, **options)
    actual = read_by_h5py(tmp_path / "a.h5")
    assert_array_equal(np.array(actual, object), texts)
    with plait.open(tmp_path / "a.h5") as file:
        assert_array_equal(np.asarray(file).astype(object), texts)
    with h5py.File(tmp_path / "a.h5", "r+") as file:  # the library can add texts to a file that Plait has written
        if shape == (7, 5):
            file["data"][0, 0] = "added"
            file["more"] = ["b"]
    if shape == (7, 5):
        assert read_by_h5py(tmp_path / "a.h5")[0, 0] == "added"
        assert read_by_h5py(tmp_path / "a.h5")[6, 4] == texts[6, 4]


def test_netcdf_strings_are_copied(tmp_path):
    texts = make_texts((3, 4))
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as file:
        file.createDimension("x", 3)
        file.createDimension("y", 4)
        file.createDimension("time", None)
        file.createVariable("names", str, ("x", "y"))[:] = texts
        file.createVariable("log", str, ("time",))[:] = np.array(["a", "bc"], object)
        file.createVariable("scalar", str, ())[...] = "s"
    plait.copy(tmp_path / "a.nc", tmp_path / "b.nc")
    plait.copy(tmp_path / "b.nc", tmp_path / "c.zarr")
    with netCDF4.Dataset(tmp_path / "b.nc") as file:
        assert file["names"].dtype is str
        assert file["names"].dimensions == ("x", "y")
        assert_array_equal(file["names"][:], texts)
        assert_array_equal(file["log"][:], ["a", "bc"])
        assert file["scalar"][...] == "s"
    assert_array_equal(zarr.open(tmp_path / "c.zarr")["names"][:].astype(object), texts)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("shape", [(), (11,), (7, 5)])
def test_texts_of_zarr_are_read_as_by_zarr_python(tmp_path, version, shape):
    texts = make_texts(shape)
    array = zarr.create_array(
        tmp_path / "a.zarr", shape=shape, dtype=str, zarr_format=version, chunks=tuple(3 for _ in shape)
    )
    array[...] = texts
    with plait.open(tmp_path / "a.zarr") as file:
        assert_array_equal(np.asarray(file).astype(object), texts)
        if shape == (7, 5):
            parts = file.read("(cyclic, block) onto (2, 2)")
            assert_array_equal(parts[1].astype(object), texts[::2, 3:])


def test_missing_chunks_of_zarr_have_the_fill_value(tmp_path):
    array = zarr.create_array(tmp_path / "a.zarr", shape=(6,), dtype=str, chunks=(2,), fill_value="none")
    array[2:4] = np.array(["b", ""], object)
    with plait.open(tmp_path / "a.zarr") as file:
        assert list(file[...]) == ["none", "none", "b", "", "none", "none"]


@pytest.mark.parametrize("codec", ["none", "gzip:1", "zstd:3", "blosc"])
@pytest.mark.parametrize("options", [{}, {"chunks": (3, 4)}, {"chunks": (2, 2), "shards": (4, 4)}, {"order": "F"}])
def test_zarr_python_reads_written_texts(tmp_path, codec, options):
    texts = write_texts(tmp_path / "a.zarr", (7, 5), codec=codec, **options)
    assert_array_equal(zarr.open_array(tmp_path / "a.zarr")[:].astype(object), texts)
    with plait.open(tmp_path / "a.zarr", "r+") as file:
        file[2:5, 1] = ["new", "", "Ü"]
        file[0, 0] = "first"
    texts[2:5, 1] = ["new", "", "Ü"]
    texts[0, 0] = "first"
    assert_array_equal(zarr.open_array(tmp_path / "a.zarr")[:].astype(object), texts)


def test_only_texts_are_written_to_arrays_of_texts(tmp_path):
    for name in ("a.zarr::n", "a.h5::n"):
        with plait.open(tmp_path / name, "w", shape=4, dtype=str) as file:
            file.write(np.array(["a", "b"]), region=np.s_[:2])
            file.write(["c", "d"], region=np.s_[2:])
            for invalid in ([1, 2, 3, 4], np.arange(4), np.array([b"a"] * 4), [None] * 4, ["\ud800"] * 4):
                with pytest.raises(plait.ArgumentError, match=r"expected|surrogates"):
                    file.write(invalid)
        with plait.open(tmp_path / name) as file:
            assert list(file[...]) == ["a", "b", "c", "d"]
            with pytest.raises(plait.ArgumentError, match="started accesses"):
                file.iread()
            with pytest.raises(plait.ArgumentError, match="streams"):
                file.stream()


@pytest.mark.parametrize(
    ("invalid", "message"),
    [
        (4, "element 3 is of type int; expected str"),
        ("\ud800", "element 3 contains lone surrogates; expected a str that UTF-8 can represent"),
    ],
)
def test_the_core_names_the_element_that_is_not_a_text(tmp_path, invalid, message):
    with plait.open(tmp_path / "a.h5", "w", shape=4, dtype=str) as file:
        with pytest.raises(ValueError, match=f"^{message}$"):
            _core.TextBlock.from_list(["a", "b", "c", invalid])
        file.write(["a", "b", "c", "d"])
    assert read_by_h5py(tmp_path / "a.h5").tolist() == ["a", "b", "c", "d"]


def test_texts_are_copied_between_formats(tmp_path):
    texts = write_texts(tmp_path / "a.h5", (300, 7))
    copies = ["b.zarr::/g/n", "c.h5", "d.nc", "e.zarr"]
    source = tmp_path / "a.h5::data"
    for name in copies:
        plait.copy(source, tmp_path / name, memory="64K", verify=True)
        source = tmp_path / name
        with plait.open(source) as file:
            assert_array_equal(np.asarray(file).astype(object), texts)
    plait.copy(source, tmp_path / "f.npy", target_dtype="U10010", cast="same_kind")
    assert_array_equal(np.load(tmp_path / "f.npy"), texts.astype(str))
    plait.copy(tmp_path / "f.npy", tmp_path / "g.h5", target_dtype="text", cast="same_kind")
    assert_array_equal(read_by_h5py(tmp_path / "g.h5"), texts)
    plait.copy(source, tmp_path / "i.npz", target_dtype="U", cast="same_kind")
    with np.load(tmp_path / "i.npz") as archive:
        assert archive[archive.files[0]].dtype == f"U{max(map(len, texts.flat))}"
        assert_array_equal(archive[archive.files[0]], texts.astype(str))
    with pytest.raises(plait.ArgumentError, match="target_dtype"):
        plait.copy(source, tmp_path / "h.npy")


def test_reads_fill_only_arrays_of_texts(tmp_path):
    texts = write_texts(tmp_path / "a.zarr", (4, 3), chunks=(3, 2))
    with plait.open(tmp_path / "a.zarr") as file:
        out = np.empty((4, 3), file.dtype)
        assert file.read(out=out) is out
        assert_array_equal(out.astype(object), texts)
        part = np.empty((2, 3), file.dtype)
        file.read(out=part, region=np.s_[1:3])
        assert_array_equal(part.astype(object), texts[1:3])
        for dtype in ("U9", "S9", "f8", object, np.dtypes.StringDType(na_object=None)):
            with pytest.raises(plait.ArgumentError, match=r"out has dtype .*convert it with astype"):
                file.read(out=np.empty((4, 3), dtype))


def test_the_longest_text_that_is_copied_determines_the_type(tmp_path):
    texts = np.array(["a", "bc", "d" * 50, "efg", "h", "ij" * 20], object)
    for name, items in (("short", texts), ("long", np.array(["x" * 99] * 6, object))):
        with plait.open(tmp_path / f"a.zarr::/{name}", "w", shape=6, dtype="text", chunks=(4,)) as file:
            file.write(items)
    for region, expected in (("0:2", texts[:2]), ("1:6:2", texts[1:6:2]), ("3:5", texts[3:5]), (":", texts)):
        plait.copy(
            tmp_path / "a.zarr",
            tmp_path / "b.npy",
            variable="short",
            region=region,
            target_dtype="U",
            cast="same_kind",
        )
        actual = np.load(tmp_path / "b.npy")
        assert actual.dtype == f"U{max(map(len, expected))}"
        assert_array_equal(actual, expected.astype(str))


def test_texts_that_are_not_copied_are_not_measured(tmp_path):
    for name in ("copied", "broken"):
        with plait.open(tmp_path / f"a.zarr::/{name}", "w", shape=2, dtype="text", chunks=(1,)) as file:
            file.write(["ab", "c"])
    for path in (tmp_path / "a.zarr/broken/c/0", tmp_path / "a.zarr/copied/c/1"):
        path.write_bytes(b"no texts")
    options = {"target_dtype": "U", "cast": "same_kind"}
    plait.copy(tmp_path / "a.zarr", tmp_path / "b.npy", variable="copied", region="0:1", **options)
    assert np.load(tmp_path / "b.npy").tolist() == ["ab"]
    with pytest.raises(plait.StoreError):
        plait.copy(tmp_path / "a.zarr", tmp_path / "c.npy", variable="copied", **options)


def test_formats_without_texts_are_errors(tmp_path):
    for name in ("a.npy", "a.npz", "a.safetensors", "a.bin"):
        with pytest.raises(plait.ArgumentError, match="text"):
            plait.open(tmp_path / name, "w", shape=(3,), dtype="text")
    with (
        pytest.raises(plait.ArgumentError, match="NUL"),
        plait.open(tmp_path / "b.h5", "w", shape=(1,), dtype="text") as file,
    ):
        file.write(["a\0b"])


def test_texts_that_are_not_utf8_are_errors(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("n", data=np.array([b"ok", b"\xff\xfe"], object), dtype=h5py.string_dtype())
    with plait.open(tmp_path / "a.h5::n") as file:
        assert file[0] == "ok"
        with pytest.raises(plait.StoreError, match=r"a\.h5::n: the text at position 1 of this read is not UTF-8"):
            file.read()


def test_damaged_heaps_of_hdf5_are_errors(tmp_path):
    write_texts(tmp_path / "a.h5", (4,))
    content = (tmp_path / "a.h5").read_bytes()
    heap = content.rindex(b"GCOL")
    for begin, value, message in (
        (heap, b"X", "does not begin with GCOL"),
        (heap + 8, b"\xff" * 8, "states a size"),
        (heap + 16, b"\0", "has no object"),
        (heap + 16 + 8, b"\xff" * 8, "exceed it"),
        (heap + 16 + 8, b"\0" * 8, "has no object|but a text has|exceed it"),
    ):
        damaged = bytearray(content)
        damaged[begin : begin + len(value)] = value
        (tmp_path / "b.h5").write_bytes(damaged)
        with plait.open(tmp_path / "b.h5") as file, pytest.raises(plait.StoreError, match=message):
            file.read()


def test_damaged_chunks_of_zarr_are_errors(tmp_path):
    with plait.open(tmp_path / "a.zarr", "w", shape=(2,), dtype="text") as file:
        file.write(["ab", "c"])
    chunk = tmp_path / "a.zarr" / "c" / "0"
    content = chunk.read_bytes()
    assert content == b"\2\0\0\0\2\0\0\0ab\1\0\0\0c"
    for damaged, message in (
        (b"\2", "too few"),
        (b"\3" + content[1:], "it has 3 texts, but a chunk has 2"),
        (content[:-1], "text 1 has 1 bytes, but the chunk ends after 0"),
        (content[:12], "it ends before text 1"),
        (content[:4] + b"\xff" * 4 + content[8:], "text 0 has 4294967295 bytes"),
    ):
        chunk.write_bytes(damaged)
        with plait.open(tmp_path / "a.zarr") as file, pytest.raises(plait.StoreError, match=message):
            file.read()


def test_metadata_of_zarr_are_standard_and_checked(tmp_path):
    with plait.open(tmp_path / "a.zarr", "w", shape=(2,), dtype="text") as file:
        file.write(["ab"], region=np.s_[:1])
    path = tmp_path / "a.zarr" / "zarr.json"
    content = json.loads(path.read_text())
    assert content["data_type"] == "string"
    assert content["codecs"] == [{"name": "vlen-utf8"}]
    assert list(zarr.open_array(tmp_path / "a.zarr")[:]) == ["ab", ""]
    for name, value, message in (
        ("codecs", [{"name": "bytes"}], "codec bytes"),
        ("data_type", "int8", "codec vlen-utf8"),
        ("fill_value", 3, "fill value 3"),
    ):
        path.write_text(json.dumps(content | {name: value}))
        with pytest.raises(plait.Error, match=message):
            plait.open(tmp_path / "a.zarr")


@pytest.mark.parametrize("options", [{}, {"chunks": (4,)}, {"chunks": (4,), "codec": "gzip:1"}])
@pytest.mark.parametrize("dtype", [str, "text", "T"])
def test_unwritten_texts_have_the_fill_value(tmp_path, options, dtype):
    expected = ["none", "a", "", "none", "none", "none", "none", "none", "none", "none"]
    for name in ("a.h5", "a.nc::x", "v3.zarr", "zarr2:v2.zarr"):
        stored_options = {} if "zarr" in name and not options else options
        url = f"zarr2:{tmp_path}/v2.zarr" if name == "zarr2:v2.zarr" else f"{tmp_path}/{name}"
        with plait.open(url, "w", shape=10, dtype=dtype, fill_value="none", **stored_options) as file:
            file[1:3] = ["a", ""]
    assert list(read_by_h5py(tmp_path / "a.h5")) == expected
    with netCDF4.Dataset(tmp_path / "a.nc") as file:
        assert list(file["x"][:]) == expected
    for name in ("v3.zarr", "v2.zarr"):
        array = zarr.open_array(tmp_path / name)
        assert list(array[:]) == expected
        assert array.fill_value == "none"
    for name in ("a.h5", "a.nc", "v3.zarr", "v2.zarr"):
        with plait.open(tmp_path / name) as file:
            assert list(file[...]) == expected


def test_invalid_fill_values_of_texts_are_errors(tmp_path):
    for name in ("a.h5", "a.nc", "a.zarr"):
        with pytest.raises(plait.ArgumentError, match="fill value 1 is none that texts can have"):
            plait.open(tmp_path / name, "w", shape=3, dtype=str, fill_value=1)
    with pytest.raises(plait.ArgumentError, match="contains a NUL character"):
        plait.open(tmp_path / "a.h5", "w", shape=3, dtype=str, fill_value="a\0b")
    with plait.open(tmp_path / "scalar.h5", "w", shape=(), dtype=str, fill_value="none"):
        pass
    assert read_by_h5py(tmp_path / "scalar.h5") == "none"
    with plait.open(tmp_path / "empty.h5", "w", shape=(0,), dtype=str, fill_value="none"):
        pass
    assert list(read_by_h5py(tmp_path / "empty.h5")) == []
