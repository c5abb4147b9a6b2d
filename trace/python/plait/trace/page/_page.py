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
from plait.trace.page._words import escape_html

Report = Mapping[str, Any]

_DIGITS = 7  # digits of times and rates: more than are visible, and a third of JSON's default


def write(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the page of a report, completely or not at all.

    report  the document of the analysis, version 1
    cost    0.1 s and the size of the report as JSON, plus about 100 kB
    errors  plait.Error: not such a document, or the file cannot be written
    """
    write_atomically(page_text(report), path)


def write_comparison(
    comparison: Report, path: str | os.PathLike[str], reports: tuple[Report, Report] | None = None
) -> None:
    """Write the page of a comparison, completely or not at all.

    comparison  the document of the comparison, version 1
    reports     reports of the two traces, whose timelines are drawn if `comparison` does not contain them
    errors      plait.Error: not such a document, or the file cannot be written
    """
    write_atomically(comparison_text(comparison, reports), path)


def page_text(report: Report) -> str:
    """Return the page of a report as HTML."""
    report = _require_document(report, "plait trace report")
    main_part = {key: value for key, value in report.items() if key not in ("ranks", "offsets")}
    documents = {"report": main_part, "ranks": report.get("ranks"), "offsets": report.get("offsets") or []}
    return _build_page("report.js", f"{program_name(report)} – I/O report", report_parts(report), documents)


def comparison_text(comparison: Report, reports: tuple[Report, Report] | None = None) -> str:
    """Return the page of a comparison as HTML."""
    document = _require_document(comparison, "plait trace comparison")
    for side, report in zip("ab", [_to_json_values(each) for each in reports or ()], strict=False):
        drawn_parts = {key: report[key] for key in ("timeline", "table1", "processes") if key in report}
        document[side] = {**drawn_parts, **report.get("trace", {}), **document.get(side, {})}
    return _build_page("compare.js", "Two traces compared", comparison_parts(document), {"comparison": document})


def _require_document(document: Report, expected: str) -> dict[str, Any]:
    """Return a document in the types of JSON; raise ArgumentError if it is not of the expected kind."""
    kind = (document.get("format"), document.get("version"))
    if kind != (expected, 1):
        raise ArgumentError(f"the document is a {kind[0]!r} of version {kind[1]!r}; expected {expected!r} of version 1")
    return {key: _to_json_values(value) for key, value in document.items()}


def _build_page(entry: str, title: str, parts: Mapping[str, str], documents: Mapping[str, Any]) -> str:
    code, style_sheet = script(f"script/{entry}"), style()
    policy = (
        f"default-src 'none'; script-src {csp_hash(code)}; style-src {csp_hash(style_sheet)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    values = {
        "policy": policy,
        "title": escape_html(title),
        "style": style_sheet,
        "script": code,
        "data": "\n".join(_data_element(name, value) for name, value in documents.items()),
        "footer": f"Written by Plait {escape_html(plait.__version__)}. This page is one file and needs no network.",
        **parts,
    }
    return fill_template(read("page.html"), values)


def fill_template(template: str, values: Mapping[str, str]) -> str:
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


def _data_element(name: str, document: Any) -> str:
    """Return a script element with a document as ASCII. `<` is escaped, so that no text can end the element early."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return f'<script type="application/json" id="data-{name}">{text}</script>'


def _to_json_values(value: Any) -> Any:
    """Return a document in the types of JSON, with rounded numbers; NaN and infinity become None."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        rounded = float(f"{value:.{_DIGITS}g}")
        return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): _to_json_values(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_to_json_values(each) for each in value]
    if hasattr(value, "tolist"):  # an array or a scalar of NumPy
        return _to_json_values(value.tolist())
    raise ArgumentError(f"the report holds a {type(value).__name__}, which JSON has no form for")


def write_atomically(text: str, path: str | os.PathLike[str]) -> None:
    """Write a file under a temporary name and rename it when it is complete."""
    target = Path(path)
    temporary = None
    try:
        descriptor, temporary = tempfile.mkstemp(prefix=f".{target.name}.plait-", dir=target.parent)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, target)
    except OSError as error:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise store_error(f"cannot write the page {target}: {error.strerror}", error.errno) from error
