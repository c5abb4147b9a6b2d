"""Adds arrays of the source of an append that the target does not have yet.

They are opened with mode ``a``, as all others, and appear together with the new lengths in an HDF5 or netCDF file, one
after the other in a Zarr hierarchy. An array with the dimension that grows gets the whole length of that dimension; its
elements before the appended ones have the fill value. Example: all.nc has 10 days, and a source of 2 days has another
variable, rain. rain gets 12 days, of which the first 10 have its fill value.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from ..._arguments.array_types import array_type
from ..._arguments.words import shown
from ..._base.errors import ArgumentError
from ..._calls.comm import CommLike, to_core_comm
from ..._core import Content, FileOptions
from ..._file.arrays_in import split_name
from ..._file.file import File
from ..._file.location import local_path, locate
from ..._file.open import open_as
from ..attributes import TargetAttributes
from ..steps import StepArray
from ..storage_request import StorageRequest
from .consolidating import consolidate, is_consolidated


class NewArrays:
    """Makes the arrays that are added to a target."""

    def __init__(self, target: str, existing: Mapping[str, Any], axis: int | str) -> None:
        """Store the target.

        existing  the arrays in the target, by their names
        axis      the dimension that grows
        """
        self._target, self._existing, self._axis = target, existing, axis
        self._attributes = TargetAttributes()
        self._storage = StorageRequest()
        self._options: dict[str, FileOptions] = {}  # with which each array is opened, by its URL
        self._was_consolidated = False

    def check(self, array: StepArray, name: str, source: str) -> None:
        """Check that an array can be added to the target.  errors  ArgumentError"""
        resolved = locate(self._target)
        is_named = isinstance(self._axis, str) and not split_name(self._target)[1]
        if is_named and (resolved.adds_arrays or (resolved.names_arrays and resolved.has_chunks)):
            for size, dimension in zip(array.shape, array.content.dimension_names, strict=False):
                lengths = self._lengths(name, dimension) if dimension != self._axis else set()
                if lengths and size not in lengths:
                    raise ArgumentError(
                        f"append: the array {shown(name)} of {source} is not in {self._target} yet, and has {size} "
                        f"elements along {shown(dimension)}, but the arrays there have "
                        f"{', '.join(map(str, sorted(lengths)))}; leave it out of the source, or copy all data into a "
                        "new target"
                    )
            return
        raise ArgumentError(
            f"append: {source} has the array {shown(name)}, but {self._target} has no array of that name, and takes no "
            f"new one; its arrays are {', '.join(map(shown, self._existing)) or 'none'}; leave it out of the source, "
            "or copy all data into a new target that ends with .zarr, .h5 or .nc"
        )

    def _lengths(self, name: str, dimension: str) -> set[int]:
        """Return the lengths of a dimension in those arrays of the target that share it with the array `name`: the
        arrays in its group and in the groups above.
        """
        groups = {""}
        group = posixpath.dirname(name.strip("/"))
        while group:
            groups.add(group)
            group = posixpath.dirname(group)
        return {
            int(size)
            for other, member in self._existing.items()
            if posixpath.dirname(other.strip("/")) in groups
            for size, other_dimension in zip(member.shape, member.dimension_names, strict=False)
            if dimension and other_dimension == dimension
        }

    def describe(self, array: StepArray, url: str, shape: tuple[int, ...], axis: int | None) -> Content:
        """Return how the target will store an array of this shape."""
        grown = Content(array.content)
        grown.type = array_type(shape, array.dtype, array.order)
        described = self._storage.describe(self._target, StepArray(grown, is_coordinate=array.is_coordinate))
        if axis is not None and not locate(self._target).adds_arrays and axis not in described.unlimited:
            described.unlimited = sorted([*described.unlimited, axis])
            described.chunks = described.chunks or None
        described.attributes = self._attributes.select_for_array(url, array)
        described.name = ""
        self._options[url] = FileOptions(described)
        content = Content(shape, described.order, 0, described.chunks or None, False)
        content.type = described.type
        return content

    def open(self, url: str, comm: CommLike, memory: int) -> File:
        """Open a new array.  Collective."""
        options = self._options[url]
        options.memory = memory
        return open_as(url, "a", comm, options)

    def begin(self, comm: CommLike) -> None:
        """Record on rank 0 whether the target has consolidated metadata, before the first array appears."""
        path = local_path(self._target) if self._options and to_core_comm(comm).rank == 0 else None
        self._was_consolidated = path is not None and path.is_dir() and is_consolidated(path)

    def finish(self, comm: CommLike) -> None:
        """Write consolidated metadata with the new arrays if the target had any.  Collective."""
        core_comm = to_core_comm(comm)
        if self._options:
            consolidate(self._target, core_comm, is_requested=self._was_consolidated)
        if core_comm.rank == 0:
            self._attributes.warn()
