"""Copies into existing Zarr hierarchies: a failed one leaves them unchanged, and a copy reports replaced arrays."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import plait

COPY = [sys.executable, "-m", "plait.cli", "copy"]
ARRAYS = {name: np.random.default_rng(number).random((40, 500)) for number, name in enumerate(["g/a", "g/b", "old"])}


class StopError(Exception):
    pass


def write_arrays(path, arrays):
    described = {name: {"shape": array.shape, "dtype": array.dtype} for name, array in arrays.items()}
    with plait.open(path, "w", arrays=described) as file:
        for name, array in arrays.items():
            file.write(array, variable=name)


@pytest.fixture
def hierarchy(tmp_path, monkeypatch):
    """Write s.h5 with ARRAYS, and t.zarr with other arrays and consolidated metadata; return the path of t.zarr."""
    monkeypatch.chdir(tmp_path)
    write_arrays("s.h5", ARRAYS)
    write_arrays("t.h5", {"old": np.arange(3), "old2": np.arange(4)})
    plait.copy("t.h5", "t.zarr")
    return Path("t.zarr")


def consolidated_names(hierarchy):
    """Return the names in the consolidated metadata, or None without such metadata."""
    consolidated = json.loads((hierarchy / "zarr.json").read_text()).get("consolidated_metadata")
    return consolidated and sorted(consolidated["metadata"])


def list_arrays(hierarchy):
    return sorted(array.name for array in plait.arrays_in(hierarchy))


def copy_elsewhere(*arguments):
    """Copy in another process."""
    subprocess.run([*COPY, *arguments], check=True, capture_output=True)


def test_an_array_that_another_program_writes_meanwhile_is_preserved(hierarchy):
    def take_name(done, total):
        if done == total and not (hierarchy / "b").exists():
            copy_elsewhere("t.h5::old2", "t.zarr::b")

    write_arrays("u.h5", {"a": np.ones(5), "b": np.ones(6)})
    with pytest.raises(FileExistsError, match=r"the new data is in .*/t\.zarr/b\.kept-1"):
        plait.copy("u.h5", "t.zarr", progress=take_name)
    np.testing.assert_array_equal(plait.open("t.zarr::b").read(), np.arange(4))
    np.testing.assert_array_equal(plait.open("t.zarr::b.kept-1").read(), np.ones(6))
    assert not (hierarchy / "a").exists()
    assert consolidated_names(hierarchy) == ["b", "old", "old2"]


def test_an_array_that_another_program_replaces_meanwhile_is_preserved(hierarchy):
    def replace(done, total):
        if done == total and (hierarchy / "a").exists():
            copy_elsewhere("t.h5::old2", "t.zarr::a")
            raise StopError

    write_arrays("u.h5", {"a": np.ones(5), "b": np.ones(6)})
    with pytest.raises(StopError):
        plait.copy("u.h5", "t.zarr", progress=replace)
    np.testing.assert_array_equal(plait.open("t.zarr::a").read(), np.arange(4))
    assert list_arrays(hierarchy) == ["a", "old", "old2"]


def test_a_copy_that_fails_changes_no_groups_and_consolidated_metadata(hierarchy):
    def stop(done, total):
        if (hierarchy / "g" / "b").exists():
            raise StopError

    before = (hierarchy / "zarr.json").read_text()
    with pytest.raises(StopError):
        plait.copy("s.h5", "t.zarr", progress=stop)
    assert sorted(path.name for path in hierarchy.iterdir()) == ["old", "old2", "zarr.json"]
    assert json.loads((hierarchy / "zarr.json").read_text()) == json.loads(before)


def test_errors_name_replaced_arrays(hierarchy):
    write_arrays("u.h5", {"old": np.ones(5), "z": np.ones(6)})

    def take_name(done, total):
        if done == total and not (hierarchy / "z").exists():
            copy_elsewhere("t.h5::old2", "t.zarr::z")

    with pytest.raises(
        FileExistsError, match=r"; array old of t\.zarr had been replaced already and has the new data$"
    ):
        plait.copy("u.h5", "t.zarr", progress=take_name)
    np.testing.assert_array_equal(plait.open("t.zarr::old").read(), np.ones(5))
    assert consolidated_names(hierarchy) == ["old", "old2", "z"]


def test_exceptions_of_progress_have_a_note_about_replaced_arrays(hierarchy):
    write_arrays("u.h5", {"old": np.ones(5), "z": np.ones(6)})

    def stop(done, total):
        if done == total:
            raise StopError("enough")

    with pytest.raises(StopError, match="enough") as raised:
        plait.copy("u.h5", "t.zarr", progress=stop)
    assert raised.value.__notes__ == ["array old of t.zarr had been replaced already and has the new data"]


@pytest.mark.parametrize("deep", [True, False])
def test_unreadable_metadata_of_other_groups_prevents_consolidation_only(hierarchy, deep):
    other = hierarchy / "other"
    other.mkdir()
    if deep:
        nested = '{"a":' * 200_000 + "1" + "}" * 200_000
        metadata = '{"zarr_format": 3, "node_type": "group", "attributes": ' + nested + "}"
        other.joinpath("zarr.json").write_text(metadata)
    else:
        other.joinpath("zarr.json").symlink_to("/proc/self/mem")  # reading it fails with EIO
    plait.copy("s.h5", "t.zarr")
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(plait.open(f"t.zarr::{name}").read(), array)
    assert consolidated_names(hierarchy) is None


@pytest.mark.parametrize("replaces", [False, True])
def test_a_copy_stopped_in_a_long_access_names_replaced_arrays(hierarchy, replaces):
    first = "old" if replaces else "first"
    long = np.random.default_rng(1).integers(0, 1000, (2048, 4096)).astype("i4")
    write_arrays("u.h5", {first: np.ones(5), "v": long})
    before = (hierarchy / "old" / "zarr.json").stat().st_ino
    options = ["--codec", "zstd:22", "--memory", "1G", "--chunks=-1"]
    command = [*COPY, "u.h5", "t.zarr", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as copying:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and (
            (hierarchy / "old" / "zarr.json").stat().st_ino == before
            if replaces
            else not (hierarchy / "first").exists()
        ):
            time.sleep(0.01)
        time.sleep(0.5)
        copying.send_signal(signal.SIGTERM)
        errors = copying.communicate(timeout=100)[1]
    assert copying.returncode == 1
    notice = "array old of t.zarr had been replaced already and has the new data"
    unchanged = "the target is as it was, or the complete new one"
    assert errors == f"Error: the copy was stopped; {notice if replaces else unchanged}\n"
    assert consolidated_names(hierarchy) == list_arrays(hierarchy) == ["old", "old2"]
    np.testing.assert_array_equal(plait.open("t.zarr::old").read(), np.ones(5) if replaces else np.arange(3))
    assert sorted(path.name for path in Path().iterdir()) == ["s.h5", "t.h5", "t.zarr", "u.h5"]


def test_a_copy_stopped_between_windows_names_replaced_arrays(hierarchy):
    write_arrays("u.h5", {"old": np.ones(5), "v": np.random.default_rng(1).random((4000, 500))})
    command = [*COPY, "u.h5", "t.zarr", "--memory", "64K"]
    before = (hierarchy / "old" / "zarr.json").stat().st_ino
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as copying:
        deadline = time.monotonic() + 60
        while (hierarchy / "old" / "zarr.json").stat().st_ino == before and time.monotonic() < deadline:
            time.sleep(0.001)
        copying.send_signal(signal.SIGTERM)
        errors = copying.communicate(timeout=100)[1]
    notice = "array old of t.zarr had been replaced already and has the new data"
    assert errors == f"Error: the copy was stopped; {notice}\n"
    assert list_arrays(hierarchy) == ["old", "old2"]


@pytest.mark.parametrize("target", ["new.zarr", "t.zarr"])
@pytest.mark.parametrize("large", ["b", "g/b", "a/b", "old2"])
def test_errors_name_the_array_and_no_temporary_files(hierarchy, target, large):
    first = "a/a" if large == "a/b" else "a"
    write_arrays("u.h5", {first: np.ones(5), large: ARRAYS["g/a"]})
    # The limit on the size of files, in KiB, is exceeded by the large array alone.
    command = f"ulimit -f 100; exec {sys.executable} -m plait.cli copy u.h5 {target}"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert result.returncode != 0
    assert f" {target}/{large}/c/0" in result.stderr
    assert ".plait-" not in result.stderr


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize(
    ("target", "code", "advice"),
    [
        ("nosuch/x.zarr", FileNotFoundError, r"create the folder /.*/nosuch first"),
        ("s.h5/x.zarr", NotADirectoryError, "give a path in a folder"),
    ],
)
def test_folders_that_cannot_be_created(hierarchy, target, code, advice, resume):
    with pytest.raises(plait.StoreError, match=rf"^cannot (make|open) .*; {advice}$") as raised:
        plait.copy("t.h5", target, resume=resume)
    assert isinstance(raised.value, code)
    assert (".plait-" in str(raised.value)) == resume  # the file that a copy with resume could not open


def test_copies_to_mount_points_fail_before_anything_is_written(hierarchy):
    mount = shutil.which("mount")
    Path("disk").mkdir()
    command = [mount, "-t", "tmpfs", "plait-test", "disk"]
    if not mount or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a file system is not permitted here")
    try:
        for source, target in [("t.h5", "zarr:disk"), ("t.h5::old", "zarr:disk"), ("t.h5::old", "zarr:disk::a")]:
            with pytest.raises(plait.StoreError, match=r"/disk is a mount point, .*/disk/data\.zarr$"):
                plait.copy(source, target, progress=lambda done, total: pytest.fail("something was copied"))
        plait.copy("t.h5", "disk/data.zarr")
        assert list_arrays("disk/data.zarr") == ["old", "old2"]
    finally:
        subprocess.run(["umount", "disk"], check=True)
    with pytest.raises(plait.StoreError, match="zarr:/: / is a mount point"):
        plait.copy("t.h5", "zarr:/")


@pytest.mark.parametrize("linked", [False, True])
def test_a_copy_that_replaces_an_empty_folder_preserves_its_owner_and_mode(hierarchy, linked):
    folder = Path("folders", "empty.zarr")
    folder.mkdir(parents=True)
    folder.chmod(0o2751)
    if linked:
        Path("link.zarr").symlink_to(folder)
    before = folder.stat()
    plait.copy("s.h5", "link.zarr" if linked else folder)
    after = folder.stat()
    assert after.st_ino != before.st_ino
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert Path("link.zarr").is_symlink() == linked
    assert list_arrays(folder) == sorted(ARRAYS)
    assert sorted(path.name for path in Path("folders").iterdir()) == ["empty.zarr"]
