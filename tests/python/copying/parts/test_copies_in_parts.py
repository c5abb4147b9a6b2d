"""Copies in parts (plait.copy_tasks): the target equals that of plait.copy, for any order and repetition of the parts.

The tasks of a copy run in one phase, or in two if an intermediate array is written first.
"""

import json
import pickle
import random
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import plait
from plait._arguments.dtypes import to_dtype
from plait._copying.parts.arguments import decode_dtype, encode_dtype, make_job, to_values
from plait._copying.parts.folder import PartsFolder

zarr = pytest.importorskip("zarr")

pytestmark = pytest.mark.usefixtures("nothing_left", "source")

SHAPE = (48, 30, 20)
FIELD = np.arange(np.prod(SHAPE), dtype="f4").reshape(SHAPE)
NAMES = ("time", "lat", "lon")
SERIES = {"chunks": {"time": -1, "lat": 8, "lon": 8}, "codec": "zstd:1"}


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Write FIELD to in.zarr in the test's own working directory."""
    monkeypatch.chdir(tmp_path)
    with plait.open(
        "in.zarr", "w", shape=SHAPE, dtype="f4", chunks=(1, 30, 20), codec="zstd:1", dimension_names=NAMES
    ) as file:
        file.write(FIELD)


def run_all(tasks):
    """Copy all parts, phase by phase, each phase in a random order, and return the result of the copy."""
    for phase in tasks.phases:
        shuffled = [*phase]
        random.shuffle(shuffled)
        for task in shuffled:
            plait.run_task(task)
    return plait.finish_copy(tasks)


def read_arrays(path):
    """Return the values of all arrays of a Zarr folder by their names; a single array has the name ""."""
    opened = zarr.open(path, mode="r")
    if isinstance(opened, zarr.Array):
        return {"": opened[...]}
    return {name: array[...] for name, array in opened.members(max_depth=None) if isinstance(array, zarr.Array)}


def list_files(path):
    """Return the names of all files in a folder, and the content of those with metadata."""
    files = [entry for entry in Path(path).rglob("*") if entry.is_file()]
    names = sorted(str(file.relative_to(path)) for file in files)
    return names, {
        str(file.relative_to(path)): json.loads(file.read_text("utf-8")) for file in files if file.name == "zarr.json"
    }


def check_equal(target, plain):
    """Check that two Zarr folders have the same files, metadata and values."""
    assert list_files(target) == list_files(plain)
    actual, expected = read_arrays(target), read_arrays(plain)
    assert actual.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(actual[name], array)


def write_dataset(name="data.zarr"):
    """Write a group with arrays of several sizes, coordinates and a scalar to the folder `name`; return `name`."""
    root = zarr.open_group(name, mode="w", attributes={"title": "parts"})
    for group in ("ocean", "land"):
        for array in ("heat", "wind"):
            created = root.create_array(
                f"{group}/{array}", shape=SHAPE, dtype="f4", chunks=(6, 30, 20), dimension_names=NAMES, fill_value=-1
            )
            created[...] = FIELD * len(array) + len(group)
            created.attrs["units"] = "K"
    for axis, size in zip(NAMES, SHAPE, strict=True):
        root.create_array(axis, shape=(size,), dtype="f8", chunks=(size,), dimension_names=(axis,))[...] = range(size)
    root.create_array("scalar", shape=(), dtype="i4")[...] = 7
    root.create_array("empty", shape=(0, 4), dtype="i2", chunks=(1, 4))
    zarr.consolidate_metadata(name)
    return name


@pytest.mark.parametrize(
    "options",
    [
        SERIES,
        {"chunks": (8, 8, 8)},
        {"chunks": (4, 8, 8), "shards": (16, 16, 16), "codec": "zstd:1"},
        {"chunks": (7, 9, 11), "region": "time=3:40,lat=1:29:2", "codec": "gzip:1"},
        {"axes": "lon,lat,time", "chunks": (4, 4, 48)},
        {"target_dtype": "f8", "chunks": (16, 10, 10)},
        {"region": [slice(5), slice(2, None), slice(None)], "target_order": "F", "chunks": (5, 7, 20)},
        {"verify": True, "chunks": (16, 16, 16), "memory": "64K"},
    ],
    ids=str,
)
@pytest.mark.parametrize("parts", [1, 5, 100])
def test_a_copy_in_parts_equals_a_plain_copy(options, parts):
    plait.copy("in.zarr", "plain.zarr", **options)
    tasks = plait.copy_tasks("in.zarr", "out.zarr", parts=parts, **options)
    assert len(tasks) == parts
    result = run_all(tasks)
    check_equal("out.zarr", "plain.zarr")
    assert (result.bytes, result.dtype, result.shape) == (tasks.bytes, *dtype_and_shape("plain.zarr"))


