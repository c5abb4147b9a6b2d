"""Writes the page: HTML for the static parts, and a script that makes the other parts from embedded documents."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import plait
from plait._base.errors import ArgumentError, store_error
from plait.trace.page._join import read, script, style
from plait.trace.page._static import comparison_parts, program_name, report_parts
from plait.trace.page._words import escaped

Report = Mapping[str, Any]

_DIGITS = 7  # digits of times and rates: more than are visible, and a third of JSON's default


def write(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the page of a report, whole or not at all.

    report  the document of the analysis, version 1
    cost    0.1 s and the size of the report as JSON, plus about 100 kB
    errors  plait.Error: not such a document, or the file cannot be written
    """
    put(page_text(report), path)


def write_comparison(
    comparison: Report, path: str | os.PathLike[str], reports: tuple[Report, Report] | None = None
) -> None:
    """Write the page of a comparison, whole or not at all.

    comparison  the document of the comparison, version 1
    reports     reports of the two traces, whose timelines are drawn if `comparison` does not contain them
    errors      plait.Error: not such a document, or the file cannot be written
    """
    put(comparison_text(comparison, reports), path)


def page_text(report: Report) -> str:
    """Return the page of a report as HTML."""
    report = _checked(report, "plait trace report")
    rest = {key: value for key, value in report.items() if key not in ("ranks", "offsets")}
    islands = {"report": rest, "ranks": report.get("ranks"), "offsets": report.get("offsets") or []}
    return _fill("report.js", f"{program_name(report)} – I/O report", report_parts(report), islands)


def comparison_text(comparison: Report, reports: tuple[Report, Report] | None = None) -> str:
    """Return the page of a comparison as HTML."""
    whole = _checked(comparison, "plait trace comparison")
    for side, report in zip("ab", [_lean(each) for each in reports or ()], strict=False):
        shown_parts = {key: report[key] for key in ("timeline", "table1", "processes") if key in report}
        whole[side] = {**shown_parts, **report.get("trace", {}), **whole.get(side, {})}
    return _fill("compare.js", "Two traces compared", comparison_parts(whole), {"comparison": whole})


def _checked(document: Report, expected: str) -> dict[str, Any]:
    """Return a document in the types of JSON; raise ArgumentError if it is not of the expected kind."""
    kind = (document.get("format"), document.get("version"))
    if kind != (expected, 1):
        raise ArgumentError(f"the document is a {kind[0]!r} of version {kind[1]!r}; expected {expected!r} of version 1")
    return {key: _lean(value) for key, value in document.items()}


def _fill(entry: str, title: str, parts: Mapping[str, str], islands: Mapping[str, Any]) -> str:
    code, look = script(f"script/{entry}"), style()
    policy = (
        f"default-src 'none'; script-src {csp_hash(code)}; style-src {csp_hash(look)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    values = {
        "policy": policy,
        "title": escaped(title),
        "style": look,
        "script": code,
        "data": "\n".join(_island(name, value) for name, value in islands.items()),
        "footer": f"Written by Plait {escaped(plait.__version__)}. This page is one file and needs no network.",
        **parts,
    }
    return fill(read("page.html"), values)


def fill(template: str, values: Mapping[str, str]) -> str:
    """Return a template in which each {name} is replaced by its value, in one pass: braces in values stay."""
    pieces = template.split("{")
    text = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("}")
        text += [values[name], rest]
    return "".join(text)


def csp_hash(text: str) -> str:
    """Return the hash by which a Content Security Policy identifies a script or a style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _island(name: str, document: Any) -> str:
    """Return a script element with a document as ASCII. `<` is escaped, so that no text can end the element early."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f'<script type="application/json" id="data-{name}">{text}</script>'


def _lean(value: Any) -> Any:
    """Return a document in the types of JSON, with rounded numbers; NaN and infinity become None."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        short = float(f"{value:.{_DIGITS}g}")
        return int(short) if short.is_integer() and abs(short) < 1e15 else short
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _lean(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_lean(each) for each in value]
    if hasattr(value, "tolist"):  # an array or a scalar of NumPy
        return _lean(value.tolist())
    raise ArgumentError(f"the report holds a {type(value).__name__}, which JSON has no form for")


def put(text: str, path: str | os.PathLike[str]) -> None:
    """Write a file under a temporary name and rename it when it is complete."""
    target = Path(path)
    spare = None
    try:
        handle, spare = tempfile.mkstemp(prefix=f".{target.name}.plait-", dir=target.parent)
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(spare, 0o666 & ~mask)
        os.replace(spare, target)
    except OSError as error:
        if spare is not None:
            with contextlib.suppress(OSError):
                os.unlink(spare)
        raise store_error(f"cannot write the page {target}: {error.strerror}", error.errno) from error
