"""PLAIT_TRACE: requests for objects in object stores."""

import errno
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from launching import WELCOME, needs_mpi

from plait import trace
from plait.launch import find_mpiexec

ARRAY = np.arange(30_000.0).reshape(300, 100)


def npy_bytes(array=ARRAY):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def run(folder, program, *command):
    """Run a program of Python, and return the events, the description and the names of files of its trace."""
    environment = {**os.environ, **WELCOME, "PLAIT_TRACE": "t.plait"}
    start = ["import numpy as np", "import plait", program]
    command = [*command, sys.executable, "-c", "\n".join(start)]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    with trace.open(folder / "t.plait") as found:
        events, description = found.read(), found.description
    assert description.complete
    return events, description, {(file.process, file.number): file.name for file in description.files}


def select_http(events, kind=None):
    """Return the requests for objects."""
    found = events[events["interface"] == trace.Interface.HTTP]
    assert (found["flags"] == trace.Flag.ASYNCHRONOUS).all()
    return found if kind is None else found[found["kind"] == kind]


def list_rows(events, names):
    """Return name, offset, length and result of events."""
    return [
        (
            names[int(event["process"]), int(event["file"])],
            int(event["offset"]),
            int(event["length"]),
            int(event["result"]),
        )
        for event in events
    ]


def test_reads_of_one_object(server, tmp_path):
    url = server.publish("a.npy", npy_bytes()) + "?sig=secret"
    events, description, names = run(tmp_path, f"with plait.open({url!r}) as file: file.read()")
    log = server.take_log()
    reads = select_http(events, trace.Kind.READ)
    assert len(reads) == len(log)
    found = list_rows(reads, names)
    name = f"{server.endpoint}/public/a.npy"
    assert found[0] == (name, 0, 65536, 65536)
    assert sorted(f"bytes={offset}-{offset + length - 1}" for _, offset, length, _ in found) == sorted(
        request["range"] for request in log
    )
    assert all(length == result and row == name for row, _, length, result in found)
    assert "secret" not in json.dumps([file.name for file in description.files])

    logical = {int(event["operation"]): event for event in events if event["flags"] & trace.Flag.LOGICAL}
    for read in reads:
        request = logical[int(read["operation"])]
        assert request["start"] <= read["start"]
        assert read["duration"] > 0
        assert read["start"] + read["duration"] <= request["start"] + request["duration"]


def test_each_attempt_is_an_event(server, tmp_path):
    url = server.publish("a.npy", npy_bytes(ARRAY[:3]))
    server.set_faults(slow_down=1, fail=1, truncate=1)
    events, _, names = run(tmp_path, f"with plait.open({url!r}) as file: file.read()")
    found = list_rows(select_http(events, trace.Kind.READ), names)
    assert [result for *_, result in found][:3] == [-errno.EAGAIN, -errno.EIO, -errno.EIO]
    assert {(row, offset) for row, offset, *_ in found} == {(url, 0)}
    assert found[-1][3] == len(npy_bytes(ARRAY[:3]))
    report = trace.report(str(tmp_path / "t.plait"), level="physical")
    calls = {(call["kind"], call["interface"]): call for call in report["calls"]}
    assert calls["read", "http"]["failed"] == 3
    assert [file["name"] for file in report["files"]] == [url]


def test_chunks_of_zarr(server, tmp_path):
    events, _, names = run(
        tmp_path,
        """
name = "s3://b/run/a.zarr?region=eu-test-1"
with plait.open(name, "w", shape=(300, 100), dtype="f8", chunks=(100, 100)) as file:
    file.write(np.arange(30_000.0).reshape(300, 100))
with plait.open(name) as file:
    file.read()
""",
    )
    log = server.take_log()
    chunks = [f"s3://b/run/a.zarr/c/{i}/0" for i in range(3)]
    for kind in (trace.Kind.WRITE, trace.Kind.READ):
        found = [row for row in list_rows(select_http(events, kind), names) if "/c/" in row[0]]
        assert sorted(found) == [(name, 0, 80_000, 80_000) for name in chunks]
    written = {name for name, *_ in list_rows(select_http(events, trace.Kind.WRITE), names)}
    assert "s3://b/run/a.zarr/zarr.json" in written
    assert len(select_http(events)) == len(log)
    logical = events[(events["flags"] & trace.Flag.LOGICAL) != 0]
    assert set(select_http(events)["operation"].tolist()) <= set(logical["operation"].tolist())


def test_parts_of_an_upload(server, tmp_path):
    events, _, names = run(
        tmp_path,
        """
with plait.open("s3://b/large.npy", "w", shape=(2_500_000,), dtype="f8") as file:
    file.write(np.arange(2_500_000.0))
""",
    )
    parts = [row for row in list_rows(select_http(events, trace.Kind.WRITE), names) if row[0] == "s3://b/large.npy"]
    size = 8 * 2_500_000 + 128
    assert sorted(parts) == [
        ("s3://b/large.npy", begin, length, length)
        for begin, length in [(0, 8 << 20), (8 << 20, 8 << 20), (16 << 20, size - (16 << 20))]
    ]


def test_a_missing_object(server, tmp_path):
    events, _, names = run(
        tmp_path,
        """
try:
    plait.open("s3://b/none.npy")
except FileNotFoundError:
    pass
""",
    )
    found = list_rows(select_http(events, trace.Kind.READ), names)
    assert ("s3://b/none.npy", 0, 65536, -errno.ENOENT) in found


@needs_mpi
@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks(server, tmp_path, ranks):
    url = server.publish("a.npy", npy_bytes())
    events, description, names = run(
        tmp_path,
        f"""
from mpi4py import MPI
comm = MPI.COMM_WORLD
with plait.open({url!r}, comm=comm) as file:
    file.read(plait.Layout((300, 100), "(*, cyclic)", grid=(comm.size,)))
""",
        find_mpiexec(),
        "-n",
        str(ranks),
    )
    reads = select_http(events, trace.Kind.READ)
    assert len(reads) == len(server.take_log())
    assert sum(row[3] for row in list_rows(reads, names)) >= ARRAY.nbytes
    assert {row[0] for row in list_rows(reads, names)} == {url}
    rank = {process.number: process.rank for process in description.processes}
    assert {rank[int(event["process"])] for event in reads} <= set(range(ranks))
