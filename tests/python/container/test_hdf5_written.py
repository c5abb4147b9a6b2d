"""HDF5 files that Plait writes: h5py, and HDF5's own tools, read them."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import plait

h5py = pytest.importorskip("h5py")

TYPES = [
    "|b1",
    "|i1",
    "|u1",
    "<i2",
    ">u2",
    "<i4",
    ">i4",
    "<u4",
    "<i8",
    ">i8",
    "<u8",
    "<f2",
    ">f2",
    "<f4",
    ">f4",
    "<f8",
    ">f8",
    "<f16",
    "<c8",
    ">c8",
    "<c16",
    "<c32",
    "|S7",
    "|V5",
    "|V2",
]


def make_array(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    numbers = np.random.default_rng(3).integers(0, 90, size, dtype="u1")
    if dtype[1] in "SV":
        return np.frombuffer(numbers.tobytes(), dtype).reshape(shape)
    values = np.random.default_rng(3).integers(0, 2 if dtype == "|b1" else 90, shape)
    return values.astype(dtype)


def read_datasets(path: Path) -> dict[str, np.ndarray]:
    arrays = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, item: arrays.update({name: item[()]} if isinstance(item, h5py.Dataset) else {}))
    return arrays


@pytest.mark.parametrize("dtype", TYPES)
def test_h5py_and_plait_read_all_types(tmp_path, dtype):
    array = make_array(dtype, (5, 7))
    with plait.open(tmp_path / "a.h5", "w", shape=array.shape, dtype=dtype) as file:
        file.write(array)
    with h5py.File(tmp_path / "a.h5") as file:
        assert list(file) == ["data"]
        assert file["data"].dtype == (np.dtype("V2") if dtype == "|V2" else np.dtype(dtype))
        np.testing.assert_array_equal(file["data"][...], array)
    with plait.open(tmp_path / "a.h5") as file:
        assert file.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(file.read(), array)


def test_many_arrays_in_groups_are_written(tmp_path):
    shapes = {f"group{n % 7}/inner/array{n:04}": (n % 5, 3, n % 11 + 1) for n in range(300)}
    shapes |= {"scalar": (), "empty": (0,), "Größe/数": (9, 1000)}
    arrays = {name: make_array("<i4", shape) for name, shape in shapes.items()}
    path = tmp_path / "a.h5"
    with plait.open(path, "w", arrays={name: (shape, "i4") for name, shape in shapes.items()}) as file:
        for name in reversed(arrays):
            file.write(arrays[name], variable=name)
    actual = read_datasets(path)
    assert actual.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(actual[name], array)
        assert actual[name].shape == array.shape
        np.testing.assert_array_equal(plait.open(f"{path}::/{name}").read(), array)
    assert path.stat().st_size < 1.5 * (sum(array.nbytes for array in arrays.values()) + 300 * 2048)


def test_groups_in_the_name_of_an_array_are_made(tmp_path):
    array = make_array("<f8", (30, 40))
    for name in ("/a/b/c", "d"):
        with plait.open(f"{tmp_path}/a.hdf5::{name}", "w", shape=array.shape, dtype="f8") as file:
            file.write(array[::2], region=np.s_[::2])
        actual = read_datasets(tmp_path / "a.hdf5")
        assert list(actual) == [name.lstrip("/")]
        np.testing.assert_array_equal(actual[name.lstrip("/")][::2], array[::2])
        assert not actual[name.lstrip("/")][1::2].any()


def test_elements_begin_at_pages_and_files_have_no_gaps(tmp_path):
    array = make_array("<f4", (1000, 100))
    with plait.open(tmp_path / "a.h5", "w", shape=array.shape, dtype="f4") as file:
        file.write(array)
    (info,) = plait.arrays_in(tmp_path / "a.h5")
    assert info.offset % 4096 == 0
    assert (tmp_path / "a.h5").stat().st_size <= array.nbytes + 8192


def test_h5dump_reads_the_files(tmp_path):
    if shutil.which("h5dump") is None:
        pytest.skip("no h5dump")

    def h5dump_output(name: str) -> str:
        result = subprocess.run(["h5dump", tmp_path / name], capture_output=True, text=True, check=True, timeout=300)
        return " ".join(result.stdout.split())

    with plait.open(tmp_path / "b.h5", "w", shape=(5, 2), dtype="i4", chunks=(2, 2), codec="shuffle,gzip") as file:
        file.write(np.arange(10, dtype="i4").reshape(5, 2))
    for part in ("(0,0): 0, 1, (1,0): 2, 3, (2,0): 4, 5, (3,0): 6, 7, (4,0): 8, 9", "H5T_STD_I32LE"):
        assert part in h5dump_output("b.h5")
    with plait.open(tmp_path / "a.h5", "w", arrays={"g/x": ((2, 3), ">i2"), "y": ((2,), "c8")}) as file:
        file.write(np.arange(6, dtype=">i2").reshape(2, 3), variable="g/x")
        file.write(np.array([1 - 2j, 0.5], "c8"), variable="y")
    for part in ('GROUP "g"', "H5T_STD_I16BE", "(0,0): 0, 1, 2, (1,0): 3, 4, 5", "H5T_IEEE_F32LE", "DATASPACE"):
        assert part in h5dump_output("a.h5")


def test_netcdf_reads_the_file(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    arrays = {"t2m": make_array("<f4", (13, 7, 10)), "group/u": make_array(">i2", (50,))}
    with plait.open(
        tmp_path / "a.nc", "w", arrays={name: (array.shape, array.dtype) for name, array in arrays.items()}
    ) as file:
        for name, array in arrays.items():
            file.write(array, variable=name)
    storage = {"chunks": (4, 3, 10), "codec": "shuffle,gzip:2"}
    with plait.open(f"{tmp_path}/b.nc::t2m", "w", shape=(13, 7, 10), dtype="f4", **storage) as file:
        file.write(arrays["t2m"])
    for name, count in (("a.nc", 2), ("b.nc", 1)):
        assert len(plait.arrays_in(tmp_path / name)) == count
        with netcdf.Dataset(tmp_path / name) as file:
            assert file.data_model == "NETCDF4"
            np.testing.assert_array_equal(file["t2m"][...], arrays["t2m"])
            if name == "a.nc":
                np.testing.assert_array_equal(file["group/u"][...], arrays["group/u"])
            else:
                assert file["t2m"].chunking() == [4, 3, 10]


def test_unsupported_arrays_are_errors(tmp_path):
    path = tmp_path / "a.h5"
    for arrays, message in (
        ({"a": ((3,), "f4"), "a/b": ((3,), "f4")}, "another one would be in a group of that name"),
        ({"/a": ((3,), "f4")}, '"" is no part of the name'),
        ({"a/../b": ((3,), "f4")}, '".." is no part of the name'),
        ({"a": ((3,), "U4")}, "HDF5 has no elements of dtype <U4"),
        ({"a": ((3,), "f4", "F")}, "order=F was given"),
        ({"a": ((2**60, 8), "f4")}, "more than 2^63 - 1 bytes"),
    ):
        with pytest.raises(plait.ArgumentError) as raised:
            plait.open(path, "w", arrays=arrays)
        assert message in str(raised.value)
        assert not list(tmp_path.iterdir())


def test_an_unfinished_file_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.h5"
    path.write_bytes(b"old")

    def fail() -> None:
        with plait.open(path, "w", shape=(4,), dtype="f4") as file:
            file.write(np.zeros(4, "f4"))
            assert path.read_bytes() == b"old"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["a.h5"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("target", ["b.npz", "b.safetensors", "b.hdf5"])
def test_copies_to_other_formats_and_back_are_equal(tmp_path, target):
    arrays = {"a": make_array("<f4", (30, 20)), "g/b": make_array("<i8", (7,)), "g/c": make_array("<i2", (5, 6, 7))}
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array, chunks=tuple(min(4, n) for n in array.shape), compression="gzip")
    plait.copy(tmp_path / "a.h5", tmp_path / target, memory="16K")
    plait.copy(tmp_path / target, tmp_path / "c.h5", memory="16K")
    actual = read_datasets(tmp_path / "c.h5")
    assert actual.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(actual[name], array)


CODECS = ["none", "gzip:1", "shuffle,gzip:6", "shuffle", "zlib:9", "zstd:3", "shuffle,zstd"]
FILTERS = {"none": "", "gzip:1": ", deflate 1", "shuffle,gzip:6": ", shuffle, deflate 6", "shuffle": ", shuffle"}


@pytest.mark.sampled(10)
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("shape", [(13,), (50, 37), (13, 7, 10), (3, 70, 90, 2)])
def test_chunks_are_written(tmp_path, codec, shape):
    """Write more chunks than a node of the index holds, which do not divide the shape; h5py and Plait read them."""
    array = make_array("<i4", shape)
    chunks = {1: (4,), 2: (4, 3), 3: (4, 3, 10), 4: (2, 5, 3, 1)}[len(shape)]
    with plait.open(f"{tmp_path}/a.h5::g/x", "w", shape=shape, dtype="i4", chunks=chunks, codec=codec) as file:
        assert file.chunks == chunks
        file.write(array)
    (info,) = plait.arrays_in(tmp_path / "a.h5")
    assert (info.name, info.chunks) == ("g/x", chunks)
    if codec in FILTERS:
        assert info.storage == f"chunks {'x'.join(map(str, chunks))}{FILTERS[codec]}"
    np.testing.assert_array_equal(plait.open(tmp_path / "a.h5").read(), array)
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["g/x"].chunks == chunks
        if "zstd" not in codec:
            np.testing.assert_array_equal(file["g/x"][...], array)
    with h5py.File(tmp_path / "a.h5", "r+") as file:  # the library of h5py accepts the file
        file["more"] = array
    np.testing.assert_array_equal(plait.open(f"{tmp_path}/a.h5::/g/x").read(), array)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("codec", ["none", "gzip:1"])
def test_many_chunks_are_written(tmp_path, codec):
    array = make_array("u1", (300, 200))  # 150 x 67 chunks, whose index has several levels
    with plait.open(tmp_path / "a.h5", "w", shape=array.shape, dtype="u1", chunks=(2, 3), codec=codec) as file:
        file.write(array)
    with h5py.File(tmp_path / "a.h5") as file:
        assert file["data"].id.get_num_chunks() == 150 * 67
        np.testing.assert_array_equal(file["data"][...], array)


@pytest.mark.parametrize("codec", ["none", "gzip:1", "shuffle,gzip"])
@pytest.mark.parametrize("memory", [0, "8K"])
def test_chunks_written_in_parts(tmp_path, codec, memory):
    """Write regions that end within chunks, chunks that are larger than the memory, and the parts of four ranks."""
    shape, chunks = (60, 50), (25, 40)
    expected = np.zeros(shape, "f8")
    layout = plait.Layout((60, 20), "(cyclic, block)", grid=(2, 2))
    options = {"shape": shape, "dtype": "f8", "chunks": chunks, "codec": codec, "memory": memory}
    with plait.open(tmp_path / "a.h5", "w", **options) as file:
        for value, region in enumerate((np.s_[3:30, 5:45], np.s_[:, 30:], np.s_[::7, ::3], np.s_[59:, :]), 1):
            part = np.full(expected[region].shape, value, "f8")
            file.write(part, region=region)
            expected[region] = part
        parts = [np.full(layout.local_shape(rank), 10 + rank, "f8") for rank in range(4)]
        file.write(parts, layout, region=np.s_[:, 11:31])
    for rank in range(4):
        expected[:, 11:31][np.ix_(*layout.indices(rank))] = 10 + rank
    np.testing.assert_array_equal(plait.open(tmp_path / "a.h5").read(), expected)
    np.testing.assert_array_equal(read_datasets(tmp_path / "a.h5")["data"], expected)


def test_unwritten_chunks_are_zero(tmp_path):
    with plait.open(tmp_path / "a.h5", "w", shape=(40, 30), dtype="f4", chunks=(7, 9), codec="gzip") as file:
        file.write(np.ones((1, 1), "f4"), region=np.s_[20:21, 20:21])
    with plait.open(tmp_path / "b.h5", "w", shape=(40, 30), dtype="f4", chunks=(7, 9), codec="gzip"):
        pass
    expected = np.zeros((40, 30), "f4")
    np.testing.assert_array_equal(read_datasets(tmp_path / "b.h5")["data"], expected)
    assert plait.arrays_in(tmp_path / "b.h5")[0].whole_chunks  # a copy uses this when it plans its windows
    expected[20, 20] = 1
    np.testing.assert_array_equal(read_datasets(tmp_path / "a.h5")["data"], expected)
    for shape in ((), (0, 3)):
        with plait.open(tmp_path / "c.h5", "w", shape=shape, dtype="f4", codec="gzip") as file:
            file.write(np.ones(shape, "f4"))
        np.testing.assert_array_equal(read_datasets(tmp_path / "c.h5")["data"], np.ones(shape, "f4"))


def test_default_chunks_hold_a_mebibyte(tmp_path):
    array = make_array("<f8", (500, 1000))
    with plait.open(tmp_path / "a.h5", "w", shape=array.shape, dtype="f8", codec="shuffle,gzip:1") as file:
        assert file.chunks == (125, 1000)
        file.write(array)
    assert (tmp_path / "a.h5").stat().st_size < array.nbytes / 4
    np.testing.assert_array_equal(read_datasets(tmp_path / "a.h5")["data"], array)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"codec": "lz5"}, 'codec "lz5" is not known'),
        ({"codec": "zstd:-3"}, "the levels of zstd from 1 on"),
        ({"chunks": (3,)}, "do not fit an array"),
        ({"chunks": (0, 3)}, "do not fit an array"),
        ({"chunks": (4, 4), "shards": (8, 8)}, "which Plait writes to .zarr only"),
        ({"fill_value": [1]}, "is neither a number, a text nor bytes"),
        ({"chunks": (4, 4), "dimension_names": ("x",)}, "1 names were given for 2 dimensions"),
    ],
)
def test_invalid_chunks_are_errors(tmp_path, options, message):
    with pytest.raises(plait.ArgumentError) as raised:
        plait.open(tmp_path / "a.h5", "w", shape=(9, 9), dtype="f4", **options)
    assert message in str(raised.value)
    assert not list(tmp_path.iterdir())


def test_copies_get_other_chunks(tmp_path):
    array = make_array("<f4", (70, 60))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("x", data=array, chunks=(70, 1), compression="gzip")
    plait.copy(tmp_path / "a.h5", tmp_path / "b.h5", chunks=(1, 60), codec="shuffle,gzip:2", memory="16K")
    with h5py.File(tmp_path / "b.h5") as file:
        (name,) = file
        assert file[name].chunks == (1, 60)
        assert (file[name].compression, file[name].compression_opts, file[name].shuffle) == ("gzip", 2, True)
        np.testing.assert_array_equal(file[name][...], array)
    plait.copy(tmp_path / "b.h5", tmp_path / "c.zarr", chunks=(8, 8), codec="zstd")
    plait.copy(tmp_path / "c.zarr", tmp_path / "d.h5", codec="gzip")
    np.testing.assert_array_equal(plait.open(tmp_path / "d.h5").read(), array)
