"""Unsupported arrays do not affect copies of other arrays; copies of whole files list all unsupported arrays first."""

import json
from pathlib import Path

import numpy as np
import pytest
from launching import needs_mpi, run

import plait

h5py = pytest.importorskip("h5py", reason="h5py is not installed")


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Create a file with arrays that all formats, some formats or only HDF5 can hold."""
    monkeypatch.chdir(tmp_path)
    with h5py.File("a.h5", "w") as file:
        file["a"] = np.arange(5.0)
        file["g/half"] = np.arange(3, dtype="f2")
        file["opaque"] = np.zeros(3, "V4")
        file.create_dataset("records", (2,), [("x", "i4"), ("to", h5py.ref_dtype)])
        file.create_dataset("sequences", (2,), h5py.vlen_dtype("i4"))
    return "a.h5"


def list_arrays(url):
    return sorted(info.name for info in plait.arrays_in(url))


@pytest.mark.parametrize("target", ["b.zarr", "b.nc", "b.h5", "b.npy", "b.npz", "b.safetensors"])
def test_a_named_array_does_not_depend_on_others(source, target):
    assert plait.copy(source, target, variable="a").skipped == ()
    np.testing.assert_array_equal(plait.open(target).read(), np.arange(5.0))
    result = run("copy", source, f"two-{target}", "--variable", "a")
    assert result.exit_code == 0, result.output
    if target != "b.h5":
        with pytest.raises(plait.ArgumentError, match=r"a.h5::records: its elements are records"):
            plait.copy(source, target, variable="records")
    with pytest.raises(plait.ArgumentError, match="has no array 'b'"):
        plait.copy(source, target, variable="b")


IMPOSSIBLE = {
    "b.zarr": ["records", "sequences"],
    "b.nc": ["records", "sequences", "g/half", "opaque"],
    "b.npz": ["records", "sequences"],
    "b.safetensors": ["records", "sequences", "opaque"],
}


@pytest.mark.parametrize("target", IMPOSSIBLE)
@pytest.mark.parametrize("ranks", ["1", pytest.param("2", marks=needs_mpi)])
def test_copies_of_whole_files_list_unsupported_arrays_first(source, target, ranks):
    missing = IMPOSSIBLE[target]
    numbered_names = "".join(rf".*\({number}\) {name}: " for number, name in enumerate(missing, 1))
    pattern = (
        rf"{len(missing)} of 5 arrays of a.h5 cannot be copied to {target}:{numbered_names}.*skip_unsupported=True"
    )
    for options in ({}, {"dry_run": True}):
        with pytest.raises(plait.ArgumentError, match=pattern):
            plait.copy(source, target, **options)
    failed = run("copy", source, target, "--ranks", ranks)
    assert failed.exit_code != 0
    assert all(f"{name}: " in failed.stderr for name in missing)
    assert [path.name for path in Path().iterdir()] == ["a.h5"]
    result = run("copy", source, target, "--skip-unsupported", "--json", "--ranks", ranks)
    assert result.exit_code == 0, result.output
    assert [array["name"] for array in json.loads(result.stdout)["skipped"]] == missing
    assert "warning: arrays are not copied" in result.stderr
    assert list_arrays(target) == sorted({"a", "g/half", "opaque", "records", "sequences"} - set(missing))
    np.testing.assert_array_equal(plait.open(f"{target}::a").read(), np.arange(5.0))


def test_skipped_arrays_are_in_the_result(source):
    with pytest.warns(UserWarning, match=r"arrays are not copied:\n  records: its elements are records"):
        summary = plait.copy(source, "b.zarr", skip_unsupported=True)
    assert [array.name for array in summary.skipped] == ["records", "sequences"]
    assert all(array.reason for array in summary.skipped)
    result = run("copy", source, "c.npz", "--skip-unsupported")
    assert ", 2 arrays left out" in result.stdout
    with pytest.raises(plait.ArgumentError, match="'yes' is not a truth value"):
        plait.copy(source, "d.h5", skip_unsupported="yes")


def test_arrays_that_cannot_be_cast_count_as_unsupported(source):
    pattern = r"3 of 5 arrays .* \(3\) opaque: opaque has elements of \|V4"
    with pytest.raises(plait.ArgumentError, match=pattern):
        plait.copy(source, "b.nc", target_dtype="f4", cast="same_kind")
    with pytest.warns(UserWarning, match="opaque: opaque has elements of"):
        plait.copy(source, "b.nc", target_dtype="f4", cast="same_kind", skip_unsupported=True)
    assert list_arrays("b.nc") == ["a", "g/half"]


def test_files_without_supported_arrays_are_errors(source):
    with h5py.File("c.h5", "w") as file:
        file.create_dataset("records", (2,), [("x", "i4"), ("to", h5py.ref_dtype)])
        file["nothing"] = h5py.Empty("f4")
    for skip in (False, True):
        with pytest.raises(plait.ArgumentError, match="records"):
            plait.copy("c.h5", "d.nc", skip_unsupported=skip)
    with h5py.File("e.h5", "w") as file:
        file["nothing"] = h5py.Empty("f4")
    with pytest.raises(plait.ArgumentError, match="without elements"):
        plait.copy("e.h5", "d.nc")
    assert not Path("d.nc").exists()


@pytest.mark.parametrize("target", ["b.zarr", "b.nc", "b.npz"])
def test_null_dataspaces_are_skipped(source, target):
    with h5py.File("c.h5", "w") as file:
        file["a"] = np.arange(3.0)
        file["b"] = np.arange(4.0)
        file["nothing"] = h5py.Empty("f4")
    with pytest.warns(UserWarning, match=r"nothing: it has no shape \(a null dataspace\)"):
        result = plait.copy("c.h5", target)
    assert [array.name for array in result.skipped] == ["nothing"]
    assert list_arrays(target) == ["a", "b"]
    with pytest.raises(plait.ArgumentError, match="null dataspace"):
        plait.copy("c.h5", "d.zarr", variable="nothing")
