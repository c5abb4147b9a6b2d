"""Checks the element types of parts: parts are joined if their elements have one type without a change of values.

Only packed elements are converted to floating point, and only numbers can be joined with them. Example: int32 and
float64 cannot be joined; int32 can be joined with int16 that has a ``scale_factor``, and both become float64.
"""

from __future__ import annotations

from ..._base.errors import ArgumentError
from .decoding import PartDecoding


class ElementTypes:
    """Compares the types of parts with those of earlier parts."""

    def __init__(self) -> None:
        """Begin with no parts."""
        self._plain: tuple[str, PartDecoding] | None = None  # the first part that is not packed
        self._packed: tuple[str, PartDecoding] | None = None  # the first packed part

    def add_part(self, url: str, decoding: PartDecoding) -> None:
        """Add the next part.

        errors  ArgumentError: its elements have no common type with those of an earlier part
        """
        if decoding.packing is None:
            self._plain = self._plain or (url, decoding)
            self._check_plain(url, decoding)
        else:
            self._packed = self._packed or (url, decoding)
        self._check_numbers()

    def _check_plain(self, url: str, decoding: PartDecoding) -> None:
        assert self._plain is not None
        first, expected = self._plain
        if decoding.stored != expected.stored:
            raise ArgumentError(
                f"{url} has elements of type {decoding.stored}, but {first} of type {expected.stored}; convert one of "
                "them, or join those that agree"
            )

    def _check_numbers(self) -> None:
        if self._plain is None or self._packed is None:
            return
        (plain, as_stored), (packed, decoded) = self._plain, self._packed
        if as_stored.stored.kind not in "iuf":
            raise ArgumentError(
                f"{plain} has elements of type {as_stored.stored}, but those of {packed} are packed numbers, which are "
                f"decoded to {decoded.dtype}; join packed numbers with integers or floating-point numbers"
            )
