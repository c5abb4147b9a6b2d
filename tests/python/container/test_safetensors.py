"""safetensors: Plait reads files of its own library, and that library reads files of Plait."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from damaged import read_damaged_files

import plait

TYPES = ["<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1"]


def write_file(path: Path, header: object, data: bytes = b"", length: int | None = None) -> Path:
    """Write a file with this header, given as a value for JSON or as bytes."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return path


def open_error_text(kind: type[plait.Error], path: object, mode: str = "r", **options: object) -> str:
    with pytest.raises(kind) as raised:
        plait.open(path, mode, **options)
    return str(raised.value)


def test_plait_reads_files_of_the_library(tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    arrays = {dtype[1:]: np.arange(15).reshape(3, 5).astype(dtype) for dtype in TYPES}
    arrays |= {"a::b/c.d": np.array(2.5), "empty": np.empty((2, 0), "f4")}
    path = tmp_path / "a.safetensors"
    library.save_file(arrays, path, metadata={"made": "here"})
    assert sorted(info.name for info in plait.arrays_in(path)) == sorted(arrays)
    for name, array in arrays.items():
        with plait.open(f"{path}::{name}") as file:
            assert (file.shape, file.dtype, file.order) == (array.shape, array.dtype, "C")
            np.testing.assert_array_equal(file.read(), array)


def test_the_library_reads_files_of_plait(tmp_path):
    library = pytest.importorskip("safetensors.numpy")
    arrays = {dtype[1:]: np.arange(15).reshape(3, 5).astype(dtype) for dtype in TYPES}
    arrays |= {'quoted " \\ \n é': np.arange(3.0), "empty": np.empty((2, 0), "f4"), "scalar": np.array(3, "i2")}
    path = tmp_path / "a.safetensors"
    with plait.open(path, "w", arrays={name: (array.shape, array.dtype) for name, array in arrays.items()}) as file:
        for name, array in arrays.items():
            file.write(array, variable=name)
    actual = library.load_file(path)
    assert sorted(actual) == sorted(arrays)
    for name, array in arrays.items():
        assert actual[name].dtype == array.dtype
        np.testing.assert_array_equal(actual[name], array)
    for info in plait.arrays_in(path):
        assert info.offset % arrays[info.name].itemsize == 0


def test_one_array_is_written(tmp_path):
    path = tmp_path / "a.safetensors"
    with plait.open(f"{path}::weights.0", "w", shape=(4, 3), dtype="f4") as file:
        file.write(np.ones((4, 3), "f4"))
    (info,) = plait.arrays_in(path)
    assert (info.name, info.shape, info.element, info.stored) == ("weights.0", (4, 3), "F32", 48)
    with plait.open(path, "w", shape=2, dtype="i8") as file:
        file.write(np.arange(2))
    assert [array.name for array in plait.arrays_in(path)] == ["data"]


def test_arrays_are_changed_in_place(tmp_path):
    path = tmp_path / "a.safetensors"
    with plait.open(path, "w", arrays={"a": (4, "i4"), "b": (4, "i4")}) as file:
        file.write(np.arange(4, dtype="i4"), variable="a")
    with plait.open(f"{path}::b", "r+") as file:
        file.write(np.array([7, 8], "i4"), region=np.s_[1:3])
    assert plait.open(f"{path}::a").read().tolist() == [0, 1, 2, 3]
    assert plait.open(f"{path}::b").read().tolist() == [0, 7, 8, 0]


def test_types_that_numpy_lacks_are_read_as_bytes(tmp_path):
    dtypes = pytest.importorskip("ml_dtypes")
    numbers = np.array([[1.5, -2], [0, 3]], dtypes.bfloat16)
    path = write_file(
        tmp_path / "a.safetensors",
        {
            "b": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]},
            "f": {"dtype": "F8_E4M3", "shape": [3], "data_offsets": [8, 11]},
            "q": {"dtype": "F4", "shape": [4], "data_offsets": [11, 13]},
            "z": {"dtype": "NEW", "shape": [4], "data_offsets": [13, 14]},
        },
        numbers.tobytes() + b"abc" + b"de" + b"f",
    )
    b, f, q, z = plait.arrays_in(path)
    assert (b.element, b.dtype, f.element, f.dtype) == ("BF16", np.dtype("V2"), "F8_E4M3", np.dtype("V1"))
    actual = plait.open(f"{path}::b").read()
    np.testing.assert_array_equal(actual.view(dtypes.bfloat16), numbers)
    assert "have 4 bits" in q.error
    assert "the type NEW are not known" in z.error
    assert "have 4 bits" in open_error_text(plait.ArgumentError, f"{path}::q")
    plait.copy(f"{path}::b", tmp_path / "b.safetensors")
    (copied,) = plait.arrays_in(tmp_path / "b.safetensors")
    assert (copied.name, copied.element, copied.shape) == ("b", "BF16", (2, 2))


