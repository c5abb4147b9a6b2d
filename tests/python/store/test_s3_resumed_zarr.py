"""Copies to Zarr arrays in S3 that are killed, and then resumed: chunks that the server has are not sent again."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import plait
from plait import _core

ARRAY = np.random.default_rng(5).integers(0, 1 << 30, (512, 640), "i4")
CHUNKS = {"chunks": (32, 64)}  # 160 objects
SHARDS = {"chunks": (32, 64), "shards": (64, 128)}  # 40 objects
# The object that marks an array as unfinished.
MARK = ".plait-unfinished"


@pytest.fixture
def bucket(request, server):
    yield f"s3://resumed-{abs(hash(request.node.name)) % 10**9}"
    server.set_faults()


@pytest.fixture
def source(tmp_path):
    np.save(tmp_path / "x.npy", ARRAY)
    return str(tmp_path / "x.npy")


def list_objects(url):
    return sorted(_core.open_objects(url).names())


def take_sent_chunks(server):
    """Return the paths of the chunks in the requests since the last call."""
    return [entry["path"] for entry in server.take_log() if entry["method"] == "PUT" and "/c/" in entry["path"]]


def kill_copy(server, source, target, storage, seconds=None, chunks=5):
    """Kill a copy after some seconds, or when it has sent a number of chunks; return whether it was killed."""
    options = [f"--{name}={','.join(map(str, value))}" for name, value in storage.items()]
    server.set_faults(delay=0.02)
    server.take_log()
    command = [sys.executable, "-m", "plait.cli", "copy", source, target, "--resume", *options]
    environment = {**os.environ, "PLAIT_HTTP_CONNECTIONS": "4"}  # the chunks take some time
    program = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
    sent, end = 0, time.monotonic() + (60 if seconds is None else seconds)
    while program.poll() is None and time.monotonic() < end and (seconds is not None or sent < chunks):
        time.sleep(0.01)
        sent += len(take_sent_chunks(server))
    program.send_signal(signal.SIGKILL)
    status = program.wait()
    time.sleep(0.3)  # requests that have arrived are still answered
    server.set_faults()
    server.take_log()
    return status != 0


@pytest.mark.parametrize(("storage", "objects"), [(CHUNKS, 160), (SHARDS, 40)], ids=("chunks", "shards"))
@pytest.mark.parametrize("name", ["a.zarr", "b.zarr::g/x"])
def test_only_missing_chunks_are_sent(server, bucket, source, storage, objects, name):
    target = f"{bucket}/{name}"
    folder = target.replace("::", "/")
    assert kill_copy(server, source, target, storage)
    present = {path for path in list_objects(folder) if path.startswith("c/")}
    assert MARK in list_objects(folder)
    assert 0 < len(present) < objects
    with pytest.raises(plait.StoreError, match="there is no"):
        plait.open(target)
    plait.copy(source, target, resume=True, **storage)
    assert len(take_sent_chunks(server)) == objects - len(present)
    np.testing.assert_array_equal(plait.open(target).read(), ARRAY)
    plait.copy(source, f"{bucket}/plain.zarr", **storage)
    assert list_objects(folder) == list_objects(f"{bucket}/plain.zarr")


def test_chunks_with_other_bytes_are_sent(server, bucket, source, tmp_path):
    assert kill_copy(server, source, f"{bucket}/a.zarr", CHUNKS)
    present = len([path for path in list_objects(f"{bucket}/a.zarr") if path.startswith("c/")])
    changed = ARRAY.copy()
    changed[::32, ::64] ^= 1
    np.save(tmp_path / "x.npy", changed)
    plait.copy(source, f"{bucket}/a.zarr", resume=True, **CHUNKS)
    assert present > 0
    assert len(take_sent_chunks(server)) == 160
    np.testing.assert_array_equal(plait.open(f"{bucket}/a.zarr").read(), changed)


def test_a_copy_with_other_metadata_begins_anew(server, bucket, source):
    """Nothing remains of the first copy, whose chunks have another shape."""
    assert kill_copy(server, source, f"{bucket}/a.zarr", CHUNKS)
    plait.copy(source, f"{bucket}/a.zarr", resume=True, chunks=(128, 640))
    assert len(list_objects(f"{bucket}/a.zarr")) == 5
    np.testing.assert_array_equal(plait.open(f"{bucket}/a.zarr").read(), ARRAY)


def test_a_copy_without_resume_is_an_error(server, bucket, source):
    """The unfinished array may be that of a running copy."""
    assert kill_copy(server, source, f"{bucket}/a.zarr", CHUNKS)
    before = list_objects(f"{bucket}/a.zarr")
    with pytest.raises(plait.StoreError, match="left unfinished; continue with resume=True, or remove"):
        plait.copy(source, f"{bucket}/a.zarr", **CHUNKS)
    assert list_objects(f"{bucket}/a.zarr") == before


def test_chunks_of_a_complete_array_are_not_sent(server, bucket, source):
    """Only the metadata are put again."""
    plait.copy(source, f"{bucket}/a.zarr", **CHUNKS)
    server.take_log()
    plait.copy(source, f"{bucket}/a.zarr", resume=True, **CHUNKS)
    assert take_sent_chunks(server) == []
    np.testing.assert_array_equal(plait.open(f"{bucket}/a.zarr").read(), ARRAY)


def test_a_copy_of_a_hierarchy_is_resumed(server, bucket, tmp_path):
    """Arrays that are complete, and the chunks of the interrupted one, are not sent again."""
    arrays = {name: ARRAY + i for i, name in enumerate("pqr")}
    for name, array in arrays.items():
        with plait.open(f"{tmp_path}/h.zarr::g/{name}", "w", shape=array.shape, dtype="i4", chunks=(32, 64)) as file:
            file.write(array)
    assert kill_copy(server, f"{tmp_path}/h.zarr", f"{bucket}/h.zarr", {}, chunks=200)
    present = len([path for path in list_objects(f"{bucket}/h.zarr") if "/c/" in path])
    assert present > 160
    plait.copy(tmp_path / "h.zarr", f"{bucket}/h.zarr", resume=True)
    assert len(take_sent_chunks(server)) == 480 - present
    for name, array in arrays.items():
        np.testing.assert_array_equal(plait.open(f"{bucket}/h.zarr::g/{name}").read(), array)
    assert not [path for path in list_objects(f"{bucket}/h.zarr") if MARK in path]


@pytest.mark.long
@pytest.mark.parametrize("storage", [CHUNKS, SHARDS], ids=("chunks", "shards"))
def test_kills_leave_no_wrong_array(server, bucket, source, storage):
    """After each kill the target is absent or complete; the last run completes it."""
    target, generator, kills = f"{bucket}/a.zarr", random.Random(), 0
    for _ in range(10):
        if not kill_copy(server, source, target, storage, seconds=generator.uniform(0.3, 2.5)):
            np.testing.assert_array_equal(plait.open(target).read(), ARRAY)
            continue
        kills += 1
        try:
            actual = plait.open(target).read()
        except plait.StoreError:
            continue
        np.testing.assert_array_equal(actual, ARRAY)
    assert kills > 0
    plait.copy(source, target, resume=True, **storage)
    np.testing.assert_array_equal(plait.open(target).read(), ARRAY)
    assert MARK not in list_objects(target)
