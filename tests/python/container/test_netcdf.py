"""netCDF's classic formats: Plait reads files of other libraries and rejects damaged headers."""

import struct
from pathlib import Path

import numpy as np
import pytest
from damaged import read_damaged_files

import plait

# The types of each version of the format, by names of variables.
CLASSIC = {"b": "i1", "c": "S1", "h": ">i2", "i": ">i4", "f": ">f4", "d": ">f8"}
WIDE = {"ub": "u1", "uh": ">u2", "ui": ">u4", "l": ">i8", "ul": ">u8"}


def make_array(dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    numbers = np.random.default_rng(seed).integers(1, 100, shape)
    return numbers.astype("u1").view("S1") if dtype == "S1" else numbers.astype(dtype)


def open_error_text(kind: type[plait.Error], path: object, mode: str = "r", **options: object) -> str:
    with pytest.raises(kind) as raised:
        plait.open(path, mode, **options)
    return str(raised.value)


def check_arrays(path: Path, arrays: dict[str, np.ndarray]) -> None:
    assert sorted(info.name for info in plait.arrays_in(path)) == sorted(arrays)
    for name, array in arrays.items():
        with plait.open(f"{path}::{name}") as file:
            assert (file.shape, file.dtype, file.order) == (array.shape, array.dtype, "C")
            np.testing.assert_array_equal(file.read(), array)
            if array.ndim == 3:
                layout = plait.Layout(array.shape, "(cyclic, block, *)", grid=(2, 2))
                for rank, part in enumerate(file.read(layout)):
                    np.testing.assert_array_equal(part, array[np.ix_(*layout.indices(rank))])
                np.testing.assert_array_equal(file.read(region=np.s_[1::2, 2, 1:4]), array[1::2, 2, 1:4])


@pytest.mark.parametrize("form", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"])
@pytest.mark.parametrize("record_variables", [0, 1, 4])
def test_plait_reads_files_of_the_library(tmp_path, form, record_variables):
    """Read variables of all types, `record_variables` of which grow along the record dimension."""
    netcdf = pytest.importorskip("netCDF4")
    types = CLASSIC | (WIDE if form == "NETCDF3_64BIT_DATA" else {})
    arrays = {}
    with netcdf.Dataset(tmp_path / "a.nc", "w", format=form) as file:
        file.title = "made by a test"
        for name, length in (("time", None), ("y", 3), ("x", 5), ("odd", 1)):
            file.createDimension(name, length)
        for number, (name, dtype) in enumerate(types.items()):
            grows = number < record_variables
            variable = file.createVariable(name, dtype, ("time", "y", "x") if grows else ("y", "x"))
            variable.units = "m"
            arrays[name] = make_array(dtype, (7, 3, 5) if grows else (3, 5), number)
            variable.set_auto_mask(False)
            variable[:] = arrays[name]
        scalar = file.createVariable("scalar", "f8", ())
        scalar[...] = 2.5
        arrays["scalar"] = np.array(2.5, ">f8")
    check_arrays(tmp_path / "a.nc", arrays)


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize("names", ["b", "h", "bhd"])
def test_records_of_a_single_variable_are_not_padded(tmp_path, version, names):
    scipy = pytest.importorskip("scipy.io")
    arrays = {}
    with scipy.netcdf_file(tmp_path / "a.nc", "w", version=version) as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        for number, name in enumerate(names):
            variable = file.createVariable(name, np.dtype(CLASSIC[name]).newbyteorder("="), ("time", "x"))
            arrays[name] = make_array(CLASSIC[name], (9, 3), number)
            variable[:] = arrays[name]
    check_arrays(tmp_path / "a.nc", arrays)


def test_large_and_short_records_are_read(tmp_path):
    """Read rows that are separate requests, together with short rows that are read in one request."""
    scipy = pytest.importorskip("scipy.io")
    large, small = make_array(">f8", (6, 40_000), 1), make_array(">i2", (6,), 2)
    with scipy.netcdf_file(tmp_path / "a.nc", "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 40_000)
        file.createVariable("large", "f8", ("time", "x"))[:] = large
        file.createVariable("small", "i2", ("time",))[:] = small
    check_arrays(tmp_path / "a.nc", {"large": large, "small": small})


def test_many_short_records_are_read(tmp_path, effort):
    scipy = pytest.importorskip("scipy.io")
    count = effort.choose(20_000, 200_000)
    first, second = make_array(">i4", (count,), 1), make_array(">i4", (count, 3), 2)
    with scipy.netcdf_file(tmp_path / "a.nc", "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createVariable("one", "i4", ("time",))[:] = first
        file.createVariable("two", "i4", ("time", "x"))[:] = second
    check_arrays(tmp_path / "a.nc", {"one": first, "two": second})
    assert [info.storage for info in plait.arrays_in(tmp_path / "a.nc")] == [
        "records, each 16 bytes after the last"
    ] * 2


def test_variables_are_changed_in_place(tmp_path):
    scipy = pytest.importorskip("scipy.io")
    with scipy.netcdf_file(tmp_path / "a.nc", "w") as file:
        file.createDimension("time", None)
        file.createVariable("a", "i4", ("time",))[:] = np.arange(6)
        file.createVariable("b", "i2", ("time",))[:] = np.arange(6)
    with plait.open(f"{tmp_path}/a.nc::b", "r+") as file:
        file.write(np.array([50, 60], ">i2"), region=np.s_[2:6:3])
    with scipy.netcdf_file(tmp_path / "a.nc", mmap=False) as file:
        assert file.variables["a"][:].tolist() == [0, 1, 2, 3, 4, 5]
        assert file.variables["b"][:].tolist() == [0, 1, 50, 3, 4, 60]


def test_unknown_versions_are_errors(tmp_path):
    (tmp_path / "c.nc").write_bytes(b"CDF\x04" + bytes(40))
    assert "CDF and the number 1, 2 or 5" in open_error_text(plait.StoreError, tmp_path / "c.nc")


class Header:
    """A CDF-1 header, with fields named as in the grammar of the format."""

    def __init__(self) -> None:
        self.records = 0  # number of records
        # Name and length; the length 0 marks the record dimension.
        self.dimensions: list[tuple[bytes, int]] = [(b"time", 0), (b"x", 4)]
        # Name, numbers of dimensions, number of the type, and offset of each variable.
        self.variables: list[tuple[bytes, list[int], int, int]] = []

    def encode(self, size: int = 400) -> bytes:
        """Return the file, with zeros after the header."""
        out = b"CDF\x01" + struct.pack(">III", self.records, 10, len(self.dimensions))
        for name, length in self.dimensions:
            out += self.encode_name(name) + struct.pack(">I", length)
        out += struct.pack(">IIII", 0, 0, 11, len(self.variables))
        for name, dimensions, type_number, begin in self.variables:
            out += self.encode_name(name) + struct.pack(f">I{len(dimensions)}I", len(dimensions), *dimensions)
            out += struct.pack(">IIIII", 0, 0, type_number, 0, begin)
        return out + bytes(max(0, size - len(out)))

    @staticmethod
    def encode_name(name: bytes) -> bytes:
        return struct.pack(">I", len(name)) + name + bytes(-len(name) % 4)


def write_file(path: Path, header: Header, size: int = 400) -> Path:
    path.write_bytes(header.encode(size))
    return path


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ([(b"a", [1], 4, 300), (b"b", [1], 4, 308)], "what is in front of it ends at byte 316"),
        ([(b"a", [1], 4, 20)], "begins at byte 20, but what is in front of it ends at byte"),
        ([(b"a", [2], 4, 300)], '"a" has the dimension 2 of 2'),
        ([(b"a", [1, 0], 4, 300)], "has the record dimension after another one"),
        ([(b"a", [1], 12, 300)], "there is no type of elements with the number 12"),
        ([(b"a", [1], 9, 300)], "there is no type of elements with the number 9"),
        ([(b"a", [0, 1], 4, 300), (b"b", [0, 1], 4, 340)], "after the beginning of a record, which has 32"),
        ([(b"a", [0, 1], 4, 300), (b"b", [0], 4, 308)], "what is in front of it ends at byte 316"),
        ([(b"a", [0, 1], 4, 300), (b"b", [1], 4, 308)], "among the records, which begin at byte 300"),
    ],
)
def test_wrong_headers_are_errors(tmp_path, variables, message):
    header = Header()
    header.records = 2
    header.variables = variables
    path = write_file(tmp_path / "a.nc", header)
    text = open_error_text(plait.StoreError, f"{path}::a")
    assert message in text
    assert f"cannot open {path} as netCDF: its header is wrong at byte " in text


def test_wrong_counts_are_errors(tmp_path):
    header = Header()
    header.dimensions.append((b"y", 0))
    path = write_file(tmp_path / "a.nc", header)
    assert "two record dimensions" in open_error_text(plait.StoreError, path)
    content = bytearray(Header().encode())
    struct.pack_into(">I", content, 12, 2**32 - 1)
    path.write_bytes(content)
    assert "4294967295 dimensions do not fit" in open_error_text(plait.StoreError, path)
    content = bytearray(Header().encode())
    struct.pack_into(">I", content, 8, 77)
    path.write_bytes(content)
    assert "found the tag 77 where a list of dimensions was expected" in open_error_text(plait.StoreError, path)


def test_arrays_larger_than_2_63_bytes_are_errors(tmp_path):
    header = Header()
    header.dimensions = [(b"time", 0), *((b"abcd"[i : i + 1], 2**31) for i in range(3))]
    header.variables = [(b"v", [1, 2, 3], 4, 300)]
    assert '"v" ends after byte 2^63' in open_error_text(plait.StoreError, write_file(tmp_path / "a.nc", header))
    header.records = 2**31
    header.variables = [(b"v", [0, 1, 2], 1, 300)]
    assert "records of" in open_error_text(plait.StoreError, write_file(tmp_path / "a.nc", header))


def test_truncated_files_are_errors(tmp_path):
    header = Header()
    header.records = 30
    header.variables = [(b"a", [0, 1], 4, 300), (b"b", [0], 4, 316)]
    path = write_file(tmp_path / "a.nc", header)
    assert "with record 30" in open_error_text(plait.StoreError, f"{path}::a")
    header.variables = [(b"a", [1], 4, 392)]
    path = write_file(tmp_path / "a.nc", header)
    assert "it has been truncated" in open_error_text(plait.StoreError, path)
    content = header.encode(0)
    for length in range(len(content)):
        path.write_bytes(content[:length])
        assert str(path) in open_error_text(plait.StoreError, path)


def test_an_unknown_number_of_records_follows_from_the_file_size(tmp_path):
    header = Header()
    header.records = 2**32 - 1
    header.variables = [(b"a", [0, 1], 4, 300), (b"b", [0], 4, 316)]
    path = write_file(tmp_path / "a.nc", header, 300 + 5 * 20 + 7)
    assert plait.open(f"{path}::a").shape == (5, 4)


def test_changed_bytes_give_an_error_or_another_header(tmp_path):
    header = Header()
    header.records = 3
    header.variables = [(b"a", [0, 1], 4, 300), (b"b", [0], 4, 316), (b"c", [1], 6, 250)]
    content = header.encode()
    for infos in read_damaged_files(tmp_path / "a.nc", content, len(content) - 200, 6):
        assert all(info.offset >= 0 and info.stored >= 0 for info in infos)


def test_files_without_records_have_empty_arrays(tmp_path):
    header = Header()
    header.records = 0
    header.variables = [(b"a", [0, 1], 4, 300), (b"b", [0], 4, 316)]
    path = write_file(tmp_path / "a.nc", header)
    for name in "ab":
        with plait.open(f"{path}::{name}") as file:
            assert file.shape[0] == 0
            assert file.read().size == 0
