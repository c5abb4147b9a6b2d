"""Records, arrays as elements and dates in HDF5 files, compared with h5py."""

import ctypes

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from records import assert_same, random_records, records

import plait

h5py = pytest.importorskip("h5py", reason="h5py is not installed")

STORAGE = {
    "contiguous": {},
    "chunks": {"chunks": (2, 3)},
    "compressed": {"chunks": (4, 2), "compression": "gzip", "shuffle": True},
    "compact": {},
}
MIXED = np.dtype(
    {
        "names": ["id", "at", "name", "good", "grid"],
        "formats": [">i4", [("x", "<f8"), ("y", ">f4")], "S5", "?", ("<i2", (2, 3))],
        "offsets": [0, 8, 21, 26, 30],
        "itemsize": 48,
    }
)


def write_dataset(path, array, storage):
    with h5py.File(path, "w") as file:
        if storage != "compact":
            return file.create_dataset("a", data=array, **STORAGE[storage])
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_layout(h5py.h5d.COMPACT)
        space = h5py.h5s.create_simple(array.shape)
        dataset = h5py.h5d.create(file.id, b"a", h5py.h5t.py_create(array.dtype, logical=True), space, creation)
        return dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, array)


def read_by_h5py(path, name="a"):
    with h5py.File(path) as file:
        return file[name][...]


@settings(max_examples=40, deadline=None)
@given(dtype=records(), storage=st.sampled_from(sorted(STORAGE)))
def test_records_are_read_as_h5py_reads_them(tmp_path_factory, dtype, storage):
    path = tmp_path_factory.mktemp("records") / "a.h5"
    # Compact storage has at most 64 KiB.
    assume(storage != "compact" or 35 * dtype.itemsize < 60_000)
    write_dataset(path, random_records(dtype, (5, 7)), storage)
    expected = read_by_h5py(path)
    assert plait.arrays_in(path)[0].dtype == expected.dtype
    assert_same(plait.open(path).read(), expected)
    assert_same(plait.open(path).read(region=np.s_[1:5:2, 3:]), expected[1:5:2, 3:])


@settings(max_examples=40, deadline=None)
@given(dtype=records(), chunks=st.sampled_from([None, (2, 3)]), codec=st.sampled_from([None, "zlib:1"]))
def test_h5py_reads_written_records(tmp_path_factory, dtype, chunks, codec):
    path = tmp_path_factory.mktemp("records") / "a.h5"
    array = random_records(dtype, (5, 7))
    with plait.open(f"{path}::a", "w", shape=array.shape, dtype=dtype, chunks=chunks, codec=codec) as file:
        file.write(array)
    actual = read_by_h5py(path)
    assert_same(actual, array)
    assert_same(plait.open(path).read(), array)


@pytest.mark.parametrize("storage", ["contiguous", "chunks", "compressed"])
def test_records_are_changed_in_place(tmp_path, storage):
    path, array = tmp_path / "a.h5", random_records(MIXED, (5, 7))
    write_dataset(path, array, storage)
    array[1:4, ::2] = changed = random_records(MIXED, (3, 4), seed=2)
    with plait.open(path, "r+") as file:
        file.write(changed, region=np.s_[1:4, ::2])
        assert_same(file.read(), array)
    assert_same(read_by_h5py(path), array)


