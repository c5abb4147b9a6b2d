"""Copies in parts with wrong calls of begin, part or finish, and with killed parts."""

import errno
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import plait
from plait._copying.parts.folder import PartsFolder

zarr = pytest.importorskip("zarr")

pytestmark = pytest.mark.usefixtures("nothing_left", "source")

SHAPE = (40, 60, 64)
FIELD = np.random.default_rng(1).integers(0, 1000, SHAPE).astype("f4")


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Write FIELD to in.zarr in the test's own working directory."""
    monkeypatch.chdir(tmp_path)
    with plait.open("in.zarr", "w", shape=SHAPE, dtype="f4", chunks=(1, 60, 64), codec="zstd:1") as file:
        file.write(FIELD)


def begin_copy(parts=4, target="out.zarr", **options):
    return plait.copy_tasks("in.zarr", target, parts=parts, **{"chunks": (10, 60, 64), **options})


def check_target(name="out.zarr"):
    np.testing.assert_array_equal(zarr.open(name, mode="r")[...], FIELD)


def test_missing_parts_are_listed():
    tasks = begin_copy(8, chunks=(5, 60, 64))
    for number in (1, 4, 7):
        tasks[number]()
    with pytest.raises(plait.ArgumentError, match=r"5 of 8 parts are missing: 1, 3-4, 6-7; copy these first"):
        plait.finish_copy(tasks)
    for task in tasks:
        task()
    plait.finish_copy(tasks)
    check_target()


def test_beginning_the_same_copy_again_returns_its_tasks():
    tasks = begin_copy()
    tasks[2]()
    assert begin_copy() == tasks
    assert tasks[2]().repeated
    plait.discard_copy(tasks)
    assert not Path("out.zarr").exists()


@pytest.mark.parametrize(
    ("options", "difference"),
    [
        ({"chunks": (20, 60, 64)}, r"chunks=\[10, 60, 64\], but this call has chunks=\[20, 60, 64\]"),
        ({"codec": "zstd:1"}, "codec=nothing, but this call has codec='zstd:1'"),
        ({"parts": 5}, "in 4 parts without an intermediate array has begun, but 5 parts"),
    ],
)
def test_another_copy_to_the_target_is_an_error(options, difference):
    tasks = begin_copy()
    with pytest.raises(plait.ArgumentError, match=difference):
        begin_copy(**options)
    plait.discard_copy(tasks)


def test_tasks_of_a_discarded_copy_are_errors():
    old = begin_copy()
    plait.discard_copy(old)
    new = begin_copy()
    for call in (old[0], lambda: plait.finish_copy(old)):
        with pytest.raises(plait.ArgumentError, match=f"of the plan {old.plan}, and that of the copy .* {new.plan}"):
            call()
    plait.discard_copy(new)
    with pytest.raises(plait.ArgumentError, match="no copy has begun"):
        new[0]()
    with pytest.raises(plait.ArgumentError, match="no copy has begun"):
        plait.discard_copy("out.zarr")


def test_a_part_of_a_finished_copy_is_an_error():
    tasks = begin_copy(1)
    tasks[0]()
    plait.finish_copy(tasks)
    with pytest.raises(plait.ArgumentError, match="it exists, so the copy may have been finished"):
        tasks[0]()
    with pytest.raises(plait.ArgumentError, match=r"out.zarr exists, but a copy in parts makes a new folder"):
        begin_copy()


def test_a_changed_source_is_detected():
    tasks = begin_copy(2)
    tasks[0]()
    with plait.open("in.zarr", "r+") as file:
        file[0, 0, 0] = -5
    for call in (tasks[1], lambda: begin_copy(2)):
        with pytest.raises(plait.ArgumentError, match=r"in.zarr has been written or replaced since"):
            call()
    plait.discard_copy(tasks)


def test_a_target_that_appears_is_not_replaced():
    tasks = begin_copy(1)
    tasks[0]()
    zarr.create_array("out.zarr", shape=3, dtype="i1")
    with pytest.raises(plait.ArgumentError, match=r"out.zarr exists"):
        plait.finish_copy(tasks)
    os.rename("out.zarr", "other.zarr")
    plait.finish_copy(tasks)
    check_target()


def test_a_record_of_another_plan_is_an_error():
    tasks = begin_copy(2)
    tasks[0]()
    path = Path(".out.zarr.plait-parts", tasks.plan, "done", "1.json")
    record = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**record, "plan": "0123"}), encoding="utf-8")
    with pytest.raises(plait.ArgumentError, match="is the record of part 1 of the plan 0123"):
        plait.finish_copy(tasks)
    path.write_text("{", encoding="utf-8")
    with pytest.raises(plait.ArgumentError, match="is not the record of a part"):
        tasks[0]()
    plait.discard_copy(tasks)


def test_a_part_whose_copy_is_discarded_meanwhile_ends_with_an_error():
    tasks = begin_copy(2)
    with pytest.raises(plait.StoreError, match="another process has finished or discarded the copy"):
        tasks[0](progress=lambda done, total: plait.discard_copy("out.zarr"))
    assert not Path("out.zarr").exists()


def test_a_copy_that_was_killed_while_it_was_finished_can_be_finished(monkeypatch):
    tasks = begin_copy(1)
    tasks[0]()
    with monkeypatch.context() as patched:
        patched.setattr(PartsFolder, "remove", lambda folder: None)  # as if it was killed before the last step
        plait.finish_copy(tasks)
    assert plait.finish_copy(tasks).bytes == FIELD.nbytes
    check_target()


