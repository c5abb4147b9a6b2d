"""Writes the type stubs of the compiled modules, as nanobind's stubgen generates them from the installed modules."""

from __future__ import annotations

import enum
import importlib
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from nanobind.stubgen import StubGen

ROOT = Path(__file__).resolve().parents[1]
MODULES = {"_core": "python", "_trace": "trace/python", "_simulation": "trace/python", "_mpi": "python"}
"""Compiled module → the folder that has the package with its stub."""

# The overload that takes any arguments, in order to reject invalid ones with an error message.
REJECTING = re.compile(r"\*args, \*\*kwargs\)")
# An argument that accepts None, with the number of its default value if it has one.
ACCEPTS_NONE = re.compile(r" \| None(?=,|\)| = \\(\d+))")
# The line that mypy requires in a class whose objects have no hash.
UNHASHABLE = "__hash__: None = None"
# mypy does not check the number of an array's dimensions.
ARRAY = re.compile(r"Annotated\[(NDArray\[[\w.]+\]), dict\(shape=\(None,\)\)\]")


def remove_none(signature: str, defaults: Sequence[object] | None) -> str:
    """Returns a signature in which only arguments whose default is None accept None.

    The bindings let all arguments accept None, in order to reject it with their own message.
    """

    def keep_default(match: re.Match[str]) -> str:
        number = match.group(1)
        return match.group() if number is not None and defaults and defaults[int(number)] is None else ""

    return ACCEPTS_NONE.sub(keep_default, signature)


class Stubs(StubGen):  # type: ignore[misc]
    """Stubs without the overloads and types that exist only for error messages."""

    def put_type(self, tp: type, name: str | None) -> None:
        """Writes enumerations as such; nanobind imports them from the module that users see."""
        if not issubclass(tp, enum.Enum):
            super().put_type(tp, name)
            return
        self.write_ln(f"class {name}({self.bind('enum', tp.__bases__[0].__name__)}):")
        for member, value in tp.__members__.items():
            self.write_ln(f"    {member} = {value.value}")
        self.write("\n")

    def put_value(self, value: object, name: str, parent: object = None, abbrev: bool = True) -> None:
        """Writes lists with the type of their elements."""
        if isinstance(value, list) and value:
            self.write_ln(f"{name}: list[{type(value[0]).__name__}]\n")
        else:
            super().put_value(value, name, parent, abbrev)

    def put_nb_func(self, fn: object, name: str | None = None, **options: bool) -> None:
        """Leaves out the overload that rejects arguments; nanobind would list it too."""
        forms = fn.__nb_signature__  # type: ignore[attr-defined]
        overloads = tuple(
            (remove_none(form[0], form[2]), *form[1:]) if len(forms) > 1 else form
            for form in forms
            if not REJECTING.search(form[0])
        )
        if overloads:
            super().put_nb_func(type(type(fn).__name__, (), {"__nb_signature__": overloads})(), name, **options)


def stub_path(name: str) -> Path:
    """Returns the path of a module's stub."""
    return ROOT / MODULES[name] / "plait" / f"{name}.pyi"


def make_stub(name: str) -> str:
    """Returns the stub of one module, formatted by ruff."""
    module = importlib.import_module(f"plait.{name}")
    writer = Stubs(module, include_docstrings=False, quiet=True)
    writer.put(module)
    text = ARRAY.sub(r"\1", writer.get()).replace(UNHASHABLE, f"{UNHASHABLE}  # type: ignore[assignment]")
    for command in (["check", "--select", "I,F401", "--fix"], ["format"]):
        ruff = [sys.executable, "-m", "ruff", *command, "--quiet", "--stdin-filename", str(stub_path(name)), "-"]
        text = subprocess.run(ruff, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout
    return text


if __name__ == "__main__":
    for module in MODULES:
        stub_path(module).write_text(make_stub(module), encoding="utf-8")
