"""`plait info`: the dimensions that groups define."""

import json

import numpy as np
import pytest
from launching import run

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
    at = lines.index("dimensions of group /")
    assert lines[at + 1 : at + 5] == [
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
