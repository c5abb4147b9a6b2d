"""PLAIT_TRACE: the events of Plait about its own input and output."""

import errno
import os
import subprocess
import sys

import numpy as np
import pytest
from launching import WELCOME, needs_mpi

from plait import trace
from plait.launch import find_mpiexec

PROGRAM = """
import os
import numpy as np
import plait

a = np.arange(600.0).reshape(20, 30)
with plait.open("a.bin", "w", shape=a.shape, dtype="f8") as file:
    file.write(a)
with plait.open("a.bin", shape=a.shape, dtype="f8") as file:
    assert (file.read() == a).all()
    assert (file.read(region=np.s_[5:10, :]) == a[5:10]).all()
    request = file.iread()
    assert (request.wait() == a).all()
    stream = file.stream(0)
    assert len(stream.read(100)) == 100
    os.truncate("a.bin", 1000)
    try:
        file.read()
    except plait.StoreError:
        pass
"""

PARALLEL_PROGRAM = """
import sys
import numpy as np
from mpi4py import MPI
import plait

comm = MPI.COMM_WORLD
name, strategy = sys.argv[1:]
layout = plait.Layout((64, 48), "(*, cyclic)", grid=(comm.size,))
mine = np.full(layout.local_shape(comm.rank), comm.rank, "f8")
with plait.open(name, "w", comm=comm, shape=(64, 48), dtype="f8", strategy=strategy) as file:
    file.write(mine, layout)
with plait.open(name, "r", comm=comm, shape=(64, 48), dtype="f8", strategy=strategy) as file:
    assert (file.read(layout) == mine).all()
"""