def test_fields_out_of_order_and_padded_texts_are_read(tmp_path):
    path = tmp_path / "a.h5"
    texts = []
    for padding in (h5py.h5t.STR_SPACEPAD, h5py.h5t.STR_NULLTERM):
        texts.append(h5py.h5t.C_S1.copy())
        texts[-1].set_size(4)
        texts[-1].set_strpad(padding)
    inner = h5py.h5t.create(h5py.h5t.COMPOUND, 13)
    inner.insert(b"t", 1, h5py.h5t.array_create(texts[1], (3,)))
    type_ = h5py.h5t.create(h5py.h5t.COMPOUND, 60)
    type_.insert(b"last", 50, h5py.h5t.STD_I32BE)
    type_.insert(b"first", 3, texts[0])
    type_.insert(b"inner", 8, h5py.h5t.array_create(inner, (2,)))
    raw = np.zeros((3, 60), "u1")
    raw[:, 3:7] = np.frombuffer(b"ab  ", "u1")
    raw[:, 9:34] = np.frombuffer(b"xy\0z" * 6 + b"q", "u1")
    with h5py.File(path, "w") as file:
        space = h5py.h5s.create_simple((3,))
        h5py.h5d.create(file.id, b"a", type_, space).write(h5py.h5s.ALL, h5py.h5s.ALL, raw, type_)
    actual, expected = plait.open(path).read(), read_by_h5py(path)
    assert dict(actual.dtype.fields) == dict(expected.dtype.fields)  # in h5py the fields have the order of the file
    assert actual.dtype.names == ("first", "inner", "last")
    assert actual["first"].tolist() == [b"ab"] * 3
    for name in actual.dtype.names:
        assert_same(actual[name], expected[name])
    with pytest.raises(plait.ArgumentError, match="padded with blanks"), plait.open(path, "r+") as file:
        file.write(actual)


def test_unsupported_members_are_named(tmp_path):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("texts", (2,), [("x", "i4"), ("text", h5py.string_dtype())])
        file.create_dataset("inner", (2,), [("x", [("y", "f8"), ("to", h5py.ref_dtype)])])
        file["good"] = np.zeros(2, [("x", "i4")])
        file.create_dataset("lists", (2,), np.dtype((h5py.ref_dtype, (2,))))
    reasons = {info.name: info.error for info in plait.arrays_in(path)}
    assert "its elements are records (x, text), and its member text is of the type STRING VARIABLE" in reasons["texts"]
    assert "its member x.to is of the type REFERENCE" in reasons["inner"]
    assert reasons["good"] == ""
    assert "references to other objects" in reasons["lists"]


@pytest.mark.parametrize("options", [{}, {"chunks": (2, 3)}, {"chunks": (4, 2), "compression": "gzip"}])
@pytest.mark.parametrize("base", [">i4", "S3", MIXED])
def test_arrays_as_elements_add_dimensions(tmp_path, options, base):
    path = tmp_path / "a.h5"
    array = random_records(np.dtype([("f", base)]), (5, 7, 2, 3))["f"].copy()
    with h5py.File(path, "w") as file:
        type_ = np.dtype((base, (2, 3)))
        dataset = file.create_dataset("a", (5, 7), type_, maxshape=(None, 7) if options else None, **options)
        dataset[...] = array
        dataset.dims[0].label = "time"
    info = plait.arrays_in(path)[0]
    assert info.shape == (5, 7, 2, 3)
    assert info.chunks == ((*options["chunks"], 2, 3) if options else None)
    assert info.dimension_names == ("time", "", "", "")
    assert_same(plait.open(path).read(), read_by_h5py(path))
    array[2:4, 1] = changed = array[0:2, 0].copy()
    with plait.open(path, "r+") as file:
        file.write(changed, region=np.s_[2:4, 1])
    assert_same(read_by_h5py(path), array)
    plait.copy(path, tmp_path / "b.h5")
    assert_same(read_by_h5py(tmp_path / "b.h5"), array)


def test_fill_values_of_arrays_as_elements_are_read(tmp_path):
    path, library = tmp_path / "a.h5", ctypes.CDLL(h5py.h5p.__file__)
    with h5py.File(path, "w") as file:
        for name, fill in (("equal", [7, 7, 7]), ("different", [1, 2, 3])):
            type_ = h5py.h5t.array_create(h5py.h5t.STD_I32LE, (3,))
            creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            creation.set_chunk((2,))
            value = np.array(fill, "<i4")  # h5py has no scalars of an array type
            assert (
                library.H5Pset_fill_value(
                    ctypes.c_int64(creation.id), ctypes.c_int64(type_.id), value.ctypes.data_as(ctypes.c_void_p)
                )
                >= 0
            )
            h5py.h5d.create(file.id, name.encode(), type_, h5py.h5s.create_simple((4,)), creation)
    for name in ("equal", "different"):
        np.testing.assert_array_equal(plait.open(f"{path}::{name}").read(), read_by_h5py(path, name))
    fills = {info.name: info.fill_value for info in plait.arrays_in(path)}
    assert fills["equal"] == 7
    assert fills["different"] is None


