"""Joined files as xarray's variables: those of the first file, with the shapes and attributes of the joined arrays."""

from __future__ import annotations

from dataclasses import replace

from ..._base.errors import ArgumentError
from ..._file.arrays_in import split_name
from ..joined import Concatenation
from ..joined_files import JoinedFiles
from .variables import DatasetVariable, Group, ListedFile, find_group, select_user_attributes, to_xarray_dtype


def make_joined_group(files: JoinedFiles, group: str | None) -> tuple[Group, dict[str, Concatenation]]:
    """Return the content of a group, and the joined arrays of its variables by their names.

    errors  plait.ArgumentError: several ranks have joined the files, or there is no such group
    """
    if not all(array.is_alone for array in files.joined.values()):
        raise ArgumentError("xarray reads joined files in one process; join them with open_many() without comm")
    first = find_group(ListedFile.read(files.names[0]), group, {})
    variables, joined_arrays = [], {}
    for variable in first.arrays:
        name = split_name(variable.url)[2]
        if name not in files:
            continue
        joined_array = files.joined.get(name)
        variables.append(variable if joined_array is None else _joined_variable(variable, joined_array))
        if joined_array is not None:
            joined_arrays[variable.name] = joined_array
    return replace(first, arrays=tuple(variables)), joined_arrays


def _joined_variable(first: DatasetVariable, joined_array: Concatenation) -> DatasetVariable:
    """Return the variable of a joined array.  first: the variable of the first file"""
    dtype = to_xarray_dtype(joined_array.dtype)
    # If Plait has decoded the elements, xarray must not decode them again, so it gets the remaining attributes.
    changed = joined_array.is_unpacked or dtype != first.dtype
    attributes = select_user_attributes(joined_array.attrs) if changed else first.attributes
    return replace(first, shape=joined_array.shape, dtype=dtype, chunks=joined_array.chunks, attributes=attributes)
