"""Copies that are interrupted and resumed: reused parts, parts copied again, and copies that cannot be resumed."""

import errno
import fcntl
import json
import os
import time
from pathlib import Path

import numpy as np
import pytest

import plait
from plait._copying.resume import journal as journals

pytestmark = pytest.mark.usefixtures("nothing_left")

SHAPE = (64, 96)
STRIPES = "stripe:b.s?disks=x,y&unit=100"


class StopError(Exception):
    pass


@pytest.fixture(autouse=True)
def array(tmp_path, monkeypatch):
    """Write the array to a.npy, and to a.zarr in compressed chunks."""
    monkeypatch.chdir(tmp_path)
    for disk in "xy":
        os.mkdir(disk)
    values = np.random.default_rng(2).integers(0, 1 << 30, SHAPE).astype("i4")
    np.save("a.npy", values)
    with plait.open("a.zarr", "w", shape=SHAPE, dtype="i4", chunks=(3, 96), codec="zstd:1") as file:
        file.write(values)
    return values


def stop_at(share):
    """Return a progress function that ends a copy after this share of its bytes."""

    def stop(done, total):
        if done >= share * total:
            raise StopError

    return stop


def interrupt_copy(source, target, share, **options):
    """Stop a copy by an exception after this share of its bytes; it can be resumed."""
    with pytest.raises(StopError):
        plait.copy(source, target, resume=True, progress=stop_at(share), **options)


def read_target(target):
    """Return the array of a target, also of one without shape and type."""
    path = target.removeprefix("stripe:").partition("?")[0]
    name = f"stripe:{path}" if target.startswith("stripe") else path
    options = {"shape": SHAPE, "dtype": "i4"} if path.endswith(("bin", ".s")) else {}
    with plait.open(name, **options) as file:
        return np.asarray(file.read())


def new_files():
    """Return the names of the files that copies made."""
    return sorted(name for name in os.listdir() if name not in ("a.npy", "a.zarr", "x", "y"))


