"""Dry runs of plait.copy: the plan, compared with the real copy and with counts of accesses by enumeration."""

import json
import math
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

import plait
from plait.cli import main

pytestmark = pytest.mark.usefixtures("nothing_left")


def write_array(path, shape, **options):
    array = np.arange(math.prod(shape), dtype="f4").reshape(shape)
    with plait.open(path, "w", shape=shape, dtype="f4", **options) as file:
        file.write(array)


def count_accesses(shape, window, unit):
    """Return how often windows of shape `window` access storage units (chunks) of shape `unit`, by enumeration."""
    count = 0
    for index in np.ndindex(*(-(-size // length) for size, length in zip(shape, window, strict=True))):
        units = 1
        for i, length, size, extent in zip(index, window, shape, unit, strict=True):
            units *= (min((i + 1) * length, size) - 1) // extent - i * length // extent + 1
        count += units
    return count


@pytest.mark.parametrize("memory", ["8K", "64K", "16M"])
def test_the_plan_equals_the_copy(tmp_path, memory):
    shape = (128, 96)
    write_array(tmp_path / "a.zarr", shape, chunks=(4, 96), codec="zstd:1")
    options = {"chunks": (128, 3), "codec": "zstd:1", "memory": memory}
    planned = plait.copy(tmp_path / "a.zarr", tmp_path / "b.zarr", **options, dry_run=True)
    assert os.listdir(tmp_path) == ["a.zarr"]
    assert (planned.bytes, planned.windows) == (0, 0)
    (array,) = planned.plan
    result = plait.copy(tmp_path / "a.zarr", tmp_path / "b.zarr", **options)
    assert sum(planned.windows for planned in array.passes) == result.windows
    assert array.scratch == (shape[0] * shape[1] * 4 if len(array.passes) == 2 else 0)
    first, last = array.passes[0], array.passes[-1]
    assert (first.source, last.target) == ("source", "target")
    assert (first.read.what, first.read.shape, first.read.count) == ("chunks", (4, 96), 32)
    assert (last.write.what, last.write.shape, last.write.count) == ("chunks", (128, 3), 32)
    for pass_, end, unit in ((first, first.read, (4, 96)), (last, last.write, (128, 3))):
        assert end.times == count_accesses(shape, pass_.window, unit)
        assert end.bytes == end.times * math.prod(unit) * 4
        assert pass_.seconds > 0
    assert array.memory <= planned.dtype.itemsize * shape[0] * shape[1]


def test_plans_show_two_passes(tmp_path):
    shape = (2048, 2048)
    write_array(tmp_path / "a.zarr", shape, chunks=(8, 2048), codec="zstd:1")
    planned = plait.copy(
        tmp_path / "a.zarr", tmp_path / "b.zarr", chunks=(2048, 8), codec="zstd:1", memory="2M", dry_run=True
    )
    (array,) = planned.plan
    assert [(pass_.source, pass_.target) for pass_ in array.passes] == [("source", "scratch"), ("scratch", "target")]
    assert array.scratch == 16 << 20
    assert array.passes[0].read.times == array.passes[1].write.times == 256
    run = CliRunner().invoke(
        main,
        ["copy", f"{tmp_path}/a.zarr", f"{tmp_path}/b.zarr", "--chunks", "2048,8", "--codec", "zstd:1", "--dry-run",
         "--memory", "2M"],
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    assert "source to scratch" in run.output
    assert "256 chunks of 2048x8, once" in run.output
    assert "16 MiB of disk in between" in run.output
    assert run.output.rstrip().endswith("nothing was written")
    assert os.listdir(tmp_path) == ["a.zarr"]


def test_plans_count_shards_and_contiguous_stretches(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((64, 64)))
    planned = plait.copy(
        tmp_path / "a.npy", tmp_path / "b.zarr", chunks=(16, 16), shards=(32, 64), memory="8K", dry_run=True
    )
    (single_pass,) = planned.plan[0].passes
    assert (single_pass.write.what, single_pass.write.shape, single_pass.write.count) == ("shards", (32, 64), 2)
    assert single_pass.write.times == count_accesses((64, 64), single_pass.window, (32, 64))
    assert single_pass.read.what == "stretches"
    transposed = plait.copy(tmp_path / "a.npy", tmp_path / "b.npy", target_order="F", memory=2 * 8 * 256, dry_run=True)
    (single_pass,) = transposed.plan[0].passes
    rows, columns = single_pass.window
    # A window of whole rows is one stretch of the source, and others have a stretch for each row; in the target, which
    # is in column-major order, the same holds for columns.
    reads = 64 * 64 // columns if columns < 64 else 64 // rows
    writes = 64 * 64 // rows if rows < 64 else 64 // columns
    assert (single_pass.read.count, single_pass.write.count) == (reads, writes)


def test_plans_of_all_arrays_are_printed_as_json(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros((4, 5)), y=np.zeros(7, "i2"))
    run = CliRunner().invoke(main, ["copy", f"{tmp_path}/a.npz", f"{tmp_path}/b.safetensors", "--dry-run", "--json"])
    assert run.exit_code == 0, run.output
    plan = json.loads(run.output)["plan"]
    assert [(array["name"], array["shape"], array["dtype"]) for array in plan] == [
        ("x", [4, 5], "float64"),
        ("y", [7], "int16"),
    ]
    assert [array["passes"][0]["write"]["bytes"] for array in plan] == [160, 14]
    assert os.listdir(tmp_path) == ["a.npz"]


def test_dry_runs_report_impossible_copies(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((4, 4)))
    for target, options, message in [
        ("b.zarr", {"chunks": (4,)}, "chunks has 1 sizes"),
        ("b.zarr", {"codec": "lzma"}, "lzma"),
        ("b.npy", {"chunks": (2, 2)}, "in one piece"),
        ("a.npy", {}, "is the source itself"),
        ("pipe:b", {}, "dry_run needs a source and a target that can be read again"),
    ]:
        name = target if ":" in target else tmp_path / target
        with pytest.raises(plait.ArgumentError) as raised:
            plait.copy(tmp_path / "a.npy", name, dry_run=True, **options)
        assert message in str(raised.value)


CHUNKS = {"rows": (512, 1024), "columns": (1024, 512)}  # of 4 MiB

MEASURE_COPY = """
import sys
import plait

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))

source, target, chunks, codec, memory = sys.argv[1:]
plait.copy("small.npy", f"warm-{target}", chunks=(8, 8), codec=codec)
plait.copy(f"warm-{target}", f"warm-2-{target}", codec=codec)
before = peak()
plait.copy(source, target, chunks=eval(chunks), codec=codec, memory=int(memory))
print(peak() - before)
"""


@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
@pytest.mark.parametrize(
    ("ends", "codec"),
    [(("a.zarr", "b.zarr"), "zstd:1"), (("a.h5", "b.zarr"), "zstd:1"), (("a.zarr", "b.h5"), "gzip:1")],
)
def test_memory_includes_buffers_of_compressed_chunks(tmp_path, ends, codec, chunks):
    source, target = ends
    np.save(tmp_path / "small.npy", np.zeros((16, 16)))
    array = np.random.default_rng(3).random((2048, 4096))  # 64 MiB, hardly compressible
    with plait.open(
        tmp_path / source, "w", shape=array.shape, dtype=array.dtype, chunks=CHUNKS["rows"], codec=codec
    ) as file:
        file.write(array)
    memory, libraries = 24 << 20, 12 << 20  # bytes that the copy may use, and that libraries may use beside it
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", MEASURE_COPY, source, target, str(chunks), codec, str(memory)],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert int(run.stdout) < memory + libraries
    np.testing.assert_array_equal(plait.open(tmp_path / target).read(), array)


def test_too_little_memory_for_compressed_chunks_gives_a_warning(tmp_path):
    array = np.arange(1024 * 1024, dtype="f8").reshape(1024, 1024)
    with plait.open(tmp_path / "a.zarr", "w", shape=array.shape, dtype="f8", chunks=(512, 512), codec="zstd:1") as file:
        file.write(array)
    with pytest.warns(UserWarning, match=f"memory=4194304 bytes are too few .* give memory={12 << 20} or more"):
        plait.copy(tmp_path / "a.zarr", tmp_path / "b.zarr", codec="zstd:1", memory="4M")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plait.copy(tmp_path / "a.zarr", tmp_path / "c.zarr", codec="zstd:1", memory="12M")
    np.testing.assert_array_equal(plait.open(tmp_path / "c.zarr").read(), array)


def test_buffers_of_further_threads_leave_less_memory_for_windows(tmp_path, monkeypatch):
    write_array(tmp_path / "a.zarr", (1024, 1024), chunks=(64, 1024), codec="zstd:1")  # 256 KiB a chunk

    def plan_memory(cores, memory="3M"):
        monkeypatch.setattr(os, "cpu_count", lambda: cores)
        options = {"chunks": (64, 1024), "codec": "zstd:1", "memory": memory, "dry_run": True}
        return plait.copy(tmp_path / "a.zarr", tmp_path / "b.zarr", **options).plan[0].memory

    # 5 chunks of 256 KiB leave 1.75 MiB for windows. Half of the limit suffices for 3 threads of two chunks each.
    assert plan_memory(3) < plan_memory(1) <= 1792 << 10
    assert plan_memory(3) == plan_memory(64) <= (1792 << 10) - 4 * (256 << 10)
