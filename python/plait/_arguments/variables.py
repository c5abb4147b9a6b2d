"""The names of arrays that callers choose."""

from __future__ import annotations

from collections.abc import Sequence

from .._base.errors import ArgumentError
from .words import shown


def to_names(variable: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """Return the argument ``variable`` as names, each once; None for all arrays.  errors  ArgumentError"""
    names = (variable,) if isinstance(variable, str) else variable
    if names is None:
        return None
    is_list = isinstance(names, (list, tuple)) and len(names) > 0
    invalid = [name for name in names if not isinstance(name, str) or not name] if is_list else [variable]
    if invalid:
        raise ArgumentError(
            f"variable={shown(invalid[0])} is not the name of an array; pass a name, or several in a list"
        )
    return tuple(dict.fromkeys(names))
