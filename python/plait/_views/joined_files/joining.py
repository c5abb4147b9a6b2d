"""Joins whole files: arrays that have a dimension are joined along it, the others must be equal in all files."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from ... import _core
from ..._arguments.buffers import to_whole_number
from ..._arguments.flags import check_flag
from ..._arguments.sizes import parse_bytes
from ..._arguments.variables import to_names
from ..._arguments.words import shown
from ..._base.errors import ArgumentError
from ..._calls.comm import CommLike, to_core_comm
from ..._calls.guard import agreed_errors, collective_errors
from ..._file.arrays_in import element_type
from ..._file.file import File
from ..._file.open import open
from ..joined.collection import PartCollection
from ..joined.concatenation import Concatenation
from ..joined.joining import MEMORY, limit_open_files, warn_differences
from ..joined.meaning import Meanings
from ..joined.names import Name, list_part_names
from ..joined.parts import OpenFiles, OpenParts, check_unchanged
from .axes import find_axes
from .comparison import SharedArray, check_array, check_no_others, compare_elements
from .coordinates import find_order
from .listings import Listings, is_readable
from .mapping import JoinedFiles
from .request import JoinRequest


def open_many(
    sources: Sequence[Name] | Name,
    concat: int | str,
    *,
    comm: CommLike = None,
    variable: str | Sequence[str] | None = None,
    first: bool = False,
    sort: bool = False,
    unpack: bool = False,
    memory: int | str = 0,
) -> JoinedFiles:
    """Join files that hold several arrays each, such as netCDF files, for reading. Collective over ``comm``.

    sources   names of files, in the order of joining; or a pattern such as ``"run-*.nc"``: the matching names in
              natural order, so that ``run-9`` precedes ``run-10``
    concat    the dimension: its name, or its number if the dimensions of the arrays have no names
    comm, memory  as in :func:`plait.open`, for each of the arrays
    variable  the name of the array to join, or a list of names; by default all arrays
    first     take arrays without the dimension from the first file; by default they must be equal in all files
    sort      join the files in the order of the coordinate's values; by default in the order of their names
    unpack    decode packed elements to floating point, as in :func:`plait.concat`

    Arrays that have the dimension become a :class:`plait.Concatenation`, by the rules of :func:`plait.concat` for
    types, shapes and attributes. If there is a coordinate, a one-dimensional array of numbers with the name of the
    dimension, the files must be in its order and must not overlap; a warning lists gaps. Arrays without the dimension
    are compared, in pieces of a few MiB.

    Each rank reads the metadata of each file once. At most 64 files are open at once. Raises plait.ArgumentError for
    files that do not fit together, with the names of the file and of the array and both values, and plait.StoreError
    for a file that cannot be read.
    """
    core_comm = to_core_comm(comm)
    names = list_part_names(sources, core_comm)
    with collective_errors(partial(_core.fail, comm=core_comm)):
        limit = to_whole_number(parse_bytes(memory, "memory"), "memory")
        flags = {
            name: check_flag(value, name) for name, value in (("first", first), ("sort", sort), ("unpack", unpack))
        }
        request = JoinRequest(concat, variables=to_names(variable), **flags)
    return join_files(names, request, comm, limit)


def join_files(names: Sequence[str], request: JoinRequest, comm: CommLike, memory: int) -> JoinedFiles:
    """Join files.  memory: the staging memory of each open file, 0 for the default.  Collective.

    errors  those of :func:`open_many`
    """
    core_comm = to_core_comm(comm)
    fail = partial(_core.fail, comm=core_comm)
    with collective_errors(fail):
        listings = Listings.read(names)
        axes = find_axes(listings.members[0], request.axis, names[0])
    listings = listings.permuted(find_order(listings, request, axes, core_comm))
    with collective_errors(fail):
        members = listings.members[0]
        axes = find_axes(members, request.axis, listings.names[0])  # again, as another file may be the first one now
        selected = _select_arrays(listings, request, axes)
        joined = {name: axes[name] for name in selected if name in axes}
        shared = [name for name in selected if name not in axes]
        if not joined:
            raise ArgumentError(
                f"no array of {listings.names[0]} that is chosen has the dimension {shown(request.axis)}; choose "
                f"one of {', '.join(axes)}"
            )
        differing = _compare_shared(listings, [] if request.first or request.compared else shared, request, core_comm)
    result = _join(listings, joined, request, comm, memory)
    with collective_errors(fail):
        if core_comm.rank == 0:
            warn_differences({**differing, **result.differing}, listings.names[0])
        with agreed_errors():  # each rank compares other files: a difference is an error on all ranks
            _core.broadcast_text(f"join {listings.names[0]} with others", "", 0, core_comm)
    files = JoinedFiles(listings.names, request, result.arrays, {name: members[name] for name in selected}, comm)
    if comm is None:
        files._reopen_call = _rejoin_files, (listings.names, listings.token, request, memory)
    return files


def _select_arrays(listings: Listings, request: JoinRequest, axes: Mapping[str, int]) -> list[str]:
    """Return the names of the arrays to join, and of those to take from the first file.

    errors  ArgumentError: the first file lacks a requested array, or another file does
    """
    members = listings.members[0]
    for name in request.variables or ():
        if name not in members:
            raise ArgumentError(f"{listings.names[0]} has no array {shown(name)}; it has: {', '.join(members)}")
    selected = _requested_names(listings, request)
    if request.variables is None:
        check_no_others(listings, request.axis, only_joined=request.first)
    for number in range(1, len(listings.names)):
        for name in selected:
            if name in axes or not request.first:
                check_array(listings, number, name)
    return selected


def _requested_names(listings: Listings, request: JoinRequest) -> list[str]:
    """Return the names of the requested arrays of the first file that can be read."""
    members = listings.members[0]
    return [name for name in request.variables or members if is_readable(members[name])]


def _compare_shared(listings: Listings, names: Sequence[str], request: JoinRequest, comm: _core.Comm) -> dict[str, str]:
    """Compare the arrays that all files share.  Returns attributes that differ without a change of meaning.

    Each rank compares the elements of other files.
    """
    arrays = {name: SharedArray(listings, name, unpack=request.unpack) for name in names}
    compare_elements(list(arrays.values()), range(1 + comm.rank, len(listings.names), comm.size))
    return {attribute: url for array in arrays.values() for attribute, url in array.differing.items()}


@dataclass(frozen=True)
class _JoinedArrays:
    """The concatenations of all arrays that are joined."""

    arrays: Mapping[str, Concatenation]
    differing: Mapping[str, str]
    """Attributes that differ without a change of meaning, each with the first array in which it differs."""


def _join(
    listings: Listings, axes: Mapping[str, int], request: JoinRequest, comm: CommLike, memory: int
) -> _JoinedArrays:
    fail = partial(_core.fail, comm=to_core_comm(comm))
    arrays: dict[str, Concatenation] = {}
    differing: dict[str, str] = {}
    with collective_errors(fail):
        limits = [
            limit_open_files(listings.members[0][name].chunks, listings.describe(0, name).dtype.itemsize, memory)
            for name in axes
        ]
        files = OpenFiles(min(limits), memory or MEMORY)
        for name, axis in axes.items():
            meanings = Meanings(unpack=request.unpack, list_arrays=listings.arrays_in)
            parts = PartCollection(axis, meanings)
            for number in range(len(listings.names)):
                parts.add(listings.describe(number, name))
            has_chunks = bool(listings.members[0][name].chunks)
            opened = OpenParts(_make_opener(listings, name, comm, memory), files, has_chunks=has_chunks)
            arrays[name] = Concatenation(axis, parts.join(), opened, comm)
            differing.update(meanings.differing)
            if comm is None:
                arrays[name]._reopen_call = _rejoin_array, (listings.names, listings.token, request, memory, name)
    return _JoinedArrays(arrays, differing)


def _make_opener(listings: Listings, name: str, comm: CommLike, memory: int) -> Callable[[int], File]:
    """Return a function that opens an array of a file by the number of the file."""
    fail = partial(_core.fail, comm=to_core_comm(comm))

    def opened(number: int) -> File:
        file = open(listings.url(number, name), comm=comm, memory=memory)
        with collective_errors(fail):
            member = listings.members[number][name]
            check_unchanged(file, member.shape, element_type(member)[0])
        return file

    return opened


def _rejoin_files(names: tuple[str, ...], token: str, request: JoinRequest, memory: int) -> JoinedFiles:
    """Return pickled joined files, whose files stay open until the object is closed or the program ends."""
    listings = _list_once(names, token)
    members = listings.members[0]
    axes = find_axes(members, request.axis, names[0])
    selected = _requested_names(listings, request)
    arrays = _rejoin_arrays(listings, {name: axes[name] for name in selected if name in axes}, request, memory)
    files = JoinedFiles(names, request, arrays, {name: members[name] for name in selected}, None)
    files._reopen_call = _rejoin_files, (names, token, request, memory)
    return files


def _rejoin_array(names: tuple[str, ...], token: str, request: JoinRequest, memory: int, name: str) -> Concatenation:
    """Return an array of a pickled join, whose files stay open until it is closed or the program ends."""
    listings = _list_once(names, token)
    axis = find_axes(listings.members[0], request.axis, names[0])[name]
    return _rejoin_arrays(listings, {name: axis}, request, memory)[name]


def _rejoin_arrays(
    listings: Listings, axes: Mapping[str, int], request: JoinRequest, memory: int
) -> Mapping[str, Concatenation]:
    """Join arrays that were checked when they were joined first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the first join has shown the warnings
        arrays = _join(listings, axes, request, None, memory).arrays
    next(iter(arrays.values()))._files.files.leave_open()
    return arrays


@lru_cache(maxsize=4)
def _list_once(names: tuple[str, ...], token: str) -> Listings:
    """List the files of a pickled join once for all its arrays and tasks.

    token  the token of the listings when the files were joined; it distinguishes joins of the same files, because a
           later join must list the files again
    """
    listings = Listings.read(names)
    listings.token = token
    return listings
