"""Packages whose parts are imported once they are asked for, so that who needs few of them starts fast."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def later(
    package: str, *groups: Mapping[str, Sequence[str]], submodules: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's ``__getattr__`` and ``__dir__`` (PEP 562).

    The first name of a group that is asked for brings the group, so that no later call takes the time of an import.

    package     its name
    groups      the names that it takes from each of its modules
    submodules  its modules that are there as attributes without having been imported

    Any number of threads may ask at once.  What importing raises is raised.
    """
    group_of = {name: group for group in groups for names in group.values() for name in names}

    def attribute(name: str) -> Any:
        from importlib import import_module  # not at the top: importing the package needs it only here

        if name in submodules:
            return import_module(f"{package}.{name}")
        if name not in group_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        held = vars(sys.modules[package])
        for module, names in group_of[name].items():
            found = import_module(f"{package}.{module}")
            for each in names:
                held.setdefault(each, getattr(found, each))
        return held[name]

    def listed() -> list[str]:
        held = vars(sys.modules[package])
        return sorted({*(name for name in held if name.startswith("__")), *held["__all__"], *submodules})

    return attribute, listed