CASES = [
    ("a.npy", "b.npy", {}),
    ("a.npy", "b.npy", {"target_order": "F"}),
    ("a.zarr", "b.bin", {}),
    ("a.npy", "b.npz", {}),
    ("a.npy", "b.safetensors", {}),
    ("a.npy", STRIPES, {}),
    ("a.npy", "b.zarr", {"chunks": (10, 10), "codec": "zstd:1"}),
    ("a.zarr", "b.zarr", {"chunks": (64, 2)}),
    ("a.npy", "b.zarr", {"chunks": (8, 8), "shards": (32, 32), "codec": "gzip:1"}),
    ("a.npy", "b.zarr", {"axes": (1, 0), "target_dtype": "f8", "region": "0:50,:"}),
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("shares", [(0.5,), (0.1, 0.5, 0.9)])
@pytest.mark.parametrize(("source", "target", "options"), CASES)
def test_only_the_remaining_part_is_copied(array, source, target, options, shares):
    expected = array[:50].T.astype("f8") if "axes" in options else array
    for share in shares:
        interrupt_copy(source, target, share, memory="4K", **options)
        unfinished = new_files()
        assert all(name.startswith(".b.") for name in unfinished)
        assert len(unfinished) >= 2
    result = plait.copy(source, target, resume=True, memory="4K", verify=True, **options)
    assert 0 < result.resumed < result.bytes == expected.nbytes
    np.testing.assert_array_equal(read_target(target), expected)
    assert len(new_files()) == 1
    if target == STRIPES:
        assert len(os.listdir("x")) == len(os.listdir("y")) == 1


def test_both_passes_can_be_resumed(array):
    shape = (1024, 1024)
    large_array = np.arange(1 << 20, dtype="f4").reshape(shape)
    with plait.open("c.zarr", "w", shape=shape, dtype="f4", chunks=(4, 1024), codec="zstd:1") as file:
        file.write(large_array)
    options = {"chunks": (1024, 4), "codec": "zstd:1", "memory": "256K"}
    assert len(plait.copy("c.zarr", "b.zarr", **options, dry_run=True).plan[0].passes) == 2
    for share in (0.2, 0.7, 0.8):
        interrupt_copy("c.zarr", "b.zarr", share, **options)
        assert ".b.zarr.scratch.zarr.plait-unfinished" in new_files()
    result = plait.copy("c.zarr", "b.zarr", resume=True, **options)
    assert 0.7 * large_array.nbytes < result.resumed < large_array.nbytes
    np.testing.assert_array_equal(read_target("b.zarr"), large_array)
    interrupt_copy("c.zarr", "b.zarr", 0.7, **options)
    (scratch,) = Path.cwd().glob(".*scratch*")
    plait._core.remove_unfinished("b.zarr.scratch.zarr")
    assert not scratch.exists()
    assert plait.copy("c.zarr", "b.zarr", resume=True, **options).resumed == 0
    np.testing.assert_array_equal(read_target("b.zarr"), large_array)
    assert new_files() == ["b.zarr", "c.zarr"]


def test_incomplete_shards_are_written_again(array):
    options = {"chunks": (8, 8), "shards": (16, 32), "codec": "zstd:1", "memory": 2 * 8 * 96 * 4, "layout": "(*, *)"}
    interrupt_copy("a.npy", "b.zarr", 0.6, **options)
    # 5 windows of 8 rows are complete: the shards with rows 32 to 47 may be incomplete.
    for file in Path(".b.zarr.plait-unfinished/c/2").iterdir():
        file.write_bytes(b"half")
    changes = Path(".b.zarr.plait-unfinished/.plait-changes/.chunks.plait-host-1-1")
    changes.mkdir(parents=True)
    (changes / "0").write_bytes(b"a chunk before it got its name")
    result = plait.copy("a.npy", "b.zarr", resume=True, **options)
    assert result.resumed == 32 * 96 * 4
    np.testing.assert_array_equal(read_target("b.zarr"), array)
    assert sorted(os.listdir("b.zarr")) == ["c", "zarr.json"]


def test_complete_arrays_are_not_copied_again(array):
    np.savez("c.npz", first=array, second=array + 1)
    size = array.nbytes
    interrupt_copy("c.npz", "b.zarr", 0.75, memory="4K")
    assert plait.arrays_in("b.zarr")[0].name == "first"
    result = plait.copy("c.npz", "b.zarr", resume=True, memory="4K")
    assert size < result.resumed < result.bytes == 2 * size
    for number, name in enumerate(("first", "second")):
        np.testing.assert_array_equal(plait.open(f"b.zarr::/{name}").read(), array + number)
    interrupt_copy("c.npz", "{variable}.npy", 0.75, memory="4K")
    assert plait.copy("c.npz", "{variable}.npy", resume=True, memory="4K").resumed > size
    np.testing.assert_array_equal(np.load("second.npy"), array + 1)
    assert new_files() == ["b.zarr", "c.npz", "first.npy", "second.npy"]


def test_an_old_target_stays_until_the_copy_is_complete(array):
    np.save("b.npy", np.zeros(3))
    interrupt_copy("a.npy", "b.npy", 0.5, memory="4K")
    np.testing.assert_array_equal(np.load("b.npy"), np.zeros(3))
    plait.copy("a.npy", "b.npy", resume=True)
    np.testing.assert_array_equal(np.load("b.npy"), array)


def test_a_copy_with_other_options_or_another_source_is_not_resumed(array):
    interrupt_copy("a.npy", "b.zarr", 0.5, memory="4K", chunks=(8, 8))
    for options, message in [
        ({"chunks": (8, 4)}, "whose chunks was (8, 8), nothing, not (8, 4), nothing"),
        ({"chunks": (8, 8), "codec": "zstd"}, "whose codec was nothing, not zstd"),
        ({"chunks": (8, 8), "target_dtype": "i8"}, "whose type was nothing, not int64"),
        ({"chunks": (8, 8), "memory": "1K"}, "are less than the copy that is resumed was begun with"),
    ]:
        with pytest.raises(plait.ArgumentError) as raised:
            plait.copy("a.npy", "b.zarr", resume=True, **options)
        assert message in str(raised.value)
    os.utime("a.npy", (1, 1))
    with pytest.raises(plait.ArgumentError, match=r"whose source was \[.*leave resume out once, which begins anew"):
        plait.copy("a.npy", "b.zarr", resume=True, chunks=(8, 8))
    assert new_files() == [".b.zarr.plait-copy", ".b.zarr.plait-unfinished"]
    plait.copy("a.npy", "b.zarr", chunks=(8, 8))
    assert new_files() == ["b.zarr"]


def test_a_second_copy_to_a_target_that_is_written_is_an_error(array):
    interrupt_copy("a.npy", "b.npy", 0.5, memory="4K")
    with open(".b.npy.plait-copy") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        for resume in (True, False):
            with pytest.raises(plait.StoreError, match="another copy to the same target is running") as raised:
                plait.copy("a.npy", "b.npy", resume=resume)
            assert raised.value.errno == errno.EBUSY
    with plait.open("b.npy", "w", shape=(3,), dtype="f8", unfinished="keep") as file:
        with pytest.raises(plait.StoreError, match="another program is writing it") as raised:
            plait.copy("a.npy", "b.npy", resume=True)
        assert raised.value.errno == errno.EBUSY
        file.write(np.zeros(3))
    plait.copy("a.npy", "b.npy", resume=True)
    np.testing.assert_array_equal(np.load("b.npy"), array)


def test_synced_parts_count_after_two_restarts_of_the_host(array, monkeypatch):
    monkeypatch.setattr(journals, "_MIN_SYNC_INTERVAL", 0.0)
    monkeypatch.setattr(journals, "_MAX_SYNC_SHARE", 1e9)
    interrupt_copy("a.npy", "b.npy", 0.5, memory="4K")
    monkeypatch.setattr(journals, "boot_id", lambda: "another start of the host")
    interrupt_copy("a.npy", "b.npy", 0.8, memory="4K")
    result = plait.copy("a.npy", "b.npy", resume=True, memory="4K")
    assert result.resumed > 0.5 * array.nbytes
    np.testing.assert_array_equal(np.load("b.npy"), array)


def test_another_file_with_the_temporary_name_is_not_continued(array):
    interrupt_copy("a.npy", "b.npy", 0.5, memory="4K")
    (unfinished,) = Path.cwd().glob("*unfinished")
    size = unfinished.stat().st_size
    os.rename(unfinished, "aside")
    unfinished.write_bytes(bytes(size))  # another file, without any record of progress
    assert plait.copy("a.npy", "b.npy", resume=True, memory="4K").resumed == 0
    np.testing.assert_array_equal(np.load("b.npy"), array)


def test_a_torn_line_of_the_journal_is_ignored(array):
    interrupt_copy("a.npy", "b.npy", 0.5, memory="4K")
    path = Path(".b.npy.plait-copy")
    lines = path.read_text().splitlines()
    assert json.loads(lines[0])["version"] == 1
    path.write_text("\n".join(lines[:-1]) + "\n" + lines[-1][:-3])
    interrupt_copy("a.npy", "b.npy", 0.8, memory="4K")
    for line in path.read_text().splitlines():
        json.loads(line)
    result = plait.copy("a.npy", "b.npy", resume=True, memory="4K")
    assert 0.5 * array.nbytes < result.resumed < array.nbytes
    np.testing.assert_array_equal(np.load("b.npy"), array)


def test_copies_that_cannot_be_resumed_leave_nothing(array):
    pytest.importorskip("h5py")
    interrupt_copy("a.npy", "b.h5::/a", 0.5, memory="4K")
    assert new_files() == []
    assert plait.copy("a.npy", "b.h5::/a", resume=True, memory="4K").resumed == 0
    np.testing.assert_array_equal(plait.open("b.h5::/a").read(), array)
    with pytest.raises(plait.ArgumentError, match="resume needs a source that is a file"):
        plait.copy("memory:a", "b.npy", resume=True)
    with pytest.raises(plait.ArgumentError, match="cannot stay under a temporary name"):
        plait.open("c.h5", "w", shape=(3,), dtype="f8", unfinished="keep")
    with pytest.raises(plait.ArgumentError, match="unfinished='yes' is not known"):
        plait.open("c.npy", "w", shape=(3,), dtype="f8", unfinished="yes")


def test_interrupted_copies_without_resume_leave_nothing(array):
    with pytest.raises(StopError):
        plait.copy("a.npy", "b.zarr", memory="4K", progress=stop_at(0.5))
    assert new_files() == []
    with pytest.raises(plait.ArgumentError):
        plait.copy("a.npy", "b.zarr", resume=True, chunks=(0, 0))
    assert new_files() == []


def test_a_short_copy_syncs_at_most_once(array, monkeypatch):
    sync_times = []
    sync = journals.Journal.sync
    monkeypatch.setattr(journals.Journal, "sync", lambda self: (sync_times.append(time.monotonic()), sync(self)))
    plait.copy("a.npy", "b.npy", resume=True, memory="4K")
    assert len(sync_times) <= 1
