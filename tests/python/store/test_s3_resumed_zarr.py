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
MARK = ".plait-unfinished"


@pytest.fixture
def bucket(request, server):
    yield f"s3://resumed-{abs(hash(request.node.name)) % 10**9}"
    server.set_faults()


@pytest.fixture
def source(tmp_path):
    np.save(tmp_path / "x.npy", ARRAY)
    return str(tmp_path / "x.npy")


def names(url):
    return sorted(_core.open_objects(url).names())


def sent_chunks(server):
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
        sent += len(sent_chunks(server))
    program.send_signal(signal.SIGKILL)
    status = program.wait()
    time.sleep(0.3)  # requests that have arrived are still answered
    server.set_faults()
    server.take_log()
    return status != 0


@pytest.mark.parametrize(("storage", "objects"), [(CHUNKS, 160), (SHARDS, 40)], ids=("chunks", "shards"))
@pytest.mark.parametrize("name", ["a.zarr", "b.zarr::g/x"])
def test_resumed(server, bucket, source, storage, objects, name):
    target = f"{bucket}/{name}"
    folder = target.replace("::", "/")
    assert kill_copy(server, source, target, storage)
    present = {path for path in names(folder) if path.startswith("c/")}
    assert MARK in names(folder)
    assert 0 < len(present) < objects
    with pytest.raises(plait.StoreError, match="there is no"):
        plait.open(target)
    plait.copy(source, target, resume=True, **storage)
    assert len(sent_chunks(server)) == objects - len(present)
    np.testing.assert_array_equal(plait.open(target).read(), ARRAY)
    plait.copy(source, f"{bucket}/whole.zarr", **storage)
    assert names(folder) == names(f"{bucket}/whole.zarr")


def test_another_source(server, bucket, source, tmp_path):
    """Chunks with other bytes are sent."""
    assert kill_copy(server, source, f"{bucket}/a.zarr", CHUNKS)
    present = len([path for path in names(f"{bucket}/a.zarr") if path.startswith("c/")])
    changed = ARRAY.copy()
    changed[::32, ::64] ^= 1
    np.save(tmp_path / "x.npy", changed)
    plait.copy(source, f"{bucket}/a.zarr", resume=True, **CHUNKS)
    assert present > 0
    assert len(sent_chunks(server)) == 160
    np.testing.assert_array_equal(plait.open(f"{bucket}/a.zarr").read(), changed)


def test_other_chunks(server, bucket, source):
    """A copy with other metadata begins anew, and leaves nothing of the first one."""
    assert kill_copy(server, source, f"{bucket}/a.zarr", CHUNKS)
    plait.copy(source, f"{bucket}/a.zarr", resume=True, chunks=(128, 640))
    assert len(names(f"{bucket}/a.zarr")) == 5
    np.testing.assert_array_equal(plait.open(f"{bucket}/a.zarr").read(), ARRAY)


def test_a_copy_without_resume(server, bucket, source):
    """It does not touch what may be the work of a running copy."""
    assert kill_copy(server, source, f"{bucket}/a.zarr", CHUNKS)
    before = names(f"{bucket}/a.zarr")
    with pytest.raises(plait.StoreError, match="left unfinished; continue with resume=True, or remove"):
        plait.copy(source, f"{bucket}/a.zarr", **CHUNKS)
    assert names(f"{bucket}/a.zarr") == before


def test_a_complete_array(server, bucket, source):
    """Only its metadata are put again."""
    plait.copy(source, f"{bucket}/a.zarr", **CHUNKS)
    server.take_log()
    plait.copy(source, f"{bucket}/a.zarr", resume=True, **CHUNKS)
    assert sent_chunks(server) == []
    np.testing.assert_array_equal(plait.open(f"{bucket}/a.zarr").read(), ARRAY)


def test_a_hierarchy(server, bucket, tmp_path):
    """Arrays that are complete, and the chunks of the interrupted one, are not sent again."""
    arrays = {name: ARRAY + i for i, name in enumerate("pqr")}
    for name, array in arrays.items():
        with plait.open(f"{tmp_path}/h.zarr::g/{name}", "w", shape=array.shape, dtype="i4", chunks=(32, 64)) as file:
            file.write(array)
    assert kill_copy(server, f"{tmp_path}/h.zarr", f"{bucket}/h.zarr", {}, chunks=200)
    present = len([path for path in names(f"{bucket}/h.zarr") if "/c/" in path])
    assert present > 160
    plait.copy(tmp_path / "h.zarr", f"{bucket}/h.zarr", resume=True)
    assert len(sent_chunks(server)) == 480 - present
    for name, array in arrays.items():
        np.testing.assert_array_equal(plait.open(f"{bucket}/h.zarr::g/{name}").read(), array)
    assert not [path for path in names(f"{bucket}/h.zarr") if MARK in path]


@pytest.mark.long
@pytest.mark.parametrize("storage", [CHUNKS, SHARDS], ids=("chunks", "shards"))
def test_random_kills(server, bucket, source, storage):
    """After each kill the target is absent or whole; the last run completes it."""
    target, chance, kills = f"{bucket}/a.zarr", random.Random(), 0
    for _ in range(10):
        if not kill_copy(server, source, target, storage, seconds=chance.uniform(0.3, 2.5)):
            np.testing.assert_array_equal(plait.open(target).read(), ARRAY)
            continue
        kills += 1
        try:
            found = plait.open(target).read()
        except plait.StoreError:
            continue
        np.testing.assert_array_equal(found, ARRAY)
    assert kills > 0
    plait.copy(source, target, resume=True, **storage)
    np.testing.assert_array_equal(plait.open(target).read(), ARRAY)
    assert MARK not in names(target)
