"""Recorded bytes compared with the count of the kernel, for programs that do not use Plait."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from launching import WELCOME
from recording import PLAIT, SOURCES, RecordedRun, check_exact, compile_program, kernel_count, load, need

import plait
from plait.launch import LaunchError, find_mpiexec
from plait.trace import Flag, Interface, Kind

Capture = pytest.CaptureFixture[str]
ROOT = Path(__file__).parents[5]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    (folder / "inner").mkdir(parents=True)
    generator = np.random.default_rng(7)
    for i in range(60):
        numbers = generator.integers(0, 10000, i * 40)
        (folder / "inner" / f"file{i}").write_text("".join(f"{number}\n" for number in numbers), encoding="ascii")
    (folder / "large").write_bytes(generator.bytes(1_500_000))
    return folder


def test_tar(tree: Path, capfd: Capture) -> None:
    check_exact(tree.parent, [need("tar"), "cf", tree.parent / "a.tar", "-C", tree, "."], capfd)


def test_sort(tree: Path, capfd: Capture) -> None:
    check_exact(tree.parent, [need("sort"), "-n", "-o", tree.parent / "out", *sorted(tree.glob("inner/*"))], capfd)


def test_cp(tree: Path, capfd: Capture) -> None:
    target = tree.parent / "copied"
    target.mkdir()
    recorded = check_exact(tree.parent, [need("cp"), "-r", tree / "inner", tree / "large", target], capfd)
    assert sum(file.stat().st_size for file in tree.rglob("*") if file.is_file()) == recorded.transferred_bytes(
        Kind.WRITE
    )


def test_a_pipeline(tree: Path, capfd: Capture) -> None:
    check_exact(tree.parent, ["sh", "-c", f"cat {tree}/inner/* | sort | uniq -c | tail -3; wc {tree}/large"], capfd)


def test_sqlite(tmp_path: Path, capfd: Capture) -> None:
    statements = (
        "drop table if exists t; create table t(a, b);"
        "insert into t select value, value * 2 from generate_series(1, 5000); update t set b = b + 1;"
        "select sum(b) from t;"
    )
    need("sqlite3")
    kernel_count(tmp_path, ["sqlite3", tmp_path / "base", statements])  # so that both runs find the same file
    check_exact(tmp_path, ["sqlite3", tmp_path / "base", statements], capfd)


def test_git(tree: Path, capfd: Capture) -> None:
    git = [need("git"), "-C", str(tree), "-c", "user.name=n", "-c", "user.email=e"]
    for words in (["init", "-q", "."], ["add", "."], ["commit", "-q", "-m", "one"]):
        subprocess.run([*git, *words], check=True, timeout=300)
    check_exact(tree.parent, [*git, "log", "-p"], capfd)
    check_exact(tree.parent, [*git, "fsck"], capfd)


def test_a_numpy_script(tmp_path: Path, capfd: Capture) -> None:
    script = (
        "import numpy, sys; a = numpy.arange(50000.0); numpy.save(sys.argv[1], a);"
        "assert numpy.load(sys.argv[1]).sum() == a.sum(); a.tofile(sys.argv[1]); numpy.fromfile(sys.argv[1])"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "a.npy")]
    kernel_count(tmp_path, command)
    recorded = check_exact(tmp_path, command, capfd)
    writes = recorded.select("a.npy", Kind.WRITE)
    assert int(writes["result"].sum()) == 2 * 400000 + 128


@pytest.mark.long
def test_an_h5py_script(tmp_path: Path, capfd: Capture) -> None:
    if importlib.util.find_spec("h5py") is None:
        pytest.skip("h5py is not installed")
    script = (
        "import h5py, numpy, sys\n"
        "with h5py.File(sys.argv[1], 'w') as f: f.create_dataset('a', data=numpy.arange(40000.0), chunks=(1000,))\n"
        "with h5py.File(sys.argv[1]) as f: f['a'][:]\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path / "a.h5")]
    kernel_count(tmp_path, command)
    recorded = check_exact(tmp_path, command, capfd)
    writes = recorded.select("a.h5", Kind.WRITE)
    assert int((writes["offset"] + writes["result"]).max()) == (tmp_path / "a.h5").stat().st_size


def test_threads(tmp_path: Path, capfd: Capture) -> None:
    check_exact(tmp_path, [compile_program(tmp_path, "threads.c"), tmp_path / "data", "16", "200"], capfd)


def test_forks(tmp_path: Path, capfd: Capture) -> None:
    check_exact(tmp_path, [compile_program(tmp_path, "shared.c"), tmp_path / "data"], capfd)


def fio(folder: Path, *options: str) -> list[str | Path]:
    return [
        need("fio"), "--name=job", f"--filename={folder}/data", "--size=1M", "--bs=4k", "--rw=randrw",
        "--randseed=1", "--thread", "--output=/dev/null", *options,
    ]  # fmt: skip


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("options", "interface"),
    [
        (["--ioengine=psync"], Interface.POSIX),
        (["--ioengine=libaio", "--iodepth=8"], Interface.AIO),
        (["--ioengine=posixaio", "--iodepth=8"], Interface.POSIX_AIO),
        (["--ioengine=io_uring", "--iodepth=8"], Interface.URING),
        (["--ioengine=io_uring", "--iodepth=8", "--registerfiles", "--fixedbufs"], Interface.URING),
    ],
)
def test_fio(tmp_path: Path, capfd: Capture, options: list[str], interface: Interface) -> None:
    (tmp_path / "data").write_bytes(bytes(1 << 20))
    recorded = run_fio(tmp_path, options, capfd)
    assert recorded.missed() == {}
    data = recorded.select("data")
    transfers = data[(data["kind"] <= Kind.WRITE) & (data["interface"] == interface)]
    assert len(transfers) == 256
    assert set(transfers["result"]) == {4096}
    assert sorted(transfers["offset"]) == [4096 * i for i in range(256)]
    asynchronous = (transfers["flags"] & Flag.ASYNCHRONOUS) != 0
    assert asynchronous.all() == (interface != Interface.POSIX)


def run_fio(folder: Path, options: list[str], capfd: Capture):  # type: ignore[no-untyped-def]
    with capfd.disabled():
        done = subprocess.run(
            [PLAIT, "trace", "record", "-q", "-o", folder / "a.plait", "--", *fio(folder, *options)],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    if done.returncode != 0 and "not permitted" in done.stdout + done.stderr:
        pytest.skip(f"the system refuses {options[0]}")
    assert done.returncode == 0, done.stdout + done.stderr
    return load(folder / "a.plait")


def test_a_ring_that_the_kernel_polls_is_counted_as_missed(tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "data").write_bytes(bytes(1 << 20))
    recorded = run_fio(tmp_path, ["--ioengine=io_uring", "--iodepth=8", "--sqthread_poll"], capfd)
    (missed,) = recorded.missed().values()
    assert missed[0] + int((recorded.events["interface"] == Interface.URING).sum()) == 256


def run_launched(capfd: Capture, record: list[object], program: list[object], ranks: int) -> Iterator[RecordedRun]:
    """Run a program on several ranks twice: with each rank recorded separately, and with the launcher recorded."""
    try:
        launcher = find_mpiexec()
    except LaunchError:
        pytest.skip("no MPI launcher")
    environment = {**os.environ, **WELCOME}
    launch = [launcher, "-n", str(ranks)]
    for command in ([*launch, *record, *program], [*record, *launch, *program]):
        with capfd.disabled():
            done = subprocess.run(
                [str(word) for word in command],
                env=environment,
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
            )
        assert done.returncode == 0, done.stderr
        yield load(Path(str(record[record.index("-o") + 1])))


def check_complete(recorded: RecordedRun) -> None:
    """Check that at most one call is missing: the signal handler of MPICH's mpiexec may write 8 bytes during another
    call.
    """
    interrupting = "calls that could not be decoded, or came while another was being kept"
    assert {what: written for what, (_, _, written) in recorded.missed().items()} in ({}, {interrupting: 8})


@pytest.mark.long
def test_mpi_io_both_ways(tmp_path: Path, capfd: Capture) -> None:
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("mpi4py is not installed")
    (tmp_path / "program.py").write_text(
        "import sys, numpy\nfrom mpi4py import MPI\nworld = MPI.COMM_WORLD\n"
        "file = MPI.File.Open(world, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR)\n"
        "file.Write_at(world.rank * 80000, numpy.full(10000, world.rank, float))\n"
        "world.Barrier()\n"
        "file.Read_at((world.rank + 1) % 3 * 80000, numpy.empty(10000))\nfile.Close()\n",
        encoding="ascii",
    )
    program = [sys.executable, tmp_path / "program.py", tmp_path / "data"]
    record = [PLAIT, "trace", "record", "-q", "-o", tmp_path / "a.plait", "--"]
    for recorded in run_launched(capfd, record, program, 3):
        check_complete(recorded)
        writes = recorded.select("data", Kind.WRITE)
        ranks = {process.number: process.rank for process in recorded.description.processes}
        for rank in range(3):
            rank_writes = writes[[ranks[int(process)] == rank for process in writes["process"]]]
            assert int(rank_writes["result"].sum()) == 80000
            assert int(rank_writes["offset"].min()) == rank * 80000
        reads = recorded.select("data", Kind.READ)
        assert int(reads["result"].sum()) >= 240000


def test_collective_mpi_io_in_c(tmp_path: Path, capfd: Capture) -> None:
    wrapper = shutil.which(os.environ.get("MPICC") or str(Path(sys.executable).parent / "mpicc")) or shutil.which(
        "mpicc"
    )
    if wrapper is None:
        pytest.skip("no MPI compiler wrapper was found")
    program = tmp_path / "collective"
    subprocess.run([wrapper, "-O1", "-o", program, SOURCES / "collective.c"], check=True)
    target = tmp_path / "data"
    record: list[object] = [PLAIT, "trace", "record", "-q", "-o", tmp_path / "a.plait", "--"]
    size = 3 * 64 * 1024 * 4
    for recorded in run_launched(capfd, record, [program, target], 3):
        check_complete(recorded)
        assert target.stat().st_size == size
        for kind in (Kind.WRITE, Kind.READ):  # two phases: each byte moves once, on some rank
            events = recorded.select("data", kind)
            covered = np.zeros(size, dtype=np.int64)
            for event in events:
                covered[int(event["offset"]) :][: int(event["result"])] += 1
            assert (covered == 1).all()
        assert {process.rank for process in recorded.description.processes} >= {0, 1, 2}
        target.unlink()


def test_the_mapped_files_of_a_jvm_are_not_missing_data(tmp_path: Path, capfd: Capture) -> None:
    command = [PLAIT, "trace", "record", "-o", tmp_path / "a.plait", "--", need("java"), "-version"]
    with capfd.disabled():
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert "all of what is known to have happened" in done.stderr
    assert plait.trace.report(tmp_path / "a.plait")["trace"]["coverage"]["share"] == 1.0


def test_the_bytes_read_from_mapped_files_are_unknown(tmp_path: Path, capfd: Capture) -> None:
    (tmp_path / "data").write_bytes(bytes(1 << 16))
    script = "import mmap, sys; file = open(sys.argv[1], 'rb'); mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)[5]"
    words = [
        PLAIT,
        "trace",
        "record",
        "-o",
        tmp_path / "a.plait",
        "--",
        sys.executable,
        "-c",
        script,
        tmp_path / "data",
    ]
    with capfd.disabled():
        done = subprocess.run(words, capture_output=True, text=True, check=True, timeout=300)
    assert "an unknown share of what happened" in done.stderr
    coverage = plait.trace.report(tmp_path / "a.plait")["trace"]["coverage"]
    assert coverage["share"] is None
    assert "it lacks the loads and stores on 64 KiB of mapped files" in coverage["text"]
