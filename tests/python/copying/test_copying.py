"""plait.copy: windows that cover an array once, every pair of stores, and copies that are rejected or stopped."""

import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import plait
from plait._copying.windows import choose_cut
from plait._core import Content
from plait._file.location import local_path, same_location

pytestmark = pytest.mark.usefixtures("nothing_left")


def random_array(shape, dtype="f8", order="C", seed=1):
    """Return an array of random bytes; floating-point elements may be NaN."""
    size = math.prod(shape)
    values = np.frombuffer(np.random.default_rng(seed).bytes(size * np.dtype(dtype).itemsize), dtype)
    return np.array(values.reshape(shape), order=order)


def list_folder(folder: Path):
    return sorted(entry.name for entry in folder.iterdir())


shapes = st.lists(st.integers(0, 9), max_size=4).map(tuple)


@given(shape=shapes, order=st.sampled_from("CF"), itemsize=st.integers(1, 9), ranks=st.integers(1, 6), memory=st.data())
def test_windows_cover_the_array_once_in_the_order_of_the_file(shape, order, itemsize, ranks, memory):
    window_bytes = memory.draw(st.integers(itemsize * ranks, 4000))

    def window_layout(window, dimension):
        distributions = ["balanced" if d == dimension else "*" for d in range(len(window))]
        return plait.Layout(window, distributions, grid=(ranks,)) if window else plait.Layout((), [])

    positions = np.arange(math.prod(shape)).reshape(shape, order=order)
    elements = []
    for window in choose_cut(Content(shape, order, itemsize), ranks, window_bytes, window_layout).windows():
        part = positions[window.region]
        assert part.shape == window.shape
        assert 0 < part.size == window.elements <= window_bytes // itemsize
        elements += part.ravel(order=order).tolist()
    assert elements == list(range(positions.size))


def test_windows_are_as_long_as_the_memory_allows():
    def window_layout(window, dimension):
        distributions = ["balanced" if d == dimension else "*" for d in range(2)]
        return plait.Layout(window, distributions, grid=(4,))

    rows = choose_cut(Content((1000, 500), "C", 8), 4, 1 << 20, window_layout)
    assert (rows.slow, rows.dimension, rows.count) == ((), 0, 260)  # 262 rows of 4000 bytes, 65 for each rank
    few = choose_cut(Content((3, 10_000_000), "C", 8), 4, 1 << 20, window_layout)
    assert (few.slow, few.dimension, few.count) == ((0,), 1, 131_072)
    columns = choose_cut(Content((1000, 500), "F", 8), 4, 1 << 20, window_layout)
    assert (columns.slow, columns.dimension, columns.count) == ((), 1, 128)
    with pytest.raises(plait.ArgumentError, match="31 bytes, holds no element of 32 bytes"):
        choose_cut(Content((1000, 500), "C", 32), 1, 31, window_layout)


# {0} is the test's folder.
URLS = ["{0}/b.npy", "{0}/b.bin", "stripe:{0}/b.s?disks={0}/x,{0}/y&unit=100", "distant:b.d?folder={0}&striped=true"]


def has_shape_and_dtype(url):
    """Return whether the store at a URL holds the shape and the type of its array, as raw files do not."""
    return "npy" in url or url.startswith("distant:")


@pytest.mark.sampled(6)
@pytest.mark.parametrize("first", URLS)
@pytest.mark.parametrize("second", URLS)
def test_any_store_is_copied_to_any_other(tmp_path, first, second):
    for disk in "xy":
        (tmp_path / disk).mkdir()
    first, second = first.format(tmp_path), second.format(tmp_path).replace("b.", "c.")
    for shape, dtype, order in [((31, 17), ">f8", "C"), ((5, 6, 7), "i2", "F"), ((40,), "V3", "C"), ((), "<c16", "C")]:
        array = random_array(shape, dtype, order)
        np.save(tmp_path / "a.npy", array)
        plait.copy(tmp_path / "a.npy", first, memory=1000)
        raw = {} if has_shape_and_dtype(first) else {"shape": shape, "dtype": dtype, "order": order}
        result = plait.copy(first, second, **raw, memory=2000)
        assert (result.shape, result.dtype, result.bytes, result.ranks) == (shape, array.dtype, array.nbytes, 1)
        assert result.seconds > 0
        raw = {} if has_shape_and_dtype(second) else {"shape": shape, "dtype": dtype, "order": order}
        plait.copy(second, tmp_path / "back.npy", **raw)
        assert (tmp_path / "back.npy").read_bytes() == (tmp_path / "a.npy").read_bytes()


