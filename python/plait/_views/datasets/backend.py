"""A backend of xarray: makes datasets of all files that Plait opens."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

import xarray
from xarray.backends import AbstractDataStore, BackendEntrypoint, StoreBackendEntrypoint
from xarray.core.indexing import LazilyIndexedArray

from ... import _core
from ..._base.errors import ArgumentError
from ..._file.location import format_at, local_path
from ..joined import Concatenation
from ..joined_files import JoinedFiles, open_many
from .arrays import LazyArray, LazyConcatenation
from .joined import make_joined_group
from .variables import Group, ListedFile, find_group

_PLAIT_ONLY_FORMATS = ("npy", "npz", "safetensors")
"""Formats that no other backend reads; files of other formats need ``engine="plait"``."""


def _has_user_block(path: Path) -> bool:
    """Return True if an HDF5 or netCDF file begins with a user block instead of a signature."""
    with path.open("rb") as file:
        return not file.read(8).startswith((b"\x89HDF\r\n\x1a\n", b"CDF"))


class _Store(AbstractDataStore):
    """A group of arrays as an xarray data store, whose variables xarray decodes."""

    def __init__(
        self, group: Group, joined: Mapping[str, Concatenation] | None = None, files: JoinedFiles | None = None
    ) -> None:
        self._group, self._files = group, files
        self._arrays: dict[str, LazyArray | LazyConcatenation] = {
            variable.name: LazyConcatenation(joined[variable.name])
            if joined and variable.name in joined
            else LazyArray(variable)
            for variable in group.arrays
        }

    def get_variables(self) -> Mapping[str, xarray.Variable]:
        """Return the variables, none of which has been read."""
        result = {}
        for variable in self._group.arrays:
            encoding = {
                "preferred_chunks": dict(zip(variable.dimensions, variable.chunks, strict=True)),
                "original_shape": variable.shape,
                **variable.encoding,
            }
            data = LazilyIndexedArray(self._arrays[variable.name])
            result[variable.name] = xarray.Variable(
                variable.dimensions, data, dict(variable.attributes), encoding, fastpath=True
            )
        return result

    def get_attrs(self) -> Mapping[str, Any]:
        """Return the attributes of the group."""
        return dict(self._group.attributes)

    def get_encoding(self) -> Mapping[str, Any]:
        """Return the unlimited dimensions, if the format states them."""
        return {} if self._group.unlimited is None else {"unlimited_dims": set(self._group.unlimited)}

    def get_dimensions(self) -> Mapping[str, int]:
        """Return the sizes of the dimensions."""
        return {
            name: size
            for variable in self._group.arrays
            for name, size in zip(variable.dimensions, variable.shape, strict=True)
        }

    def close(self) -> None:
        """Close the files of the arrays."""
        for array in self._arrays.values():
            array.close()
        if self._files is not None:
            self._files.close()


def _open_store(
    source: str | os.PathLike[str] | ListedFile | JoinedFiles, group: str | None, options: Mapping[str, Any]
) -> _Store:
    """Open a file, or join files.

    options  arguments of plait.open, or with ``concat`` of plait.open_many
    """
    if isinstance(source, JoinedFiles):
        if options:
            raise ArgumentError(f"joined files state their arrays themselves; leave out {', '.join(options)}")
        return _Store(*make_joined_group(source, group), source)
    if isinstance(source, ListedFile) or "concat" not in options:
        file = source if isinstance(source, ListedFile) else ListedFile.read(os.fspath(source))
        return _Store(find_group(file, group, options))
    files = open_many(source, **options)
    try:
        return _Store(*make_joined_group(files, group), files)
    except BaseException:
        files.close()
        raise


def _add_consolidated(name: Any, consolidated: bool | None) -> Any:
    """Return the name with the option ``consolidated=true`` or ``false`` if it is requested and has an effect."""
    if consolidated is None or not isinstance(name, str):
        return name
    if not name.removeprefix("zarr:").startswith(("s3://", "gs://", "az://")):
        return name  # folders need no lists, and HTTP servers have none
    return _core.with_option(name, "consolidated", "true" if consolidated else "false")


class PlaitBackend(BackendEntrypoint):
    """``xarray.open_dataset(name, engine="plait")``: opens any name that ``plait.open`` opens, and reads lazily.

    name   a file that holds several arrays: each is a variable, and those with the name of their only dimension are
           coordinates. ``FILE::ARRAY`` gives that array with its coordinates, for ``xarray.open_dataarray``; a store
           that holds one array without a name gives the variable ``data``
    group  the group of a file that has groups; by default the outermost one
    shape, dtype, order, offset  those of the array, for a store that does not state them, as in :func:`plait.open`
    consolidated  True to list a Zarr hierarchy in ``s3://``, ``gs://`` or ``az://`` by its consolidated metadata, like
           ``?consolidated=true`` in the name, whose option it replaces. They may be outdated. It is an error if there
           are none. By default, the groups are listed
    concat, first, sort  join the files that match a pattern, such as ``"run-*.nc"``, as :func:`plait.open_many`

    Dimensions have the names that the file states. Dimensions without names are called ``dim_0`` and so on in a store
    with one array, and ``phony_dim_0`` and so on, as by netCDF's library, in a file with several arrays. xarray itself
    decodes attributes such as ``_FillValue`` and ``scale_factor``; ``chunks={}`` selects the chunks of the file, or
    contiguous pieces of 32 MiB.
    """

    description = "Arrays in all formats that Plait reads"
    open_dataset_parameters: ClassVar[tuple[str, ...]] = (
        "filename_or_obj",
        "drop_variables",
        "mask_and_scale",
        "decode_times",
        "concat_characters",
        "decode_coords",
        "use_cftime",
        "decode_timedelta",
        "group",
        "shape",
        "dtype",
        "order",
        "offset",
        "consolidated",
        "concat",
        "first",
        "sort",
    )

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Return True if only Plait recognizes the content of a file, so that it is opened without ``engine=``.

        Other backends recognize HDF5 only by a signature at byte 0, not after a user block, and Zarr only by the suffix
        of the name.
        """
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        name = os.fsdecode(filename_or_obj)
        with contextlib.suppress(ArgumentError, TypeError, OSError):  # open_dataset() reports the error
            file_format = format_at(name)
            path = local_path(name)
            if file_format == "zarr":
                return path is not None and path.is_dir() and path.suffix != ".zarr"
            if file_format in ("hdf5", "netcdf"):
                return path is not None and path.is_file() and _has_user_block(path)
            return file_format in _PLAIT_ONLY_FORMATS
        return False

    def open_dataset(  # type: ignore[override]
        self,
        filename_or_obj: str | os.PathLike[str] | ListedFile | JoinedFiles,
        *,
        drop_variables: str | Iterable[str] | None = None,
        group: str | None = None,
        consolidated: bool | None = None,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        **options: Any,
    ) -> xarray.Dataset:
        """Return the dataset; the class documents the arguments."""
        name = _add_consolidated(filename_or_obj, consolidated)
        store = _open_store(name, group, {key: value for key, value in options.items() if value is not None})
        return StoreBackendEntrypoint().open_dataset(
            store,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    def open_groups_as_dict(  # type: ignore[override]
        self, filename_or_obj: str | os.PathLike[str], *, consolidated: bool | None = None, **options: Any
    ) -> dict[str, xarray.Dataset]:
        """Return a dataset for each group, by the paths of the groups."""
        url = os.fspath(_add_consolidated(filename_or_obj, consolidated))
        file = ListedFile.read(url)
        return {f"/{name}": self.open_dataset(file, group=name or None, **options) for name in file.list_group_names()}

    def open_datatree(  # type: ignore[override]
        self, filename_or_obj: str | os.PathLike[str], **options: Any
    ) -> xarray.DataTree:
        """Return the groups as a tree."""
        return xarray.DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **options))