def dtype_and_shape(name):
    """Return the dtype and the shape of an array."""
    with plait.open(name) as file:
        return file.dtype, file.shape


@pytest.mark.parametrize("intermediate", [False, True])
@pytest.mark.parametrize("parts", [1, 3, 16])
def test_all_arrays_of_a_group_are_copied(parts, intermediate):
    options = {"chunks": {"time": -1, "lat": 8, "lon": 8}, "codec": "zstd:1"}
    plait.copy(write_dataset(), "plain.zarr", **options)
    tasks = plait.copy_tasks("data.zarr", "out.zarr", parts=parts, intermediate=intermediate, **options)
    run_all(tasks)
    check_equal("out.zarr", "plain.zarr")


def test_arrays_without_elements_need_no_part():
    zarr.create_array("none.zarr", shape=(0, 3), dtype="f4", chunks=(1, 3))
    run_all(plait.copy_tasks("none.zarr", "out.zarr", parts=2))
    assert zarr.open("out.zarr", mode="r").shape == (0, 3)


def test_sources_are_joined():
    for number in range(3):
        plait.copy("in.zarr", f"part-{number}.npy", region=f"time={16 * number}:{16 * number + 16}")
    run_all(plait.copy_tasks("part-*.npy", "out.zarr", parts=4, concat=0, chunks=(12, 10, 10)))
    np.testing.assert_array_equal(zarr.open("out.zarr", mode="r")[...], FIELD)


def test_hdf5_is_a_source():
    h5py = pytest.importorskip("h5py")
    with h5py.File("in.h5", "w") as file:
        file.create_dataset("a/field", data=FIELD, chunks=(8, 30, 20), compression=1)
        file.create_dataset("b", data=np.arange(5))
    run_all(plait.copy_tasks("in.h5", "out.zarr", parts=4, chunks=(48, 8, 8), intermediate=True))
    actual = read_arrays("out.zarr")
    np.testing.assert_array_equal(actual["a/field"], FIELD)
    np.testing.assert_array_equal(actual["b"], np.arange(5))


def test_two_phases_read_the_source_once():
    with pytest.warns(UserWarning, match=r"read the bytes of the source 12 times.*intermediate"):
        direct = plait.copy_tasks("in.zarr", "direct.zarr", parts=12, memory="64K", **SERIES)
    plait.discard_copy(direct)
    tasks = plait.copy_tasks("in.zarr", "out.zarr", parts=12, memory="64K", intermediate=True, **SERIES)
    assert direct.reads == 12
    assert tasks.reads == 1
    assert len(tasks.phases) == 2
    with pytest.raises(plait.ArgumentError, match=r"phase 1, but \d+ of \d+ parts of phase 1 are missing: 1-"):
        tasks.phases[1][0]()
    run_all(tasks)
    np.testing.assert_array_equal(zarr.open("out.zarr", mode="r")[...], FIELD)


def test_tasks_run_in_a_pool_and_repeatedly():
    tasks = plait.copy_tasks("in.zarr", "out.zarr", parts=6, **SERIES, intermediate=True)
    with ProcessPoolExecutor(4, get_context("spawn")) as pool:
        for phase in tasks.phases:
            results = [*pool.map(plait.run_task, [*phase, *phase, *reversed(phase)])]
            assert {result.part for result in results} == {task.part for task in phase}
    assert pickle.loads(pickle.dumps(tasks)) == tasks
    assert tasks[0]().repeated
    plait.finish_copy("out.zarr")
    np.testing.assert_array_equal(zarr.open("out.zarr", mode="r")[...], FIELD)


def test_dask_runs_tasks():
    dask = pytest.importorskip("dask")
    tasks = plait.copy_tasks("in.zarr", "out.zarr", parts=6, **SERIES)
    results = dask.compute(*[dask.delayed(plait.run_task)(task) for task in tasks], scheduler="processes")
    assert sum(result.bytes for result in results) == FIELD.nbytes
    plait.finish_copy(tasks)
    np.testing.assert_array_equal(zarr.open("out.zarr", mode="r")[...], FIELD)


def test_progress_counts_the_bytes_of_a_part():
    task = plait.copy_tasks("in.zarr", "out.zarr", parts=2, chunks=(8, 30, 20), memory="64K")[1]
    reports = []
    result = task(progress=lambda *counts: reports.append(counts))
    assert reports[-1] == (result.bytes, result.bytes)
    assert len(reports) == result.windows > 1
    plait.discard_copy("out.zarr")


