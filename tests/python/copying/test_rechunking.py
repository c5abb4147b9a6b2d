"""Copies that change chunks, compression and order, by windows that suit source and target, in one or two passes."""

import ctypes.util
import itertools
import math
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner
from zarr_locations import entries

import plait
from plait._copying.boxes import choose_boxes, make_storage
from plait._copying.passes import choose_passes
from plait._core import Content
from plait.cli import main

SHAPE = (60, 45, 8)


def make_array(dtype="f4", shape=SHAPE):
    return np.random.default_rng(2).integers(0, 99, shape).astype(dtype)


def write_array(path, array, **options):
    with plait.open(path, "w", shape=array.shape, dtype=array.dtype, **options) as file:
        file.write(array)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("memory", [1 << 12, 1 << 14, 1 << 20])
@pytest.mark.parametrize("codecs", list(itertools.product(["none", "zstd:1"], repeat=2)))
def test_chunks_are_changed(location, memory, codecs, effort):
    array = make_array()
    write_array(location / "a.zarr", array, chunks=(4, 45, 3), codec=codecs[0])
    for number, chunks in enumerate([(60, 2, 8), (7, 7, 7), *effort.choose([], [(1, 1, 1)]), (60, 45, 8)]):
        target = location / f"{number}.zarr"
        plait.copy(location / "a.zarr", target, chunks=chunks, codec=codecs[1], memory=memory)
        with plait.open(target) as file:
            assert file.chunks == chunks
            np.testing.assert_array_equal(file.read(), array)
    assert len(entries(location)) == effort.choose(4, 5)


@pytest.mark.parametrize("orders", list(itertools.product("CF", repeat=2)))
@pytest.mark.parametrize("ends", list(itertools.product([".npy", ".zarr"], repeat=2)))
def test_orders_are_changed(tmp_path, location, orders, ends):
    array = make_array("<i2")
    source, target = (
        (tmp_path if end == ".npy" else location) / f"{name}{end}" for name, end in zip("ab", ends, strict=True)
    )
    write_array(source, array, order=orders[0])
    plait.copy(source, target, target_order=orders[1], memory="8K")
    with plait.open(target) as file:
        assert file.order == orders[1]
        np.testing.assert_array_equal(file.read(), array)


def test_chunks_and_names_of_the_source_are_preserved(location):
    write_array(location / "a.zarr", make_array(), chunks=(7, 8, 3), dimension_names=["t", "y", "x"])
    plait.copy(location / "a.zarr", location / "b.zarr", codec="zstd")
    (info,) = plait.arrays_in(location / "b.zarr")
    assert (info.chunks, info.dimension_names, info.whole_chunks) == ((7, 8, 3), ("t", "y", "x"), True)


def test_chunks_by_dimension_names(location):
    write_array(location / "a.zarr", make_array(), chunks=(7, 8, 3), dimension_names=["t", "y", "x"])
    run = CliRunner().invoke(main, ["copy", f"{location}/a.zarr", f"{location}/b.zarr", "--chunks", "t=16,x=4"])
    assert run.exit_code == 0, run.output
    assert plait.open(location / "b.zarr").chunks == (16, 45, 4)
    run = CliRunner().invoke(main, ["copy", f"{location}/a.zarr", f"{location}/c.zarr", "--chunks", "-1,5x2"])
    assert run.exit_code == 0, run.output
    assert plait.open(location / "c.zarr").chunks == (60, 5, 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"chunks": {"lat": 4}}, "those of a.zarr are without names"),
        ({"chunks": (4, 4)}, "chunks has 2 sizes, but"),
        ({"chunks": 4}, "are no sizes"),
        ({"codec": 3}, "is not a codec"),
        ({"target_order": "c"}, "target_order='c' is not known"),
    ],
)
def test_invalid_options_are_errors(location, options, message):
    write_array(location / "a.zarr", make_array())
    with pytest.raises(plait.ArgumentError) as raised:
        plait.copy(location / "a.zarr", location / "b.zarr", **options)
    assert message.replace("a.zarr", "data") in str(raised.value)
    assert entries(location) == ["a.zarr"]


