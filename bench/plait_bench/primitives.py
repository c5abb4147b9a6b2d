"""The 1993 primitives as a Fortran program calls them: the external procedures of Plait's Fortran library."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import plait
from plait_bench.cells import Cell
from plait_bench.job import Case

_DIRECT, _UNFORMATTED, _OLD = 1, 0, 0  # the arguments access, form and status of popen
_ROW_MAJOR = 1  # the order of processors, for proc_map
# The distributions of a dimension, for array_map.
_COLLAPSED, _BLOCK, _CYCLIC, _BLOCK_CYCLIC = 0, 1, 2, 3


def fortran_library() -> Path:
    """Return the path of the Fortran library.

    errors  plait.Error: this Plait was built without a Fortran compiler
    """
    path = Path(plait.__file__).parent / "libplait_fortran.so"
    if not path.exists():
        raise plait.Error(
            "this Plait was built without its Fortran library; install a Fortran compiler (gfortran) and build it anew"
        )
    return path


class PrimitivesFile:
    """A unit opened by `popen` and an array described by `array_map`, which `pread` and `pwrite` transfer."""

    def __init__(self, path: Path, unit: int, case: Case, cell: Cell, ranks: int) -> None:
        """Open the file and describe the array.  Collective over all processes."""
        self._library = ctypes.CDLL(str(fortran_library()))
        self._unit = unit
        processors = _pad_to_seven(cell.grid(ranks))
        codes, blocks = zip(*(_distribution(text) for text in cell.dist), strict=True)
        self._call("proc_map_", processors, _pointer(_ROW_MAJOR), _pad_to_seven([]))
        name = str(path).encode()
        self._call(
            "popen_", _pointer(unit), name, _pointer(_DIRECT), _pointer(_UNFORMATTED), _pointer(_OLD), _pointer(-1),
            _pointer(-1), ctypes.c_size_t(len(name)),
        )  # fmt: skip
        array_map = self._library.array_map_
        array_map.restype = ctypes.c_int32
        self._descriptor = array_map(
            b"A",
            _pad_to_seven([case.extent, case.extent]),
            _pad_to_seven(codes),
            _pad_to_seven(blocks),
            processors,
            ctypes.c_size_t(1),
        )
        self._check()
        kind = f"CHARACTER*{np.dtype(case.dtype).itemsize}".encode()
        self._call("array_type_", _pointer(self._descriptor), kind, ctypes.c_size_t(len(kind)))

    def transfer(self, array: npt.NDArray[Any], *, write: bool) -> None:
        """Call `pwrite` or `pread` with a local array in Fortran order."""
        self._call(
            "pwrite_" if write else "pread_", ctypes.c_void_p(array.__array_interface__["data"][0]),
            _pointer(array.shape[0]), _pointer(array.shape[1]), _pointer(self._descriptor), _pointer(self._unit),
            None, _pointer(-1),
        )  # fmt: skip

    def close(self) -> None:
        """Close the unit."""
        self._call("pclose_", _pointer(self._unit))

    def _call(self, name: str, *arguments: Any) -> None:
        procedure = getattr(self._library, name)
        procedure.restype = None
        procedure(*arguments)
        self._check()

    def _check(self) -> None:
        if self._library.plait_status_() == 0:
            return
        text = ctypes.create_string_buffer(4096)
        self._library.plait_message_(text, ctypes.c_size_t(len(text)))
        raise plait.Error(text.raw.decode(errors="replace").strip())


def _distribution(text: str) -> tuple[int, int]:
    """Return the distribution code and the block size of a dimension."""
    kind, _, size = text.rstrip(")").partition("(")
    if size:
        return _BLOCK_CYCLIC, int(size)
    return {"*": _COLLAPSED, "block": _BLOCK, "cyclic": _CYCLIC}[kind], -1


def _pointer(value: int) -> Any:
    return ctypes.byref(ctypes.c_int32(value))


def _pad_to_seven(values: Any) -> Any:
    """Return the values as an array of seven entries, one for each possible dimension; unused entries are -1."""
    return (ctypes.c_int32 * 7)(*values, *[-1] * (7 - len(values)))