def test_types_and_orders_that_the_format_lacks_are_errors(tmp_path):
    path = f"{tmp_path}/a.safetensors::x"
    assert "they are little-endian" in open_error_text(plait.ArgumentError, path, "w", shape=3, dtype=">f4")
    assert "no elements of dtype |V1" in open_error_text(plait.ArgumentError, path, "w", shape=3, dtype="V1")
    assert "order C only" in open_error_text(plait.ArgumentError, path, "w", shape=(3, 2), dtype="f4", order="F")
    assert "__metadata__" in open_error_text(
        plait.ArgumentError, f"{tmp_path}/a.safetensors::__metadata__", "w", shape=3, dtype="f4"
    )
    assert not list(tmp_path.iterdir())


ENTRY = {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (b"", "it is not JSON"),
        (b"{", "it is not JSON"),
        (b"[1]", "a list"),
        (b"7", "the number 7"),
        (b'{"a": 1}', 'the array "a" is the number 1 instead of an object'),
        (b'{"a": {}}', 'the array "a" lacks dtype, shape or data_offsets'),
        (b'{"a": ' * 5000 + b"1" + b"}" * 5000, 'has the key "a"'),
        (b'{"a": {"shape": ' + b"[" * 100_000, '"shape" of the array "a" has a list'),
        ({"a": {**ENTRY, "shape": [-4]}}, "the number -4"),
        ({"a": {**ENTRY, "shape": [2**63]}}, "the number 9223372036854775808 is larger than any file"),
        ({"a": {**ENTRY, "shape": [2**62, 4]}}, "takes 4 bytes, which is not the size of"),
        ({"a": {**ENTRY, "shape": [2**62, 4, 0]}}, "takes 4 bytes"),
        ({"a": {**ENTRY, "shape": [5]}}, "takes 4 bytes"),
        ({"a": {**ENTRY, "shape": [1.5]}}, "the number 1.5"),
        ({"a": {**ENTRY, "shape": [1] * 65}}, "more than"),
        ({"a": {**ENTRY, "data_offsets": [0, 5]}}, "ends at byte 5 behind the header, but the file at byte 4"),
        ({"a": {**ENTRY, "data_offsets": [4, 0]}}, "begins at 4, behind its end at 0"),
        ({"a": {**ENTRY, "data_offsets": [0]}}, "has 1 data_offsets instead of 2"),
        ({"a": {**ENTRY, "dtype": 3}}, '"dtype" of the array "a" has the number 3'),
        ({"a": {**ENTRY, "more": "x"}}, 'has the key "more", which the format does not define'),
        (b'{"a": {"dtype": "U8", "dtype": "U8"}}', 'has the key "dtype" twice'),
        (b'{"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}, "a": {}}', 'the name "a" occurs twice'),
        ({"a": {**ENTRY, "shape": [2], "data_offsets": [2, 4]}}, "what is in front of it ends at byte 0"),
        ({"a": ENTRY, "b": {**ENTRY, "shape": [3], "data_offsets": [1, 4]}}, "what is in front of it ends at byte 4"),
        ({"a": {**ENTRY, "shape": [3], "data_offsets": [0, 3]}}, "its arrays end at byte"),
        ({"__metadata__": {"a": 1}}, "which has texts only"),
        (b'{"\xff": {}}', "it is not JSON"),
    ],
)
def test_wrong_headers_are_errors(tmp_path, header, message):
    path = write_file(tmp_path / "a.safetensors", header, b"abcd")
    text = open_error_text(plait.StoreError, path)
    assert message in text
    assert f"cannot open {path} as safetensors: " in text
    assert "byte" in text


@pytest.mark.parametrize(
    ("length", "message"),
    [
        (100, "the header has 100 bytes, but only 6 follow"),
        (2**63, "the format permits 100000000"),
        (2**64 - 1, "the format permits 100000000"),
    ],
)
def test_wrong_header_lengths_are_errors(tmp_path, length, message):
    assert message in open_error_text(plait.StoreError, write_file(tmp_path / "a.safetensors", {}, b"abcd", length))
    (tmp_path / "b.safetensors").write_bytes(b"abc")
    assert "it has 3 bytes" in open_error_text(plait.StoreError, tmp_path / "b.safetensors")


def test_changed_bytes_give_an_error_or_another_header(tmp_path):
    path = write_file(tmp_path / "a.safetensors", {"a": ENTRY, "b": {**ENTRY, "data_offsets": [4, 8]}}, b"abcdefgh")
    intact = path.read_bytes()
    for infos in read_damaged_files(path, intact, len(intact), 5):
        assert sum(info.stored for info in infos) == 8
