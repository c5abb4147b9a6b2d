"""Writing files in every layout and region, and new files that appear completely or not at all."""

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from brute_force import LayoutModel, make_distinct_array, matrix_models, models, regions, shapes
from hypothesis import given, settings
from hypothesis import strategies as st

import plait

pytestmark = pytest.mark.usefixtures("nothing_left")


def read_raw_file(path, shape, dtype, order):
    return np.frombuffer(Path(path).read_bytes(), dtype).reshape(shape, order=order)


def unwrap_single(arrays):
    """Return the list of local arrays, or the array itself if there is one rank."""
    return arrays[0] if len(arrays) == 1 else arrays


@pytest.mark.sampled(3)
@pytest.mark.parametrize("file_order", ["C", "F"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
def test_every_pair_of_distributions_of_a_matrix_is_written(tmp_path, file_order, order, strategy):
    array = make_distinct_array((5, 7))
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(array.nbytes))
    with plait.open(path, "r+", shape=(5, 7), dtype="f8", order=file_order, strategy=strategy, memory=96) as file:
        for extents in [(2, 3), (3, 2), (1, 8)]:
            for i, model in enumerate(matrix_models(5, 7, extents, order)):
                file.write(unwrap_single(model.locals(array + i)), model.layout())
                np.testing.assert_array_equal(read_raw_file(path, (5, 7), "f8", file_order), array + i)


@given(st.data())
@settings(max_examples=300)
def test_random_layouts_are_written(tmp_path, data):
    shape = data.draw(shapes)
    model = data.draw(models(shape))
    file_order = data.draw(st.sampled_from("CF"))
    array = make_distinct_array(shape, data.draw(st.sampled_from(["f8", "u1", "c16", "S3"])))
    path = tmp_path / f"a{data.draw(st.sampled_from(['.bin', '.npy']))}"
    with plait.open(
        path,
        "w",
        shape=shape,
        dtype=array.dtype,
        order=file_order,
        strategy=data.draw(st.sampled_from([None, "direct", "two-phase"])),
        memory=data.draw(st.sampled_from([0, 48, 100])),
    ) as file:
        file.write(unwrap_single(model.locals(array)), model.layout())
    if path.suffix == ".npy":
        actual = np.load(path)
        assert actual.flags.f_contiguous if file_order == "F" else actual.flags.c_contiguous
    else:
        actual = read_raw_file(path, shape, array.dtype, file_order)
    assert actual.dtype == array.dtype
    np.testing.assert_array_equal(actual, array)


@given(st.data())
@settings(max_examples=250)
def test_regions_change_nothing_else(tmp_path, data):
    shape = data.draw(st.lists(st.integers(0, 7), min_size=1, max_size=4).map(tuple))
    region = data.draw(regions(shape))
    file_order = data.draw(st.sampled_from("CF"))
    before = make_distinct_array(shape, "i4")
    path = tmp_path / "a.bin"
    path.write_bytes(before.tobytes(file_order))
    expected = before.copy()
    new = np.array(-1 - before[region])
    expected[region] = new
    model = data.draw(models(new.shape))
    strategy = data.draw(st.sampled_from([None, "direct", "two-phase"]))
    memory = data.draw(st.sampled_from([0, 12, 40]))
    with plait.open(path, "r+", shape=shape, dtype="i4", order=file_order, strategy=strategy, memory=memory) as file:
        file.write(unwrap_single(model.locals(new)), model.layout(), region=region)
        np.testing.assert_array_equal(file.read(), expected)
    np.testing.assert_array_equal(read_raw_file(path, shape, "i4", file_order), expected)


@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
def test_arrays_may_have_any_strides(tmp_path, strategy):
    array = make_distinct_array((6, 8))
    path = tmp_path / "a.npy"
    np.save(path, np.zeros_like(array))
    wide = np.zeros((18, 40))
    wide[17::-3, 1:40:5] = array
    read_only = array.copy()
    read_only.flags.writeable = False
    with plait.open(path, "r+", strategy=strategy, memory=64) as file:
        for variant in (np.asfortranarray(array), wide[17::-3, 1:40:5], read_only):
            file.write(np.zeros((6, 8)))
            file.write(variant)
            np.testing.assert_array_equal(np.load(path), array)
        file.write(np.broadcast_to(np.float64(3), (6, 8)))
        assert (np.load(path) == 3).all()
        file.write(array.T[2:5].T, region=np.s_[:, 2:5])
        np.testing.assert_array_equal(np.load(path)[:, 2:5], array[:, 2:5])
        file.write(np.float64(-5), region=(1, 1))
        assert np.load(path)[1, 1] == -5


def test_arrays_of_many_windows_are_written(tmp_path):
    array = np.random.default_rng(0).integers(0, 256, (211, 97, 12), dtype=np.uint8).view("V12")[..., 0]
    for file_order in "CF":
        for strategy in ("direct", "two-phase"):
            model = LayoutModel((211, 97), ("cyclic(3)", "cyclic(5)"), (2, 3), order="F")
            path = tmp_path / "a.bin"
            options = {"shape": (211, 97), "dtype": "V12", "order": file_order, "strategy": strategy}
            with plait.open(path, "w", memory=30_000, **options) as file:
                file.write(model.locals(array), model.layout())
            assert path.read_bytes() == array.tobytes(file_order)


def test_unwritten_elements_are_zero(tmp_path):
    path = tmp_path / "a.npy"
    with plait.open(path, "w", shape=(6, 8), dtype="i2") as file:
        file.write(np.full((2, 8), 5, "i2"), region=np.s_[1:5:3])
        np.testing.assert_array_equal(file.read(region=np.s_[:, 0]), [0, 5, 0, 0, 5, 0])
    np.testing.assert_array_equal(np.load(path)[:, 0], [0, 5, 0, 0, 5, 0])
    with plait.open(path, "w", shape=(3,), dtype="i2"):
        pass
    np.testing.assert_array_equal(np.load(path), [0, 0, 0])


def test_bytes_before_a_raw_array_are_not_changed(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"h" * 13 + bytes(24))
    with plait.open(path, "r+", shape=(3,), dtype="f8", offset=13) as file:
        file.write(np.array([1.0, 2, 3]))
    assert path.read_bytes() == b"h" * 13 + np.array([1.0, 2, 3]).tobytes()


# New files.


def test_a_new_file_appears_when_it_is_closed(tmp_path):
    path = tmp_path / "a.npy"
    np.save(path, np.arange(3))
    old = path.read_bytes()
    with plait.open(path, "w", shape=(4,), dtype="f8") as file:
        file.write(np.arange(4.0))
        assert path.read_bytes() == old
        assert len(list(tmp_path.iterdir())) == 2
    assert list(tmp_path.iterdir()) == [path]
    np.testing.assert_array_equal(np.load(path), np.arange(4.0))


def write_and_raise(path, mode):
    """Write to a file, leave its `with` block by an exception, and return the file."""
    try:
        with plait.open(path, mode, shape=(4,), dtype="f8") as file:
            file.write(np.arange(4.0))
            raise KeyError("stop")
    except KeyError:
        return file


@pytest.mark.parametrize("exists", [False, True])
def test_an_exception_discards_the_new_file(tmp_path, exists):
    path = tmp_path / "a.bin"
    if exists:
        path.write_bytes(b"old")
    file = write_and_raise(path, "w")
    assert file.closed
    assert path.exists() == exists
    assert not exists or path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == ([path] if exists else [])


def test_an_exception_preserves_writes_in_place(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(bytes(32))
    assert write_and_raise(path, "r+").closed
    np.testing.assert_array_equal(np.fromfile(path), np.arange(4.0))


def test_an_unclosed_file_does_not_appear(tmp_path):
    file = plait.open(tmp_path / "a.bin", "w", shape=(4,), dtype="f8")
    file.write(np.arange(4.0))
    del file
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_exits_without_closing_leaves_no_file(tmp_path):
    code = (
        f"import plait; f = plait.open({str(tmp_path / 'a.bin')!r}, 'w', shape=(4,), dtype='f8'); raise SystemExit(3)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 3
    assert list(tmp_path.iterdir()) == []


def test_a_symbolic_link_is_not_replaced(tmp_path):
    (tmp_path / "real").mkdir()
    target = tmp_path / "real" / "a.bin"
    target.write_bytes(b"old")
    link = tmp_path / "link.bin"
    link.symlink_to("real/a.bin")
    with plait.open(link, "w", shape=(4,), dtype="f8") as file:
        file.write(np.arange(4.0))
    assert link.is_symlink()
    assert not target.is_symlink()
    np.testing.assert_array_equal(np.fromfile(target), np.arange(4.0))


@pytest.mark.parametrize("mode", [0o640, 0o600, 0o444 | 0o200])
def test_a_replaced_file_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    path.chmod(mode)
    with plait.open(path, "w", shape=(4,), dtype="f8"):
        pass
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_new_file_has_the_usual_permissions(tmp_path):
    old = os.umask(0o027)
    try:
        with plait.open(tmp_path / "a.bin", "w", shape=(4,), dtype="f8"):
            pass
        (tmp_path / "b.bin").write_bytes(b"")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a.bin").stat().st_mode) == stat.S_IMODE((tmp_path / "b.bin").stat().st_mode)


def test_leftovers_of_a_dead_process_are_removed(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    host = socket.gethostname()
    leftover = tmp_path / f".a.bin.plait-{host}-{dead.pid}-0"
    # An earlier process may have had the id of this process; the leftover is recognized because its lock is free.
    same_process = tmp_path / f".a.bin.plait-{host}-{os.getpid()}-99"
    alive = tmp_path / f".a.bin.plait-{host}-{os.getppid()}-99"
    other = tmp_path / f".b.bin.plait-{host}-{dead.pid}-0"
    for path in (leftover, same_process, alive, other):
        path.write_bytes(b"x")
    with plait.open(tmp_path / "a.bin", "w", shape=(4,), dtype="f8"):
        assert not leftover.exists()
        assert not same_process.exists()
    assert alive.exists()
    assert other.exists()
    alive.unlink()
    other.unlink()


def test_two_writers_of_one_name_do_not_interfere(tmp_path):
    path = tmp_path / "a.bin"
    path.touch()  # a file that appeared meanwhile would not be replaced
    with plait.open(path, "w", shape=(2,), dtype="f8") as first:
        with plait.open(path, "w", shape=(2,), dtype="f8") as second:
            first.write(np.array([1.0, 1]))
            second.write(np.array([2.0, 2]))
        np.testing.assert_array_equal(np.fromfile(path), [2, 2])
    np.testing.assert_array_equal(np.fromfile(path), [1, 1])


def test_long_names_are_possible(tmp_path):
    path = tmp_path / ("n" * 200 + ".bin")
    with plait.open(path, "w", shape=(2,), dtype="f8") as file:
        file.write(np.array([1.0, 2]))
    np.testing.assert_array_equal(np.fromfile(path), [1, 2])


def test_relative_and_unusual_names_are_possible(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.bin", "./b.bin", "ünï cødé\n.bin", ".hidden", "%s{}$.bin", "-"):
        with plait.open(name, "w", shape=(2,), dtype="f8") as file:
            file.write(np.array([1.0, 2]))
        np.testing.assert_array_equal(np.fromfile(name), [1, 2])
        with plait.open(Path(name), shape=(2,), dtype="f8") as file:
            np.testing.assert_array_equal(file.read(), [1, 2])
    assert len(list(tmp_path.iterdir())) == 6
