"""New `.nc` files reject element types that netCDF does not support, before anything is written."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from launching import run

import plait

pytest.importorskip("h5py")

UNSUPPORTED_TYPES = ["<f2", ">f2", "<f16", "<c32", "V5"]
SUPPORTED_TYPES = ["?", "i1", ">u8", "f4", ">f8", "c8", "c16", "S3"]


@pytest.mark.parametrize("dtype", UNSUPPORTED_TYPES)
@pytest.mark.parametrize("name", ["a.nc", "a.nc4"])
def test_types_that_netcdf_lacks_are_errors(tmp_path, monkeypatch, dtype, name):
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.zeros(3, dtype))
    with pytest.raises(plait.ArgumentError, match=r"netCDF has no elements of dtype .*\.h5"):
        plait.open(name, "w", shape=(3,), dtype=dtype)
    for options in ((), ("--dry-run",)):
        result = run("copy", "a.npy", f"{name}::/a", *options)
        assert result.exit_code != 0
        assert "netCDF has no elements of dtype" in result.stderr
        assert "Traceback" not in result.stderr
    assert [path.name for path in Path().iterdir()] == ["a.npy"]
    plait.copy("a.npy", "a.h5")
    if dtype != "V5":
        assert "--target-dtype" in result.stderr
        target_dtype = "c16" if "c" in dtype else "f4"
        plait.copy("a.npy", name, target_dtype=target_dtype, cast="same_kind")
        assert plait.arrays_in(name)[0].dtype == np.dtype(target_dtype)


def test_bfloat16_is_an_error(tmp_path):
    types = pytest.importorskip("ml_dtypes")
    with pytest.raises(plait.ArgumentError, match="nor for bfloat16"):
        plait.open(tmp_path / "a.nc", "w", shape=(3,), dtype=types.bfloat16)


@pytest.mark.parametrize("dtype", SUPPORTED_TYPES)
def test_netcdf_reads_all_other_types(tmp_path, dtype):
    pytest.importorskip("netCDF4")
    array = np.array([b"ab", b"c", b""], "S3") if dtype == "S3" else np.arange(3).astype(dtype)
    np.save(tmp_path / "a.npy", array)
    plait.copy(tmp_path / "a.npy", tmp_path / "a.nc")
    program = "import netCDF4, sys; print(netCDF4.Dataset(sys.argv[1]).variables['data'][:].tolist())"
    result = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "a.nc")], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert len(result.stdout.split(",")) >= 3
