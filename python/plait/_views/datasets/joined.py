"""Joined files as xarray's variables: those of the first file, with the shapes and attributes of the joined arrays."""

from __future__ import annotations

from dataclasses import replace

from ..._base.errors import ArgumentError
from ..._file.arrays_in import split_name
from ..joined import Concatenation
from ..joined_files import JoinedFiles
from .variables import DatasetVariable, Group, group_in, user_attributes, xarray_dtype


def joined_group(files: JoinedFiles, group: str | None) -> tuple[Group, dict[str, Concatenation]]:
    """Return the content of a group, and the joined arrays of its variables by their names.

    errors  plait.ArgumentError: several ranks have joined the files, or there is no such group
    """
    if not all(array.is_alone for array in files.joined.values()):
        raise ArgumentError("xarray reads joined files in one process; join them with open_many() without comm")
    first = group_in(files.names[0], group, {})
    variables, joined = [], {}
    for variable in first.arrays:
        name = split_name(variable.url)[2]
        if name not in files:
            continue
        whole = files.joined.get(name)
        variables.append(variable if whole is None else _joined_variable(variable, whole))
        if whole is not None:
            joined[variable.name] = whole
    return replace(first, arrays=tuple(variables)), joined


def _joined_variable(first: DatasetVariable, whole: Concatenation) -> DatasetVariable:
    """Return the variable of a joined array.  first: the variable of the first file"""
    dtype = xarray_dtype(whole.dtype)
    # If Plait has decoded the elements, xarray must not decode them again, so it gets the remaining attributes.
    changed = whole.is_unpacked or dtype != first.dtype
    attributes = user_attributes(whole.attrs) if changed else first.attributes
    return replace(first, shape=whole.shape, dtype=dtype, chunks=whole.chunks, attributes=attributes)
