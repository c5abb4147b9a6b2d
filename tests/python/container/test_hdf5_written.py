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


def array_of(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    numbers = np.random.default_rng(3).integers(0, 90, size, dtype="u1")
    if dtype[1] in "SV":
        return np.frombuffer(numbers.tobytes(), dtype).reshape(shape)
    kept = np.random.default_rng(3).integers(0, 2 if dtype == "|b1" else 90, shape)
    return kept.astype(dtype)


def found_in(path: Path) -> dict[str, np.ndarray]:
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, one: found.update({name: one[()]} if isinstance(one, h5py.Dataset) else {}))
    return found


@pytest.mark.parametrize("dtype", TYPES)
def test_types(tmp_path, dtype):
    array = array_of(dtype, (5, 7))
    with plait.open(tmp_path / "a.h5", "w", shape=array.shape, dtype=dtype) as file:
        file.write(array)
    with h5py.File(tmp_path / "a.h5") as file:
        assert list(file) == ["data"]
        assert file["data"].dtype == (np.dtype("V2") if dtype == "|V2" else np.dtype(dtype))
        np.testing.assert_array_equal(file["data"][...], array)
    with plait.open(tmp_path / "a.h5") as file:
        assert file.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(file.read(), array)


def test_many_arrays_in_groups(tmp_path):
    shapes = {f"group{n % 7}/inner/array{n:04}": (n % 5, 3, n % 11 + 1) for n in range(300)}
    shapes |= {"scalar": (), "empty": (0,), "Größe/数": (9, 1000)}
    arrays = {name: array_of("<i4", shape) for name, shape in shapes.items()}
    path = tmp_path / "a.h5"
    with plait.open(path, "w", arrays={name: (shape, "i4") for name, shape in shapes.items()}) as file:
        for name in reversed(arrays):
            file.write(arrays[name], variable=name)
    found = found_in(path)
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].shape == array.shape
        np.testing.assert_array_equal(plait.open(f"{path}::/{name}").read(), array)
    assert path.stat().st_size < 1.5 * (sum(array.nbytes for array in arrays.values()) + 300 * 2048)


def test_a_name_with_groups(tmp_path):
    array = array_of("<f8", (30, 40))
    for name in ("/a/b/c", "d"):
        with plait.open(f"{tmp_path}/a.hdf5::{name}", "w", shape=array.shape, dtype="f8") as file:
            file.write(array[::2], region=np.s_[::2])
        found = found_in(tmp_path / "a.hdf5")
        assert list(found) == [name.lstrip("/")]
        np.testing.assert_array_equal(found[name.lstrip("/")][::2], array[::2])
        assert not found[name.lstrip("/")][1::2].any()


def test_elements_begin_at_pages_and_files_have_no_gaps(tmp_path):
    array = array_of("<f4", (1000, 100))
    with plait.open(tmp_path / "a.h5", "w", shape=array.shape, dtype="f4") as file:
        file.write(array)
    (told,) = plait.arrays_in(tmp_path / "a.h5")
    assert told.offset % 4096 == 0
    assert (tmp_path / "a.h5").stat().st_size <= array.nbytes + 8192


def test_what_hdf5s_own_tools_say(tmp_path):
    if shutil.which("h5dump") is None:
        pytest.skip("no h5dump")
    with plait.open(tmp_path / "a.h5", "w", arrays={"g/x": ((2, 3), ">i2"), "y": ((2,), "c8")}) as file:
        file.write(np.arange(6, dtype=">i2").reshape(2, 3), variable="g/x")
        file.write(np.array([1 - 2j, 0.5], "c8"), variable="y")
    said = subprocess.run(["h5dump", tmp_path / "a.h5"], capture_output=True, text=True, check=True, timeout=60).stdout
    words = " ".join(said.split())
    for part in ('GROUP "g"', "H5T_STD_I16BE", "(0,0): 0, 1, 2, (1,0): 3, 4, 5", "H5T_IEEE_F32LE", "DATASPACE"):
        assert part in words


def test_what_cannot_be_written(tmp_path):
    path = tmp_path / "a.h5"
    for arrays, says in (
        ({"a": ((3,), "f4"), "a/b": ((3,), "f4")}, "another one is to lie in a group of that name"),
        ({"/a": ((3,), "f4")}, '"" is no part of the name'),
        ({"a/../b": ((3,), "f4")}, '".." is no part of the name'),
        ({"a": ((3,), "U4")}, "HDF5 has no elements of dtype <U4"),
        ({"a": ((3,), [("x", "f4")])}, "HDF5 has no elements of dtype"),
        ({"a": ((3,), "f4", "F")}, "order=F was given"),
        ({"a": ((2**60, 8), "f4")}, "more than 2^63 - 1 bytes"),
    ):
        with pytest.raises(plait.ArgumentError) as told:
            plait.open(path, "w", arrays=arrays)
        assert says in str(told.value)
        assert not list(tmp_path.iterdir())


def test_a_file_that_is_not_finished_leaves_the_old_one(tmp_path):
    path = tmp_path / "a.h5"
    path.write_bytes(b"old")

    def fail() -> None:
        with plait.open(path, "w", shape=(4,), dtype="f4") as file:
            file.write(np.zeros(4, "f4"))
            assert path.read_bytes() == b"old"
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [one.name for one in tmp_path.iterdir()] == ["a.h5"]
    assert path.read_bytes() == b"old"


@pytest.mark.parametrize("target", ["b.npz", "b.safetensors", "b.hdf5"])
def test_copies_there_and_back(tmp_path, target):
    arrays = {"a": array_of("<f4", (30, 20)), "g/b": array_of("<i8", (7,)), "g/c": array_of("<i2", (5, 6, 7))}
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, array in arrays.items():
            file.create_dataset(name, data=array, chunks=tuple(min(4, n) for n in array.shape), compression="gzip")
    plait.copy(tmp_path / "a.h5", tmp_path / target, memory="16K")
    plait.copy(tmp_path / target, tmp_path / "c.h5", memory="16K")
    found = found_in(tmp_path / "c.h5")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(found[name], array)
