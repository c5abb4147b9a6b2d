"""Processes wait for each other at barriers that the trace of another tool contains."""

import json

import pytest

from plait import simulate

MACHINE = """
[simulate.processors]
count = 4
[simulate.device]
kind = "server"
service = "0 s"
"""


def write_trace(path, calls):
    """Write a trace of DFTracer; each call has process, begin and end in us, category, name and arguments."""
    lines = [
        {"id": k, "name": name, "cat": cat, "pid": pid, "tid": pid, "ph": "X", "ts": begin, "dur": end - begin,
         "args": args}
        for k, (pid, begin, end, cat, name, args) in enumerate(sorted(calls, key=lambda call: call[1]), start=1)
    ]  # fmt: skip
    path.write_text("[\n" + "".join(json.dumps(line) + "\n" for line in lines))
    return path


def read(pid, begin):
    """Return a read of 4 KiB that takes 1 ms."""
    args = {"fname": f"/data/{pid}", "offset": begin, "count": 4096, "ret": 4096}
    return pid, begin, begin + 1000, "POSIX", "pread", args


@pytest.mark.parametrize("name", ["MPI_Barrier", "MPI_Bcast"])
def test_processes_wait_at_barriers(name, tmp_path):
    # Process 1 reads, and waits for process 2, whose read begins 9 ms later; then both read again.
    calls = [read(1, 0), (1, 1000, 10000, "MPI", name, {}), read(1, 10000)]
    calls += [read(2, 9000), (2, 10000, 10000, "MPI", name, {}), read(2, 10000)]
    result = simulate.run(write_trace(tmp_path / "job.pfw", calls), simulate.parse(MACHINE))
    first = next(process for process in result["processes"] if process["process"] == 1)
    assert first["barrier"] == pytest.approx(0.009 if name == "MPI_Barrier" else 0)
    assert first["pausing"] == pytest.approx(0 if name == "MPI_Barrier" else 0.009)
    assert result["unmatched"] == 0
    assert result.elapsed == pytest.approx(0.009)


def test_communicators_have_separate_barriers(tmp_path):
    calls = []
    for pid, comm in ((1, 1), (2, 1), (3, 2), (4, 2)):
        read_start = 1000 * pid
        calls += [
            read(pid, read_start),
            (pid, read_start + 1000, 9000, "MPI", "MPI_Barrier", {"comm": comm}),
            read(pid, 9000),
        ]
    result = simulate.run(write_trace(tmp_path / "job.pfw", calls), simulate.parse(MACHINE))
    assert [process["barrier"] for process in result["processes"]] == pytest.approx([0.001, 0, 0.001, 0])


def test_others_wait_for_a_process_that_has_only_barriers(tmp_path):
    # Process 3 only takes part in the barrier, and process 9 reads much later.
    calls = []
    for pid in (1, 2):
        calls += [read(pid, 0), (pid, 1000, 5000, "MPI", "MPI_Barrier", {}), read(pid, 5000)]
    calls += [(3, 0, 5000, "MPI", "MPI_Barrier", {}), (3, 5000, 90000, "MPI", "MPI_Recv", {})]
    calls += [read(9, 0), read(9, 500000)]
    result = simulate.run(write_trace(tmp_path / "job.pfw", calls), simulate.parse(MACHINE))
    ends = {process["process"]: process["end"] for process in result["processes"]}
    assert max(ends[1], ends[2]) < 0.1
    assert result["unmatched"] == 0
