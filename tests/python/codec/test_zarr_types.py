"""Zarr: element types of a fixed size, in both versions of the format, compared with zarr-python."""

import json

import numpy as np
import pytest
from array_reads import open_error_text

import plait

zarr = pytest.importorskip("zarr")
pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning")

SHAPE, CHUNK = (5, 7), (2, 3)
RECORD = [("a", "<i4"), ("b", "<f8"), ("t", "<U3"), ("s", "S3"), ("d", "<M8[ns]"), ("q", "?"), ("it's", "<c8")]
NESTED = [("a", "<i4"), ("n", [("x", "<f4"), ("y", "S3")])]
SIMPLE = ["S5", "<U4", "V7", "<M8[ns]", "<M8[10s]", "<m8[us]", "<f2", "<c8", "?"]
FILLS = {"S": b"ab", "U": "xé", "M": 5, "m": "NaT", "f": 1.5, "c": 1 - 2j, "b": True}


def make_array(dtype: object) -> np.ndarray:
    """Return different elements, none of which is zero."""
    type_ = np.dtype(dtype)
    count = int(np.prod(SHAPE))
    if type_.names is not None:
        array = np.zeros(SHAPE, type_)
        for name in type_.names:
            array[name] = make_array(type_[name])
        return array
    if type_.subdtype is not None:
        base, extents = type_.subdtype
        return np.broadcast_to(make_array(base)[..., None, None], (*SHAPE, *extents))
    if type_.kind in "SU":
        texts = ["é" * (type_.kind == "U") + "abcdefg"[: 1 + i % 5] for i in range(count)]
        return np.array(texts, type_).reshape(SHAPE)
    if type_.kind == "V":
        return np.array([bytes([i + 1]) * type_.itemsize for i in range(count)], type_).reshape(SHAPE)
    return (np.arange(count) + 1).astype(type_.newbyteorder("=")).astype(type_).reshape(SHAPE)


def make_fill(dtype: object) -> object:
    type_ = np.dtype(dtype)
    return FILLS[type_.kind] if type_.kind in FILLS else make_array(dtype)[3, 4]


def is_identical(actual: np.ndarray, expected: np.ndarray) -> bool:
    return actual.dtype == expected.dtype and actual.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("dtype", "version"),
    # zarr-python writes nested records of version 2, but does not read them.
    [*((dtype, version) for dtype in [*SIMPLE, RECORD[:2]] for version in (2, 3)), (NESTED, 3)],
    ids=str,
)
def test_plait_reads_arrays_of_zarr_python(tmp_path, dtype, version):
    path = tmp_path / "a.zarr"
    fill = make_array(dtype)[3, 4] if isinstance(dtype, list) or dtype == "V7" else make_fill(dtype)
    stored = zarr.create_array(
        path, shape=SHAPE, chunks=CHUNK, dtype=np.dtype(dtype), zarr_format=version, fill_value=fill
    )
    stored[:2, :3] = make_array(dtype)[:2, :3]
    expected = zarr.open_array(path)[...]
    assert is_identical(plait.open(path).read(), expected)
    with plait.open(path, "r+") as file:
        file.write(make_array(dtype)[4:], region=np.s_[4:])
    assert is_identical(plait.open(path).read(), zarr.open_array(path)[...])


@pytest.mark.parametrize("dtype", [">U4", ">M8[s]", ">f4"])
def test_big_endian_elements_of_version_2_are_read(tmp_path, dtype):
    path = tmp_path / "a.zarr"
    zarr.create_array(path, shape=SHAPE, dtype=np.dtype(dtype), zarr_format=2)[...] = make_array(dtype)
    assert is_identical(plait.open(path).read(), make_array(dtype))


@pytest.mark.parametrize("prefix", ["", "zarr2:"])
@pytest.mark.parametrize("codec", ["none", "zstd:1"])
@pytest.mark.parametrize("dtype", [*SIMPLE, ">U4", ">M8[s]", RECORD, NESTED], ids=str)
def test_zarr_python_reads_arrays_of_plait(tmp_path, dtype, codec, prefix):
    array, path = make_array(dtype), tmp_path / "a.zarr"
    with plait.open(
        f"{prefix}{path}", "w", shape=SHAPE, dtype=array.dtype, chunks=CHUNK, codec=codec, fill_value=make_fill(dtype)
    ) as file:
        file.write(array[:2], region=np.s_[:2])
    actual = plait.open(path).read()
    assert is_identical(actual[:2], array[:2])
    if dtype is NESTED and prefix:
        return  # zarr-python does not read nested records of version 2
    stored = zarr.open_array(path)
    assert stored.metadata.zarr_format == (2 if prefix else 3)
    # In version 3 the byte order belongs to the codec, and zarr-python converts.
    assert stored[...].astype(array.dtype).tobytes() == actual.tobytes()


NUMBERS = [f"{order}{type_}" for order in "<>" for type_ in ("i2", "u2", "i8", "u8", "f2", "f8", "c8", "c16")]


