"""Imports: traces of installed tools, compared with the actions of the programs, and handmade corner cases."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import plait
from plait import trace
from plait.cli import main
from plait.trace import Flag, Interface, Kind

STRACE = shutil.which("strace")
FIO = shutil.which("fio")


def import_trace(
    source: object, folder: Path, **options: object
) -> tuple[np.ndarray, trace.Description, trace.Summary]:
    target = folder / "imported.plait"
    summary = trace.import_trace(source, target, **options)  # type: ignore[arg-type]
    with trace.open(target) as opened:
        events = opened.read()
    assert summary.events == len(events)
    assert (np.diff(events["start"]) >= 0).all()
    return events, opened.description, summary


def select_file(events: np.ndarray, description: trace.Description, ending: str) -> np.ndarray:
    files = {(file.process, file.number) for file in description.files if file.name.endswith(ending)}
    return events[[(int(event["process"]), int(event["file"])) in files for event in events]]


def run_strace(options: list[str], command: list[str], folder: Path) -> Path:
    if STRACE is None:
        pytest.skip("strace is not installed")
    output = folder / "strace.out"
    done = subprocess.run(
        [STRACE, *options, "-o", str(output), *command], cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode != 0 and "ptrace" in done.stderr:
        pytest.skip(f"strace may not trace here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr
    return output


PROGRAM = """
import os, threading
data = os.urandom(100_000)
with open("one.bin", "wb", buffering=0) as file:
    for k in range(10):
        file.write(data)
fd = os.open("one.bin", os.O_RDWR)
assert os.pread(fd, 1000, 5000) == data[5000:6000]
os.lseek(fd, 64, os.SEEK_SET)
os.read(fd, 36)
os.read(fd, 100)
def worker():
    os.pwrite(fd, b"x" * 777, 10)
thread = threading.Thread(target=worker)
thread.start()
thread.join()
child = os.fork()
if child == 0:
    os.writev(fd, [b"ab", b"cdef"])
    os._exit(0)
