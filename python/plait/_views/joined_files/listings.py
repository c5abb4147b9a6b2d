"""Lists the arrays of the files to join. Each file is listed only once, because a listing reads all its metadata."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from ..._base.errors import ArgumentError
from ..._core import Member
from ..._file.arrays_in import SEPARATOR, ArrayInfo, element_type, members_in, split_name, to_info
from ..._file.attributes import Attributes
from ..._file.indexing.array_like import choose_pieces
from ..._file.location import comes_in_steps
from ..joined.collection import PartDescription
from ..joined.parts import map_in_threads

_MAX_THREADS = 8


class Listings:
    """The arrays of several files, by the names of the arrays."""

    def __init__(self, names: Sequence[str], members: Sequence[dict[str, Member]]) -> None:
        """Store the names of the files and the arrays of each."""
        self.names, self.members = tuple(names), tuple(members)
        self.token = secrets.token_hex(8)
        """Identifies the listings where objects that depend on them are unpickled."""
        self._numbers = {split_name(name)[0]: number for number, name in enumerate(names)}

    @classmethod
    def read(cls, names: Sequence[str]) -> Listings:
        """List the files; several at once.

        errors  ArgumentError: a name is not that of a file with named arrays.  StoreError: a file cannot be read
        """
        for name in names:
            if split_name(name)[1]:
                raise ArgumentError(
                    f"{name} names an array, but {names[0]} a whole file; give whole files and choose arrays with "
                    "variable= (--variable), or name an array in each"
                )
            if comes_in_steps(name):
                raise ArgumentError(f"{name} is a pipe, whose arrays come once; join files")
        listed = map_in_threads(names, members_in, _MAX_THREADS)
        for name, members in zip(names, listed, strict=True):
            if not members or not members[0].name:
                raise ArgumentError(
                    f"{name} holds {'one array without a name' if members else 'no array'}, but {names[0]} holds "
                    "named arrays; join files that hold the same arrays"
                )
        return cls(names, [{member.name: member for member in members} for members in listed])

    def permuted(self, order: Sequence[int]) -> Listings:
        """Return the listings in another order of the files."""
        return Listings([self.names[number] for number in order], [self.members[number] for number in order])

    def url(self, number: int, name: str) -> str:
        """Return the name that opens an array of a file."""
        return f"{self.names[number]}{SEPARATOR}{name}"

    def arrays_in(self, url: str) -> Sequence[ArrayInfo]:
        """Return the arrays of a file, or one of them, as `arrays_in` of `_file` does, but without reading the file."""
        path, _, name = split_name(url)
        members = self.members[self._numbers[path]]
        return [to_info(members[name])] if name else [to_info(member) for member in members.values()]

    def describe(self, number: int, name: str) -> PartDescription:
        """Return the description of an array of a file.

        errors  ArgumentError: it cannot be read
        """
        member, url = self.members[number][name], self.url(number, name)
        dtype, reason = element_type(member)
        if dtype is None or reason:
            raise ArgumentError(
                f"{url} cannot be read: {reason or f'its elements are of type {member.element}'}, but "
                f"{self.url(0, name)} can; leave {name} out with variable= (--variable)"
            )
        chunks = tuple(member.chunks or choose_pieces(member.shape, dtype.itemsize, member.order))
        return PartDescription(url, member.shape, dtype, member.order, chunks, Attributes(member.attributes))


def is_readable(member: Member) -> bool:
    """Return True if Plait can read the elements of an array."""
    dtype, reason = element_type(member)
    return dtype is not None and not reason
