"""Copies arrays from any store to any other, with all ranks and a bounded amount of memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, Literal

import numpy as np
import numpy.typing as npt

from .. import _core
from .._arguments.buffers import to_whole_number
from .._arguments.flags import check_flag
from .._arguments.memory import MEMORY, parse_memory
from .._arguments.presence import is_given
from .._arguments.variables import to_names
from .._arguments.words import kind
from .._base.errors import ArgumentError
from .._calls.comm import CommLike, to_core_comm
from .._calls.guard import agreed_errors, collective_errors
from .._file.location import comes_in_steps, with_format
from .._views.joined import list_part_names
from .ends import check_names, check_streams, without_streams
from .hierarchy.appending import append_arrays
from .job import Job, JobResult
from .joined_sources import make_join_request
from .moving import Progress
from .names import TargetName
from .plans import ArrayPlan
from .selection import Selection
from .serial import is_stream
from .shaping import ArrayTransform, Axes, Cast, RegionLike
from .sources import SourceOptions
from .steps import SkippedArray
from .storage_request import ChunksLike, CodecLike, ShardsLike, StorageRequest, Unlimited

Name = str | os.PathLike[str]

_APPEND_ARGUMENTS = {"source", "target", "comm", "shape", "dtype", "order", "offset", "memory", "append", "progress"}
"""The only arguments of copy() that may be given together with `append`."""


@dataclass(frozen=True)
class CopyResult:
    """The result of a copy."""

    shape: tuple[int, ...]
    """The shape of the first array that was copied."""
    dtype: np.dtype[Any]
    bytes: int
    """The bytes of all arrays."""
    seconds: float
    """Seconds in this process, from opening the source until the target was durable."""
    windows: int
    """The number of windows, the pieces in which the arrays were copied."""
    ranks: int
    steps: int = 1
    """The number of steps that were copied."""
    resumed: int = 0
    """Bytes that were not copied again, because an earlier, interrupted copy had copied them."""
    plan: tuple[ArrayPlan, ...] = ()
    """The planned work of ``dry_run``, array by array."""
    skipped: tuple[SkippedArray, ...] = ()
    """The arrays that were left out, with the reasons."""

    @property
    def rate(self) -> float:
        """Bytes per second."""
        return self.bytes / self.seconds if self.seconds > 0 else 0.0


def _add_format(target: Name | BinaryIO, file_format: str | None) -> Name | BinaryIO:
    """Return the name of the target, prefixed with the format of the file."""
    if file_format is None:
        return target
    if is_stream(target):
        raise ArgumentError(
            f"format={file_format} was given, but a stream has .npy files, or raw elements; leave it out"
        )
    return with_format(target, file_format)  # type: ignore[arg-type]


def copy(
    source: Name | BinaryIO | Sequence[Name],
    target: Name | BinaryIO,
    *,
    comm: CommLike = None,
    shape: Sequence[int] | int | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C", "F"] | None = None,
    offset: int = 0,
    layout: str | None = None,
    memory: int | str = MEMORY,
    variable: str | Sequence[str] | None = None,
    steps: int | None = None,
    raw: bool = False,
    target_order: Literal["C", "F"] | None = None,
    chunks: ChunksLike | None = None,
    shards: ShardsLike | None = None,
    codec: CodecLike | None = None,
    unlimited: Unlimited | None = None,
    consolidated: bool | None = None,
    region: RegionLike | None = None,
    axes: Axes | None = None,
    target_dtype: npt.DTypeLike | None = None,
    cast: Cast | None = None,
    dry_run: bool = False,
    verify: bool = False,
    resume: bool = False,
    durable: bool | None = None,
    concat: int | str | None = None,
    first: bool = False,
    sort: bool = False,
    append: int | str | None = None,
    unpack: bool = False,
    skip_unsupported: bool = False,
    format: str | None = None,
    progress: Progress | None = None,
) -> CopyResult:
    """Copy an array from one store to another, of any kinds that :func:`plait.open` opens. Collective over ``comm``.

    source    the name to read from. From a pipe every step is copied; of several names, in a list, each is a step
    target    the name to write to. It appears whole and durable when everything has been copied, or not at all. In an
              existing Zarr hierarchy each array appears when it is whole; errors name those that had been replaced.
              ``{step}`` (or ``{step:04}``) and ``{variable}`` in the name stand for the number of a step and the name
              of an array, and make a file for each; without ``{step}`` a second step is an error. Pipes get every step
    comm      an mpi4py communicator whose ranks copy together; without one this process copies alone
    shape, dtype, order, offset  of the array in the source, if the source does not state them: as in
              :func:`plait.open`. The target gets the same shape, dtype (byte order included) and order; arrays from a
              pipe are written in ``order``
    layout    how the ranks hold each window of the array, such as ``"(block, cyclic) onto (2, 2)"``; by default each
              rank holds one contiguous part of the window
    memory    the limit, in bytes, of the memory that all ranks together use for windows, staging and the buffers of
              compressed chunks, or a text such as ``"64M"``; 256 MiB by default. Each rank buffers three chunks of the
              source and two of the target if they are compressed, and needs a window of one more chunk; if the limit is
              smaller, the copy warns and exceeds it. A process that copies alone buffers two more chunks for each
              further thread, if the memory suffices. The libraries and 64 KiB for each file add some MiB. Arrays that
              go to a pipe are held whole, one at a time
    variable  the name of the array to copy from each step of a pipe, or a list of names; by default all arrays
    steps     the number of steps to copy; by default all
    raw       True if the binary stream at one end has elements without ``.npy`` headers
    target_order  the order of the elements in the target, "C" or "F"; by default that in the source
    chunks    the shape of the chunks in a target that has them, such as ``.zarr``: one size for each dimension, or a
              mapping of dimension names to sizes, where the others are whole; -1 is a whole dimension.
              Sizes by numbers apply to arrays with as many dimensions; sizes by names do not change one-dimensional
              arrays if others extend along their dimension. ``"auto"`` chooses sizes: ``"auto:maps"`` for readers of
              one time, ``"auto:series"`` for readers of time series, ``"auto:balanced"`` (``"auto"``) for both, with
              at most 8 MiB a chunk, or as many bytes as in ``"auto:series:64M"``. By default the chunks of the source,
              or else about 8 MiB; one-dimensional arrays along which others extend get one chunk, if it fits
    shards    the shape of its shards, files that hold many chunks each; by default there are none
    codec     the compression of its chunks, as in :func:`plait.open`; zlib and deflate are HDF5's names of gzip. By
              default none
    chunks, shards, codec  also per array: a mapping of patterns to such values, as in
              ``codec={"*": "zstd:3", "*_flag": "zlib:1"}``. A pattern, as in :mod:`fnmatch`, matches the whole name of
              an array, or the part after the last slash; the last pattern that matches applies, and None as a value
              stands for the default. A pattern that matches no array is an error
    unlimited  the dimensions that can be extended in an HDF5 or netCDF-4 target, by names or numbers; all others are
              fixed, so that ``()`` fixes all. By default those of the source
    consolidated  False to write no consolidated metadata of a Zarr hierarchy in a folder; by default it is written
    region    the part of each array to copy: slices, one for each dimension or by the names of dimensions, or a text
              such as ``"time=0:100,lat=10:20"`` or ``"0:100,:"``; steps above 1 are taken. By default all of it
    axes      the axes in a new order, as for :func:`numpy.transpose`, or the names of the dimensions in a new order; by
              default the order stays
    target_dtype  the type of the elements in the target, byte order included; by default that in the source
    cast      which conversions to it are permitted: "safe" (default), "same_kind" or "unsafe", as for
              :func:`numpy.can_cast`. With ``cast`` and no ``target_dtype``, ``dtype`` is the type in the target
    dry_run   write nothing: the result's ``plan`` states the work that the copy would do
    verify    read the target back before it gets its name, and compare each element with the source, which is read
              again; NaN equals NaN. A difference is a plait.StoreError that states its position, and there is no target
    resume    continue an earlier, interrupted copy with the same source and arguments; if this copy is interrupted,
              leave the completed work next to the target, under temporary names. Copies into targets that cannot be
              continued, such as HDF5 files, start over. A target that is one object in ``s3://`` or ``gs://``, of any
              format, is written again, but only the parts that the server does not have are sent
    durable   False to return without waiting for the disk, as in :func:`plait.open`; not with ``resume``
    concat    the dimension along which the sources are joined: its number or its name. Sources that name whole files,
              as in ``"run-*.nc"``, are joined as by :func:`plait.open_many`: all arrays that have the dimension; the
              others must be equal in all files. Other sources are arrays that are joined as by :func:`plait.concat`
    first     with ``concat``, take arrays without the dimension from the first file, without comparing them
    sort      with ``concat``, join files in the order of the coordinate along the dimension, not of their names
    append    the dimension along which the arrays of the source are appended to those of an existing target: its name,
              or its number if there is one array. Arrays without the dimension must be equal in both. All elements are
              written before the first array gets its new length, and the coordinate of the dimension gets it last. The
              target is Zarr, HDF5, netCDF or .npy. Options that describe a new target cannot be combined with it
    unpack    decode packed elements to floating point: ``scale_factor`` and ``add_offset`` are applied, and elements
              equal to ``_FillValue`` or ``missing_value`` become NaN
    skip_unsupported  leave out arrays that cannot be copied, with a warning that lists them; the result's ``skipped``
              contains them too. By default they are an error that lists all of them, before anything is written.
              HDF5's library copies arrays of references, sequences and records of these from HDF5 to HDF5 as they are,
              unless ``region``, ``axes`` or ``target_dtype`` is given. Arrays without elements (null dataspaces of
              HDF5) are copied in the same way, and left out of other formats, unless ``variable`` names them
    format    the format of the target, as in :func:`plait.open`; by default its suffix determines it
    progress  called on each rank after each window, with the number of bytes copied and the number of bytes in all
              steps that have begun. An exception that it raises ends the copy on all ranks

    One end may be a binary stream instead of a name, such as ``sys.stdout.buffer``; this process then copies alone. The
    stream has each array as a ``.npy`` file, one after the other, or with ``raw`` their elements. If it is an ordinary
    file, an array that could not be written whole is removed from its end.

    Raises plait.ArgumentError for arguments that do not fit together, such as a target that is the source, and
    plait.StoreError if the source cannot be read or the target cannot be written: the same error on every rank, unless
    ``progress`` raised it.
    """
    arguments = dict(locals())
    core_comm = to_core_comm(comm)
    fail = partial(_core.fail, comm=core_comm)
    with collective_errors(fail):
        memory_bytes = parse_memory(memory)
        _check_types(layout, progress)
        storage = StorageRequest(target_order, chunks, shards, codec, unlimited, consolidated)
        if cast is not None and target_dtype is None:
            dtype, target_dtype = None, dtype
        shaping = ArrayTransform.from_arguments(region, axes, target_dtype, cast)
        selection = Selection(to_names(variable), _to_step_count(steps))
        check_streams(source, target, raw=raw, shared=core_comm.size > 1 or layout is not None)
        target = _add_format(target, format)
        sources = _list_sources(source, concat, core_comm)
        join = make_join_request(concat, selection, first=first, sort=sort, unpack=unpack)
        if append is not None:
            _check_append(sources, target, arguments)
        check_names(sources, target, joined=concat is not None)
        name = None if is_stream(target) else TargetName(target)  # type: ignore[arg-type]
        options = SourceOptions(comm, shape, dtype, order, offset, memory_bytes)
        job = Job(sources, target, name, options, storage, join)
        job.select(selection, shaping, raw=raw, layout=layout)
        job.set_handling(unpack=check_flag(unpack, "unpack"), skip=check_flag(skip_unsupported, "skip_unsupported"))
        sync = None if durable is None else check_flag(durable, "durable")
        job.set_mode(dry_run=dry_run, verify=verify, resume=resume, durable=sync)
    result = append_arrays(job, append, fail, progress) if append is not None else job.run(core_comm, fail, progress)
    return _make_result(result, core_comm.size)


def _make_result(result: JobResult, ranks: int) -> CopyResult:
    return CopyResult(
        result.first.shape,
        result.first.dtype,
        result.bytes,
        result.seconds,
        result.windows,
        ranks,
        result.steps,
        result.resumed,
        tuple(result.plan),
        tuple(result.skipped),
    )


def _list_sources(source: Any, concat: int | str | None, comm: _core.Comm) -> list[Any]:
    """Return the sources one by one.  Collective with `concat`, because rank 0 searches the files of patterns."""
    sources: list[Any] = list(source) if isinstance(source, (list, tuple)) else [source]
    if concat is None:
        return sources
    with agreed_errors():
        return [*list_part_names(without_streams(sources), comm)]


def _to_step_count(steps: int | None) -> int | None:
    count = None if steps is None else to_whole_number(steps, "steps")
    if count is not None and count < 1:
        raise ArgumentError(f"steps={steps} copies nothing; give 1 or more, or leave it out for all")
    return count


def _check_append(sources: Sequence[Any], target: Any, arguments: dict[str, Any]) -> None:
    """Check that an existing target can be extended with these arguments of a copy.  errors  ArgumentError"""
    if len(sources) != 1 or any(is_stream(end) or comes_in_steps(end) for end in (*sources, target)):
        raise ArgumentError("append takes one file and one existing target; append several files one by one")
    for name, value in arguments.items():
        if is_given(name, value) and name not in _APPEND_ARGUMENTS:
            raise ArgumentError(
                f"append and {name} cannot be combined: elements are appended to a target as it is stored; leave "
                f"{name} out, or copy into a new target"
            )


def _check_types(layout: Any, progress: Any) -> None:
    if layout is not None and not isinstance(layout, str):
        raise ArgumentError(f"layout is {kind(layout)}; pass a text such as '(block, *) onto (4)'")
    if progress is not None and not callable(progress):
        raise ArgumentError(f"progress is {kind(progress)}; pass a function of the bytes done and the bytes in all")
