"""Classic netCDF and .npy files that grow in mode "a", and what other programs see meanwhile and after kills."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import plait

netcdf4 = pytest.importorskip("netCDF4")

KINDS = ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]


def write_variables(path, kind, variables=("a", "b"), records=3):
    with netcdf4.Dataset(path, "w", format=kind) as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createVariable("fixed", "i4", ("x",))[:] = [1, 2, 3]
        for name in variables:
            dtype = {"a": "i2", "b": "f8"}[name]
            fill = {"fill_value": -7} if name == "b" else {}
            file.createVariable(name, dtype, ("time", "x"), **fill)[:] = np.arange(3 * records).reshape(-1, 3)


def read_by_netcdf(path, name):
    with netcdf4.Dataset(path) as file:
        file.set_auto_mask(False)
        assert list(file["fixed"][:]) == [1, 2, 3]
        return file[name][:]


@pytest.mark.parametrize("variables", ["a", "ab"])
@pytest.mark.parametrize("kind", KINDS)
def test_records_are_appended(tmp_path, kind, variables):
    path = tmp_path / "a.nc"
    write_variables(path, kind, variables)
    expected = np.arange(9).reshape(3, 3)
    for number, count in enumerate((1, 0, 4)):
        added = np.full((count, 3), number + 20)
        with plait.open(f"{path}::a", "a") as file:
            file.append(added.astype(">i2"))
            expected = np.concatenate((expected, added))
            np.testing.assert_array_equal(file.read(), expected)
        np.testing.assert_array_equal(read_by_netcdf(path, "a"), expected)
        with plait.open(f"{path}::a") as file:
            np.testing.assert_array_equal(file.read(), expected)
    if "b" in variables:
        np.testing.assert_array_equal(read_by_netcdf(path, "b")[3:], -7)
    with netcdf4.Dataset(path, "a") as file:  # netCDF's library can change the file further
        file["a"][8] = [1, 2, 3]
    assert len(read_by_netcdf(path, "a")) == 9


@pytest.mark.parametrize("kind", KINDS)
def test_several_variables_are_appended_together(tmp_path, kind):
    path = tmp_path / "a.nc"
    write_variables(path, kind)
    with plait.open(f"{path}::a", "a") as a, plait.open(f"{path}::b", "a") as b:
        with pytest.raises(plait.StoreError, match="being extended"):
            plait.open(f"{path}::a", "a")
        a.append(np.full((2, 3), 5, ">i2"))
        b.append(np.full((2, 3), 6, ">f8"))
        assert len(read_by_netcdf(path, "a")) == 3
    np.testing.assert_array_equal(read_by_netcdf(path, "a")[3:], 5)
    np.testing.assert_array_equal(read_by_netcdf(path, "b")[3:], 6)
    np.testing.assert_array_equal(read_by_netcdf(path, "b")[:3], np.arange(9).reshape(3, 3))


def test_unwritten_records_have_fill_values(tmp_path):
    path = tmp_path / "a.nc"
    write_variables(path, KINDS[0])
    with plait.open(f"{path}::a", "a") as file:
        file.resize((5, 3))
        np.testing.assert_array_equal(file.read()[3:], -32767)
        with pytest.raises(plait.ArgumentError, match="are not removed"):
            file.resize((2, 3))
        with pytest.raises(plait.ArgumentError, match="only the first dimension is unlimited"):
            file.append(np.zeros((5, 1), ">i2"), axis=1)
    np.testing.assert_array_equal(read_by_netcdf(path, "a")[3:], -32767)
    np.testing.assert_array_equal(read_by_netcdf(path, "b")[3:], -7)
    with pytest.raises(plait.ArgumentError, match="cannot grow: its first dimension is not the unlimited one"):
        plait.open(f"{path}::fixed", "a")


@pytest.mark.parametrize("name", ["a.nc::a", "a.npy"])
def test_a_killed_append_leaves_the_old_length(tmp_path, name):
    write_variables(tmp_path / "a.nc", KINDS[0])
    np.save(tmp_path / "a.npy", np.arange(9, dtype=">i2").reshape(3, 3))
    program = (
        "import numpy as np, os, plait, signal\n"
        f"file = plait.open('{name}', 'a')\n"
        "file.append(np.full((6, 3), 99, '>i2'))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    read_array = {"a.npy": lambda: np.load(tmp_path / "a.npy")}.get(
        name, lambda: read_by_netcdf(tmp_path / "a.nc", "a")
    )
    for _ in range(2):
        result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False)
        assert result.returncode == -signal.SIGKILL
        np.testing.assert_array_equal(read_array(), np.arange(9).reshape(3, 3))
    with plait.open(tmp_path / name, "a") as file:
        file.resize((5, 3))
        assert not (file.read()[3:] == 99).any()
        file.append(np.ones((1, 3), ">i2"))
    assert not (read_array() == 99).any()
    assert read_array()[5].tolist() == [1, 1, 1]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "U3", [("a", "i4"), ("b", "f4", 2)]])
def test_rows_are_appended_to_npy(tmp_path, order, dtype):
    expected = np.asarray(np.zeros((3, 4), dtype), order=order)
    np.save(tmp_path / "a.npy", expected)
    axis = 0 if order == "C" else 1
    for count in (1, 0, 7):
        added = np.ones((count, 4) if order == "C" else (3, count), dtype)
        with plait.open(tmp_path / "a.npy", "a") as file:
            file.append(added, axis=axis)
            expected = np.concatenate((expected, added), axis)
            np.testing.assert_array_equal(file.read(), expected)
            with pytest.raises(plait.StoreError, match="is being extended"):
                plait.open(tmp_path / "a.npy", "a")
        np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), expected)
    with plait.open(tmp_path / "a.npy", "a") as file:
        shape = [*expected.shape]
        shape[axis] = 2
        file.resize(shape)
        with pytest.raises(plait.ArgumentError, match=f"grows along dimension {axis} only"):
            file.append(np.ones((2, 1) if order == "C" else (1, 2), dtype), axis=1 - axis)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), np.take(expected, [0, 1], axis))
    assert os.path.getsize(tmp_path / "a.npy") == 128 + 2 * expected.nbytes // expected.shape[axis]


def test_a_header_without_space_is_an_error(tmp_path):
    with open(tmp_path / "a.npy", "wb") as file:
        text = b"{'descr':'|u1','fortran_order':False,'shape':(9,)}\n"
        file.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(9))
    is_rejected = pytest.raises(plait.ArgumentError, match=r"its header has .* bytes, and would need")
    with plait.open(tmp_path / "a.npy", "a") as file, is_rejected:
        file.append(np.zeros(10**6, "u1"))
    assert np.load(tmp_path / "a.npy").shape == (9,)
    np.save(tmp_path / "b.npy", np.float64(1))
    with pytest.raises(plait.ArgumentError, match="it has no dimensions"):
        plait.open(tmp_path / "b.npy", "a")


def abandon_append(path):
    with plait.open(f"{path}::a", "a") as file:
        file.append(np.full((4, 3), 99, ">i2"))
        raise RuntimeError("abandoned")


def test_an_abandoned_append_leaves_fill_values(tmp_path):
    path = tmp_path / "a.nc"
    write_variables(path, KINDS[0])
    with plait.open(f"{path}::b", "a") as b:
        with pytest.raises(RuntimeError, match="abandoned"):
            abandon_append(path)
        b.append(np.full((4, 3), 6, ">f8"))
    np.testing.assert_array_equal(read_by_netcdf(path, "a")[3:], -32767)
    np.testing.assert_array_equal(read_by_netcdf(path, "b")[3:], 6)


def test_a_missing_number_of_records_is_written_first(tmp_path):
    path = tmp_path / "a.nc"
    write_variables(path, KINDS[0])
    with open(path, "r+b") as file:
        file.seek(4)
        file.write(b"\xff" * 4)
    with plait.open(f"{path}::a", "a") as file:
        assert file.shape == (3, 3)
        file.append(np.full((2, 3), 5, ">i2"))
        assert len(read_by_netcdf(path, "a")) == 3
    np.testing.assert_array_equal(read_by_netcdf(path, "a")[3:], 5)


def test_a_truncated_file_cannot_grow(tmp_path):
    path = tmp_path / "a.nc"
    write_variables(path, KINDS[0], "a")
    os.truncate(path, os.path.getsize(path) - 8)
    before = path.read_bytes()
    with pytest.raises(plait.StoreError, match="truncated"):
        plait.open(f"{path}::a", "a")
    assert path.read_bytes() == before


def test_new_records_of_characters_have_their_fill_value(tmp_path):
    path = tmp_path / "a.nc"
    write_variables(path, KINDS[0])
    with netcdf4.Dataset(path, "a") as file:
        file.createVariable("c", "S1", ("time", "x"), fill_value=b"x")[:] = np.full((3, 3), b"y")
    with plait.open(f"{path}::a", "a") as file:
        file.append(np.ones((2, 3), ">i2"))
    assert read_by_netcdf(path, "c").tolist() == [[b"y"] * 3] * 3 + [[b"x"] * 3] * 2


def test_a_npy_file_of_two_arrays_cannot_grow(tmp_path):
    with open(tmp_path / "a.npy", "wb") as file:
        np.save(file, np.arange(3))
        np.save(file, np.arange(4))
    before = (tmp_path / "a.npy").read_bytes()
    with pytest.raises(plait.ArgumentError, match="another array follows at byte 152"):
        plait.open(tmp_path / "a.npy", "a")
    assert (tmp_path / "a.npy").read_bytes() == before
