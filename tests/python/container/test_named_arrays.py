"""Files that hold several arrays: their names, copies of all of them, and the output of `plait info`."""

import json
import subprocess
import sys

import numpy as np
import pytest

import plait

ARRAYS = {
    "a/b": np.arange(12, dtype="f4").reshape(3, 4),
    "turned": np.asfortranarray(np.arange(24, dtype="i2").reshape(2, 3, 4)),
    "scalar": np.array(5, "u8"),
    "empty": np.empty((3, 0), "f8"),
}


def run_info(*arguments: object) -> str:
    result = subprocess.run(
        [sys.executable, "-m", "plait.cli", "info", *map(str, arguments)], capture_output=True, text=True, check=True
    )
    return result.stdout


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("memory", ["256M", "largest array"])
def test_all_arrays_are_copied(tmp_path, save, memory):
    save(tmp_path / "a.npz", **ARRAYS)
    limit = max(array.nbytes for array in ARRAYS.values()) if memory == "largest array" else memory
    result = plait.copy(tmp_path / "a.npz", tmp_path / "b.safetensors", memory=limit)
    assert result.bytes == sum(array.nbytes for array in ARRAYS.values())
    plait.copy(tmp_path / "b.safetensors", tmp_path / "c.npz", memory=limit)
    with np.load(tmp_path / "c.npz") as archive:
        assert sorted(archive.files) == sorted(ARRAYS)
        for name, array in ARRAYS.items():
            assert archive[name].dtype == array.dtype
            np.testing.assert_array_equal(archive[name], array)


def test_selected_arrays_are_copied(tmp_path):
    np.savez(tmp_path / "a.npz", **ARRAYS)
    plait.copy(tmp_path / "a.npz", tmp_path / "b.npz", variable=["scalar", "turned"])
    with np.load(tmp_path / "b.npz") as archive:
        assert archive.files == ["scalar", "turned"]
        assert archive["turned"].flags.f_contiguous
    plait.copy(f"{tmp_path}/a.npz::turned", tmp_path / "turned.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "turned.npy"), ARRAYS["turned"])
    plait.copy(f"{tmp_path}/a.npz::turned", f"{tmp_path}/c.safetensors::other")
    assert [array.name for array in plait.arrays_in(tmp_path / "c.safetensors")] == ["other"]
    plait.copy(tmp_path / "a.npz", f"{tmp_path}/{{variable}}.npy", variable=["scalar", "turned"])
    assert np.load(tmp_path / "scalar.npy") == 5


def test_an_array_without_a_name_gets_the_default_name_of_the_format(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(4))
    plait.copy(tmp_path / "a.npy", tmp_path / "a.npz")
    plait.copy(tmp_path / "a.npy", tmp_path / "a.safetensors")
    assert np.load(tmp_path / "a.npz")["arr_0"].tolist() == [0, 1, 2, 3]
    assert [array.name for array in plait.arrays_in(tmp_path / "a.safetensors")] == ["data"]


def test_impossible_copies_are_errors(tmp_path):
    np.savez(tmp_path / "a.npz", **ARRAYS)
    with pytest.raises(plait.ArgumentError, match="choose one with variable="):
        plait.copy(tmp_path / "a.npz", tmp_path / "a.npy")
    with pytest.raises(plait.ArgumentError, match="has no array 'x'"):
        plait.copy(tmp_path / "a.npz", tmp_path / "b.npz", variable="x")
    for target in ("a.npz", "a.npz::scalar"):
        with pytest.raises(plait.ArgumentError, match="is the source itself"):
            plait.copy(f"{tmp_path}/a.npz::scalar", f"{tmp_path}/{target}")
    with pytest.raises(plait.ArgumentError, match="would replace the file"):
        plait.copy(tmp_path / "a.npz", f"{tmp_path}/b.npz::{{variable}}")
    with pytest.raises(plait.ArgumentError, match="would replace the file"):
        plait.copy([f"{tmp_path}/a.npz::scalar"] * 2, f"{tmp_path}/b.npz::s{{step}}")
    np.savez(tmp_path / "big.npz", a=np.arange(3, dtype=">i4"), b=np.arange(3))
    with pytest.raises(plait.ArgumentError, match="little-endian"):
        plait.copy(tmp_path / "big.npz", tmp_path / "b.safetensors")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "big.npz"]


@pytest.mark.parametrize("name", ["a.npy::x", "a.raw.gz::x"])
def test_array_names_for_formats_of_one_array_are_errors(tmp_path, name):
    with pytest.raises(plait.ArgumentError, match="holds one array, which has no name; leave out ::x"):
        plait.open(tmp_path / name, shape=3, dtype="i4")


