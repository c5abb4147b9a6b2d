"""Appending the arrays of a source to those of an existing target, along a dimension.

Arrays with the dimension grow; all others must be equal in source and target. Arrays that the target does not have are
added (:mod:`.new_arrays`). All elements are written before the first array gets its new length. The arrays of an HDF5
or netCDF file get their new lengths together. The arrays of a Zarr folder get them one after the other, the coordinate
of the dimension last. If a copy is killed between two arrays, some are longer than the coordinate: the next copy begins
where the shortest array ends, and so replaces the elements after that index. Example: temp and time have 365 days, and
a killed copy has extended only temp, to 366 days. The next copy of one day writes day 365 of temp again, and day 365 of
time.
"""

from __future__ import annotations

import contextlib
import posixpath
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..._arguments.array_types import array_type, element_dtype
from ..._arguments.differences import find_difference
from ..._arguments.texts import is_text
from ..._arguments.words import shape_text, shown
from ..._base.errors import ArgumentError
from ..._calls.comm import CommLike, to_core_comm
from ..._calls.guard import Reporter, collective_errors
from ..._core import Content, GrowthGroup, Layout
from ..._file.arrays_in import SEPARATOR, members_in, split_name
from ..._file.attributes import Attributes
from ..._file.file import File
from ..._file.location import local_path, locate
from ..._file.open import open
from ..._file.steps import VARIABLE
from ..._views.joined.decoding import PartDecoding
from ..._views.joined.element_types import ElementTypes
from ..._views.joined.meaning import Meanings
from ..boxes import Storage
from ..ends import make_source
from ..job import Job, JobResult
from ..moving import Progress
from ..scratch import Scratch
from ..steps import Source, SourceStep, StepArray
from .array_pairs import ArrayPair, ConvertedSource, GrowingTarget
from .new_arrays import NewArrays

_COMPARED_BYTES = 8 << 20
"""Bytes of an array that are compared at once."""


def append_arrays(job: Job, along: int | str, fail: Reporter, progress: Progress | None) -> JobResult:
    """Append the arrays of the source of a job to those of its target.  Collective over the job's communicator.

    errors  ArgumentError: the arrays do not fit together
    """
    started = time.perf_counter()
    assert job.name is not None  # a stream cannot grow
    target, comm = job.name.text, job.options.comm
    mover, staging = job.make_mover(to_core_comm(comm), fail, progress)
    scratch = Scratch(comm, staging, target)
    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(make_source(job.sources, replace(job.options, memory=staging), job.raw, fail))
        steps = opened.steps()
        step = next(steps)
        with collective_errors(fail):
            pairs, new_arrays = _find_pairs(step, opened.name, target, along)
            changing = [pair for pair in pairs if pair.axis is not None or pair.is_new]
            growing = [pair for pair in changing if not pair.is_new]
        converted = ConvertedSource(opened, pairs, comm, fail)
        growth = GrowingTarget(min(pair.length for pair in growing))
        target_arrays = tuple(_describe_in_target(pair) for pair in changing)
        opens_one_by_one = _opens_one_by_one(target, growing)
        with collective_errors(fail):
            if opens_one_by_one and to_core_comm(comm).rank == 0:
                group = GrowthGroup(str(local_path(target)), len(changing))
                stack.callback(group.end)
        has_begun = False
        files: list[File] = []
        with collective_errors(fail):
            new_arrays.begin(comm)
        for batch in [[pair] for pair in changing] if opens_one_by_one else [changing]:
            files = [stack.enter_context(_open(pair, new_arrays, comm, staging)) for pair in batch]
            with collective_errors(fail):
                _check_unchanged(batch, files)
            if not has_begun:
                _check_others(pairs, converted, comm, fail)
                mover.begin(target_arrays)
                has_begun = True
            for pair, file in zip(batch, files, strict=True):
                growth.add(pair, file)
                array = target_arrays[changing.index(pair)]
                ends: Any = (converted, growth)
                mover.move(array, ends, Storage(_describe_storage(pair, array)), scratch, array.name)
            for file in files:
                file.close()
        new_arrays.finish(comm)
        del steps
    seconds = time.perf_counter() - started
    assert mover.first is not None
    return JobResult(mover.first, mover.done, seconds, mover.windows, 1, 0, [], [])


def _opens_one_by_one(target: str, pairs: Sequence[ArrayPair]) -> bool:
    """Return True if each array is opened when the previous one is closed: arrays of the same HDF5 file.

    A GrowthGroup makes the changes of all of them take effect together.
    """
    path = local_path(target)
    return path is not None and path.is_file() and any(pair.content.chunks for pair in pairs)


def _open(pair: ArrayPair, new_arrays: NewArrays, comm: CommLike, memory: int) -> File:
    return new_arrays.open(pair.url, comm, memory) if pair.is_new else open(pair.url, "a", comm=comm, memory=memory)


def _check_others(pairs: Sequence[ArrayPair], source: ConvertedSource, comm: CommLike, fail: Reporter) -> None:
    """Check that the arrays without the dimension are equal.  errors  ArgumentError"""
    for pair in pairs:
        if pair.axis is None and not pair.is_new:
            _check_equal(pair, source, comm, fail)


