"""How often HDF5's library opens a file for one array."""

import ctypes
import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np

import plait

IN_CLOSE_NOWRITE, IN_OPEN = 0x10, 0x20
EVENT = struct.Struct("iIII")
C = ctypes.CDLL(None, use_errno=True)


def opens(path: Path, call: Callable[[], object]) -> int:
    """Count how often a file is opened anew while `call` runs; the kernel merges opens without a close between them."""
    watcher = C.inotify_init1(os.O_NONBLOCK)
    assert C.inotify_add_watch(watcher, os.fsencode(path), IN_CLOSE_NOWRITE | IN_OPEN) >= 0
    call()
    events = os.read(watcher, 1 << 16)
    os.close(watcher)
    return sum(mask & IN_OPEN != 0 for _, mask, _, _ in EVENT.iter_unpack(events))


def test_a_file_without_an_array_name_is_opened_as_often_as_with_one(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with plait.open(path, "w", shape=(4, 6), dtype="f8") as file:
        file.write(np.zeros((4, 6)))

    def read(name: str) -> None:
        with plait.open(name) as file:
            assert file.read().shape == (4, 6)

    named = opens(path, lambda: read(f"{path}::data"))
    assert named >= 2  # by Plait and by the library
    assert opens(path, lambda: read(str(path))) == named
