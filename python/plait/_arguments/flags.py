"""Truth values as callers give them."""

from __future__ import annotations

import numpy as np

from .._base.errors import ArgumentError
from .words import shown


def check_flag(value: object, what: str) -> bool:
    """Return an argument that must be True or False.  what: its name, for the error ArgumentError"""
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{what}={shown(value)} is not a truth value; use True or False")
    return bool(value)