def _find_pairs(step: SourceStep, source: str, target: str, along: int | str) -> tuple[list[ArrayPair], NewArrays]:
    """Pair the arrays of the source with those of the target, in the order in which they are written.

    New coordinates come first, because other arrays of netCDF refer to them; the coordinate of the dimension that grows
    comes last.

    errors  ArgumentError
    """
    for skipped in step.unreadable:
        if skipped.has_elements:
            raise ArgumentError(f"append: {skipped.reason}; append a file whose arrays can all be read")
    existing: dict[str, Any] = {member.name: member for member in _members_in(target)}
    arrays = {_array_name(array): array for array in step.arrays}
    if len(arrays) == 1 and len(existing) == 1 and (isinstance(along, int) or "" in (*arrays, *existing)):
        arrays = dict(zip(existing, arrays.values(), strict=True))
    if isinstance(along, int) and len(arrays) > 1:
        raise ArgumentError(
            f"append={along} is the number of a dimension, but {source} has {len(arrays)} arrays; give the name of the "
            "dimension"
        )
    if isinstance(along, str) and not any(along in array.content.dimension_names for array in arrays.values()):
        raise ArgumentError(f"append={shown(along)} is no dimension of an array of {source}; nothing was appended")
    new_arrays = NewArrays(target, existing, along)
    for name, array in arrays.items():
        if name not in existing:
            new_arrays.check(array, name, source)
    pairs = [
        _make_pair(array, name, existing[name], (source, target), along)
        for name, array in arrays.items()
        if name in existing
    ]
    growing = [pair for pair in pairs if pair.axis is not None]
    if not growing:
        raise ArgumentError(f"append: no array of {target} has the dimension {shown(along)}; nothing was appended")
    _check_lengths(growing)
    pairs += [
        _make_new(array, name, new_arrays, target, growing) for name, array in arrays.items() if name not in existing
    ]
    for name, member in existing.items():
        if name not in arrays and along in member.dimension_names:
            raise ArgumentError(
                f"append: {target} has the array {shown(name)} with the dimension {shown(along)}, but {source} has no "
                "array of that name, so that the lengths would differ; add it to the source"
            )
    return sorted(pairs, key=lambda pair: _write_order(pair, along)), new_arrays


def _members_in(target: str) -> list[Any]:
    """Return the arrays of the target; a file whose format has no names contains one array without a name."""
    if locate(target).names_arrays:
        return list(members_in(target))
    with open(target) as file:
        content = Content()
        content.type = array_type(file.shape, file.dtype, file.order)
        return [content]


def _array_name(array: StepArray) -> str:
    return array.name if array.named or array.name != VARIABLE else ""


def _write_order(pair: ArrayPair, along: int | str) -> int:
    """Return the sort key of an array for writing: 0 new coordinate, 1 other array, 2 the coordinate that grows."""
    names = list(pair.array.content.dimension_names)
    if pair.axis is not None and len(pair.array.shape) == 1 and posixpath.basename(pair.array.name) == along:
        return 2
    return 0 if pair.is_new and names == [posixpath.basename(pair.array.name)] else 1


def _make_new(
    array: StepArray, name: str, new_arrays: NewArrays, target: str, growing: Sequence[ArrayPair]
) -> ArrayPair:
    """Describe an array that is added to the target.  growing: the existing arrays that are extended

    errors  ArgumentError
    """
    first = growing[0]
    along = first.array.content.dimension_names[first.dimension]
    names = list(array.content.dimension_names)
    axis = names.index(along) if along in names else None
    url = f"{target}{SEPARATOR}{name}"
    shape = list(array.shape)
    if axis is not None:
        added = first.array.shape[first.dimension]
        if is_text(array.dtype):
            _reject_texts(url)
        if shape[axis] != added:
            raise ArgumentError(
                f"append: {name} has {shape[axis]} elements along {shown(along)}, but {first.array.name} has {added}; "
                "give all arrays of the source the same number"
            )
        shape[axis] += min(pair.length for pair in growing)
    content = new_arrays.describe(array, url, tuple(shape), axis)
    return ArrayPair(array, url, content, axis, PartDecoding(array.dtype, element_dtype(content.type)), is_new=True)


def _reject_texts(url: str) -> None:
    raise ArgumentError(
        f"append: {url} has texts of any length, and such an array cannot grow; append the other arrays one by "
        "one, as in day.nc::temp and all.zarr::temp, or copy all data into a new target"
    )