@pytest.mark.parametrize("prefix", ["", "zarr2:"])
@pytest.mark.parametrize("dtype", ["S5", "<U4", "V7", RECORD, "?", "i1", "u1", *NUMBERS], ids=str)
def test_the_default_fill_value_is_zero(tmp_path, dtype, prefix):
    path = tmp_path / "a.zarr"
    if prefix == "" and str(dtype)[0] == ">":
        dtype = np.dtype(dtype).newbyteorder("<")
    plait.open(f"{prefix}{path}", "w", shape=SHAPE, dtype=dtype).close()
    assert not any(plait.open(path).read().tobytes())
    if dtype != "V7":  # zarr-python fills V7 elements with a warning
        assert not any(zarr.open_array(path)[...].tobytes())


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", *NUMBERS])
def test_null_is_the_fill_value_zero_in_version_2(tmp_path, dtype):
    path = tmp_path / "a.zarr"
    zarr.create_array(path, shape=SHAPE, dtype=np.dtype(dtype), zarr_format=2, fill_value=None)
    assert '"fill_value":null' in (path / ".zarray").read_text().replace(" ", "")
    assert is_identical(plait.open(path).read(), np.zeros(SHAPE, dtype))


def test_copies_preserve_types_and_fill_values(tmp_path):
    for number, dtype in enumerate(["S5", "<U4", "V7", "<M8[ns]", NESTED]):
        array, source = make_array(dtype), tmp_path / f"{number}.zarr"
        with plait.open(source, "w", shape=SHAPE, dtype=array.dtype, chunks=CHUNK, fill_value=make_fill(dtype)) as file:
            file.write(array)
        for name in (f"{number}-2.zarr", f"{number}-3.zarr"):
            target = tmp_path / name
            plait.copy(source, f"zarr2:{target}" if "-2" in name else target)
            assert is_identical(plait.open(target).read(), array)
            (before,), (after,) = plait.arrays_in(source), plait.arrays_in(target)
            assert np.asarray(before.fill_value).tobytes() == np.asarray(after.fill_value).tobytes()
        plait.copy(source, tmp_path / f"{number}.npy")
        assert is_identical(np.load(tmp_path / f"{number}.npy"), array)


def test_fields_may_be_arrays_in_version_2(tmp_path):
    dtype = np.dtype([("a", "<i4", (2, 3)), ("t", "<U2")])
    array, path = make_array(dtype), tmp_path / "a.zarr"
    with plait.open(f"zarr2:{path}", "w", shape=SHAPE, dtype=dtype, chunks=CHUNK) as file:
        file.write(array)
    assert is_identical(plait.open(path).read(), array)
    assert json.loads((path / ".zarray").read_text())["dtype"] == [["a", "<i4", [2, 3]], ["t", "<U2"]]
    text = open_error_text(plait.ArgumentError, tmp_path / "b.zarr", "w", shape=SHAPE, dtype=dtype)
    assert 'the field "a" is an array of the shape (2, 3)' in text


def write_metadata(tmp_path, **values: object) -> object:
    """Write an array with changed members of its metadata, and return its path."""
    path = tmp_path / "a.zarr"
    zarr.create_array(path, shape=SHAPE, chunks=CHUNK, dtype="V4", compressors=None)
    document = json.loads((path / "zarr.json").read_text())
    (path / "zarr.json").write_text(json.dumps(document | values))
    return path


def named(name: str, **configuration: object) -> dict[str, object]:
    return {"name": name, "configuration": configuration}


@pytest.mark.parametrize(
    ("data_type", "fill", "dtype", "value"),
    [
        ("r32", [1, 2, 3, 4], "V4", b"\1\2\3\4"),
        (named("struct", fields=[{"name": "x", "data_type": "uint8"}, {"name": "y", "data_type": "int16"}]),
         {"x": 7, "y": -2}, [("x", "u1"), ("y", "<i2")], b"\7\xfe\xff"),
        (named("numpy.datetime64", unit="μs", scale_factor=5), "NaT", "<M8[5us]", b"\0" * 7 + b"\x80"),
        ({"name": "int32"}, 1, "<i4", b"\1\0\0\0"),
    ],
)  # fmt: skip
def test_other_spellings_of_types_are_read(tmp_path, data_type, fill, dtype, value):
    codecs = [named("bytes", endian="little")]
    file = plait.open(write_metadata(tmp_path, data_type=data_type, fill_value=fill, codecs=codecs))
    assert file.dtype == np.dtype(dtype)
    assert file.read().tobytes() == value * 35


@pytest.mark.parametrize(
    ("data_type", "message"),
    [
        ("int2", "the type int2"),
        ("r12", "the type r12"),
        (named("null_terminated_bytes", length_bytes=0), '"length_bytes" is 0'),
        (named("null_terminated_bytes", length_bytes=2**63), '"length_bytes" is 9223372036854775808'),
        (named("null_terminated_bytes"), '"length_bytes" is not there'),
        (named("fixed_length_utf32", length_bytes=6), "6 bytes, which is no multiple of 4"),
        (named("numpy.datetime64", unit="x", scale_factor=1), "the type {"),
        (named("structured", fields=[]), "records without fields"),
        (named("structured", fields=[["a", "int8"], ["a", "int8"]]), 'two fields have the name "a"'),
        (named("structured", fields=[["a"]]), 'a field of its elements is ["a"]'),
        (named("structured", fields=[["a", "string"]]), "the type string"),
        (named("structured", fields=[[name, named("raw_bytes", length_bytes=2**62)] for name in "abc"]), "usable size"),
    ],
)  # fmt: skip
def test_damaged_types_are_errors(tmp_path, data_type, message):
    assert message in open_error_text(
        (plait.ArgumentError, plait.StoreError), write_metadata(tmp_path, data_type=data_type)
    )


@pytest.mark.parametrize("fill", ["AAAAAAA=", "A", [1, 2], [1, 2, 3, 256], 1, {"a": 1}])
def test_damaged_fill_values_are_errors(tmp_path, fill):
    assert "elements without a file have the value" in open_error_text(
        plait.ArgumentError, write_metadata(tmp_path, fill_value=fill)
    )
