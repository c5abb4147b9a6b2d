"""Errors of resumed copies: sources that changed, and a symbolic link with the name of the copy's journal."""

import os

import numpy as np
import pytest

import plait

ARRAY = np.random.default_rng(3).random((60, 80))


class StopError(Exception):
    pass


def stop(done, total):
    """Stop a copy after half of its bytes."""
    if 2 * done > total:
        raise StopError


@pytest.fixture(autouse=True)
def _interrupted_copy(tmp_path, monkeypatch):
    """Create a copy of a.npy to b.npy that was interrupted."""
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", ARRAY)
    with pytest.raises(StopError):
        plait.copy("a.npy", "b.npy", resume=True, memory="8K", progress=stop)


@pytest.mark.parametrize("replaced", [True, False])
def test_a_replaced_source_is_detected_despite_equal_size_and_time(replaced):
    before = os.stat("a.npy")
    if replaced:
        np.save("c.npy", ARRAY + 1)
        os.replace("c.npy", "a.npy")
    else:
        with open("a.npy", "r+b") as file:
            file.seek(-ARRAY.nbytes, os.SEEK_END)
            file.write((ARRAY + 1).tobytes())
    os.utime("a.npy", ns=(before.st_atime_ns, before.st_mtime_ns))
    with pytest.raises(plait.ArgumentError, match="whose source was"):
        plait.copy("a.npy", "b.npy", resume=True, memory="8K")
    plait.copy("a.npy", "b.npy")
    np.testing.assert_array_equal(np.load("b.npy"), ARRAY + 1)


@pytest.mark.parametrize("name", ["s.zarr", "s.zarr::/g/x"])
def test_chunks_of_the_source_that_another_program_changed_are_detected(name):
    plait.copy("a.npy", name, chunks=(10, 80))
    with pytest.raises(StopError):
        plait.copy(name, "c.npy", resume=True, memory="16K", progress=stop)
    with plait.open(name, "r+") as file:
        file.write(ARRAY[:10] + 1, region=(slice(0, 10), slice(None)))
    with pytest.raises(plait.ArgumentError, match="whose source was"):
        plait.copy(name, "c.npy", resume=True, memory="16K")


@pytest.mark.parametrize("resume", [True, False])
def test_a_link_in_place_of_the_journal_is_not_followed(resume):
    with open("mine", "w", encoding="utf-8") as file:
        file.write("text")
    os.unlink(".b.npy.plait-copy")
    os.symlink("mine", ".b.npy.plait-copy")
    with pytest.raises(plait.StoreError, match="symbolic links"):
        plait.copy("a.npy", "b.npy", resume=resume)
    with open("mine", encoding="utf-8") as file:
        assert file.read() == "text"


@pytest.mark.parametrize("resume", [True, False])
def test_targets_may_have_names_of_255_bytes(resume):
    name = "n" * 251 + ".npy"
    plait.copy("a.npy", name, resume=resume)
    np.testing.assert_array_equal(np.load(name), ARRAY)


def test_a_missing_folder_is_an_error():
    with pytest.raises(FileNotFoundError, match="none"):
        plait.copy("a.npy", "none/b.npy", resume=True)


class OtherDevice:
    """The status of a file to which the file system has given another device number."""

    def __init__(self, status):
        self._status = status

    def __getattr__(self, name):
        return getattr(self._status, name) + (name == "st_dev")


def test_another_device_number_of_the_source_is_ignored(monkeypatch):
    stat = os.stat
    monkeypatch.setattr(os, "stat", lambda *args, **more: OtherDevice(stat(*args, **more)))
    result = plait.copy("a.npy", "b.npy", resume=True, memory="8K")
    assert result.resumed >= ARRAY.nbytes // 2
    np.testing.assert_array_equal(np.load("b.npy"), ARRAY)
