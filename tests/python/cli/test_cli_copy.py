"""`plait copy` by one process, by ranks that it or mpiexec starts, and when it is stopped by signals."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from launching import WELCOME, needs_mpi, run

import plait
from plait.cli.copying.running import StoppedError, copy_by_ranks
from plait.launch import find_mpiexec

SHAPE = (301, 77)


@pytest.fixture
def source(tmp_path: Path):
    """Create an array in Fortran order, with reversed bytes."""
    array = np.asfortranarray(np.random.default_rng(5).integers(0, 1 << 30, SHAPE).astype(">i4"))
    np.save(tmp_path / "a.npy", array)
    return tmp_path / "a.npy"


def list_folder(folder: Path):
    return sorted(entry.name for entry in folder.iterdir())


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ranks", [None, pytest.param(3, marks=needs_mpi), pytest.param(4, marks=needs_mpi)])
def test_round_trips_preserve_all_bytes(tmp_path, source, ranks):
    ranks_option = [] if ranks is None else ["--ranks", str(ranks)]
    intermediate = f"distant:d?folder={tmp_path}&striped=true&unit=1000"
    result = run("copy", str(source), intermediate, "--memory", "20K", *ranks_option)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(f"{source} -> {intermediate}: 90.5 KiB in ")
    assert ("by 3 ranks" in result.stdout) == (ranks == 3)
    assert result.stdout.rstrip().endswith("iB/s")
    assert len(result.stdout.splitlines()) == 1
    result = run("copy", intermediate, str(tmp_path / "b.npy"), "--json", *ranks_option)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "b.npy").read_bytes() == source.read_bytes()
    document = json.loads(result.stdout)
    assert (document["bytes"], document["shape"], document["dtype"], document["ranks"]) == (
        92708,
        [301, 77],
        ">i4",
        ranks or 1,
    )
    assert document["rate"] == pytest.approx(document["bytes"] / document["seconds"])


@needs_mpi
def test_raw_files_are_copied_in_a_layout(tmp_path, source):
    result = run("copy", str(source), str(tmp_path / "b.bin"))
    assert result.exit_code == 0, result.output
    options = ["--shape", "301x77", "--dtype", ">i4", "--order", "F", "--layout", "(cyclic, block) onto (2, 2)"]
    result = run("copy", str(tmp_path / "b.bin"), str(tmp_path / "c.npy"), "--ranks", "4", *options)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "c.npy").read_bytes() == source.read_bytes()


@needs_mpi
@pytest.mark.parametrize("ranks", ["1", pytest.param("3", marks=pytest.mark.long)])
def test_wrong_arguments_print_one_line(tmp_path, source, ranks):
    mistakes = [
        ((str(source), str(source)), "is the source itself"),
        ((str(tmp_path / "none.npy"), str(tmp_path / "b.npy")), "none.npy: No such file"),
        ((str(source), str(tmp_path / "none/b.npy")), "none/"),
        ((str(source), str(tmp_path / "b.npy"), "--memory", "1"), "give more with memory="),
        ((str(source), str(tmp_path / "b.npy"), "--layout", "(block, *) onto (9)"), "9"),
        ((str(source), "distant:b?wide=1"), 'the option "wide" is not known'),
        ((str(source), str(tmp_path / "b.h4")), "raw:"),
        ((str(source), "distnt:b"), "did you mean distant:b?"),
        ((str(source), "abfs://b/a"), "is a URL"),
        (("-", "-"), "for a file of that name" if ranks == "1" else "leave out --ranks, or name a file"),
    ]
    # With several ranks, only one error of each class and the errors that depend on the number of ranks are tested.
    tested_with_ranks = ("is the source itself", "none.npy: No such file", "9", "leave out --ranks, or name a file")
    for arguments, text in (
        mistakes if ranks == "1" else [mistake for mistake in mistakes if mistake[1] in tested_with_ranks]
    ):
        result = run("copy", *arguments, "--ranks", ranks)
        if "(block, *) onto (9)" in arguments and ranks == "1":
            assert result.exit_code == 0  # one process holds all ranks
            (tmp_path / "b.npy").unlink()
            continue
        assert result.exit_code == 2, result.output
        assert text in result.stderr
        assert len(result.stderr.splitlines()) == 1
    assert run("copy", str(source), str(tmp_path / "b"), "--shape", "3xfour").exit_code == 2
    assert list_folder(tmp_path) == ["a.npy"]


@needs_mpi
@pytest.mark.long
def test_ranks_of_mpiexec_copy_together(tmp_path, source):
    command = [find_mpiexec(), "-n", "3", sys.executable, "-m", "plait.cli", "copy", str(source)]
    environment = {**os.environ, **WELCOME}

    def run_copy(*arguments):
        return subprocess.run(
            [*command, *arguments], env=environment, cwd=tmp_path, capture_output=True, text=True, check=False
        )

    result = run_copy("b.npy", "--memory", "30K")
    assert result.returncode == 0, result.stderr
    assert "by 3 ranks" in result.stdout
    assert len(result.stdout.splitlines()) == 1
    assert (tmp_path / "b.npy").read_bytes() == source.read_bytes()
    result = run_copy("none/c.npy")
    assert result.returncode != 0
    assert result.stderr.count("Error:") == 1
    result = run_copy("c.npy", "--ranks", "2")
    assert result.returncode != 0
    assert "mpiexec has started 3 ranks, but --ranks says 2" in result.stderr
    assert list_folder(tmp_path) == ["a.npy", "b.npy"]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("ranks", ["1", pytest.param("2", marks=needs_mpi)])
def test_stopped_copies_leave_no_files(tmp_path, ranks, number):
    np.save(tmp_path / "a.npy", np.zeros(16 << 20))
    (tmp_path / "b.npy").write_bytes(b"old")
    # There are so many windows that the copy would take minutes. Programs that a shell starts in the background inherit
    # ignored SIGINTs, hence `env --default-signal`.
    program = ["env", "--default-signal=INT", sys.executable, "-m", "plait.cli"]
    command = [*program, "copy", "a.npy", "b.npy", "--memory", "2K", "--ranks", ranks]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as copying:
        deadline = time.monotonic() + 300
        while len(list_folder(tmp_path)) < 3 and time.monotonic() < deadline:
            assert copying.poll() is None, copying.communicate()
            time.sleep(0.05)
        copying.send_signal(number)
        output, errors = copying.communicate(timeout=300)
    assert copying.returncode == 1
    assert output == ""
    assert errors == "Error: the copy was stopped; nothing was written\n"
    assert list_folder(tmp_path) == ["a.npy", "b.npy"]
    assert (tmp_path / "b.npy").read_bytes() == b"old"


def signal_when_done(done):
    """Return a progress function that sends SIGTERM to this process at `done(total)` bytes."""

    def send_signal(now, total):
        if now >= done(total):
            os.kill(os.getpid(), signal.SIGTERM)

    return send_signal


@needs_mpi
@pytest.mark.long
def test_a_copy_that_is_stopped_too_late_is_complete(tmp_path, source):
    """Ranks that have copied everything may replace the target before they check for the signal."""
    target = tmp_path / "b.npy"
    target.write_bytes(b"old")
    job = {"source": str(source), "target": str(target), "memory": 20 << 10}
    try:
        result = copy_by_ranks(job, 2, signal_when_done(lambda total: total))
    except StoppedError:
        assert target.read_bytes() == b"old"
    else:
        assert result.bytes == 301 * 77 * 4
        assert target.read_bytes() == source.read_bytes()
    assert list_folder(tmp_path) == ["a.npy", "b.npy"]


def test_hanging_ranks_are_killed_by_a_second_signal(tmp_path, monkeypatch):
    mpiexec = tmp_path / "mpiexec"
    mpiexec.write_text("#!/bin/sh\n[ $1 = --version ] || sleep 1000\n")
    mpiexec.chmod(0o755)
    monkeypatch.setenv("PLAIT_MPIEXEC", str(mpiexec))
    monkeypatch.setattr("plait.cli.copying.running.require_mpi", lambda: None)
    ended = threading.Event()

    def send_signals():
        while not ended.wait(0.2):
            os.kill(os.getpid(), signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    signaling = threading.Thread(target=send_signals)
    signaling.start()
    try:
        with pytest.raises(
            StoppedError, match="by ending its ranks; the target is either the old one or the complete new one"
        ):
            copy_by_ranks({"source": "a", "target": "b"}, 2, lambda done, total: None)
    finally:
        ended.set()
        signaling.join()
        signal.signal(signal.SIGTERM, before)


def test_replaced_files_are_removed(tmp_path, source):
    for target in ("b.npy", f"distant:b.npy?folder={tmp_path}&striped=true", f"distant:b.npy?folder={tmp_path}"):
        existing = str(tmp_path / target) if target == "b.npy" else target
        assert run("copy", str(source), existing).exit_code == 0
        with plait.open(existing) as file:
            np.testing.assert_array_equal(file.read(), np.load(source))
    assert list_folder(tmp_path) == ["a.npy", "b.npy"]
