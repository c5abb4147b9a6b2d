"""Decodes the elements of one part to elements of the joined array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._arguments.values import Array
from ..._core import Layout
from ..decoding import Packing, TimeConversion


@dataclass(frozen=True)
class PartDecoding:
    """The unpacking and time conversion of one part."""

    stored: np.dtype[Any]
    """The type of the elements in the file of the part."""
    dtype: np.dtype[Any]
    """The type of the elements of the joined array."""
    packing: Packing | None = None
    time: TimeConversion | None = None

    @property
    def is_identity(self) -> bool:
        """True if elements need no decoding."""
        return self.packing is None and self.time is None and self.stored == self.dtype

    def new_stored(self, like: Array) -> Array:
        """Return an array for stored elements, of the shape of `like`, which receives the decoded elements."""
        return np.empty_like(like, dtype=self.stored, subok=False)

    def decode(self, stored: Array, out: Array) -> None:
        """Decode elements.

        errors  ArgumentError: the type cannot represent a time exactly
        """
        if self.packing is not None:
            self.packing.decode(stored, out)
        else:
            np.copyto(out, stored, casting="same_kind")
        if self.time is not None:
            out[...] = self.time.convert(out)


def interior_slices(layout: Layout, rank: int) -> tuple[slice, ...]:
    """Return the part of a rank's local array that is not halo."""
    extents = layout.local_shape(rank)
    return tuple(slice(low, low + extent) for (low, _), extent in zip(layout.halo, extents, strict=True))
