"""Packages that import their modules on first use, so that programs that use few of them start fast."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def later(
    package: str, *groups: Mapping[str, Sequence[str]], submodules: Sequence[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return a package's ``__getattr__`` and ``__dir__`` (PEP 562).

    The first access to a name of a group imports the whole group, so that no later call takes the time of an import.

    package     name of the package
    groups      the names that it takes from each of its modules
    submodules  modules that are available as attributes without an import; those that are not installed raise
                AttributeError

    Any number of threads may access it at once.  Exceptions of an import are passed on.
    """
    groups_by_name = {name: group for group in groups for names in group.values() for name in names}

    def find_attribute(name: str) -> Any:
        from importlib import import_module  # not at the top: importing the package needs it only here

        missing = AttributeError(f"module {package!r} has no attribute {name!r}")
        if name in submodules:
            try:
                return import_module(f"{package}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{package}.{name}":
                    raise
                raise missing from None  # left out when Plait was built
        if name not in groups_by_name:
            raise missing
        members = vars(sys.modules[package])
        for module, names in groups_by_name[name].items():
            imported = import_module(f"{package}.{module}")
            for name_in_module in names:
                members.setdefault(name_in_module, getattr(imported, name_in_module))
        return members[name]

    def list_names() -> list[str]:
        members = vars(sys.modules[package])
        return sorted({*(name for name in members if name.startswith("__")), *members["__all__"], *submodules})

    return find_attribute, list_names
