"""Ctrl-C while waiting for a file that another program has locked: the wait ends, and the program can continue."""

import fcntl
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

import plait

CHANGE_TWICE = """
import signal, sys, time
import numpy as np
import plait

signal.signal(signal.SIGINT, signal.default_int_handler)
name, action = sys.argv[1:]

def change():
    if action == "open":
        plait.open(name).close()
        return
    with plait.open(name, "r+") as file:
        if action == "attributes":
            file.attrs["units"] = "K"
        else:
            file.write(np.arange(3.0), region=slice(0, 3))

begin = time.monotonic()
print("begins", flush=True)
try:
    change()
    print("no interruption", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
sys.stdin.readline()
change()
print("changed", flush=True)
"""


@contextmanager
def interrupted_program(name, action):
    """Run a program that waits for a lock until it is interrupted; after the `with` block it tries again.

    action  "open", or the changed "attributes" or "elements"
    """
    with subprocess.Popen(
        [sys.executable, "-c", CHANGE_TWICE, name, action], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout.readline() == "begins\n"
        time.sleep(0.7)  # until the program waits
        begin = time.monotonic()
        program.send_signal(signal.SIGINT)
        assert program.stdout.readline() == "interrupted\n"
        assert time.monotonic() - begin < 5  # 0.1 s on an idle machine
        yield
        program.stdin.write("go on\n")
        program.stdin.flush()
        assert program.stdout.readline() == "changed\n"


def test_waiting_for_the_attribute_journal_is_interrupted(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["x"] = np.arange(8.0)
    before = path.read_bytes()
    journal = tmp_path / ".a.h5.plait-journal"
    for action in ("open", "attributes"):
        journal.touch()
        with journal.open("r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            with interrupted_program(f"{path}::x", action):
                assert path.read_bytes() == before
                fcntl.flock(lock, fcntl.LOCK_UN)
        assert not journal.exists()
    with plait.open(f"{path}::x") as file:
        assert file.attrs["units"] == "K"
        assert file.read().tolist() == np.arange(8.0).tolist()


def test_waiting_for_a_chunk_lock_is_interrupted(tmp_path):
    path = tmp_path / "a.zarr"
    with plait.open(path, "w", shape=(8,), dtype="f8", chunks=(8,), codec="zstd:1") as file:
        file.write(np.zeros(8))
    (chunk,) = (
        entry for entry in path.rglob("*") if entry.is_file() and entry.suffix != ".json" and entry.name[0] != "."
    )
    with chunk.open("r+b") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX, 1, 2**63 - 1)
        with interrupted_program(path, "elements"):
            assert plait.open(path).read().tolist() == [0.0] * 8
            fcntl.lockf(lock, fcntl.LOCK_UN, 1, 2**63 - 1)
    assert plait.open(path).read().tolist() == [0.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert not [entry for entry in path.rglob("*") if "plait" in entry.name]
