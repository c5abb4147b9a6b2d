"""The sources of a copy: pipes, and files, each of which is a step."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal

import numpy.typing as npt

from .. import _core
from .._arguments.array_types import array_type, element_dtype
from .._base.errors import ArgumentError, Error, store_error
from .._calls.comm import CommLike
from .._calls.guard import Reporter, collective_errors
from .._core import ArrayType, Content, Layout
from .._file.arrays_in import SEPARATOR, decode_fill_value, element_type, groups_in, members_in
from .._file.file import File
from .._file.location import format_at, locate, object_state
from .._file.open import open
from .._file.steps import VARIABLE
from .serial import NoReaderError
from .steps import Region, SourceStep, StepArray, UnreadableArray


@dataclass(frozen=True)
class SourceOptions:
    """The arguments of the caller with which a source is opened."""

    comm: CommLike
    shape: Sequence[int] | int | None
    dtype: npt.DTypeLike | None
    order: Literal["C", "F"] | None
    offset: int
    memory: int

    def open(self, name: str | os.PathLike[str]) -> File:
        """Open a source."""
        return open(
            name,
            comm=self.comm,
            shape=self.shape,
            dtype=self.dtype,
            order=self.order,
            offset=self.offset,
            memory=self.memory,
        )


class FileSource:
    """Files, each of which is a step."""

    in_one_piece = False
    is_serial = False

    def __init__(self, names: Sequence[str | os.PathLike[str]], options: SourceOptions) -> None:
        """Store the names of the files."""
        self.name = os.fsdecode(names[0])
        self._names, self._options = names, options
        self._stack = contextlib.ExitStack()
        self._file: File | None = None

    def __enter__(self) -> FileSource:
        """Check several files in advance, so that an unsuitable one is reported before anything is copied."""
        first: StepArray | None = None
        for name in self._names if len(self._names) > 1 else []:
            with self._options.open(name) as file:
                array = _describe_array(file, VARIABLE)
            first = first or array
            if (array.shape, array.dtype) != (first.shape, first.dtype):
                raise ArgumentError(
                    f"{os.fsdecode(name)} has {_describe_type(array)}, but {self.name} has {_describe_type(first)}; "
                    "the steps of one copy must have the same shape and type; copy files that differ one by one"
                )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file that is open."""
        self._stack.__exit__(kind, error, trace)

    def steps(self) -> Iterator[SourceStep]:
        """Yield a step for each file, which is open until the next step is requested."""
        for number, name in enumerate(self._names):
            self._file = self._stack.enter_context(self._options.open(name))
            yield SourceStep(number, (_describe_array(self._file, VARIABLE),), is_all=len(self._names) == 1)
            self._stack.close()

    def read(self, array: StepArray, layout: Layout, out: Any, region: Region) -> None:
        """Read the array of the file, or a window."""
        assert self._file is not None
        self._file.read(layout, out, region=region)


def holds_arrays(name: str | os.PathLike[str]) -> bool:
    """Return True if a name denotes a file with named arrays, or one of its arrays."""
    with contextlib.suppress(ArgumentError, TypeError):  # opening it raises the error
        return locate(name).names_arrays
    return False


class NamedSource:
    """A file with named arrays, or one of these arrays, as the only step."""

    in_one_piece = False
    is_serial = False

    def __init__(self, name: str | os.PathLike[str], options: SourceOptions, fail: Reporter) -> None:
        """Find the arrays of the file."""
        self.name = os.fsdecode(name)
        self._options, self._fail = options, fail
        self._file: File | None = None
        self._opened = ""
        with collective_errors(fail):
            resolved = locate(self.name)
            self._path, self._disk_path = resolved.file, resolved.path
            source_format = format_at(self._path)
            self._is_netcdf = source_format == "netcdf"
            # The arrays of Zarr are many objects, each with its own identity, so there is no single one to check.
            self._is_object = not self._disk_path and not source_format.startswith("zarr")
            # The first listing may change the file by completing the changes of a killed program: try twice.
            for _ in range(2):
                self._state = self._find_state()
                self._arrays = members_in(self.name)
                # A single named array is copied without its groups.
                self._groups = groups_in(self._path) if os.fspath(self._path) == self.name else ()
                if self._find_state() == self._state:
                    break
            else:
                self._check_file()
            if not self._arrays:
                raise ArgumentError(f"{self.name} contains no array; nothing was copied")

    def __enter__(self) -> NamedSource:
        """Return itself; each array is opened when it is read."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the array that is open."""
        if self._file is not None:
            self._file.__exit__(kind, error, trace)

    def steps(self) -> Iterator[SourceStep]:
        """Yield the only step, with all arrays."""
        arrays, unreadable = [], []
        for array in self._arrays:
            name, (dtype, reason) = array.name or VARIABLE, element_type(array)
            if dtype is None or reason:
                reason = reason or f"elements of type {array.element} cannot be read"
                reason = f"{self._path}{SEPARATOR if array.name else ''}{array.name}: {reason}"
                stored = array.stored or 0
                unreadable.append(
                    UnreadableArray(name, reason, array.has_elements, array.copy_reason, described=array, stored=stored)
                )
            else:
                described = replace_type(array, array_type(array.shape, dtype, array.order))
                is_default = self._is_netcdf and has_default_fill(described)
                arrays.append(
                    StepArray(described, named=bool(array.name), library=array.library, has_default_fill=is_default)
                )
        yield SourceStep(
            0,
            tuple(arrays),
            groups=self._groups,
            unreadable=tuple(unreadable),
            file=self._disk_path or os.fspath(self._path),
            check_file=self._check_file,
            is_all=True,
        )

    def read(self, array: StepArray, layout: Layout, out: Any, region: Region) -> None:
        """Read an array, or a window of it."""
        if self._opened != array.name:
            if self._file is not None:
                self._file.close()
            root = len(self._arrays) == 1 and not self._arrays[0].name
            self._file = self._options.open(f"{self._path}{SEPARATOR}{'' if root else array.name}")
            self._opened = array.name
            with collective_errors(self._fail):
                self._check_file()
        assert self._file is not None
        self._file.read(layout, out, region=region)

    def _find_state(self) -> tuple[int, ...] | str:
        """Return values that change if the file or object is replaced or written."""
        return object_state(self._path) if self._is_object else _file_state(self._disk_path)

    def _check_file(self) -> None:
        if self._find_state() != self._state:
            raise store_error(f"{self._path} has been changed or replaced during the copy; copy it again", errno.ESTALE)


