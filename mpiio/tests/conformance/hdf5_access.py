"""Datasets of parallel HDF5, which all ranks write and read at once through h5py.

usage: hdf5_access.py FOLDER ROWS COLUMNS

Each storage and each way to divide the array over the ranks is a file of its own, or an .npy file with its elements if
it is compressed. The elements are compared with those of a NumPy array. Rank 0 prints the seconds of each storage.
"""

import sys
import time
from pathlib import Path

import mpi4py

mpi4py.rc.thread_level = "serialized"  # duplicates of MPI_COMM_WORLD share a communicator of Plait

import h5py  # noqa: E402
import numpy as np  # noqa: E402
from mpi4py import MPI  # noqa: E402

COMM = MPI.COMM_WORLD
FOLDER = Path(sys.argv[1])
ROWS, COLUMNS = int(sys.argv[2]), int(sys.argv[3])
MODEL = np.arange(ROWS * COLUMNS, dtype="f8").reshape(ROWS, COLUMNS)
CHUNKS = (ROWS // 3, COLUMNS // 5)
STORAGES = {
    "contiguous": {},
    "chunked": {"chunks": CHUNKS},
    "compressed": {"chunks": CHUNKS, "compression": "gzip", "compression_opts": 1, "shuffle": True},
}


def block(extent: int, number: int, index: int) -> slice:
    return slice(extent * index // number, extent * (index + 1) // number)


def parts(rank: int) -> dict:
    grid = MPI.Compute_dims(COMM.size, 2)
    row, column = divmod(rank, grid[1])
    return {
        "rows": (block(ROWS, COMM.size, rank), slice(None)),
        "columns": (slice(None), block(COLUMNS, COMM.size, rank)),
        "interleaved_rows": (slice(rank, None, COMM.size), slice(None)),
        "interleaved_columns": (slice(None), slice(rank, None, COMM.size)),
        "blocks": (block(ROWS, grid[0], row), block(COLUMNS, grid[1], column)),
    }


def write(name: str, part: tuple, storage: dict, collective: bool) -> None:
    with h5py.File(FOLDER / name, "w", driver="mpio", comm=COMM) as file:
        dataset = file.create_dataset("field", MODEL.shape, "f8", **storage)
        if collective:
            with dataset.collective:
                dataset[part] = MODEL[part]
        else:
            dataset[part] = MODEL[part]


def read(name: str, part: tuple, collective: bool) -> None:
    with h5py.File(FOLDER / name, "r", driver="mpio", comm=COMM) as file:
        dataset = file["field"]
        if collective:
            with dataset.collective:
                found = dataset[part]
        else:
            found = dataset[part]
        assert np.array_equal(found, MODEL[part]), (name, part)


def keep_elements(name: str) -> None:
    """Replace a file by its elements: HDF5 stores the compressed chunks of several ranks in a varying order."""
    COMM.barrier()
    if COMM.rank == 0:
        with h5py.File(FOLDER / name, "r") as file:
            np.save(FOLDER / name.replace(".h5", ".npy"), file["field"][:])
        (FOLDER / name).unlink()


own_parts, next_parts = parts(COMM.rank), parts((COMM.rank + 1) % COMM.size)
for storage, options in STORAGES.items():
    COMM.barrier()
    begin = time.perf_counter()
    for way in own_parts:
        # HDF5 compresses chunks of several ranks in collective calls only.
        for collective in (True,) if "compression" in options else (True, False):
            name = f"{storage}_{way}_{'collective' if collective else 'independent'}.h5"
            write(name, own_parts[way], options, collective)
            read(name, next_parts[way], collective)
            read(name, own_parts["blocks"], not collective)
            if "compression" in options:
                keep_elements(name)
    COMM.barrier()
    if COMM.rank == 0:
        print(f"seconds {storage} {time.perf_counter() - begin:.4f}")