def test_raw_files_may_have_an_offset(tmp_path):
    array = random_array((20, 30), "f4")
    (tmp_path / "a").write_bytes(b"x" * 12 + array.tobytes())
    plait.copy(tmp_path / "a", tmp_path / "b.npy", shape=(20, 30), dtype="f4", offset=12)
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy").view("u4"), array.view("u4"))
    plait.copy(tmp_path / "b.npy", tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == array.tobytes()


@pytest.mark.parametrize("layout", ["(block, cyclic(3)) onto (2, 2)", "(*, *)", "(cyclic, *) onto (5)"])
def test_windows_may_have_any_layout(tmp_path, layout):
    array = random_array((31, 17))
    np.save(tmp_path / "a.npy", array)
    result = plait.copy(tmp_path / "a.npy", tmp_path / "b.npy", layout=layout, memory=3000)
    assert result.windows > 2
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()


def test_progress_is_reported_and_its_exceptions_stop_the_copy(tmp_path):
    array = random_array((64, 64))
    np.save(tmp_path / "a.npy", array)
    (tmp_path / "b.npy").write_bytes(b"old")
    calls = []

    def stop(done, total):
        calls.append((done, total))
        if done >= total // 2:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        plait.copy(tmp_path / "a.npy", tmp_path / "b.npy", memory=8192, progress=stop)
    assert calls[0][0] < calls[-1][0] < array.nbytes
    assert {total for _, total in calls} == {array.nbytes}
    assert (tmp_path / "b.npy").read_bytes() == b"old"
    assert list_folder(tmp_path) == ["a.npy", "b.npy"]
    calls.clear()
    result = plait.copy(
        tmp_path / "a.npy", tmp_path / "b.npy", memory=8192, progress=lambda *counts: calls.append(counts)
    )
    assert calls[-1] == (array.nbytes, array.nbytes)
    assert result.windows == len(calls)
    assert result.rate == pytest.approx(array.nbytes / result.seconds)


def test_a_source_cannot_be_the_target(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", random_array((4, 4)))
    os.symlink("a.npy", "link.npy")
    os.link("a.npy", "second.npy")
    pairs = [
        ("a.npy", "./a.npy"),
        ("a.npy", "link.npy"),
        ("a.npy", "second.npy"),
        ("a.npy", f"distant:a.npy?folder={tmp_path}"),
        ("stripe:a.npy?disks=.", "distant:%61.npy"),
    ]
    before = Path("a.npy").read_bytes()
    for source, target in pairs:
        with pytest.raises(plait.ArgumentError, match="is the source itself; name another target"):
            plait.copy(source, target)
    assert Path("a.npy").read_bytes() == before
    monkeypatch.setenv("PLAIT_DISTANT_FOLDER", "sub")
    assert local_path("distant:x/../b?unit=4K") == tmp_path / "sub/b"
    assert local_path("distant:b?folder=other%20one&unit=4K") == tmp_path / "other one/b"
    assert not same_location("distant:a.npy", "a.npy")


def test_invalid_copies_are_rejected(tmp_path):
    np.save(tmp_path / "a.npy", random_array((4, 4)))
    source, target = tmp_path / "a.npy", tmp_path / "b.npy"
    for options, text in [
        ({"memory": 0}, "memory=0 bytes hold nothing"),
        ({"memory": 8}, "holds no element of 8 bytes"),
        ({"memory": "much"}, "is not a number of bytes"),
        ({"layout": plait.Layout((4, 4), "(*, *)")}, "pass a text"),
        ({"layout": "(block, round) onto (2, 2)"}, "round"),
        ({"layout": "(block) onto (2)"}, "dimension"),
        ({"shape": (3, 3)}, "but the shape 3x3 was given"),
    ]:
        with pytest.raises(plait.ArgumentError) as caught:
            plait.copy(source, target, **options)
        assert text in str(caught.value)
    with pytest.raises(plait.StoreError, match="No such file"):
        plait.copy(tmp_path / "none.npy", target)
    with pytest.raises(plait.StoreError, match="No such file"):
        plait.copy(source, tmp_path / "none" / "b.npy")
    (tmp_path / "raw").write_bytes(b"12345678")
    with pytest.raises(plait.ArgumentError, match="shape and dtype must be given"):
        plait.copy(tmp_path / "raw", target)
    assert list_folder(tmp_path) == ["a.npy", "raw"]


MEASURE_COPY = """
import resource, sys, plait
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
plait.copy(sys.argv[1], sys.argv[2], memory=1 << 16)  # allocates what is allocated once
before = peak()
done = plait.copy(sys.argv[3], sys.argv[4], memory=int(sys.argv[5]))
print(peak() - before, done.windows)
"""


@pytest.mark.sampled(1)
@pytest.mark.parametrize("target", ["b.npy", "distant:b?striped=true&folder={0}"])
def test_memory_is_bounded(tmp_path, target):
    """Copy 96 MiB with a limit of 8 MiB; up to twice the limit passes, because allocators cache freed memory."""
    np.save(tmp_path / "small.npy", random_array((100, 100)))
    np.save(tmp_path / "a.npy", np.zeros((3 << 10, 4 << 10)))
    target = target.format(tmp_path)
    paths = [tmp_path / "small.npy", tmp_path / "c.npy", tmp_path / "a.npy", target]
    result = subprocess.run(
        [sys.executable, "-c", MEASURE_COPY, *map(str, paths), str(8 << 20)],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    peak_bytes, windows = map(int, result.stdout.split())
    assert windows >= 24
    assert peak_bytes < 16 << 20
    with plait.open(target if "distant" in target else tmp_path / target) as file:
        assert file.shape == (3 << 10, 4 << 10)