@pytest.mark.parametrize(
    "dtype",
    ["<f8", "text", "<M8[ns]", [("x", "<f4"), ("y", "<i2", (3,)), ("z", [("u", "S4")])]],
    ids=["number", "text", "time", "fields"],
)
def test_plans_store_types(dtype):
    expected = to_dtype(dtype)
    stored = json.loads(json.dumps(encode_dtype(expected)))
    assert decode_dtype(stored) == expected
    values = json.loads(json.dumps(to_values("in.raw", {"dtype": expected, "shape": []})))
    job = make_job(values, "out.zarr")
    assert to_dtype(job.options.dtype) == expected
    assert job.options.shape == []


def test_types_whose_fields_overlap_are_errors():
    overlapping = np.dtype({"names": ["a", "b"], "formats": ["<i4", "<i2"], "offsets": [0, 2]})
    with pytest.raises(plait.ArgumentError, match="cannot be stored in the plan"):
        encode_dtype(overlapping)


def test_texts_are_copied():
    array = zarr.create_array("texts.zarr", shape=(6,), dtype="str", chunks=(2,))
    array[...] = np.array(["a", "bc", "", "def", "g", "hi"], dtype=object)
    result = run_all(plait.copy_tasks("texts.zarr", "out.zarr", parts=3))
    assert [*zarr.open("out.zarr", mode="r")[...]] == ["a", "bc", "", "def", "g", "hi"]
    with plait.open("out.zarr") as file:
        assert result.dtype == file.dtype


def test_parts_repeat_no_warnings():
    for number in range(2):
        root = zarr.open_group(f"run-{number}.zarr", mode="w")
        array = root.create_array("heat", shape=(4, 3), dtype="f4", chunks=(2, 3), dimension_names=("time", "lat"))
        array[...] = number
        array.attrs["history"] = f"run {number}"
    with pytest.warns(UserWarning, match="attributes differ"):
        tasks = plait.copy_tasks("run-*.zarr", "out.zarr", parts=2, concat="time")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        run_all(tasks)
    np.testing.assert_array_equal(read_arrays("out.zarr").popitem()[1][:, 0], [0] * 4 + [1] * 4)


def test_arrays_of_joined_files_are_compared_once(monkeypatch):
    for number in range(3):
        root = zarr.open_group(f"run-{number}.zarr", mode="w")
        for name, names in (("heat", ("time", "lat")), ("mask", ("lat", "lon"))):
            array = root.create_array(name, shape=(4, 4), dtype="f4", chunks=(2, 4), dimension_names=names)
            array[...] = number if name == "heat" else 7
    compared = []
    joining = "plait._views.joined_files.joining"
    compare_elements = __import__(joining, fromlist=["compare_elements"]).compare_elements

    def count_and_compare(arrays, *others):
        compared.append(len(arrays))
        compare_elements(arrays, *others)

    monkeypatch.setattr(f"{joining}.compare_elements", count_and_compare)
    tasks = plait.copy_tasks("run-*.zarr", "out.zarr", parts=3, concat="time")
    assert sum(compared) == 1
    run_all(tasks)
    assert sum(compared) == 1
    np.testing.assert_array_equal(read_arrays("out.zarr")["mask"], np.full((4, 4), 7))


def test_each_record_is_read_once_at_the_end(monkeypatch):
    tasks = plait.copy_tasks("in.zarr", "out.zarr", parts=6, chunks=(8, 30, 20))
    numbers_read = []
    read_record = PartsFolder.record

    def log_and_read_record(folder, plan, number):
        numbers_read.append(number)
        return read_record(folder, plan, number)

    monkeypatch.setattr(PartsFolder, "record", log_and_read_record)
    for task in tasks:
        task()
    assert numbers_read == [1, 2, 3, 4, 5, 6]
    plait.finish_copy(tasks)
    assert sorted(numbers_read[6:]) == [1, 2, 3, 4, 5, 6]


def test_intermediate_arrays_are_planned_only_if_the_source_is_read_repeatedly(monkeypatch):
    # A call of None would fail.
    monkeypatch.setattr("plait._copying.parts.beginning.Planner.can_use_intermediate", None)
    run_all(plait.copy_tasks("in.zarr", "out.zarr", parts=3))


@pytest.mark.parametrize("format", ["zarr", "zarr2"])
@pytest.mark.parametrize("consolidated", [None, False])
def test_metadata_is_consolidated_as_by_a_plain_copy(format, consolidated):
    write_dataset()
    run_all(plait.copy_tasks("data.zarr", "out.zarr", parts=2, format=format, consolidated=consolidated))
    plait.copy("data.zarr", "plain.zarr", format=format, consolidated=consolidated)
    check_equal("out.zarr", "plain.zarr")
    root = json.loads(Path("out.zarr/zarr.json").read_text("utf-8")) if format == "zarr" else {}
    is_consolidated = "consolidated_metadata" in root or Path("out.zarr/.zmetadata").exists()
    assert is_consolidated == (consolidated is None)