def run(folder, *command):
    environment = {**os.environ, **WELCOME, "PLAIT_TRACE": "t.plait"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


def read(folder):
    with trace.open(folder / "t.plait") as opened:
        return opened.read(), opened.description


def select_events(events, kind, logical):
    return events[(events["kind"] == kind) & (((events["flags"] & trace.Flag.LOGICAL) != 0) == logical)]


LARGE_PROGRAM = """
import numpy as np
import plait

a = np.arange(2_500_000.0)
with plait.open("a.bin", "w", shape=a.shape, dtype="f8") as file:
    file.write(a)
with plait.open("a.bin", shape=a.shape, dtype="f8", strategy="direct") as file:
    assert (file.read() == a).all()
"""


def test_cached_data_is_read_by_one_request(tmp_path):
    run(tmp_path, sys.executable, "-c", LARGE_PROGRAM)
    events, _ = read(tmp_path)
    requests = select_events(events, trace.Kind.READ, False)
    assert [(int(request["offset"]), int(request["result"])) for request in requests] == [(0, 20_000_000)]


def test_one_process(tmp_path):
    run(tmp_path, sys.executable, "-c", PROGRAM)
    events, description = read(tmp_path)
    assert description.complete
    assert not description.missed
    assert len(description.processes) == 1
    assert description.processes[0].command.startswith(sys.executable)
    assert description.processes[0].cpu > 0

    array_bytes = 600 * 8
    written = select_events(events, trace.Kind.WRITE, True)
    assert written[["offset", "length", "result"]].tolist() == [(0, array_bytes, array_bytes)]
    logical_reads = select_events(events, trace.Kind.READ, True)
    assert logical_reads["length"].tolist() == [array_bytes, 5 * 30 * 8, array_bytes, 100 * 8, array_bytes]
    assert logical_reads["offset"].tolist()[:4] == [0, 5 * 30 * 8, 0, 0]
    assert np.array_equal(logical_reads["result"][:4], logical_reads["length"][:4])
    assert logical_reads["result"][4] == -errno.EIO
    asynchronous = (logical_reads["flags"] & trace.Flag.ASYNCHRONOUS) != 0
    assert asynchronous.tolist() == [False, False, True, False, False]
    assert not (events["flags"] & trace.Flag.COLLECTIVE).any()
    assert (logical_reads["interface"] == trace.Interface.PLAIT).all()

    # Physical events have the number of the operation that caused them, and are within its duration.
    logical = {int(event["operation"]): event for event in events if event["flags"] & trace.Flag.LOGICAL}
    assert (
        len(logical)
        == len(select_events(events, trace.Kind.OPEN, True)) + len(select_events(events, trace.Kind.CLOSE, True)) + 6
    )
    for kind, requests in ((trace.Kind.READ, logical_reads), (trace.Kind.WRITE, written)):
        physical = select_events(events, kind, False)
        for event in physical:
            request = logical[int(event["operation"])]
            assert request["start"] <= event["start"]
            assert event["start"] + event["duration"] <= request["start"] + request["duration"]
        for event in requests[requests["result"] > 0]:
            reached = physical[physical["operation"] == event["operation"]]
            assert reached["result"].sum() == event["result"]
    assert len(select_events(events, trace.Kind.SYNC, False))

    names = {(file.process, file.number): file.name for file in description.files}
    assert {names[int(e["process"]), int(e["file"])] for e in logical_reads} == {"a.bin"}
    assert all((int(e["process"]), int(e["file"])) in names for e in events if e["file"])


@needs_mpi
@pytest.mark.sampled(1)
@pytest.mark.parametrize("strategy", ["direct", "two-phase"])
@pytest.mark.parametrize("name", ["a.bin", "stripe:a?disks=d1,d2&unit=4K"])
def test_four_ranks(tmp_path, strategy, name):
    (tmp_path / "d1").mkdir()
    (tmp_path / "d2").mkdir()
    (tmp_path / "program.py").write_text(PARALLEL_PROGRAM)
    run(tmp_path, find_mpiexec(), "-n", "4", sys.executable, "program.py", name, strategy)
    events, description = read(tmp_path)
    assert description.complete, description.notes
    assert sorted(process.rank for process in description.processes) == [0, 1, 2, 3]
    ranks = {process.number: process.rank for process in description.processes}
    size = 64 * 48 * 8
    for kind in (trace.Kind.READ, trace.Kind.WRITE):
        requests = select_events(events, kind, True)
        assert requests["result"].tolist() == [size // 4] * 4
        assert requests["length"].tolist() == [size // 4] * 4
        assert sorted(requests["offset"].tolist()) == [0, 8, 16, 24]
        assert [ranks[int(e["process"])] * 8 for e in requests] == requests["offset"].tolist()
        assert (requests["flags"] & trace.Flag.COLLECTIVE).all()
        physical = select_events(events, kind, False)
        operations = {(int(e["process"]), int(e["operation"])) for e in requests}
        data = [e for e in physical if (int(e["process"]), int(e["operation"])) in operations]
        # a direct read may also read the bytes between the requested ones
        assert sum(e["result"] for e in data) >= size
        if strategy == "two-phase":
            assert sum(e["result"] for e in data) == size


def test_without_the_setting_nothing_is_written(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "PLAIT_TRACE"}
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, check=True)
    assert os.listdir(tmp_path) == ["a.bin"]


def test_a_file_that_is_no_trace_is_left_alone(tmp_path):
    (tmp_path / "t.plait").write_text("precious")
    output = run(tmp_path, sys.executable, "-c", PROGRAM)
    assert "PLAIT_TRACE=t.plait: nothing is recorded" in output
    assert (tmp_path / "t.plait").read_text() == "precious"


def test_another_run_appends_to_the_trace(tmp_path):
    for _ in range(2):
        run(tmp_path, sys.executable, "-c", PROGRAM)
    events, description = read(tmp_path)
    assert len(description.processes) == 2
    assert description.complete
    assert len(select_events(events, trace.Kind.WRITE, True)) == 2


@pytest.mark.long
def test_a_recorded_program_counts_its_bytes_once(tmp_path):
    """Recording and Plait's own events share a trace: Plait's requests to the system are physical, others logical."""
    (tmp_path / "program.py").write_text(PROGRAM + "a.tofile('other.bin')\n")
    plait_command = f"{os.path.dirname(sys.executable)}/plait"
    environment = {name: value for name, value in os.environ.items() if name != "PLAIT_TRACE"}
    command = [plait_command, "trace", "record", "-o", "t.plait", "--", sys.executable, "program.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    events, description = read(tmp_path)
    assert description.complete, description.notes
    assert not description.missed
    assert len(description.processes) == 1
    names = {(file.process, file.number): file.name for file in description.files}
    written = select_events(events, trace.Kind.WRITE, True)
    bytes_written = {
        name: sum(int(e["result"]) for e in written if names[int(e["process"]), int(e["file"])].endswith(name))
        for name in ("a.bin", "other.bin")
    }
    assert bytes_written == {"a.bin": 600 * 8, "other.bin": 600 * 8}
    assert not any("t.plait" in name for name in names.values())
    reached = select_events(events, trace.Kind.WRITE, False)
    assert set(reached["operation"]) <= set(written["operation"]) | set(
        select_events(events, trace.Kind.OPEN, True)["operation"]
    )
    assert reached["result"].sum() == 600 * 8
