"""Zarr arrays that grow in mode "a", and what other programs see of them meanwhile and after kills."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import plait

zarr = pytest.importorskip("zarr")

SHAPE = (5, 7)
STORAGE_OPTIONS = [
    {"chunks": (2, 3)},
    {"chunks": (2, 3), "codec": "zstd:1"},
    {"chunks": (2, 3), "shards": (4, 6), "codec": "zstd:1"},
    {"chunks": (2, 3), "shards": (4, 6)},
    {"chunks": (1, 7), "codec": "gzip:1"},
]


def write_array(path, shape=SHAPE, **options):
    array = np.arange(np.prod(shape), dtype="i4").reshape(shape) + 1
    with plait.open(path, "w", shape=shape, dtype="i4", **options) as file:
        file.write(array)
    return array


def read_by_zarr(path):
    return zarr.open_array(path, mode="r")[...]


def random_array(shape, seed=0):
    return np.random.default_rng(seed).integers(1, 1000, shape).astype("i4")


@pytest.mark.parametrize("options", STORAGE_OPTIONS)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_blocks_of_all_sizes_are_appended(tmp_path, options, axis):
    expected = write_array(tmp_path / "a.zarr", **options)
    for number, size in enumerate((1, 0, 3, 8)):
        shape = [*expected.shape]
        shape[axis] = size
        added = random_array(shape, number)
        with plait.open(tmp_path / "a.zarr", "a") as file:
            file.append(added, axis=axis)
            expected = np.concatenate((expected, added), axis)
            assert file.shape == expected.shape
            assert file.mode == "a"
            np.testing.assert_array_equal(file.read(), expected)
        np.testing.assert_array_equal(read_by_zarr(tmp_path / "a.zarr"), expected)


@pytest.mark.parametrize("options", STORAGE_OPTIONS)
def test_many_blocks_are_appended_before_close(tmp_path, options):
    expected = write_array(tmp_path / "a.zarr", **options)
    with plait.open(tmp_path / "a.zarr", "a") as file:
        for number in range(5):
            added = random_array((number, 7), number)
            file.append(added)
            expected = np.concatenate((expected, added))
        assert zarr.open_array(tmp_path / "a.zarr", mode="r").shape == SHAPE  # the shape changes at close
    np.testing.assert_array_equal(read_by_zarr(tmp_path / "a.zarr"), expected)


def test_blocks_are_appended_by_layouts_of_several_ranks(tmp_path):
    expected = write_array(tmp_path / "a.zarr", chunks=(2, 3), codec="zstd:1")
    added = random_array((6, 7))
    layout = plait.Layout(added.shape, "(cyclic, block)", grid=(2, 2))
    parts = [added[np.ix_(*layout.indices(rank))] for rank in range(4)]
    with plait.open(tmp_path / "a.zarr", "a") as file:
        file.append(parts, layout)
    np.testing.assert_array_equal(read_by_zarr(tmp_path / "a.zarr"), np.concatenate((expected, added)))


def test_arrays_of_version_2_and_their_consolidated_metadata_grow(tmp_path):
    group = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=2)
    expected = np.arange(35, dtype="i4").reshape(SHAPE)
    group.create_array("x", data=expected, chunks=(2, 3))
    zarr.consolidate_metadata(tmp_path / "a.zarr", zarr_format=2)
    added = random_array((3, 7))
    with plait.open(f"{tmp_path}/a.zarr::/x", "a") as file:
        file.append(added)
    array = zarr.open_consolidated(tmp_path / "a.zarr", zarr_format=2)["x"]
    np.testing.assert_array_equal(array[...], np.concatenate((expected, added)))


def test_consolidated_metadata_of_version_3_has_the_new_shape(tmp_path):
    group = zarr.open_group(tmp_path / "a.zarr", mode="w")
    expected = np.arange(35, dtype="i4").reshape(SHAPE)
    group.create_array("x", data=expected, chunks=(2, 3))
    zarr.consolidate_metadata(tmp_path / "a.zarr")
    with plait.open(f"{tmp_path}/a.zarr::/x", "a") as file:
        file.append(expected)
    assert zarr.open_group(tmp_path / "a.zarr", mode="r")["x"].shape == (10, 7)


@pytest.mark.parametrize("options", STORAGE_OPTIONS)
def test_resizing_discards_elements_and_fills_new_ones(tmp_path, options):
    expected = write_array(tmp_path / "a.zarr", fill_value=-7, **options)
    with plait.open(tmp_path / "a.zarr", "a") as file:
        file.resize((3, 9))  # smaller and larger
        grown = np.full((3, 9), -7, "i4")
        grown[:, :7] = expected[:3]
        np.testing.assert_array_equal(file.read(), grown)
        file.resize((8, 4))
        resized = np.full((8, 4), -7, "i4")
        resized[:3] = grown[:, :4]
        np.testing.assert_array_equal(file.read(), resized)
    np.testing.assert_array_equal(read_by_zarr(tmp_path / "a.zarr"), resized)
    with plait.open(tmp_path / "a.zarr", "a") as file:
        file.resize((0, 4))
    assert read_by_zarr(tmp_path / "a.zarr").shape == (0, 4)


@pytest.mark.parametrize("options", STORAGE_OPTIONS)
def test_a_killed_append_leaves_the_old_length_and_no_elements(tmp_path, options):
    expected = write_array(tmp_path / "a.zarr", fill_value=-7, **options)
    program = (
        "import numpy as np, os, plait, signal\n"
        "file = plait.open('a.zarr', 'a')\n"
        "file.append(np.full((6, 7), 99, 'i4'))\n"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    for _ in range(2):
        result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False)
        assert result.returncode == -signal.SIGKILL
        np.testing.assert_array_equal(read_by_zarr(tmp_path / "a.zarr"), expected)
    with plait.open(tmp_path / "a.zarr", "a") as file:
        file.resize((13, 7))
        np.testing.assert_array_equal(file.read()[5:], -7)
    actual = read_by_zarr(tmp_path / "a.zarr")
    np.testing.assert_array_equal(actual[:5], expected)
    np.testing.assert_array_equal(actual[5:], -7)


@pytest.mark.parametrize("options", STORAGE_OPTIONS)
def test_an_append_after_a_killed_append_replaces_its_elements(tmp_path, options):
    expected = write_array(tmp_path / "a.zarr", **options)
    killed = plait.open(tmp_path / "a.zarr", "a")
    killed.append(np.full((6, 7), 99, "i4"))
    killed._core.abandon()
    added = random_array((2, 7))
    with plait.open(tmp_path / "a.zarr", "a") as file:
        file.append(added)
        file.append(added)
    np.testing.assert_array_equal(read_by_zarr(tmp_path / "a.zarr"), np.concatenate((expected, added, added)))


def test_an_exception_leaves_the_old_length(tmp_path):
    expected = write_array(tmp_path / "a.zarr", chunks=(2, 3))

    def append_and_fail():
        with plait.open(tmp_path / "a.zarr", "a") as file:
            file.append(random_array((2, 7)))
            raise KeyError

    with pytest.raises(KeyError):
        append_and_fail()
    np.testing.assert_array_equal(read_by_zarr(tmp_path / "a.zarr"), expected)


def test_a_second_program_that_appends_gets_an_error(tmp_path):
    expected = write_array(tmp_path / "a.zarr", chunks=(2, 3))
    program = (
        "import numpy as np, plait, sys, time\n"
        "with plait.open('a.zarr', 'a') as file:\n"
        "    print('open', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    file.append(np.full((1, 7), 5, 'i4'))"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "open\n"
        with pytest.raises(plait.StoreError, match="another program has opened it to append"):
            plait.open(tmp_path / "a.zarr", "a")
        other.communicate("\n")
    assert other.returncode == 0
    np.testing.assert_array_equal(
        read_by_zarr(tmp_path / "a.zarr"), np.concatenate((expected, np.full((1, 7), 5, "i4")))
    )


def test_a_shape_changed_by_another_library_is_an_error(tmp_path):
    write_array(tmp_path / "a.zarr", chunks=(2, 3))
    file = plait.open(tmp_path / "a.zarr", "a")
    file.append(random_array((2, 7)))
    zarr.open_array(tmp_path / "a.zarr", mode="r+").resize((6, 7))
    with pytest.raises(plait.StoreError, match="from 5x7 to 7x7: another program has changed it to 6x7"):
        file.close()
    assert read_by_zarr(tmp_path / "a.zarr").shape == (6, 7)


def test_mode_a_creates_an_array(tmp_path):
    parts = [random_array((number + 1, 7), number) for number in range(3)]
    for part in parts:
        with plait.open(tmp_path / "new.zarr", "a", shape=(0, 7), dtype="i4", chunks=(2, 7), codec="zstd") as file:
            file.append(part)
    np.testing.assert_array_equal(read_by_zarr(tmp_path / "new.zarr"), np.concatenate(parts))
    with pytest.raises(plait.ArgumentError, match='does not exist, and mode "a" creates'):
        plait.open(tmp_path / "none.zarr", "a")
    assert not (tmp_path / "none.zarr").exists()
    with pytest.raises(plait.ArgumentError, match="dtype"):
        plait.open(tmp_path / "new.zarr", "a", dtype="f8")


def test_objects_in_memory_grow():
    url = "memory://grown/a.zarr"
    expected = write_array(url, chunks=(2, 3))
    with plait.open(url, "a") as file:
        with pytest.raises(plait.StoreError, match="another program"):
            plait.open(url, "a")
        file.append(random_array((4, 7)))
        file.resize((11, 8))
    with plait.open(url) as file:
        actual = file.read()
    np.testing.assert_array_equal(actual[:5, :7], expected)
    np.testing.assert_array_equal(actual[5:9, :7], random_array((4, 7)))
    assert not actual[9:].any()
    assert not actual[:, 7:].any()


def test_an_empty_block_changes_nothing(tmp_path):
    expected = write_array(tmp_path / "a.zarr", chunks=(2, 3))
    before = {path: path.stat() for path in (tmp_path / "a.zarr").rglob("*") if path.is_file()}
    with plait.open(tmp_path / "a.zarr", "a") as file:
        file.append(random_array((0, 7)))
        assert file.shape == SHAPE
    for path, status in before.items():
        assert (path.stat().st_ino, path.stat().st_mtime_ns) == (status.st_ino, status.st_mtime_ns)
    np.testing.assert_array_equal(read_by_zarr(tmp_path / "a.zarr"), expected)
    # A new array in memory cannot get another shape before it is closed. An empty block needs none.
    with plait.open("memory://empty/a.zarr", "w", shape=SHAPE, dtype="i4", chunks=(2, 3)) as file:
        file.append(random_array((0, 7)))
        file.write(expected)
    with plait.open("memory://empty/a.zarr") as file:
        np.testing.assert_array_equal(file.read(), expected)


def test_attributes_and_elements_change_with_the_shape(tmp_path):
    expected = write_array(tmp_path / "a.zarr", chunks=(2, 3), attributes={"units": "K"})
    with plait.open(tmp_path / "a.zarr", "a") as file:
        file.attrs["history"] = "appended"
        file.append(random_array((1, 7)))
        file[0, 0] = 42
    expected[0, 0] = 42
    array = zarr.open_array(tmp_path / "a.zarr", mode="r")
    assert dict(array.attrs) == {"units": "K", "history": "appended"}
    np.testing.assert_array_equal(array[...], np.concatenate((expected, random_array((1, 7)))))


def test_wrong_arguments_are_errors(tmp_path):
    write_array(tmp_path / "a.zarr", chunks=(2, 3))
    with plait.open(tmp_path / "a.zarr", "r+") as file:
        for call in (lambda: file.append(random_array((1, 7))), lambda: file.resize((9, 9))):
            with pytest.raises(plait.ArgumentError, match='open with mode "r\\+"; open it with mode "a"'):
                call()
    with plait.open(tmp_path / "a.zarr", "a") as file:
        with pytest.raises(plait.ArgumentError, match="block of shape 1x6 along axis 0 of an array of shape 5x7"):
            file.append(random_array((1, 6)))
        with pytest.raises(plait.ArgumentError, match="axis 2, but the array has 2 dimensions"):
            file.append(random_array((1, 7)), axis=2)
        with pytest.raises(plait.ArgumentError, match="int64"):
            file.append(np.zeros((1, 7), "i8"))
        for shape in ((3,), (-1, 7)):
            with pytest.raises(plait.ArgumentError, match="as many sizes as it has dimensions"):
                file.resize(shape)
        with pytest.raises(plait.ArgumentError, match="2\\^63"):
            file.resize((1 << 62, 1 << 60))
        assert file.shape == SHAPE
    assert read_by_zarr(tmp_path / "a.zarr").shape == SHAPE


@pytest.mark.parametrize("name", ["a.npz::x", "a.safetensors::x", "a.bin"])
def test_files_of_other_formats_do_not_grow(tmp_path, name):
    options = {"shape": (2, 3), "dtype": "f4"}
    with plait.open(tmp_path / name, "w", **options) as file:
        with pytest.raises(plait.ArgumentError, match="cannot grow"):
            file.append(np.zeros((1, 3), "f4"))
        file.write(np.ones((2, 3), "f4"))
    with pytest.raises(plait.ArgumentError, match=r"cannot grow: .*copy it into a Zarr array|not changed in place"):
        plait.open(tmp_path / name, "a", **options)


def test_appending_writes_only_the_new_chunks(tmp_path):
    write_array(tmp_path / "a.zarr", shape=(365, 16, 16), chunks=(1, 16, 16))
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "a.zarr/c").rglob("*") if path.is_file()}
    day = random_array((1, 16, 16))
    with plait.open(tmp_path / "a.zarr", "a") as file:
        file.append(day)
    after = [path for path in (tmp_path / "a.zarr/c").rglob("*") if path.is_file()]
    changed = [path for path in after if before.get(path) != path.stat().st_mtime_ns]
    metadata = os.stat(tmp_path / "a.zarr/zarr.json").st_size
    assert sum(path.stat().st_size for path in changed) == day.nbytes
    assert metadata < 0.8 * day.nbytes


def test_readers_see_the_old_or_the_new_array(tmp_path):
    expected = write_array(tmp_path / "a.zarr", chunks=(2, 7), codec="zstd:1")
    program = (
        "import numpy as np, plait\n"
        "for number in range(20):\n"
        "    with plait.open('a.zarr', 'a') as file:\n"
        "        file.append(np.full((3, 7), number + 1, 'i4'))"
    )
    complete = np.concatenate((expected, np.repeat(np.arange(20, dtype="i4") + 1, 3)[:, None] * np.ones(7, "i4")))
    with subprocess.Popen([sys.executable, "-c", program], cwd=tmp_path) as writer:
        while writer.poll() is None:
            actual = read_by_zarr(tmp_path / "a.zarr")
            assert (len(actual) - 5) % 3 == 0
            np.testing.assert_array_equal(actual, complete[: len(actual)])
            time.sleep(0.001)
    assert writer.returncode == 0
    np.testing.assert_array_equal(read_by_zarr(tmp_path / "a.zarr"), complete)
