"""`plait info`: dimensions that groups define, and attributes that are records."""

import json

import numpy as np
import pytest
from launching import run

import plait

pytest.importorskip("h5py")  # before netCDF4, which has another HDF5 library


def test_dimensions_of_groups_are_shown(tmp_path):
    netcdf = pytest.importorskip("netCDF4")
    path = tmp_path / "a.nc"
    with netcdf.Dataset(path, "w") as file:
        file.createDimension("time", None)
        file.createDimension("latitude", 1200)
        file.createVariable("t", "f4", ("time",))[0:3] = np.zeros(3)
        group = file.createGroup("g")
        group.createDimension("lon", 4)
        file.createGroup("empty").title = "nothing"
    lines = run("info", str(path)).output.splitlines()
    first = lines.index("dimensions of group /")
    assert lines[first + 1 : first + 5] == [
        "  time      3, unlimited",
        "  latitude  1,200",
        "dimensions of group /g",
        "  lon  4",
    ]
    assert "dimensions of group /empty" not in lines
    groups = json.loads(run("info", str(path), "--json").output)["groups"]
    assert {group["name"]: group["dimensions"] for group in groups} == {
        "": [
            {"name": "time", "length": 3, "unlimited": True},
            {"name": "latitude", "length": 1200, "unlimited": False},
        ],
        "g": [{"name": "lon", "length": 4, "unlimited": False}],
        "empty": [],
    }


def test_arrays_in_records_of_attributes_are_json(tmp_path):
    path = tmp_path / "a.h5"
    dtype = np.dtype([("n", "i4"), ("values", "f8", (2,)), ("inner", [("times", "i2", (2, 2))])])
    record = np.array((1, [1.5, np.nan], ([[1, 2], [3, 4]],)), dtype)
    attributes = {"one": record[()], "two": np.array([record, record])}
    with plait.open(path, "w", shape=2, dtype="f4", attributes=attributes) as file:
        file.write(np.zeros(2, "f4"))
    (array,) = json.loads(run("info", str(path), "--json").output)["arrays"]
    expected = [1, [1.5, "nan"], [[[1, 2], [3, 4]]]]
    assert array["attributes"] == {"one": expected, "two": [expected, expected]}