def test_names_may_have_colons(tmp_path):
    with plait.open(tmp_path / "a::b.npy", "w", shape=3, dtype="i4") as file:
        file.write(np.arange(3, dtype="i4"))
    assert np.load(tmp_path / "a::b.npy").tolist() == [0, 1, 2]
    with plait.open(f"raw:{tmp_path}/a.npz::b", "w", shape=3, dtype="i4") as file:
        file.write(np.arange(3, dtype="i4"))
    assert (tmp_path / "a.npz::b").stat().st_size == 12
    with plait.open(f"{tmp_path}/b.npz::c::d.npy", "w", shape=3, dtype="i4") as file:
        file.write(np.arange(3, dtype="i4"))
    assert np.load(tmp_path / "b.npz").files == ["c::d.npy"]
    with pytest.raises(plait.ArgumentError, match="ordinary files only"):
        plait.open("stripe:a.npz::x")
    for name in ("a.mat", "a.NPZ", "a"):
        with pytest.raises(FileNotFoundError, match=f"cannot open {tmp_path}/{name}: "):
            plait.open(f"{tmp_path}/{name}::x")
    with pytest.raises(plait.ArgumentError, match="the name of the array is empty"):
        plait.open(f"{tmp_path}/c.npz::", "w", shape=3, dtype="i4")


def test_formats_without_array_names_are_not_listed(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3))
    with pytest.raises(plait.ArgumentError, match="holds one array, which has no name"):
        plait.arrays_in(tmp_path / "a.npy")
    with pytest.raises(FileNotFoundError):
        plait.arrays_in(tmp_path / "a.npz")


def test_info_lists_arrays(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", ramp=np.zeros((30, 40)), b=ARRAYS["turned"])
    listing = run_info(tmp_path / "a.npz")
    assert "holds      2 arrays" in listing
    ramp, turned = listing.splitlines()[-2:]
    assert ramp.split()[:4] == ["ramp", "30x40", "<f8", "C"]
    assert "deflated, " in ramp
    assert turned.split()[:4] == ["b", "2x3x4", "<i2", "F"]
    document = json.loads(run_info(tmp_path / "a.npz", "--json"))
    assert (document["kind"], document["size"]) == ("a .npz file", (tmp_path / "a.npz").stat().st_size)
    assert document["arrays"][0] == {
        "name": "ramp",
        "shape": [30, 40],
        "dtype": "<f8",
        "order": "C",
        "element": "<f8",
        "bytes": 9600,
        "offset": 128,
        "stored": document["arrays"][0]["stored"],
        "storage": "deflated",
        "chunks": None,
        "dimension_names": [],
        "unlimited": [],
        "fill_value": None,
        "attributes": {},
        "unreadable_attributes": {},
        "error": None,
        "empty": False,
        "copied_by_library": None,
    }
    only_ramp = json.loads(run_info(f"{tmp_path}/a.npz::ramp", "--json"))
    assert (only_ramp["shape"], only_ramp["dtype"]) == ([30, 40], "<f8")


def test_steps_are_copied_to_archives_and_back(tmp_path):
    np.save(tmp_path / "0.npy", np.arange(3))
    np.save(tmp_path / "1.npy", np.arange(3) + 1)
    plait.copy([tmp_path / "0.npy", tmp_path / "1.npy"], f"{tmp_path}/{{step}}.npz")
    assert np.load(tmp_path / "1.npz")["arr_0"].tolist() == [1, 2, 3]
    plait.copy([tmp_path / "0.npz", tmp_path / "1.npz"], f"{tmp_path}/again-{{step}}.npy")
    assert np.load(tmp_path / "again-1.npy").tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["pipe:x", "memory:x", "b.npz::x", "../x"])
def test_array_names_cannot_leave_the_target(tmp_path, name):
    with plait.open(tmp_path / "a.safetensors", "w", arrays={name: (3, "f8")}) as file:
        file.write(np.zeros(3), variable=name)
    with pytest.raises(plait.ArgumentError, match="has a name that cannot be the name of a file"):
        plait.copy(tmp_path / "a.safetensors", f"{tmp_path}/{{variable}}", variable=name)
    assert [path.name for path in tmp_path.iterdir()] == ["a.safetensors"]


def test_a_source_that_is_replaced_during_a_copy_is_an_error(tmp_path):
    np.savez(tmp_path / "a.npz", a=np.zeros(1000), b=np.zeros(1000))
    np.savez(tmp_path / "new.npz", a=np.ones(1000), b=np.ones(1000))

    def replace(*_):
        if (tmp_path / "new.npz").exists():
            (tmp_path / "new.npz").rename(tmp_path / "a.npz")

    with pytest.raises(plait.StoreError, match="has been changed or replaced during the copy"):
        plait.copy(tmp_path / "a.npz", tmp_path / "b.npz", progress=replace)
    assert not (tmp_path / "b.npz").exists()


def test_info_shows_no_control_characters(tmp_path):
    header = json.dumps({"a": {"dtype": "\x1b]0;x\x1b[31m", "shape": [1], "data_offsets": [0, 4]}}).encode()
    path = tmp_path / "a.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    assert "\x1b" not in run_info(path)
