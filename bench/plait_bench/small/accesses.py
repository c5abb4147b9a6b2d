"""The measured accesses to a small file, by each method.

An access is a function without arguments, which returns the array that it has read, or None after a write.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from mpi4py import MPI

import plait
from plait_bench.small.job import AGAIN, H5PY, MPI_IO, NUMPY, PLAIT, READ, RENAMED, SLICE, SYNCED, ZARR, SmallCase

Array = npt.NDArray[Any]
Access = Callable[[], Any]

_HEADER = 128
"""Bytes before the elements of a .npy file of a square of doubles."""
_CHUNKS = 100
"""Rows and columns of compressed chunks, at most."""


def make_content(edge: int) -> Array:
    """Return the content of all files."""
    return np.arange(edge * edge, dtype=np.float64).reshape(edge, edge)


def make_files(case: SmallCase, folder: Path) -> None:
    """Write the file that a case reads, by the library of its format."""
    array = make_content(case.edge)
    path = file_path(case, folder)
    chunks = (min(case.edge, _CHUNKS),) * 2
    if case.file == "npy":
        np.save(path, array)
    elif case.file == "gzip.zarr":
        import zarr
        from zarr.codecs import GzipCodec

        zarr_array = zarr.create_array(
            path, shape=array.shape, chunks=chunks, dtype="f8", compressors=GzipCodec(), overwrite=True
        )
        zarr_array[:] = array
    else:
        import h5py

        with h5py.File(path, "w") as file:
            options = {"chunks": chunks, "compression": "gzip"} if case.file == "gzip.h5" else {}
            file.create_dataset("a", data=array, **options)


def file_path(case: SmallCase, folder: Path) -> Path:
    """Return the path of the file that a case reads."""
    return folder / f"small-{case.edge}.{case.file}"


def slice_index(case: SmallCase) -> tuple[int, slice]:
    """Return the index of the slice: at most 80 elements of a row."""
    return case.edge // 2, slice(case.edge // 8, case.edge // 8 + min(80, case.edge // 2))


@contextmanager
def open_accesses(case: SmallCase, comm: MPI.Intracomm, folder: Path, local: Array) -> Iterator[dict[str, Access]]:
    """Open the files of a case, and yield its access by each method; leaving `with` closes the files.

    local   this rank's part of the array, which is the data of writes
    """
    with ExitStack() as files:
        accesses = {PLAIT: _access_by_plait(case, comm, folder, local, files)}
        functions = {
            MPI_IO: _access_by_mpiio,
            RENAMED: _access_by_mpiio_and_rename,
            NUMPY: _access_by_numpy,
            H5PY: _access_by_h5py,
            ZARR: _access_by_zarr,
        }
        for name in case.others:
            accesses[name] = functions[name](case, comm, folder, local, files)
        yield accesses


def _access_by_plait(case: SmallCase, comm: MPI.Intracomm, folder: Path, local: Array, files: ExitStack) -> Access:
    name = str(file_path(case, folder)) + ("::/a" if case.file.endswith("h5") else "")
    is_one_rank = case.ranks == 1
    comm_option: dict[str, Any] = {} if is_one_rank else {"comm": comm}
    layout = None if is_one_rank else plait.Layout.parse(case.layout)

    def read() -> Any:
        with plait.open(name, **comm_option) as file:
            return file.read(layout)

    def write() -> None:
        durable = case.access == SYNCED
        options: dict[str, Any] = {"shape": (case.edge, case.edge), "dtype": "f8", "durable": durable, **comm_option}
        with plait.open(_new_path(folder, PLAIT), "w", **options) as file:
            file.write(local, layout)

    if case.access == READ:
        return read
    if case.access not in (AGAIN, SLICE):
        return write
    file = files.enter_context(plait.open(name, **comm_option))
    index = slice_index(case)
    return (lambda: file[index]) if case.access == SLICE else (lambda: file.read(layout))


def _access_by_mpiio_and_rename(
    case: SmallCase, comm: MPI.Intracomm, folder: Path, local: Array, files: ExitStack
) -> Access:
    """Return the access that writes a new file by MPI-IO and renames it.

    If the write is to be durable, the folder is synchronized as well, so that after a crash the old or the new file is
    complete.
    """
    temporary_folder = folder / "temporary"
    temporary_folder.mkdir(exist_ok=True)
    name, temporary = _new_path(folder, RENAMED), _new_path(temporary_folder, MPI_IO)
    write = _access_by_mpiio(case, comm, temporary_folder, local, files)

    def replace() -> None:
        write()
        if comm.rank == 0:
            Path(temporary).rename(name)
            if case.access == SYNCED:
                descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
                os.fsync(descriptor)
                os.close(descriptor)
        comm.Barrier()

    return replace


def _access_by_mpiio(case: SmallCase, comm: MPI.Intracomm, folder: Path, local: Array, files: ExitStack) -> Access:
    shape = (case.edge, case.edge)
    layout = plait.Layout.parse(case.layout)
    starts = [int(indices[0]) if len(indices) else 0 for indices in layout.indices(comm.rank)]
    has_no_elements = local.size == 0
    filetype = (
        MPI.DOUBLE.Create_contiguous(0) if has_no_elements else MPI.DOUBLE.Create_subarray(shape, local.shape, starts)
    )
    files.callback(filetype.Commit().Free)

    def open_file(path: Path | str, mode: int) -> MPI.File:
        file = MPI.File.Open(comm, str(path), mode)
        file.Set_view(_HEADER, MPI.DOUBLE, filetype)
        return file

    def read_all(file: MPI.File) -> Array:
        received = np.empty_like(local)
        file.Read_at_all(0, received)
        return received

    def read() -> Array:
        file = open_file(file_path(case, folder), MPI.MODE_RDONLY)
        received = read_all(file)
        file.Close()
        return received

    def write() -> None:
        file = open_file(_new_path(folder, MPI_IO), MPI.MODE_WRONLY | MPI.MODE_CREATE)
        file.Write_at_all(0, local)
        if case.access == SYNCED:
            file.Sync()
        file.Close()

    if case.access == READ:
        return read
    if case.access != AGAIN:
        return write
    file = open_file(file_path(case, folder), MPI.MODE_RDONLY)
    files.callback(file.Close)
    return lambda: read_all(file)


def _access_by_numpy(case: SmallCase, comm: MPI.Intracomm, folder: Path, local: Array, files: ExitStack) -> Access:
    path = file_path(case, folder)

    def write() -> None:
        with Path(_new_path(folder, NUMPY)).open("wb") as file:
            np.save(file, local)
            if case.access == SYNCED:
                file.flush()
                os.fsync(file.fileno())

    if case.access == READ:
        return lambda: np.load(path)
    if case.access == AGAIN:
        return lambda: np.fromfile(path, offset=_HEADER).reshape(local.shape)
    if case.access != SLICE:
        return write
    # The pages stay mapped, so that a slice needs no system call; the other methods return a copy as well.
    mapped = np.load(path, mmap_mode="r")
    index = slice_index(case)
    return lambda: np.array(mapped[index])


def _access_by_h5py(case: SmallCase, comm: MPI.Intracomm, folder: Path, local: Array, files: ExitStack) -> Access:
    import h5py

    path = file_path(case, folder)

    def read() -> Any:
        with h5py.File(path, "r") as file:
            return file["a"][...]

    if case.access == READ:
        return read
    data = files.enter_context(h5py.File(path, "r"))["a"]
    index = slice_index(case) if case.access == SLICE else ...
    return lambda: data[index]


def _access_by_zarr(case: SmallCase, comm: MPI.Intracomm, folder: Path, local: Array, files: ExitStack) -> Access:
    import zarr

    data = zarr.open_array(file_path(case, folder), mode="r")
    index = slice_index(case)
    return lambda: data[index]


def _new_path(folder: Path, method: str) -> str:
    """Return the path of the file that a method writes."""
    return str(folder / f"new-{method}.npy")
