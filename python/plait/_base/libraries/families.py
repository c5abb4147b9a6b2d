"""Loads the extension module for the MPI library of this process: a wheel has one for each family of MPI libraries.

The libraries of a family have the same binary interface: MPICH, Open MPI, and the standard ABI of MPI 5.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType

from ..errors import ArgumentError

#: MPI_Get_library_version of libraries with MPICH's binary interface, as its ABI initiative lists them.
LIKE_MPICH = re.compile("MPICH|Intel|MVAPICH|ParaStation|Cray", re.IGNORECASE)
_MAX_VERSION_BYTES = 8192  # MPI_MAX_LIBRARY_VERSION_STRING is at most 8192 bytes in every library


@lru_cache(maxsize=1)
def mpi_module() -> ModuleType:
    """Return plait._mpi: the one that this Plait was built with, or that of the family in use.

    Raises plait.ArgumentError where there is none for the MPI that the process has loaded.
    """
    try:
        from ... import _mpi
    except ImportError as error:
        modules = _find_modules()
        if not modules:
            raise ArgumentError(
                f"this Plait was built without MPI ({error}); build it where an MPI is found"
            ) from error
        return _load_module(modules)
    return _mpi


def _find_modules(folder: Path = Path(__file__).parents[2]) -> dict[str, Path]:
    """Return the families for which modules exist, with the paths of the modules."""
    found = {}
    for path in folder.glob("_mpi_*.so"):
        family, _, suffix = path.name.removeprefix("_mpi_").partition(".")
        if f".{suffix}" in EXTENSION_SUFFIXES:
            found[family] = path
    return found


def _load_module(modules: dict[str, Path]) -> ModuleType:
    """Load the module for the MPI library in use, and link it to the functions of that library."""
    library = _find_library_in_use()
    family = find_family(library)
    if family not in modules:
        raise ArgumentError(
            f"{read_version(library)!r} is no MPI that this wheel is made for, which are {', '.join(sorted(modules))}; "
            f"build Plait for it, with MPICC set to its compiler wrapper: pip install --no-binary plait plait"
        )
    spec = importlib.util.spec_from_file_location("plait._mpi", modules[family])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["plait._mpi"] = module
    return module


def _find_library_in_use() -> ctypes.CDLL:
    """Return the MPI library that mpi4py uses; its symbols become visible to libraries that are loaded later."""
    mpi4py = sys.modules.get("mpi4py.MPI")
    libraries = list(list_loaded_libraries())
    mpi4py_version = mpi4py.Get_library_version().rstrip("\0\n ") if mpi4py is not None else None
    matching = [library for library in libraries if mpi4py_version is None or read_version(library) == mpi4py_version]
    if not matching:
        raise ArgumentError(
            "no MPI library was found in this process, so that Plait cannot work with it; build Plait for your MPI, "
            "with MPICC set to its compiler wrapper: pip install --no-binary plait plait"
        )
    return matching[0]


def list_loaded_libraries() -> Iterator[ctypes.CDLL]:
    """Yield the MPI libraries of this process: libmpi.so.12 and .40, libmpich.so.12, libmpi_cray.so.12,
    libmpi_abi.so.1.
    """
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as maps:
        paths = dict.fromkeys(line.split(None, 5)[-1].rstrip("\n") for line in maps if "/libmpi" in line)
    for path in paths:
        try:
            library = ctypes.CDLL(path, os.RTLD_NOLOAD | os.RTLD_GLOBAL | os.RTLD_LAZY)
        except OSError:  # a file that was deleted meanwhile, or is not a library
            continue
        if hasattr(library, "MPI_Get_library_version"):
            yield library


def read_version(library: ctypes.CDLL) -> str:
    """Return the version text of an MPI library."""
    text, length = ctypes.create_string_buffer(_MAX_VERSION_BYTES), ctypes.c_int()
    library.MPI_Get_library_version(text, ctypes.byref(length))
    return text.value.decode(errors="replace").rstrip("\n ")


def find_family(library: ctypes.CDLL) -> str | None:
    """Return the family of an MPI library: openmpi, abi (the standard interface of MPI 5), mpich; else None."""
    if hasattr(library, "MPI_Abi_get_version"):
        major, minor = ctypes.c_int(), ctypes.c_int()
        if library.MPI_Abi_get_version(ctypes.byref(major), ctypes.byref(minor)) == 0 and major.value > 0:
            return "abi"
    if hasattr(library, "ompi_mpi_comm_self"):
        return "openmpi"
    return "mpich" if LIKE_MPICH.search(read_version(library)) else None
