"""Opens files: checks the arguments of plait.open(), and describes them to the compiled core."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Literal

import numpy.typing as npt

from .. import _core
from .._arguments.array_types import array_type, to_descr, to_extents
from .._arguments.buffers import to_path_text, to_whole_number
from .._arguments.flags import check_flag
from .._arguments.sizes import parse_bytes
from .._arguments.words import shown
from .._base.errors import ArgumentError, name_file
from .._calls.comm import CommLike, to_core_comm
from .._calls.guard import call, collective_errors
from .attributes import encode_groups
from .file import File
from .location import with_format
from .properties import PROPERTIES, set_core_value, set_properties
from .steps import check_variable_name

UnfinishedPolicy = Literal["remove", "keep", "continue"]
ArrayLike = tuple[Any, ...] | list[Any] | Mapping[str, Any]
"""Shape, dtype and optionally order of a new array; or a mapping of these and further arguments of one array."""


def open(
    url: str | os.PathLike[str],
    mode: Literal["r", "w", "r+", "a"] = "r",
    *,
    comm: CommLike = None,
    shape: Sequence[int] | int | None = None,
    dtype: npt.DTypeLike | None = None,
    order: Literal["C", "F"] | None = None,
    offset: int = 0,
    memory: int | str = 0,
    strategy: Literal["automatic", "direct", "two-phase"] | None = None,
    readers: int = 0,
    arrays: Mapping[str, ArrayLike] | None = None,
    chunks: Sequence[int] | int | None = None,
    shards: Sequence[int] | int | None = None,
    codec: str | None = None,
    fill_value: object = None,
    dimension_names: Sequence[str] | None = None,
    unfinished: UnfinishedPolicy = "remove",
    attributes: Mapping[str, Any] | None = None,
    group_attributes: Mapping[str, Mapping[str, Any]] | None = None,
    unlimited: Sequence[int] | int | None = None,
    format: str | None = None,
    durable: bool | None = None,
) -> File:
    """Open the array in a file, or in another store, and return it as a File. Collective over ``comm``.

    url       the name of the store:
              ``NAME.npy``: a file in NumPy's format;
              ``NAME.npz::array``, ``NAME.safetensors::array``, ``NAME.nc::array``, ``NAME.h5::/group/array``: an array
              in a file that holds several; without ``::array``, the only one that it holds. :func:`plait.arrays_in`
              lists them. The content of an existing file determines its format, regardless of its suffix;
              any other path: a file of raw elements, without a header. New names with the suffix of another format,
              such as ``a.mat``, are rejected; ``raw:a.mat`` is a file of that name with raw elements;
              ``stripe:NAME?disks=d1,d2&unit=64K``: raw elements distributed over one file in each of the folders d1
              and d2, in stripes of 64 KiB. Mode w takes the folders from PLAIT_DISKS if ``disks`` is left out; the
              other modes find them in the file NAME;
              ``distant:NAME?folder=/disk``: an array on the ranks' own disks, which stores its shape and dtype;
              ``memory:NAME``: an array in memory, which exists until this process ends; for trials and tests;
              ``memory://BUCKET/KEY.zarr::array``: an array in a Zarr hierarchy in an object store in memory, which
              exists until this process ends; for tests and small programs;
              ``s3://BUCKET/KEY.zarr::array``: the same on a server with the interface of S3;
              ``s3://BUCKET/KEY``, ``https://HOST/PATH``: a file of one object, such as NAME.npy; mode "w" needs s3://;
              ``pipe:NAME``: a pipe to another program, which opens the same name in the opposite mode
    mode      "r" reads; "w" makes a new file, which appears whole when it is closed, or not at all; "r+" reads and
              writes parts of an existing array in place; "a" does so and extends the array, by :meth:`File.append`
              and :meth:`File.resize`. If there is no such array, "a" creates it with ``shape`` and ``dtype``, as "w"
              does, or adds it to an existing HDF5 or netCDF file; if there is one, ``shape``, ``order`` and what
              describes a new array are ignored
    comm      that of :func:`plait.world`, or an mpi4py communicator; without one everything runs in this process, which
              then holds all ranks
    shape, dtype  needed in mode w and for raw and striped files; otherwise compared with those that the file states
    order     order of the elements in a new or raw file, "C" (default) or "F"
    offset    offset of the array in an existing raw file, in bytes
    memory    maximum staging memory of each rank: bytes, or a text such as ``"32M"``; by default PLAIT_MEMORY, or
              32 MiB
    strategy  "direct" or "two-phase"; by default PLAIT_STRATEGY, or the strategy with the shorter predicted time
    arrays    in mode w, the contents of a new ``.npz`` or ``.safetensors`` file instead of one array: a mapping of
              names to (shape, dtype) or (shape, dtype, order). Write each with ``variable=name``. In formats with
              chunks or attributes, the value may be a mapping of ``shape``, ``dtype``, and optionally ``order``,
              ``chunks``, ``codec``, ``fill_value``, ``dimension_names``, ``attributes`` and ``unlimited``
    readers   number of ranks that access the file in two-phase accesses; by default chosen by Plait
    chunks    in mode w of formats that store an array in chunks, such as ``.zarr``: the shape of a chunk; by default
              chunks of about 8 MiB that are contiguous in the array's order, as far as possible. ``()`` stores an array
              of an HDF5 file in one piece, even if it has a fill value, which then only its description states
    shards    the shape of a shard, a file that holds many chunks: multiples of ``chunks``; by default there are none
    codec     the compression of chunks: "none" (default), "zstd", "gzip", with a level as in "zstd:3"; in HDF5 files
              optionally with the prefix "shuffle,"
    fill_value  the value of elements that are never written; 0 by default. A time of another unit is converted; it must
              be a whole number of the units of ``dtype``
    dimension_names  the names of the dimensions, one for each; by default they have none
    unfinished  treatment of a new file that is not closed because its program fails or is killed: "remove" (default);
              "keep", which leaves it next to its name under a temporary one; "continue", which also leaves it, and
              resumes an earlier program's file of the same size, shape and dtype. Elements that were being written when
              that program ended must be written again. For ordinary files, Zarr and striped files; in S3 and Google
              Cloud Storage for files of one object, whose sent parts are left and resumed
    attributes  in mode w of formats that have them (HDF5, netCDF, Zarr): attributes of the array, a mapping of names to
              numbers, texts, arrays of numbers and lists of texts; in Zarr also nested JSON. :attr:`File.attrs` has
              those of a file that is read
    group_attributes  attributes of groups, by the names of the groups; ``""`` is the root group. The named groups are
              created
    unlimited  the numbers of the dimensions that other programs may extend, in HDF5 and netCDF-4 files, which store
              such an array in chunks; by default there are none. In Zarr all may be extended
    format    the format of the file, regardless of its suffix: "npy", "npz", "hdf5", "netcdf", "safetensors", "zarr",
              "zarr2" (version 2 of Zarr) or "raw". ``hdf5:NAME`` is the same as ``format="hdf5"``. By default the
              suffix determines the format in mode w, and the content of the file in the other modes
    durable   False to close the file without waiting for the disk: a new file still appears whole or not at all if the
              program is killed, but a crash of the host may lose its elements; by default PLAIT_DURABLE, or True

    Raises plait.ArgumentError for arguments that do not fit together or do not match the file, and plait.StoreError if
    the file cannot be opened. Every rank raises the same error.
    """
    core_comm = to_core_comm(comm)
    fail = partial(_core.fail, comm=core_comm)
    with collective_errors(fail):
        path = with_format(to_path_text(url), format)
        offset, readers = to_whole_number(offset, "offset"), to_whole_number(readers, "readers")
        memory_limit = to_whole_number(parse_bytes(memory, "memory"), "memory")
        if strategy not in (None, "automatic", "direct", "two-phase"):
            raise ArgumentError(f'strategy={shown(strategy)} is not known; use "direct", "two-phase" or "automatic"')
        if order not in (None, "C", "F"):
            raise ArgumentError(f'order={order!r} is not known; use "C" or "F"')
        if mode not in ("r", "w", "r+", "a"):
            raise ArgumentError(f'mode={mode!r} is not known; use "r", "w", "r+" or "a"')
        if unfinished not in ("remove", "keep", "continue"):
            raise ArgumentError(f'unfinished={shown(unfinished)} is not known; use "remove", "keep" or "continue"')
        options = _core.FileOptions()
        if arrays is not None:
            named_arrays = _check_arrays(arrays, mode, shape, dtype)
            options.arrays = [_describe_new_array(name, array, order) for name, array in named_arrays.items()]
        if shape is not None:
            set_core_value(options, "shape", to_extents(shape))
        if dtype is not None:
            options.dtype, options.element_bytes = to_descr(dtype)
        options.order, options.offset, options.memory, options.readers = order, offset, memory_limit, readers
        options.strategy = strategy or ""
        if unfinished != "remove":
            options.keeps_unfinished, options.continues = unfinished == "keep", unfinished == "continue"
        if group_attributes is not None:
            options.groups = encode_groups(group_attributes)
        if durable is not None:
            options.durable = check_flag(durable, "durable")
        properties = {
            "chunks": chunks,
            "shards": shards,
            "codec": codec,
            "fill_value": fill_value,
            "dimension_names": dimension_names,
            "unlimited": unlimited,
            "attributes": attributes,
        }
        set_properties(options, properties, options.dtype or "")
    file = _open_with(path, mode, core_comm, options, comm is None)
    if comm is None and mode == "r":
        file._reopen_call = _reopen, (path, shape, dtype, order, offset, memory_limit, strategy, readers)
    return file


def open_as(path: str, mode: str, comm: CommLike, options: _core.FileOptions) -> File:
    """Open the file with options that have been checked. Collective; the errors are those of :func:`open`."""
    return _open_with(path, mode, to_core_comm(comm), options, comm is None)


def _open_with(path: str, mode: str, comm: _core.Comm, options: _core.FileOptions, is_alone: bool) -> File:
    try:
        core = call(partial(_core.fail, comm=comm), _core.open, path, mode, comm, options)
    except Exception as error:
        name_file(error, path)
        raise
    file = File(core, mode, comm, is_alone)
    if options.arrays:
        file._set_array_types({description.name: description.type for description in options.arrays})
    return file


def _reopen(path: str, *stated: Any) -> File:
    """Open the file of a pickled object, which is never closed explicitly."""
    names = "shape", "dtype", "order", "offset", "memory", "strategy", "readers"
    file = open(path, **dict(zip(names, stated, strict=True)))
    file._may_stay_open = True
    return file


def _check_arrays(arrays: Mapping[str, ArrayLike], mode: str, shape: object, dtype: object) -> Mapping[str, ArrayLike]:
    if not isinstance(arrays, Mapping) or not arrays:
        raise ArgumentError(f"arrays={shown(arrays)} names no array; give a mapping of names to (shape, dtype)")
    if mode != "w":
        raise ArgumentError(f'arrays= says what a new file is to hold, but mode={mode!r} opens one; use mode "w"')
    if shape is not None or dtype is not None:
        raise ArgumentError("shape and dtype describe one array and arrays= several; leave either out")
    return arrays


def _describe_new_array(name: str, array: ArrayLike, order: str | None) -> _core.ArrayDescription:
    properties: Mapping[str, Any] = {}
    if isinstance(array, Mapping):
        unknown = set(array) - {"shape", "dtype", "order", *PROPERTIES}
        if unknown or not {"shape", "dtype"} <= set(array):
            raise ArgumentError(
                f"arrays[{name!r}] has {', '.join(map(repr, array)) or 'nothing'}; give 'shape' and 'dtype', and if "
                f"wanted 'order', {', '.join(map(repr, PROPERTIES))}"
            )
        properties = {key: value for key, value in array.items() if key in PROPERTIES}
        array = (array["shape"], array["dtype"], *([array["order"]] if array.get("order") else []))
    if not isinstance(array, (tuple, list)) or not 2 <= len(array) <= 3:
        raise ArgumentError(f"arrays[{name!r}] is {shown(array)}; give (shape, dtype) or (shape, dtype, order)")
    array_order = array[2] if len(array) == 3 else order or "C"
    if array_order not in ("C", "F"):
        raise ArgumentError(f'arrays[{name!r}] has the order {shown(array_order)}; use "C" or "F"')
    described = _core.ArrayDescription()
    described.name = check_variable_name(name)
    described.type = array_type(array[0], array[1], array_order)
    set_properties(described, properties, described.type.dtype)
    return described