@pytest.mark.parametrize("unit", ["<M8[ns]", ">M8[D]", "<m8[25s]"])
def test_dates_equal_those_of_h5py(tmp_path, unit):
    array = np.arange(6).astype("i8").astype(unit)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("a", data=array.astype(h5py.opaque_dtype(array.dtype)))
    assert_same(plait.open(tmp_path / "a.h5").read(), array)
    plait.copy(tmp_path / "a.h5", tmp_path / "b.npy")
    assert_same(np.load(tmp_path / "b.npy"), array)
    plait.copy(tmp_path / "b.npy", tmp_path / "c.h5")
    actual = read_by_h5py(tmp_path / "c.h5", "data")
    assert_same(actual, array)
    with pytest.raises(plait.ArgumentError, match='attribute units, such as "days since'):
        plait.copy(tmp_path / "b.npy", tmp_path / "c.nc")


@pytest.mark.parametrize("intermediate", ["b.npy", "b.npz", "b.h5"])
def test_copies_preserve_values_fill_values_and_attributes(tmp_path, intermediate):
    array = random_records(MIXED, (5, 7))
    fill = random_records(MIXED, ())[()]
    with plait.open(
        f"{tmp_path}/a.h5", "w", arrays={"a": {"shape": (5, 7), "dtype": MIXED, "fill_value": fill}}
    ) as file:
        file.write(array, variable="a")
    assert plait.arrays_in(tmp_path / "a.h5")[0].fill_value == fill
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["a"].fillvalue == fill
    plait.copy(f"{tmp_path}/a.h5::a", tmp_path / intermediate)
    plait.copy(tmp_path / intermediate, tmp_path / "c.h5", verify=True)
    info = plait.arrays_in(tmp_path / "c.h5")[0]
    assert info.dtype == MIXED
    assert_same(read_by_h5py(tmp_path / "c.h5", info.name), array)
    if intermediate == "b.h5":
        assert info.fill_value == fill


def test_unwritten_elements_have_the_fill_value(tmp_path):
    fill = random_records(MIXED, ())[()]
    with plait.open(f"{tmp_path}/a.h5::a", "w", shape=(9,), dtype=MIXED, fill_value=fill, chunks=(2,)) as file:
        file.write(random_records(MIXED, (3,)), region=np.s_[:3])
    for actual in (read_by_h5py(tmp_path / "a.h5"), plait.open(tmp_path / "a.h5").read()):
        assert_same(actual[4:], np.full(5, fill, MIXED))


@pytest.mark.parametrize(
    ("dtype", "name", "message"),
    [
        ([("when", "M8[s]"), ("text", "U3")], "a.h5", r"HDF5 has no elements of dtype <U3, .* \"text\""),
        ([("x", [("half", "f2")])], "a.nc", r"netCDF has no elements of dtype <f2, .* \"half\""),
        ([("raw", "V3")], "a.nc", r"netCDF has no elements of dtype \|V3"),
        ([("a/b", "f4")], "a.nc", "slash"),
        ([("none", "f4", (0,)), ("x", "f4")], "a.h5", 'the field "none" of its records has no bytes'),
    ],
)
def test_types_that_a_format_lacks_are_errors(tmp_path, dtype, name, message):
    with pytest.raises(plait.ArgumentError, match=message):
        plait.open(tmp_path / name, "w", shape=(3,), dtype=dtype)
    assert not any(tmp_path.iterdir())


def test_fields_out_of_order_are_an_error_for_new_files(tmp_path):
    dtype = np.dtype({"names": ["a", "b"], "formats": ["i4", "i4"], "offsets": [4, 0]})
    with pytest.raises(plait.ArgumentError, match="in the order of their offsets"):
        plait.open(tmp_path / "a.h5", "w", shape=(3,), dtype=dtype)


def test_fill_values_of_another_type_are_errors(tmp_path):
    with pytest.raises(plait.ArgumentError, match="fill value 0x"):
        plait.open(tmp_path / "a.h5", "w", shape=(3,), dtype=MIXED, fill_value=np.zeros((), "i4,i4")[()])