def test_a_difference_is_detected_before_a_part_is_recorded(monkeypatch):
    tasks = begin_copy(2, verify=True)
    monkeypatch.setattr("plait._copying.parts.opening.BoxTarget.write", lambda *arguments: None)
    with pytest.raises(plait.StoreError, match="differs at index"):
        tasks[0]()
    with pytest.raises(plait.ArgumentError, match="2 of 2 parts are missing: 1-2"):
        plait.finish_copy(tasks)
    plait.discard_copy(tasks)


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 99}', '{"version": 1}'])
def test_a_damaged_plan_is_an_error(text):
    tasks = begin_copy(2)
    Path(".out.zarr.plait-parts/plan.json").write_text(text, encoding="utf-8")
    with pytest.raises(plait.ArgumentError, match=r"is not the plan|another version"):
        tasks[0]()
    plait.discard_copy(tasks)


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("out.h5", "index of the chunks of a new HDF5 file is written by one program"),
        ("out.npy", "writes a new Zarr folder"),
        ("out.zarr::a", "writes a new Zarr folder"),
        ("{variable}.zarr", "writes a new Zarr folder"),
        ("pipe:out", "needs the name of a new Zarr folder"),
        ("memory://bucket/out.zarr", "writes a new Zarr folder"),
        (None, "needs the name of a new Zarr folder"),
    ],
)
def test_targets_that_are_no_new_zarr_folders_are_errors(target, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        plait.copy_tasks("in.zarr", target, parts=2)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: begin_copy(0), "parts=0 was given"),
        (lambda: begin_copy(2, resume=True), "resume was given, but copies in parts have no such argument"),
        (lambda: begin_copy(2, durable=False), "durable was given, but copies in parts have no such argument"),
        (lambda: begin_copy(2, unlimited=()), "unlimited or fixed dimensions were given"),
        (lambda: begin_copy(2, unlimited="time"), "unlimited or fixed dimensions were given"),
        (lambda: begin_copy(2, memory=0), "memory=0 bytes hold nothing"),
        (lambda: begin_copy(2, chunks=(1, 2)), "chunks has 2 sizes"),
        (lambda: plait.copy_tasks(["in.zarr", "in.zarr"], "out.zarr", parts=2), "2 were given"),
        (lambda: plait.copy_tasks("pipe:in", "out.zarr", parts=2), "this one is read once"),
        (lambda: plait.copy_tasks("in.zarr", "in.zarr", parts=2), "in.zarr exists"),
        (lambda: plait.copy_tasks("no.zarr", "out.zarr", parts=2), "no.zarr"),
        (lambda: plait.copy_tasks("in.zarr", "no/out.zarr", parts=2), "create the folder"),
        (lambda: plait.run_task(3), "the task is"),
        (lambda: begin_copy(2)[2], "index"),
    ],
)
def test_wrong_arguments_are_errors(call, reason):
    with pytest.raises((plait.Error, IndexError), match=reason):
        call()
    if Path(".out.zarr.plait-parts").exists():
        plait.discard_copy("out.zarr")


RUN_TASK = "import sys, pickle, plait; plait.run_task(pickle.load(open(sys.argv[1], 'rb')))"


def test_killed_parts_are_copied_again(tmp_path):
    import pickle

    seed = secrets.randbelow(1 << 30)
    print("seed", seed)  # pytest shows it if the test fails
    generator = random.Random(seed)
    tasks = begin_copy(6, chunks=(40, 10, 16), codec="zstd:9", intermediate=True)
    for phase in tasks.phases:
        for task in phase:
            Path("task").write_bytes(pickle.dumps(task))
            for _ in range(2):
                process = subprocess.Popen([sys.executable, "-c", RUN_TASK, "task"], stderr=subprocess.DEVNULL)
                time.sleep(generator.uniform(0.1, 0.6))
                process.send_signal(signal.SIGKILL)
                process.wait()
            task()
    os.unlink("task")
    plait.finish_copy(tasks)
    check_target()


def test_leftovers_of_killed_processes_are_removed():
    tasks = begin_copy(2)
    work = Path(".out.zarr.plait-parts", tasks.plan, "work")
    host = socket.gethostname()
    for name in (f"1-{host}-1-0", f"1-{host}-other-1-0"):
        (work / name).mkdir()
        (work / name / "chunk").write_bytes(b"half")
    tasks[0]()
    assert [path.name for path in work.iterdir()] == [f"1-{host}-other-1-0"]  # another host may still write it
    plait.discard_copy(tasks)


def test_failing_to_list_chunks_is_an_error(monkeypatch):
    tasks = begin_copy(1)
    real_scandir = os.scandir

    def fail_for_chunks(path="."):
        if str(path).endswith(f"{os.sep}c"):
            raise PermissionError(errno.EACCES, "not permitted", str(path))
        return real_scandir(path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", fail_for_chunks)
        with pytest.raises(plait.StoreError, match="not permitted"):
            tasks[0]()
    with pytest.raises(plait.ArgumentError, match="1 of 1 parts is missing"):
        plait.finish_copy(tasks)
    tasks[0]()
    plait.finish_copy(tasks)
    check_target()