def _file_state(path: str) -> tuple[int, ...]:
    """Return values that change if a file is replaced, written or removed; for a folder, only its identity; empty if
    the path cannot be examined.
    """
    try:
        status = os.stat(path)
    except OSError:  # opening it raises the error
        return ()
    identity = (status.st_dev, status.st_ino)
    return identity if stat.S_ISDIR(status.st_mode) else (*identity, status.st_size, status.st_mtime_ns)


class PipeSource:
    """A pipe, whose steps are copied as they arrive."""

    in_one_piece = False
    is_serial = False

    def __init__(self, name: str | os.PathLike[str], options: SourceOptions) -> None:
        """Open the pipe."""
        self.name = os.fsdecode(name)
        self._file = options.open(name)
        self._order = options.order or "C"

    def __enter__(self) -> PipeSource:
        """Return the source; the constructor has connected to the writer already."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the pipe, or report to the writer that this reader has failed.

        A wrong argument is not reported as a failure, nor is a program that reads the copy's output and ends early: a
        failure would stop the writer, and other readers may continue.
        """
        if kind is None or issubclass(kind, (ArgumentError, NoReaderError)):
            with contextlib.suppress(Error) if kind else contextlib.nullcontext():
                if kind is None and self._file.in_step:
                    self._file.end_step()  # its arrays have been read
                self._file.close()
        else:
            self._file.__exit__(kind, error, trace)

    @property
    def opened(self) -> StepArray:
        """The array with the pipe's default name, with the shape and type that the pipe states."""
        return StepArray.make(VARIABLE, self._file.shape, self._file.dtype, self._order)

    def steps(self) -> Iterator[SourceStep]:
        """Yield the steps as they arrive."""
        count = 0
        for step in self._file:
            count += 1
            arrays = tuple(_describe_array(self._file, name, self._order) for name in step.variables)
            yield SourceStep(step.number, arrays, step.attributes)
        if count == 0:
            raise store_error(f"{self.name}: its writer has closed it without a step; nothing was copied")

    def read(self, array: StepArray, layout: Layout, out: Any, region: Region) -> None:
        """Read an array of the step, or a window of it."""
        self._file.read(layout, out, region=region, variable=array.name)


def _describe_array(file: File, name: str, order: str | None = None) -> StepArray:
    shape, dtype = file.type_of(name)
    array = StepArray.make(name, shape, dtype, order or file.order)
    array.content.attributes = file.attrs.stored
    return array


def has_default_fill(content: Content) -> bool:
    """Return True if an array has the fill value of netCDF's library for variables that do not state one."""
    stated = any(attribute.name == "_FillValue" for attribute in content.attributes)
    return bool(content.fill) and not stated and content.fill == _core.netcdf_fill(content.type.dtype)


def replace_type(array: Content, described: ArrayType) -> Content:
    """Return the description of an array that is read with this shape and type.

    It has a fill value only if the value is known, is not zero, and is of this type.
    """
    content = Content(array)
    content.name, content.type = array.name or VARIABLE, described
    if content.fill and (
        element_dtype(array.type) != element_dtype(described)
        or decode_fill_value(array, element_dtype(described)) is None
    ):
        content.fill = b""
    return content


def _describe_type(array: StepArray) -> str:
    return f"shape {'x'.join(map(str, array.shape)) or 'scalar'} and type {array.dtype}"
