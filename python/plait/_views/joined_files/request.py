"""The arguments of a join of whole files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class JoinRequest:
    """The arguments of a join."""

    axis: int | str
    """The dimension along which arrays are joined."""
    unpack: bool = False
    """True to decode packed elements."""
    first: bool = False
    """True to take arrays without the dimension from the first file without a comparison."""
    sort: bool = False
    """True to join the files in order of their coordinates, False for their order in the argument."""
    variables: tuple[str, ...] | None = None
    """The names of the arrays to join; None for all."""
    compared: bool = False
    """True if an earlier join has compared the elements of arrays without the dimension."""
