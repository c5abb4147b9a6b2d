"""The tasks that `plait bench join`, `rechunk` and `texts` measure, and for each task the tools that can do it."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np

from plait_bench.joins.data import JoinSize, has_texts, is_joined, make_files, make_texts, source_pattern
from plait_bench.joins.maps import MAPS, is_rechunked, make_maps
from plait_bench.joins.rechunk import copy_in_parts, copy_parts_by_distributed, rechunk_by_dask

PLAIT = "plait"


@dataclass(frozen=True)
class Work:
    """The input and output of a tool: the folder, the source and the target, and the prepared texts to write."""

    folder: Path
    source: Path
    target: Path
    texts: Any = None


@dataclass(frozen=True)
class Tool:
    """One tool for one case."""

    run: Callable[[Work], Any]
    """Does the task. Returns the array that it has read if the result stays in memory."""
    modules: tuple[str, ...] = ()
    """The Python modules that the tool needs; they are imported before the clock starts."""
    program: str = ""
    """The program that the tool needs."""

    @property
    def missing(self) -> str:
        """The modules and programs that the tool needs and this machine lacks; empty if the tool can run."""
        missing_parts = [
            module for module in self.modules if importlib.util.find_spec(module.partition(".")[0]) is None
        ]
        if self.program and shutil.which(self.program) is None:
            missing_parts.append(self.program)
        return ", ".join(missing_parts)


@dataclass(frozen=True)
class JoinCase:
    """One measurement."""

    title: str
    unit: str
    """``bytes`` of joined files, ``maps`` that are rechunked, or ``texts``."""
    source: str
    """The suffix of the source; empty for files to join, and for texts in memory."""
    target: str
    """The suffix of the target; empty if the result stays in memory."""
    tools: dict[str, Tool]

    def prepare(self, size: JoinSize, work: Work) -> None:
        """Write the source."""
        if self.unit == "bytes":
            make_files(size, work.folder)
        elif self.unit == MAPS:
            make_maps(size.maps, work.source)
        elif self.source:
            _write_by_plait(Work(work.folder, work.source, work.source, np.array(make_texts(size), object)))

    def is_right(self, size: JoinSize, target: Path) -> bool:
        """Return True if the target has the expected content."""
        if self.unit == MAPS:
            return is_rechunked(size.maps, target)
        return is_joined(size, target) if self.unit == "bytes" else has_texts(size, target)

    def has_read(self, texts: int, result: Any) -> bool:
        """Return True if a tool has read all texts, or if its result is in the target."""
        return bool(self.target) or np.asarray(result).tolist() == make_texts(
            JoinSize(files=0, file_bytes=0, texts=texts)
        )


def _join_by_plait(work: Work) -> None:
    import plait

    plait.copy(source_pattern(work.folder), work.target, concat="time")


def _join_by_ncrcat(work: Work) -> None:
    names = sorted(glob(source_pattern(work.folder)))
    subprocess.run(["ncrcat", "-O", "-h", *names, str(work.target)], check=True, capture_output=True)


def _open_by_xarray(work: Work) -> Any:
    import xarray

    return xarray.open_mfdataset(
        source_pattern(work.folder), combine="nested", concat_dim="time", engine="netcdf4", data_vars="minimal",
        coords="minimal", compat="override", join="override", decode_times=False,
    )  # fmt: skip


def _join_by_xarray_to_zarr(work: Work) -> None:
    with _open_by_xarray(work) as files:
        for variable in files.variables.values():
            variable.encoding.clear()
        files.to_zarr(work.target)


def _join_by_xarray_to_netcdf(work: Work) -> None:
    with _open_by_xarray(work) as files:
        files.to_netcdf(work.target)


def _read_by_plait(work: Work) -> Any:
    import plait

    with plait.open(work.source) as file:
        return file.read()


def _write_by_plait(work: Work) -> None:
    import plait

    chunks = (1 << 16,) if work.target.suffix == ".zarr" else None
    with plait.open(work.target, "w", shape=len(work.texts), dtype=str, chunks=chunks) as file:
        file.write(work.texts)


def _copy_by_plait(work: Work) -> None:
    import plait

    plait.copy(work.source, work.target)


def _read_by_h5py(work: Work) -> Any:
    import h5py

    with h5py.File(work.source) as file:
        return file["data"].astype("T")[()] if hasattr(np.dtypes, "StringDType") else file["data"].asstr()[()]


def _write_by_h5py(work: Work) -> None:
    import h5py

    with h5py.File(work.target, "w") as file:
        file.create_dataset("data", data=work.texts, dtype=h5py.string_dtype())


def _read_by_zarr(work: Work) -> Any:
    import zarr

    return zarr.open_array(work.source, mode="r")[:]


def _write_by_zarr(work: Work) -> None:
    import zarr

    array = zarr.create_array(
        work.target, shape=(len(work.texts),), dtype=str, chunks=(1 << 16,), compressors=None, filters=None
    )
    array[:] = work.texts


def _copy_by_h5py_and_zarr(work: Work) -> None:
    import h5py

    with h5py.File(work.source) as file:
        _write_by_zarr(Work(work.folder, work.source, work.target, file["data"].asstr()[()]))


def _rechunk(run: Callable[[Path, Path], None]) -> Callable[[Work], None]:
    return lambda work: run(work.source, work.target)


_XARRAY = ("xarray", "dask", "netCDF4")
CASES = {
    "zarr": JoinCase("join netCDF-4 into Zarr", "bytes", "", ".zarr", {
        PLAIT: Tool(_join_by_plait, ("plait",)),
        "xarray": Tool(_join_by_xarray_to_zarr, (*_XARRAY, "zarr")),
    }),
    "nc": JoinCase("join netCDF-4 into netCDF-4", "bytes", "", ".nc", {
        PLAIT: Tool(_join_by_plait, ("plait",)),
        "ncrcat": Tool(_join_by_ncrcat, program="ncrcat"),
        "xarray": Tool(_join_by_xarray_to_netcdf, _XARRAY),
    }),
    "read-hdf5": JoinCase("read texts, HDF5", "texts", ".h5", "", {
        PLAIT: Tool(_read_by_plait, ("plait",)),
        "h5py": Tool(_read_by_h5py, ("h5py",)),
    }),
    "write-hdf5": JoinCase("write texts, HDF5", "texts", "", ".h5", {
        PLAIT: Tool(_write_by_plait, ("plait",)),
        "h5py": Tool(_write_by_h5py, ("h5py",)),
    }),
    "read-zarr": JoinCase("read texts, Zarr", "texts", ".zarr", "", {
        PLAIT: Tool(_read_by_plait, ("plait",)),
        "zarr-python": Tool(_read_by_zarr, ("zarr",)),
    }),
    "write-zarr": JoinCase("write texts, Zarr", "texts", "", ".zarr", {
        PLAIT: Tool(_write_by_plait, ("plait",)),
        "zarr-python": Tool(_write_by_zarr, ("zarr",)),
    }),
    "copy": JoinCase("copy texts, HDF5 to Zarr", "texts", ".h5", ".zarr", {
        PLAIT: Tool(_copy_by_plait, ("plait",)),
        "h5py and zarr-python": Tool(_copy_by_h5py_and_zarr, ("h5py", "zarr")),
    }),
    "rechunk": JoinCase("rechunk maps into series", MAPS, ".zarr", ".zarr", {
        PLAIT: Tool(_rechunk(copy_in_parts), ("plait",)),
        "plait on 8 workers of Dask": Tool(_rechunk(copy_parts_by_distributed), ("plait", "distributed")),
        "Dask P2P": Tool(_rechunk(rechunk_by_dask), ("distributed", "dask.array", "zarr")),
    }),
}  # fmt: skip
"""All measurements by their keys."""
JOINS = ("zarr", "nc")
RECHUNKS = ("rechunk",)
TEXTS = tuple(key for key, case in CASES.items() if case.unit == "texts")
