"""The sources of copies that join files along a dimension: one array of each file, or whole files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any

from .._arguments.array_types import array_type
from .._arguments.flags import check_flag
from .._base.errors import ArgumentError
from .._calls.guard import Reporter, collective_errors
from .._core import Content, Layout, Member
from .._file.arrays_in import members_in, split_name
from .._views.joined import Concatenation, concat
from .._views.joined_files import JoinedFiles, JoinRequest
from .._views.joined_files.joining import join_files
from .selection import Selection
from .sources import NamedSource, SourceOptions, holds_arrays, replace_type
from .steps import Region, Source, SourceStep, StepArray, WrappedSource
from .unpacking import UnpackedSource


class JoinedSource:
    """Arrays that are joined along a dimension, as the only step."""

    in_one_piece = False
    is_serial = False

    def __init__(
        self,
        names: Sequence[str],
        members: Sequence[Member],
        request: JoinRequest,
        options: SourceOptions,
        fail: Reporter,
    ) -> None:
        """Open all files.  members: the arrays of the first file; empty if its format has no names"""
        self.name = names[0] if len(names) == 1 else f"the array joined from {names[0]} and {len(names) - 1} more"
        self._joined = concat(
            names,
            request.axis,
            comm=options.comm,
            shape=options.shape,
            dtype=options.dtype,
            order=options.order,
            offset=options.offset,
            memory=options.memory,
            unpack=request.unpack,
        )
        joined = self._joined
        member = members[0] if len(members) == 1 else Content()
        content = replace_type(member, array_type(joined.shape, joined.dtype, joined.order))
        content.attributes = joined.attrs.stored
        self._array = StepArray(content, extra_bytes=joined._stored_bytes, named=bool(member.name))

    def __enter__(self) -> JoinedSource:
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the parts."""
        self._joined.close()

    def steps(self) -> Iterator[SourceStep]:
        """Yield the only step, with the joined array."""
        yield SourceStep(0, (self._array,), is_all=True)

    def read(self, array: StepArray, layout: Layout, out: Any, region: Region) -> None:
        """Read the joined array, or a window of it."""
        self._joined.read(layout, out, region=region)


class JoinedFilesSource(WrappedSource):
    """Whole files that are joined along a dimension, as the only step.

    Groups, and arrays without the dimension, are those of the first file.
    """

    def __init__(self, names: Sequence[str], request: JoinRequest, options: SourceOptions, fail: Reporter) -> None:
        """Compare all files."""
        described = {
            "shape": options.shape,
            "dtype": options.dtype,
            "order": options.order,
            "offset": options.offset or None,
        }
        with collective_errors(fail):
            for name, value in described.items():
                if value is not None:
                    raise ArgumentError(f"{name}={value} was given, but {names[0]} states it itself; leave it out")
        self._files: JoinedFiles = join_files(names, request, options.comm, options.memory)
        first: Source = NamedSource(self._files.names[0], options, fail)
        super().__init__(UnpackedSource(first, fail) if request.unpack else first, fail)
        if len(names) > 1:
            self.name = f"the files joined from {self._files.names[0]} and {len(names) - 1} more"
        self._reading: Concatenation | None = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close all files."""
        super().__exit__(kind, error, trace)
        self._files.close()

    def steps(self) -> Iterator[SourceStep]:
        """Yield the step of the first file, with the joined arrays."""
        for step in self._source.steps():
            yield replace(
                step, file="", arrays=tuple(self._joined(array) for array in step.arrays if array.name in self._files)
            )

    def read(self, array: StepArray, layout: Layout, out: Any, region: Region) -> None:
        """Read an array, or a window of it."""
        joined = self._files.joined.get(array.name)
        if self._reading is not None and self._reading is not joined:
            self._reading._files.close()
        self._reading = joined
        if joined is None:
            self._source.read(array, layout, out, region)
        else:
            joined.read(layout, out, region=region)

    def _joined(self, array: StepArray) -> StepArray:
        joined = self._files.joined.get(array.name)
        if joined is None:
            return array
        content = replace_type(array.content, array_type(joined.shape, joined.dtype, joined.order))
        content.attributes = joined.attrs.stored
        return replace(array, content=content, extra_bytes=joined._stored_bytes)


def make_join_request(
    concat: int | str | None, chosen: Selection, *, first: bool, sort: bool, unpack: bool
) -> JoinRequest | None:
    """Return the request to join the sources of a copy; None if `concat` is None.  errors  ArgumentError"""
    flags = {name: check_flag(is_set, name) for name, is_set in (("first", first), ("sort", sort), ("unpack", unpack))}
    if concat is not None:
        return JoinRequest(concat, variables=chosen.variables, **flags)
    for name in ("first", "sort"):
        if flags[name]:
            raise ArgumentError(f"{name}=True (--{name}) applies to files that are joined; add concat= (--concat)")
    return None


def make_joined_source(names: Sequence[str], request: JoinRequest, options: SourceOptions, fail: Reporter) -> Source:
    """Return the source of a copy that joins files.

    Files with named arrays are joined as a whole, unless a name is that of one array.
    """
    with collective_errors(fail):
        has_names = holds_arrays(names[0])
        members = members_in(names[0]) if has_names else []
        is_whole = not split_name(names[0])[1] and has_names and [array.name for array in members] != [""]
        for name, is_set in (("first", request.first), ("sort", request.sort)):
            if is_set and not is_whole:
                raise ArgumentError(
                    f"{name}=True (--{name}) was given, but {names[0]} is one array; leave it out, or join whole files"
                )
    if is_whole:
        return JoinedFilesSource(names, request, options, fail)
    return JoinedSource(names, members, request, options, fail)