def _make_pair(array: StepArray, name: str, member: Any, ends: tuple[str, str], along: int | str) -> ArrayPair:
    source, target = (f"{split_name(end)[0]}{SEPARATOR}{name}" if name else end for end in ends)
    axis = _find_axis(array, along)
    shapes = [list(array.shape), list(member.shape)]
    if axis is not None and len(shapes[1]) == len(shapes[0]):
        for shape in shapes:
            del shape[axis]
    names = [list(content.dimension_names) for content in (array.content, member)]
    if shapes[0] != shapes[1] or (all(names) and names[0] != names[1]):
        raise ArgumentError(
            f"{source} has shape {shape_text(array.shape)} and dimensions {_join_names(names[0])}, but {target} has "
            f"{shape_text(tuple(member.shape))} and {_join_names(names[1])}; "
            + ("arrays without the dimension must be equal" if axis is None else "the others must be equal")
        )
    dtype = element_dtype(member.type)
    if axis is not None and is_text(dtype):
        _reject_texts(target)
    meanings, types = Meanings(unpack=False), ElementTypes()
    conversion = None
    for url, content, of_elements in ((target, member, dtype), (source, array.content, array.dtype)):
        _, conversion = meanings.add_part(url, Attributes(content.attributes), of_elements, tuple(content.shape))
        native = of_elements if of_elements.kind == "T" else of_elements.newbyteorder("=")
        types.add_part(url, PartDecoding(native, native))
    needed = None if conversion is None or conversion.is_identity else conversion
    return ArrayPair(array, target, member, axis, PartDecoding(array.dtype, dtype, None, needed))


def _join_names(names: list[str]) -> str:
    return ", ".join(map(shown, names)) or "without names"


def _find_axis(array: StepArray, along: int | str) -> int | None:
    """Return the number of the dimension in an array; None if it has no such dimension."""
    if isinstance(along, str):
        names = list(array.content.dimension_names)
        return names.index(along) if along in names else None
    count = len(array.shape)
    if not -count <= along < count:
        raise ArgumentError(f"append={along}, but the array has {count} dimensions; give one of them")
    return along % count


def _check_lengths(pairs: list[ArrayPair]) -> None:
    """Check that all arrays end at the same index, apart from the elements that a killed append has added already.

    errors  ArgumentError
    """
    begin = min((pair.length for pair in pairs), default=0)
    added = {pair.array.shape[pair.dimension] for pair in pairs}
    if len(added) > 1 or any(pair.length not in (begin, *(begin + count for count in added)) for pair in pairs):
        lengths = ", ".join(f"{pair.array.name} has {pair.length}" for pair in pairs[:4])
        raise ArgumentError(
            f"append: the arrays have different lengths along the dimension ({lengths}), or get different numbers of "
            "elements; append them one by one, as in day.nc::temp and all.zarr::temp"
        )


def _check_unchanged(pairs: list[ArrayPair], files: list[File]) -> None:
    for pair, file in zip(pairs, files, strict=True):
        if pair.is_new:
            continue
        expected, actual = (list(map(int, shape)) for shape in (pair.content.shape, file.shape))
        # An array in a netCDF file may be shorter than its unlimited dimension.
        if actual[pair.dimension] < expected[pair.dimension] and pair.content.chunks and pair.content.unlimited:
            actual[pair.dimension] = expected[pair.dimension]
        if actual != expected:
            raise ArgumentError(
                f"{pair.url} had shape {shape_text(tuple(pair.content.shape))} when the copy began, and now has "
                f"{shape_text(file.shape)}, because another program has changed it; append again"
            )


def _describe_in_target(pair: ArrayPair) -> StepArray:
    """Describe an array of the source with the element type of the target."""
    content = Content(pair.array.content)
    content.type = array_type(pair.array.shape, pair.decoding.dtype, pair.array.order)
    extra = 0 if pair.decoding.is_identity else pair.decoding.stored.itemsize
    return replace(pair.array, content=content, extra_bytes=pair.array.extra_bytes + extra)


def _describe_storage(pair: ArrayPair, array: StepArray) -> Content:
    """Return how the target stores the elements that are appended."""
    content = Content(pair.content)
    content.type = array_type(array.shape, array.dtype, pair.content.order)
    return content


def _check_equal(pair: ArrayPair, source: Source | ConvertedSource, comm: CommLike, fail: Reporter) -> None:
    """Check that source and target have the same elements.  Rank 0 compares them, in pieces.

    errors  ArgumentError
    """
    array = _describe_in_target(pair)
    row = int(np.prod(array.shape[1:], dtype=np.int64)) * array.dtype.itemsize
    count = max(_COMPARED_BYTES // max(row, 1), 1)
    is_alone = comm is None
    with open(pair.url, comm=comm) as target:
        for begin in range(0, array.shape[0] if array.shape else 1, count):
            end = min(begin + count, array.shape[0]) if array.shape else 1
            region = (slice(begin, end), *[slice(0, size) for size in array.shape[1:]]) if array.shape else None
            shape = (end - begin, *array.shape[1:]) if array.shape else ()
            layout = Layout(shape, ["*"] * len(shape), order=array.order)
            holds = is_alone or layout.has_rank(to_core_comm(comm).rank)
            source_and_target = [np.empty(shape, array.dtype) for _ in range(2)] if holds else []
            read_into: list[Any] = [[array] if is_alone else array for array in source_and_target] or [None, None]
            source.read(array, layout, read_into[0], region)
            target.read(layout, read_into[1], region=region)
            with collective_errors(fail):
                if source_and_target and find_difference(*source_and_target) is not None:
                    raise ArgumentError(
                        f"append: the array {shown(pair.array.name)} differs between the source and {pair.url}; arrays "
                        "without the dimension that grows must be equal; copy both into a new target instead"
                    )