def test_options_that_the_target_format_lacks_are_errors(tmp_path):
    np.save(tmp_path / "a.npy", make_array())
    for options, message in [({"chunks": (4, 4, 4)}, "in one piece"), ({"codec": "zstd"}, "in one piece")]:
        with pytest.raises(plait.ArgumentError, match=message):
            plait.copy(tmp_path / "a.npy", tmp_path / "b.npy", **options)
    with pytest.raises(plait.ArgumentError, match="in order C, but target_order=F"):
        plait.copy(tmp_path / "a.npy", tmp_path / "b.safetensors", target_order="F")


def test_all_arrays_of_a_file_are_copied(tmp_path, location):
    arrays = {"t": make_array(), "group/u": make_array("i2", (9, 4)), "scalar": make_array("f8", ())}
    np.savez(tmp_path / "a.npz", **arrays)
    plait.copy(tmp_path / "a.npz", location / "b.zarr", codec="gzip:1")
    plait.copy(location / "b.zarr", tmp_path / "c.npz")
    with np.load(tmp_path / "c.npz") as archive:
        assert sorted(archive) == sorted(arrays)
        for name, array in arrays.items():
            np.testing.assert_array_equal(archive[name], array)
            np.testing.assert_array_equal(plait.open(f"{location}/b.zarr::/{name}").read(), array)
    plait.copy(f"{location}/b.zarr::/t", f"{location}/b.zarr::/again")
    np.testing.assert_array_equal(plait.open(f"{location}/b.zarr::/again").read(), arrays["t"])
    with pytest.raises(plait.ArgumentError, match="is the source itself"):
        plait.copy(f"{location}/b.zarr::/t", f"{location}/b.zarr::t")


def count_accesses(windows, chunks):
    """Return how often windows access chunks, counted by enumeration."""
    count = 0
    for window in windows:
        count += math.prod(
            (part.stop - 1) // size - part.start // size + 1 for part, size in zip(window.region, chunks, strict=True)
        )
    return count


def test_windows_cover_the_array_once(effort):
    generator = random.Random(1)
    for _ in range(effort.choose(6, 60)):
        shape = tuple(generator.randint(1, 30) for _ in range(generator.randint(1, 4)))
        ends = [
            make_storage(
                generator.choice("CF"),
                tuple(generator.randint(1, 20) for _ in shape) if generator.random() < 0.7 else None,
                generator.random() < 0.5,
            )
            for _ in range(2)
        ]
        memory = generator.choice([8, 100, 3000, 1 << 20])
        visits = np.zeros(shape, int)
        for part in choose_boxes(Content(shape, "C", 8), ends[0], ends[1], memory).windows():
            visits[part.region] += 1
            assert 8 * part.elements <= memory
        assert (visits == 1).all()


def test_chunks_are_accessed_once_if_memory_suffices():
    rows, columns = (16, 512), (512, 16)
    plan = choose_boxes(
        Content((512, 512), "C", 4), make_storage("C", rows, True), make_storage("C", columns, True), 1 << 20
    )
    assert count_accesses(plan.windows(), rows) == 32
    assert count_accesses(plan.windows(), columns) == 32
    plan = choose_boxes(Content((512, 512), "C", 4), make_storage("C", rows, True), make_storage("C"), 1 << 17)
    assert count_accesses(plan.windows(), rows) == 32


def test_two_passes_if_neither_end_fits():
    shape, rows, columns = (4096, 4096), (16, 4096), (4096, 16)
    memory = 4 << 20
    compressed_rows, compressed_columns = make_storage("C", rows, True), make_storage("C", columns, True)

    def choose(source, target, allow_intermediate):
        return choose_passes(Content(shape, "C", 4), source, target, memory, allow_intermediate)

    plan = choose(compressed_rows, compressed_columns, allow_intermediate=True)
    assert plan.intermediate_chunks is not None
    accesses = [
        count_accesses(pass_.windows(), chunks) for pass_, chunks in zip(plan.passes, (rows, columns), strict=True)
    ]
    assert accesses == [256, 256]  # each of the 4096 / 16 chunks once
    one_pass = [
        choose(compressed_rows, compressed_columns, allow_intermediate=False),
        choose(make_storage("C", rows), make_storage("C", columns), allow_intermediate=True),
        choose(compressed_rows, compressed_rows, allow_intermediate=True),
    ]
    assert [plan.intermediate_chunks for plan in one_pass] == [None] * 3