os.waitpid(child, 0)
target = os.open("two.bin", os.O_WRONLY | os.O_CREAT, 0o600)
os.sendfile(target, fd, 0, 5000)
os.close(target)
"""


@pytest.mark.parametrize(
    "options",
    [["-f", "-ttt", "-T", "-y"], ["-f", "-tt"], ["-f", "-r", "-yy"], ["-f"], ["-ff", "-ttt", "-y"]],
    ids=" ".join,
)
def test_strace_of_a_program(options: list[str], tmp_path: Path) -> None:
    output = run_strace(options, [sys.executable, "-c", PROGRAM], tmp_path)
    source: object = output
    if "-ff" in options:
        source = sorted(tmp_path.glob("strace.out.*"))
    events, description, summary = import_trace(source, tmp_path)
    assert summary.format == "strace"
    assert summary.complete
    assert not summary.missed
    data = select_file(events, description, "one.bin")
    writes, reads = data[data["kind"] == Kind.WRITE], data[data["kind"] == Kind.READ]
    assert writes["result"].sum() == 10 * 100_000 + 777 + 6
    assert [int(n) for n in reads["result"]] == [1000, 36, 100, 5000]
    assert [int(n) for n in reads["offset"]] == [5000, 64, 100, 0]
    assert sorted(int(n) for n in writes["offset"]) == sorted([*range(0, 1_000_000, 100_000), 10, 200])
    vector = writes[writes["interface"] == Interface.VECTOR]
    assert len(vector) == 1
    assert vector["process"][0] != writes["process"][0]
    thread = writes[writes["length"] == 777]
    assert thread["thread"][0] != thread["process"][0]
    copy_target = select_file(events, description, "two.bin")
    copied = copy_target[copy_target["kind"] == Kind.WRITE]
    assert (copied["interface"][0], copied["result"][0], copied["offset"][0]) == (Interface.COPY, 5000, 0)
    assert copied["operation"][0] == reads["operation"][-1]
    processes = {process.number: process for process in description.processes}
    assert processes[int(vector["process"][0])].parent == int(writes["process"][0])


def test_strace_of_tar(tmp_path: Path) -> None:
    if shutil.which("tar") is None:
        pytest.skip("tar is not installed")
    (tmp_path / "folder").mkdir()
    sizes = {"a": 70_000, "b": 12, "c": 0}
    for name, size in sizes.items():
        (tmp_path / "folder" / name).write_bytes(os.urandom(size))
    output = run_strace(["-f", "-ttt", "-T", "-y"], ["tar", "cf", "all.tar", "folder"], tmp_path)
    events, description, _ = import_trace(output, tmp_path)
    tar = select_file(events, description, "all.tar")
    assert tar[tar["kind"] == Kind.WRITE]["result"].sum() == (tmp_path / "all.tar").stat().st_size
    for name, size in sizes.items():
        read = select_file(events[events["kind"] == Kind.READ], description, f"folder/{name}")
        assert read["result"].sum() == size, name


def test_fio_log(tmp_path: Path) -> None:
    if FIO is None:
        pytest.skip("fio is not installed")
    command = [FIO, "--name=job", "--ioengine=psync", "--rw=randrw", "--size=1m", "--bs=16k", "--randseed=3"]
    command += [f"--filename={tmp_path / 'data'}", f"--write_iolog={tmp_path / 'log'}", "--output-format=json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    document = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    packed = tmp_path / "log.gz"
    packed.write_bytes(gzip.compress((tmp_path / "log").read_bytes()))
    for source in (tmp_path / "log", packed):
        events, description, summary = import_trace(source, tmp_path)
        assert summary.format == "fio"
        assert summary.reads == document["read"]["total_ios"]
        assert summary.writes == document["write"]["total_ios"]
        assert summary.read_bytes == document["read"]["io_bytes"]
        assert summary.written_bytes == document["write"]["io_bytes"]
        assert any("taken to have succeeded" in note for note in description.notes)
        assert set(events[events["kind"] <= Kind.WRITE]["offset"] % 16384) == {0}


def darshan_logs() -> list[Path]:
    darshan = pytest.importorskip("darshan", reason="the package darshan is not installed")
    return sorted(Path(darshan.__file__).parent.rglob("*.darshan"))


def sum_counters(path: Path, module: str) -> dict[str, int]:
    """Return the sums of a module over all records."""
    from darshan.backend import cffi_backend as backend

    log = backend.log_open(str(path))
    total: dict[str, int] = {}
    while (record := backend.log_get_record(log, module, dtype="dict")) is not None:
        for name, value in record["counters"].items():
            total[name] = total.get(name, 0) + max(int(value), 0)
    backend.log_close(log)
    return total


def find_log(part: str) -> Path:
    logs = [path for path in darshan_logs() if path.name.startswith(part)]
    if not logs:
        pytest.skip(f"the package darshan comes without its example log {part}")
    return logs[0]


def test_darshan_accesses_agree_with_the_counters(tmp_path: Path) -> None:
    path = find_log("ior_hdf5_example")
    events, description, summary = import_trace(path, tmp_path)
    assert summary.format == "darshan"
    sums = sum_counters(path, "MPI-IO")
    logical = events[(events["flags"] & Flag.LOGICAL) != 0]
    through_mpi = logical[logical["interface"] == Interface.MPI_IO]
    reads, writes = (through_mpi[through_mpi["kind"] == kind] for kind in (Kind.READ, Kind.WRITE))
    assert len(reads) == sums["MPIIO_INDEP_READS"] + sums["MPIIO_COLL_READS"]
    assert writes["result"].sum() == sums["MPIIO_BYTES_WRITTEN"]
    assert reads["result"].sum() == sums["MPIIO_BYTES_READ"]
    # The trace contains the POSIX calls of MPI-IO, and they are not counted twice.
    physical = events[(events["flags"] & Flag.LOGICAL) == 0]
    posix = sum_counters(path, "POSIX")
    assert physical["result"].sum() == posix["POSIX_BYTES_READ"] + posix["POSIX_BYTES_WRITTEN"]
    # The rank -1 represents all ranks together.
    assert {process.rank for process in description.processes} == {0, 1, 2, 3, -1}
    assert any("H5D" in note for note in description.notes)
    # STDIO was only counted, so no event has this interface.
    assert set(events["interface"]) == {Interface.POSIX, Interface.MPI_IO}
    stdio = sum_counters(path, "STDIO")
    (counted,) = [record for record in description.counters if record.interface == Interface.STDIO]
    assert counted.values["writes"] == summary.counted_writes == stdio["STDIO_WRITES"]
    assert counted.values["write_bytes"] == summary.counted_written_bytes == stdio["STDIO_BYTES_WRITTEN"]


def test_darshan_accesses_of_one_process(tmp_path: Path) -> None:
    path = find_log("dxt.darshan")
    events, _, _ = import_trace(path, tmp_path)
    posix = sum_counters(path, "POSIX")
    traced = events[(events["interface"] == Interface.POSIX) & (events["kind"] == Kind.READ)]
    assert (traced["duration"] >= 0).all()
    assert traced["result"].sum() <= posix["POSIX_BYTES_READ"]
    assert len(traced) > 1000


def test_every_darshan_log_opens(tmp_path: Path) -> None:
    logs = darshan_logs()
    if not logs:
        pytest.skip("the package darshan comes without logs")
    for path in logs:
        events, description, summary = import_trace(path, tmp_path)
        read = written = 0
        for module, prefix in (("POSIX", "POSIX"), ("STDIO", "STDIO")):
            sums = sum_counters(path, module)
            read += sums.get(f"{prefix}_BYTES_READ", 0)
            written += sums.get(f"{prefix}_BYTES_WRITTEN", 0)
        program_events = events[(events["interface"] == Interface.POSIX) | (events["interface"] == Interface.STDIO)]
        missed = sum(gap.read_bytes + gap.written_bytes for gap in description.missed)
        counted = sum(
            record.values.get("read_bytes", 0) + record.values.get("write_bytes", 0)
            for record in description.counters
            if record.interface != Interface.MPI_IO
        )
        assert program_events["result"].sum() + missed + counted >= read + written, path
        assert summary.notes


def test_a_damaged_darshan_log(tmp_path: Path) -> None:
    path = find_log("ior_hdf5_example")
    bad = tmp_path / "bad.darshan"
    bad.write_bytes(path.read_bytes()[:40])
    with pytest.raises(plait.Error, match=r"bad\.darshan"):
        trace.import_trace(bad, tmp_path / "out.plait")
    assert not (tmp_path / "out.plait").exists()


DFTRACER = """[
{"id":1,"name":"HH","cat":"dftracer","pid":7,"tid":7,"ph":"M","args":{"name":"node1","value":"h1"}}
{"id":2,"name":"process_name","cat":"dftracer","pid":7,"tid":7,"ph":"M","args":{"name":"Rank 3"}}
{"id":3,"name":"open64","cat":"POSIX","pid":7,"tid":7,"ts":1000,"dur":5,"ph":"X","args":{"hhash":"h1","fhash":"f1","ret":4}}
{"id":4,"name":"FH","cat":"dftracer","pid":7,"tid":7,"ph":"M","args":{"name":"/data/x","value":"f1"}}
{"id":5,"name":"pread64","cat":"POSIX","pid":7,"tid":8,"ts":1020,"dur":7,"ph":"X","args":{"fhash":"f1","count":4096,"offset":512,"ret":100}}
{"id":6,"name":"write","cat":"POSIX","pid":7,"tid":7,"ts":990,"dur":1,"ph":"X","args":{"fhash":"f1","count":10,"ret":10}}
{"id":7,"name":"fread","cat":"STDIO","pid":7,"tid":7,"ts":1030,"dur":1,"ph":"X","args":{"fhash":"f2","size":8,"count":16,"ret":3}}
{"id":8,"name":"read","cat":"POSIX","pid":7,"tid":7,"ts":1040,"dur":1,"ph":"X","args":{"fhash":"f1","count":0,"ret":-1}}
{"id":9,"name":"compute","cat":"APP","pid":7,"tid":7,"ts":1050,"dur":90,"ph":"X","args":{}}
{"id":10,"name":"read","cat":"POSIX","pid":7,"tid":7,"ts":1060,"ph":"C","args":{"count":12}}
{"id":11,"name":"read","cat":"POSIX","pid":7,"tid":7,"ts":1e999,"dur":1,"ph":"X","args":[]}
not json
{"id":12,"name":"read","cat":"POSIX","pid":7,"ti"""


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_dftracer(packed: bool, tmp_path: Path) -> None:
    path = tmp_path / ("job.pfw.gz" if packed else "job.pfw")
    path.write_bytes(gzip.compress(DFTRACER.encode()) if packed else DFTRACER.encode())
    events, description, summary = import_trace(path, tmp_path)
    assert summary.format == "dftracer"
    assert not summary.complete
    assert description.zero == 990_000
    assert [Kind(int(kind)) for kind in events["kind"]] == [
        Kind.WRITE, Kind.OPEN, Kind.READ, Kind.READ, Kind.READ, Kind.PHASE,
    ]  # fmt: skip
    read = events[2]
    assert (read["start"], read["duration"], read["offset"], read["result"]) == (30_000, 7_000, 512, 100)
    assert events[3]["result"] == 24
    assert events[3]["interface"] == Interface.STDIO
    assert events[4]["result"] < 0
    assert events[0]["offset"] == -1
    names = {file.number: file.name for file in description.files}
    assert names[int(read["file"])] == "/data/x"
    assert names[int(events[3]["file"])] == "file of hash f2"
    assert (description.processes[0].rank, description.processes[0].host) == (3, "node1")
    assert {gap.events for gap in description.missed} == {2, 12}


def test_invalid_sources_are_errors(tmp_path: Path) -> None:
    target = tmp_path / "out.plait"
    with pytest.raises(plait.StoreError, match="absent"):
        trace.import_trace(tmp_path / "absent", target)
    (tmp_path / "junk").write_bytes(bytes(range(256)) * 50)
    with pytest.raises(plait.ArgumentError, match="cannot recognise the format"):
        trace.import_trace(tmp_path / "junk", target)
    with pytest.raises(plait.ArgumentError, match="not a format to import"):
        trace.import_trace(tmp_path / "junk", target, "tape")
    with pytest.raises(plait.ArgumentError, match="number of a thread"):
        trace.import_trace([tmp_path / "junk", tmp_path / "junk"], target)
    assert not target.exists()


def test_command_line(tmp_path: Path) -> None:
    (tmp_path / "disk.csv").write_text("4,W,8,512\n7,R,0,4096\nbad\n")
    target = tmp_path / "disk.plait"
    arguments = ["trace", "import", str(tmp_path / "disk.csv"), "-o", str(target), "--format", "blkcsv"]
    arguments += ["--columns", "time,op,lba,size", "--tick", "1000000"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    assert "not in the trace: 1" in done.output
    with trace.open(target) as opened:
        events = opened.read()
    assert [int(time) for time in events["start"]] == [0, 3_000_000]
    assert [int(offset) for offset in events["offset"]] == [4096, 0]
    done = CliRunner().invoke(main, [*arguments[:4], str(tmp_path / "x.nosuch"), "--format", "blkcsv"])
    assert done.exit_code == 2
