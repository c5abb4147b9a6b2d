"""Records in new netCDF-4 files, read by netCDF's library and h5py."""

import subprocess
import sys

import numpy as np
import pytest
from records import assert_same, random_records

import plait

h5py = pytest.importorskip("h5py", reason="h5py is not installed")
pytest.importorskip("netCDF4", reason="netCDF4 is not installed")

POINT = np.dtype([("x", "<f8"), ("y", ">f4")])
STATION = np.dtype(
    {
        "names": ["id", "at", "name", "good", "values", "phase"],
        "formats": ["<i8", POINT, "S5", "?", ("<i2", (2, 3)), "<c16"],
        "offsets": [0, 8, 24, 30, 32, 48],
        "itemsize": 72,
    }
)

# The HDF5 libraries of netCDF4 and h5py may conflict in one process.
PRINT_RECORDS = """
import sys, netCDF4, numpy as np
with netCDF4.Dataset(sys.argv[1]) as file:
    file.set_auto_maskandscale(False)
    print(sorted(file.cmptypes), file.variables["s"].dimensions)
    for name in ("s", "g/copy"):
        array = file[name][...]
        print([array[field].tolist() for field in ("id", "values", "good")], array["at"]["y"].tolist())
        print(["".join(part.decode() for part in text) for text in array["name"].ravel().reshape(-1, 5)]
              if array["name"].dtype == "S1" else [text.decode() for text in array["name"]])
        print(array["phase"]["r"].tolist())
"""


@pytest.mark.parametrize("codec", [None, "zlib:1"])
def test_netcdf_reads_records(tmp_path, codec):
    path, array = tmp_path / "a.nc", random_records(STATION, (4,))
    description = {"shape": (4,), "dtype": STATION, "dimension_names": ("station",), "codec": codec}
    with plait.open(path, "w", arrays={"s": description, "g/copy": description}) as file:
        file.write(array, variable="s")
        file.write(array[::-1], variable="g/copy")
    result = subprocess.run([sys.executable, "-c", PRINT_RECORDS, path], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "['record_1', 'record_2', 'record_3'] ('station',)"
    for begin, expected in ((1, array), (4, array[::-1])):
        fields = [expected["id"].tolist(), expected["values"].tolist(), expected["good"].astype("i1").tolist()]
        assert lines[begin] == f"{fields} {expected['at']['y'].tolist()}"
        assert lines[begin + 1] == str([text.decode() for text in expected["name"]])
        assert lines[begin + 2] == str(expected["phase"].real.tolist())


def test_plait_reads_records_as_netcdf_represents_them(tmp_path):
    array = random_records(STATION, (4,))
    with plait.open(tmp_path / "a.nc::s", "w", shape=(4,), dtype=STATION) as file:
        file.write(array)
    actual = plait.open(tmp_path / "a.nc::s").read()
    assert actual.dtype.itemsize == STATION.itemsize
    for name in ("id", "at", "values", "phase"):
        assert_same(actual[name], array[name])
    np.testing.assert_array_equal(actual["good"], array["good"].view("i1"))
    assert_same(actual["name"].copy().view("S5")[:, 0], array["name"])
    with h5py.File(tmp_path / "a.nc") as file:
        assert_same(file["s"][...], actual)
    plait.copy(tmp_path / "a.nc", tmp_path / "b.nc", verify=True)
    assert_same(plait.open(tmp_path / "b.nc::s").read(), actual)


def test_type_names_do_not_collide_with_arrays(tmp_path):
    arrays = {"record_1": {"shape": (2,), "dtype": POINT, "dimension_names": ("record_2",)}}
    with plait.open(tmp_path / "a.nc", "w", arrays=arrays) as file:
        file.write(random_records(POINT, (2,)), variable="record_1")
    with h5py.File(tmp_path / "a.nc") as file:
        assert sorted(file) == ["record_1", "record_2", "record_3"]