MEASURE_COPY = """
import sys
import plait


def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


plait.copy("a.npy", "warm.zarr", chunks=(8, 8), memory="1M")
before = peak()
plait.copy(sys.argv[1], sys.argv[2], chunks=eval(sys.argv[3]), codec=sys.argv[4], memory="16M")
print(peak() - before)
"""


@pytest.mark.long
@pytest.mark.parametrize("codec", ["none", "zstd:1"])
def test_memory_is_bounded(tmp_path, codec):
    np.save(tmp_path / "a.npy", np.zeros((8, 8)))
    array = np.arange(8192 * 4096, dtype="f4").reshape(8192, 4096)  # 128 MiB
    write_array(tmp_path / "rows.zarr", array, chunks=(64, 4096), codec=codec)
    run = subprocess.run(
        [sys.executable, "-c", MEASURE_COPY, "rows.zarr", "columns.zarr", "(8192, 64)", codec],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(run.stdout) < (16 << 10) + (64 << 10)
    np.testing.assert_array_equal(plait.open(tmp_path / "columns.zarr").read(), array)


def test_a_killed_copy_leaves_no_array(tmp_path, effort):
    zarr = pytest.importorskip("zarr")
    array = np.arange(1 << 21, dtype="f4").reshape(1024, 2048)
    write_array(tmp_path / "a.zarr", array, chunks=(16, 2048), codec="zstd:1")
    code = (
        "import os, sys, plait\n"
        "def stop(done, total):\n    if done > int(sys.argv[1]) * total // 8: os.kill(os.getpid(), 9)\n"
        "plait.copy('a.zarr', 'b.zarr', chunks=(1024, 32), codec='zstd:1', memory='1M', progress=stop)"
    )
    for eighths in effort.sample(range(0, 8, 2), 1):
        run = subprocess.run([sys.executable, "-c", code, str(eighths)], cwd=tmp_path, check=False)
        assert run.returncode == -9
        assert [path for path in os.listdir(tmp_path) if not path.startswith(".")] == ["a.zarr"]
    plait.copy(tmp_path / "a.zarr", tmp_path / "b.zarr", chunks=(1024, 32), codec="zstd:1", memory="1M")
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "b.zarr", mode="r")[...], array)
    assert sorted(os.listdir(tmp_path)) == ["a.zarr", "b.zarr"]


@pytest.mark.parametrize("order", ["C", "F"])
def test_many_dimensions_do_not_slow_down_planning(order):
    shape = (2,) * 30
    plan = choose_boxes(Content(shape, "C", 1), make_storage(order), make_storage("C", (1,) * 30, True), 1 << 20)
    assert plan.window != shape
    assert all(1 <= size <= 2 for size in plan.window)


CHECK_GZIP = """
import sys
import zlib

import numpy as np

import plait

array = np.load("a.npy")
for level in (0, 1, 4, 9):
    options = {"chunks": (64, 256), "codec": f"gzip:{level}"}
    with plait.open("a.zarr", "w", shape=array.shape, dtype=array.dtype, **options) as file:
        file.write(array)
    chunks = [zlib.decompress(open(f"a.zarr/c/{i}/0", "rb").read(), 31) for i in range(2)]
    assert b"".join(chunks) == array.tobytes()
    assert (plait.open("a.zarr").read() == array).all()
print("libdeflate.so.0" in open("/proc/self/maps").read())
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize("kind", ["smooth", "random"])
@pytest.mark.parametrize("is_loadable", [True, False])
def test_gzip_is_the_same_with_libdeflate_and_without(tmp_path, is_loadable, kind):
    array = np.arange(128 * 256, dtype="f8") if kind == "smooth" else np.random.default_rng(1).random(128 * 256)
    np.save(tmp_path / "a.npy", array.reshape(128, 256))
    environment = dict(os.environ)
    if not is_loadable:
        (tmp_path / "libdeflate.so.0").touch()  # the loader rejects this file
        environment["LD_LIBRARY_PATH"] = f"{tmp_path}:{environment.get('LD_LIBRARY_PATH', '')}"
    run = subprocess.run(
        [sys.executable, "-c", CHECK_GZIP], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    is_installed = ctypes.util.find_library("deflate") is not None
    assert run.stdout.strip() == str(is_loadable and is_installed)
