"""Interrupted copies: which data a resumed copy reuses after a crash of the host, and file systems without locks."""

import errno
import fcntl
import os
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import plait
from plait._copying.resume import journal as journals
from plait._copying.verifying import compare
from plait._copying.windows import Window

pytestmark = pytest.mark.usefixtures("nothing_left")

SHAPE = (64, 96)
ROWS = {"layout": "(*, *)", "memory": 2 * 8 * 96 * 4}  # windows of 8 rows


class StopError(Exception):
    pass


@pytest.fixture(autouse=True)
def array(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    values = np.random.default_rng(3).integers(0, 1 << 30, SHAPE).astype("i4")
    np.save("a.npy", values)
    return values


def interrupt_copy(source, target, share, **options):
    """Stop a copy by an exception after this share of its bytes; it can be resumed."""

    def stop(done, total):
        if done >= share * total:
            raise StopError

    with pytest.raises(StopError):
        plait.copy(source, target, resume=True, progress=stop, **options)


def pretend_restart(monkeypatch):
    """Make copies believe that the host was restarted, so that only synced data counts as written."""
    monkeypatch.setattr(journals, "boot_id", lambda: "another start of the host")


def discard_syncs(journal):
    """Remove the records of synced data from the journal of a copy."""
    lines = Path(journal).read_text().splitlines(keepends=True)
    Path(journal).write_text("".join(line for line in lines if "synced" not in line))


@pytest.mark.parametrize("synced", [True, False])
@pytest.mark.parametrize(("target", "options"), [("b.npy", ROWS), ("b.zarr", {"chunks": (8, 96), "memory": "8K"})])
def test_only_synced_data_is_reused_after_a_restart(array, monkeypatch, synced, target, options):
    interrupt_copy("a.npy", target, 0.5, **options)
    if not synced:
        discard_syncs(f".{target}.plait-copy")
    pretend_restart(monkeypatch)
    result = plait.copy("a.npy", target, resume=True, **options)
    assert (result.resumed >= array.nbytes // 2) == synced
    assert (result.resumed == 0) != synced
    np.testing.assert_array_equal(plait.open(target).read(), array)


@pytest.mark.parametrize("codec", ["none", "zstd:1"])
def test_chunks_lost_in_a_crash_are_written_again(array, monkeypatch, codec):
    options = {"chunks": (16, 32), "codec": codec, **ROWS}
    interrupt_copy("a.npy", "b.zarr", 0.6, **options)
    # 5 windows of 8 rows are complete: the chunks with rows 32 to 47 were renamed again for the last one.
    for file in Path(".b.zarr.plait-unfinished/c/2").iterdir():
        os.truncate(file, 0)
    pretend_restart(monkeypatch)
    result = plait.copy("a.npy", "b.zarr", resume=True, **options)
    assert result.resumed == 32 * 96 * 4
    np.testing.assert_array_equal(plait.open("b.zarr").read(), array)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize("names", [("a", "b"), ("g/a", "g/b"), ("g/a", "g/h/b"), ("100%", "b")])
def test_arrays_of_a_hierarchy_are_resumed_independently(array, exists, names):
    if exists:
        plait.copy("a.npy", "h.zarr::/first")
    np.save("c.npy", array + 1)
    options = {"chunks": (8, 96), "codec": "zstd:1", "memory": "8K"}
    for source, name, share in zip(("a.npy", "c.npy"), names, (0.3, 0.6), strict=True):
        interrupt_copy(source, f"h.zarr::/{name}", share, **options)
    plait.copy("a.npy", "h.zarr::/other", **options)
    for number, (source, name) in enumerate(zip(("a.npy", "c.npy"), names, strict=True)):
        result = plait.copy(source, f"h.zarr::/{name}", resume=True, **options)
        assert result.resumed >= (0.3, 0.6)[number] * array.nbytes
        np.testing.assert_array_equal(plait.open(f"h.zarr::/{name}").read(), array + number)
    assert sorted(os.listdir()) == ["a.npy", "c.npy", "h.zarr"]


def test_each_copy_has_its_own_intermediate_array(array):
    shape = (1024, 1024)
    large_array = np.arange(1 << 20, dtype="f4").reshape(shape)
    with plait.open("c.zarr", "w", shape=shape, dtype="f4", chunks=(4, 1024), codec="zstd:1") as file:
        file.write(large_array)
    options = {"chunks": (1024, 4), "codec": "zstd:1", "memory": "256K"}
    for name in "ab":
        interrupt_copy("c.zarr", f"h.zarr::/{name}", 0.7, **options)
    assert len(list(Path().glob(".h.zarr%?.scratch.zarr.plait-unfinished"))) == 2
    for name in "ab":
        result = plait.copy("c.zarr", f"h.zarr::/{name}", resume=True, **options)
        assert result.resumed >= 0.7 * large_array.nbytes
        np.testing.assert_array_equal(plait.open(f"h.zarr::/{name}").read(), large_array)


def test_copies_of_an_array_and_its_group_do_not_resume_each_other(array):
    np.savez("c.npz", a=array, b=array + 1)
    options = {"chunks": (8, 96), "memory": "4K"}
    interrupt_copy("c.npz", "h.zarr", 0.3, **options)
    interrupt_copy("a.npy", "h.zarr::/a", 0.5, **options)
    result = plait.copy("c.npz", "h.zarr", resume=True, **options)
    assert result.resumed == 0
    np.testing.assert_array_equal(plait.open("h.zarr::/a").read(), array)
    np.testing.assert_array_equal(plait.open("h.zarr::/b").read(), array + 1)
    plait.copy("a.npy", "h.zarr::/a", chunks=(8, 96))


@pytest.mark.parametrize("resume", [True, False])
def test_file_systems_without_locks_give_a_warning(array, monkeypatch, resume):
    interrupt_copy("a.npy", "b.npy", 0.5, memory="4K")

    def make_failing_flock(code):
        def flock(file, operation):
            raise OSError(code, os.strerror(code))

        return flock

    monkeypatch.setattr(fcntl, "flock", make_failing_flock(errno.EIO))
    with pytest.raises(plait.StoreError, match=r"cannot lock .*b\.npy\.plait-copy: Input/output error") as raised:
        plait.copy("a.npy", "b.npy", resume=resume)
    assert raised.value.errno == errno.EIO
    monkeypatch.setattr(fcntl, "flock", make_failing_flock(errno.ENOLCK))
    with pytest.warns(UserWarning, match=r"keeps no locks \(No locks available\).*see to it that only one runs"):
        result = plait.copy("a.npy", "b.npy", resume=resume)
    assert (result.resumed > 0) == resume
    np.testing.assert_array_equal(np.load("b.npy"), array)


@pytest.mark.parametrize("dtype", ["f4", ">f8", "c16", "V3"])
def test_comparing_arrays_needs_little_additional_memory(dtype):
    left = np.zeros(1 << 21, dtype)
    right = left.copy()
    window = Window((slice(0, left.size),), left.shape)
    tracemalloc.start()
    try:
        compare(None, (left, right), tuple, window)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
