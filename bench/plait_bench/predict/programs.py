"""The programs of `plait bench predict`: ``python -m plait_bench.predict.programs NAME FOLDER``."""

from __future__ import annotations

import hashlib
import mmap
import os
import random
import sys
from pathlib import Path

MIB = 1 << 20
PIECE = 64 << 10
"""Bytes of a piece that the reader reads."""
WRITTEN = 48
"""MiB that the writer writes."""
READ_FILE = 48
"""MiB of the file that the reader reads from."""
PIECES = 800
"""Number of pieces that the reader reads."""
PANELS = 8
"""Number of panels of the solver's matrix."""
PANEL = 2
"""MiB of a panel of the solver's matrix."""
ARRAYS = 10
"""Number of arrays that the two ranks read."""
ARRAY_SHAPE = (1024, 1024)
"""Shape of the arrays of doubles: 8 MiB each."""


def compute(data: bytes | memoryview) -> bytes:
    """Compute for a time proportional to the bytes: some 3 ms per MiB."""
    return hashlib.sha256(data).digest()


def prepare(folder: Path) -> None:
    """Make the files that the programs read."""
    pattern = random.Random(1).randbytes(MIB)
    for name, size in (("read.dat", READ_FILE), ("panels.dat", PANELS * PANEL)):
        with (folder / name).open("wb") as file:
            for _ in range(size):
                file.write(pattern)
    size = 8 * ARRAY_SHAPE[0] * ARRAY_SHAPE[1]
    for number in range(ARRAYS):
        with (folder / f"array{number}.dat").open("wb") as file:
            for _ in range(size // MIB):
                file.write(pattern)
    os.sync()


def writer(folder: Path) -> None:
    """Write a file in order; each request is durable before the next one begins, as in a database's log."""
    block = random.Random(2).randbytes(MIB)
    file = os.open(folder / "written.dat", os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_DSYNC, 0o600)
    for _ in range(WRITTEN):
        compute(block)
        os.write(file, block)
    os.close(file)


def reader(folder: Path) -> None:
    """Read random pieces through the page cache, which serves repeated ones."""
    generator = random.Random(3)
    file = os.open(folder / "read.dat", os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
    pieces = os.fstat(file).st_size // PIECE
    for _ in range(PIECES):
        compute(os.pread(file, PIECE, PIECE * generator.randrange(pieces)))
    os.close(file)


def solver(folder: Path) -> None:
    """Imitate the factorization of an out-of-core matrix.

    Each panel is read, updated by all previous ones, and written. All accesses bypass the page cache.
    """
    file = os.open(folder / "panels.dat", os.O_RDWR | os.O_DIRECT)
    buffer = mmap.mmap(-1, PANEL * MIB)
    other_buffer = mmap.mmap(-1, PANEL * MIB)

    def transfer_panel(panel_buffer: mmap.mmap, panel: int, *, out: bool) -> None:
        with memoryview(panel_buffer) as panel_view:
            for part in range(PANEL):
                with panel_view[part * MIB : (part + 1) * MIB] as piece:
                    (os.pwritev if out else os.preadv)(file, [piece], (panel * PANEL + part) * MIB)

    for panel in range(os.fstat(file).st_size // (PANEL * MIB)):
        transfer_panel(buffer, panel, out=False)
        for earlier_panel in range(panel):
            transfer_panel(other_buffer, earlier_panel, out=False)
            with memoryview(other_buffer) as data:
                compute(data)
        transfer_panel(buffer, panel, out=True)
    os.fsync(file)
    os.close(file)


def ranks(folder: Path) -> None:
    """Read arrays collectively, each rank its rows, compute, and write a result: an MPI program."""
    import numpy as np
    from mpi4py import MPI

    import plait

    comm = MPI.COMM_WORLD
    rows = plait.Layout(ARRAY_SHAPE, "(block, *)", grid=(comm.size,))
    total = np.zeros(rows.local_shape(comm.rank))
    for number in range(ARRAYS):
        with plait.open(folder / f"array{number}.dat", comm=comm, shape=ARRAY_SHAPE, dtype="f8") as file:
            part = file.read(rows)
        compute(part.data.cast("B"))
        total += part > 0
    with plait.open(folder / "result.dat", "w", comm=comm, shape=ARRAY_SHAPE, dtype="f8") as file:
        file.write(total, rows)


PROGRAMS = {"sequential writer": writer, "random reader": reader, "out-of-core solver": solver, "two ranks": ranks}
RANKS = {"two ranks": 2}
"""The programs that run under MPI, and their numbers of ranks."""


def main() -> None:
    """Run the program that the command line names."""
    PROGRAMS[sys.argv[1]](Path(sys.argv[2]))


if __name__ == "__main__":
    main()
