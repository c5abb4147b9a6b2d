"""Types of elements as callers give them."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np
import numpy.typing as npt

from .._base.errors import ArgumentError
from .texts import TEXT, TEXT_DTYPE
from .words import shown

_NAMES = [np.dtype(code).name for code in np.typecodes["All"] if code not in "OSUV"]


def to_dtype(dtype: npt.DTypeLike, what: str = "dtype") -> np.dtype[Any]:
    """Return the NumPy type of an argument; "text" and str are texts of any length."""
    if dtype is str or (isinstance(dtype, str) and dtype == TEXT):
        return TEXT_DTYPE
    try:
        if dtype is not None:
            return np.dtype(dtype)
    except Exception as error:
        similar = difflib.get_close_matches(dtype, _NAMES, 1) if isinstance(dtype, str) else []
        reason = "" if isinstance(dtype, str) else f" ({' '.join(str(error).split())})"
        instead = f"did you mean {similar[0]!r}?" if similar else "give one of NumPy's, such as 'float64'"
        raise ArgumentError(f"{what}={shown(dtype)} is not a type of elements{reason}; {instead}") from None
    raise ArgumentError(f"{what}=None is not a type of elements; give one of NumPy's, such as 'float64'")
