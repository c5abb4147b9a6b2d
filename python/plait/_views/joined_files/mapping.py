"""Joined files: a mapping from the names of their arrays to the joined arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ..._base.errors import ArgumentError, ArgumentTypeError
from ..._calls.comm import CommLike
from ..._core import Member
from ..._file.arrays_in import SEPARATOR, groups_in, to_info
from ..._file.attributes import Attributes
from ..._file.file import File
from ..._file.open import open
from ..joined import Concatenation, concat
from ..joined.closing import ClosableView
from ..joined.meaning import Meanings
from .axes import base_names
from .request import JoinRequest

if TYPE_CHECKING:
    import xarray


class JoinedFiles(Mapping[str, "Concatenation | File"], ClosableView):
    """Files that are joined along a dimension: a mapping of the names of their arrays. Made by :func:`plait.open_many`.

    Arrays with the dimension are a :class:`plait.Concatenation`, the others a :class:`plait.File` of the first file,
    which is opened when it is first requested (with ``comm``, by all ranks). With ``unpack``, packed arrays without the
    dimension are a :class:`plait.Concatenation` of one part, which decodes them. Closing the mapping closes all arrays.
    """

    def __init__(
        self,
        names: Sequence[str],
        request: JoinRequest,
        joined: Mapping[str, Concatenation],
        members: Mapping[str, Member],
        comm: CommLike,
    ) -> None:
        """Objects are made by :func:`plait.open_many`."""
        self._names, self._request, self._comm = tuple(names), request, comm
        self._joined, self._members = dict(joined), members
        self._shared: dict[str, Concatenation | File] = {}
        self._closed = False
        #: The function and its arguments that join the files again in another process; None if that is not possible.
        self._reopen_call: tuple[Callable[..., JoinedFiles], tuple[Any, ...]] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the files, in the order of joining."""
        return self._names

    @property
    def joined(self) -> Mapping[str, Concatenation]:
        """The arrays that are joined, by their names."""
        return self._joined

    @cached_property
    def attrs(self) -> Attributes:
        """The attributes of the first file's root group."""
        return next((group.attributes for group in groups_in(self._names[0]) if not group.name), Attributes())

    @property
    def dims(self) -> dict[str, int]:
        """The sizes of the dimensions of the outermost group, by their names."""
        sizes: dict[str, int] = {}
        for name in self:
            shape = self._joined[name].shape if name in self._joined else self._members[name].shape
            if "/" not in name:
                sizes.update(zip(base_names(self._members[name]), shape, strict=False))
        return sizes

    @property
    def coords(self) -> tuple[str, ...]:
        """The names of the coordinates: one-dimensional arrays with the name of their dimension."""
        return tuple(name for name in self if base_names(self._members[name]) == (name.rpartition("/")[2],))

    @property
    def closed(self) -> bool:
        """True if the files are closed."""
        return self._closed

    def __getitem__(self, name: str) -> Concatenation | File:
        """Return an array. Collective with ``comm``.

        errors  KeyError: there is no such array; plait.ArgumentError: the files are closed, or the array is a packed
                scalar, which ``unpack`` does not decode
        """
        self._check_open()
        if name in self._joined:
            return self._joined[name]
        if name not in self._members:
            raise KeyError(name)
        if name not in self._shared:
            self._shared[name] = self._open_shared(name)
        return self._shared[name]

    def __contains__(self, name: object) -> bool:
        """Return True if there is an array of this name; opens no file.

        errors  plait.ArgumentError: the files are closed
        """
        self._check_open()
        return name in self._members

    def _check_open(self) -> None:
        if self._closed:
            raise ArgumentError(f"the files joined from {self._names[0]} are closed; join them again")

    def _open_shared(self, name: str) -> Concatenation | File:
        """Open an array without the dimension in the first file, decoded as the joined arrays are."""
        url, info = f"{self._names[0]}{SEPARATOR}{name}", to_info(self._members[name])
        packing = None
        if self._request.unpack and info.dtype is not None:
            packing, _ = Meanings(unpack=True).add_part(url, info.attributes, info.dtype, info.shape)
        if packing is None:
            return open(url, comm=self._comm)
        if info.shape:
            return concat([url], 0, comm=self._comm, unpack=True)
        if packing.is_scaled:
            raise ArgumentError(
                f"{url} is a packed scalar, which unpack does not decode; read its stored element with plait.open, and "
                "apply scale_factor and add_offset"
            )
        return open(url, comm=self._comm)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, in the order of the first file."""
        return iter(self._members)

    def __len__(self) -> int:
        """Count the arrays."""
        return len(self._members)

    def to_xarray(self, **options: Any) -> xarray.Dataset:
        """Return an xarray dataset of the arrays of a group, none of which has been read.

        options  further arguments of ``xarray.open_dataset``, such as ``group``, ``chunks`` and ``decode_times``

        Closing the dataset closes the files. Raises plait.ArgumentError with ``comm``: xarray reads in one process.
        """
        import xarray

        return xarray.open_dataset(self, engine="plait", **options)  # type: ignore[arg-type]

    def close(self) -> None:
        """Close all files. Closing twice does nothing."""
        self._closed = True
        for array in self._joined.values():
            array.close()
        while self._shared:
            self._shared.popitem()[1].close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle files that one process has joined: they are opened again by their names."""
        if self._reopen_call is None:
            raise ArgumentTypeError(f"{self!r} cannot be pickled; join the files without comm, in one process")
        return self._reopen_call

    def __repr__(self) -> str:
        """Return a description with the number of files, the dimension and the arrays."""
        state = "closed " if self._closed else ""
        return f"<{state}plait.JoinedFiles of {len(self._names)} files along {self._request.axis!r}: {', '.join(self)}>"
