"""Joins the scripts and style sheets in the folders next to this file into one script and one style sheet."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from posixpath import dirname, join, normpath

_STYLES = ("base.css", "layout.css", "charts.css", "tables.css", "print.css")
_IMPORT = re.compile(r'^import (?:\{[^}]*\} from )?"(\.[\w./]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=function|const|class|let)", re.MULTILINE)


@cache
def read(name: str) -> str:
    """Return the text of a file of this folder."""
    return files("plait.trace.page").joinpath(name).read_text(encoding="utf-8")


@cache
def style() -> str:
    """Return the style sheet."""
    return "\n".join(read(f"style/{name}") for name in _STYLES)


@cache
def script(entry: str) -> str:
    """Return a module and all its imports as one strict script, each file once and after the files that it imports."""
    order: list[str] = []
    _append_with_imports(entry, order, set())
    body = "\n".join(_EXPORT.sub("", _IMPORT.sub("", read(name))) for name in order)
    return f'"use strict";\n(() => {{\n{body}}})();\n'


def _append_with_imports(name: str, order: list[str], visited: set[str]) -> None:
    """Append the files that a file imports, then the file itself, unless they were visited before."""
    if name in visited:
        return
    visited.add(name)
    for other in _IMPORT.findall(read(name)):
        _append_with_imports(normpath(join(dirname(name), other)), order, visited)
    order.append(name)
