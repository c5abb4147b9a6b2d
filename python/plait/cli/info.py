"""`plait info`: shows the contents of a store, and the programs that are connected to a pipe."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

import plait
from plait._base.amounts import count, shown, size
from plait.cli.lists import Shape
from plait.cli.names import StoreName
from plait.cli.support import output

if TYPE_CHECKING:
    from plait.cli.describing import Document

_EXAMPLES = """
\b
Examples:
  plait info                    the pipes that have a writer
  plait info pipe:field         its writer and readers, its queue and its newest step
  plait info field.npy
  plait info model.safetensors  all arrays in it
  plait info stripe:field.bin --shape 6000x5000 --dtype f8 --json
"""


@click.command("info", epilog=_EXAMPLES)
@click.argument("names", metavar="[NAME]...", type=StoreName(), nargs=-1)
@click.option("--shape", type=Shape(), help="Shape of the array in NAME, if NAME does not state it, such as 6000x5000.")
@click.option("--dtype", metavar="TYPE", help="Type of the elements, as NumPy spells it, such as f8 or >i4.")
@click.option("--order", type=click.Choice(["C", "F"]), help="Order of the elements.  [default: C]")
@click.option("--offset", type=click.IntRange(min=0), help="Where the array begins, in bytes.")
@click.option("--json", "json_", is_flag=True, help="Print JSON: one object for each NAME, each on one line.")
def info_command(names: tuple[str, ...], json_: bool, **given: Any) -> None:
    """Show what each NAME contains. A NAME is as for plait.open; without one, show all pipes that have a writer.

    For a pipe, show its writer and readers, how much has gone through, the queue, and the newest step. The command does
    not become a reader, and the programs do not wait for it.
    """
    from plait.cli.attributes import print_attributes, print_dimensions
    from plait.cli.describing import describe

    options = {name: value for name, value in given.items() if value is not None}
    found = _all_pipes() if not names else (describe(name, options) for name in names)
    number = -1
    for number, document in enumerate(found):
        if json_:
            click.echo(json.dumps(_finite(document), allow_nan=False))
            continue
        lines = _pipe_lines(document) if document["kind"] == "pipe" else _store_lines(document)
        if number:
            output().print()
        for label, text in lines:
            output().print(f"{label:<10} {text}".rstrip(), soft_wrap=True, markup=False)
        if document.get("arrays"):
            _print_arrays(document["arrays"])
        if document["kind"] != "pipe":
            print_dimensions(document)
            print_attributes(document)
    if number < 0 and not json_:
        click.echo("nobody writes to a pipe")


def _finite(value: Any) -> Any:
    """Return the value with numbers that JSON does not have as texts."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _all_pipes() -> Iterator[Document]:
    from plait._file.location import PIPE_PREFIX
    from plait.cli.describing import describe

    for name in plait.pipe_names():
        with contextlib.suppress(FileNotFoundError):  # it has ended meanwhile
            yield describe(PIPE_PREFIX + name, {})


def _pipe_lines(found: Document) -> list[tuple[str, str]]:
    status = found["pipe"]
    flowed = f"{count(status['steps'], 'step')}, {size(status['bytes'])} so far"
    lines = [(shown(found["name"]), ""), ("array", f"{_type(found)}; {flowed}"), ("writer", _program(status["writer"]))]
    for reader in status["readers"]:
        lines.append(("reader", f"{_program(reader)}, next step {reader['next_step']}"))
    if not status["readers"]:
        lines.append(("reader", "none"))
    dropped = f", {status['dropped']:,} dropped unread" if status["dropped"] else ""
    lines.append(("queue", f"{status['held']} of {count(status['queue'], 'step')} held{dropped}"))
    if status["newest"] is not None:
        attributes = "".join(f", {shown(name)}={value!r}" for name, value in status["attributes"].items())
        lines.append(("newest", f"step {status['newest']}{attributes}"))
        lines += [("", f"{shown(one['name'])}: {one['dtype']} {one['layout']}") for one in status["variables"]]
    return [*lines, ("meets in", shown(status["folder"]))]


def _program(one: dict[str, Any]) -> str:
    where = f", process {one['process']} on {shown(one['host'])}" if one["host"] else ""
    return f"{shown(one['program'])}{where}, {count(one['ranks'], 'rank')}"


def _store_lines(found: Document) -> list[tuple[str, str]]:
    lines = [(shown(found["name"]), ""), ("kind", found["kind"])]
    if found["shape"] is not None:
        lines.append(("array", f"{_type(found)}, order {found['order']}, {size(found['bytes'])}"))
    if found["size"] is not None:
        lines.append(("size", f"{found['size']:,} bytes"))
    if "arrays" in found:
        return [*lines, ("holds", count(len(found["arrays"]), "array"))]
    if found["components"]:
        unit = f" in stripes of {size(found['unit'])}" if found["unit"] else ""
        lines.append(("lies", f"in {count(len(found['components']), 'component file')}{unit}"))
        lines += [("", f"{shown(one['path'])}, {_size(one['size'])}") for one in found["components"]]
    if found["note"]:
        lines.append(("note", shown(found["note"])))
    return lines


def _print_arrays(arrays: list[dict[str, Any]]) -> None:
    """Print a line for each array of a file."""
    rows = [("", "array", "type", "order", "at byte", "bytes", "storage")]
    for one in arrays:
        shape = (
            "empty" if one["empty"] else "?" if one["shape"] is None else "x".join(map(str, one["shape"])) or "scalar"
        )
        element = one["element"] if one["dtype"] in (one["element"], None) else f"{one['element']} ({one['dtype']})"
        storage = f"{one['storage']}; cannot be opened: {one['error']}" if one["error"] else one["storage"]
        if one["copied_by_library"]:
            storage = f"{one['storage']}; copied by HDF5's library only: {one['copied_by_library']}"
        if one["bytes"] is not None and 0 < (one["stored"] or 0) < one["bytes"]:
            storage = f"{storage}, {one['bytes'] / max(one['stored'], 1):.3g} times smaller"
        numbers = (f"{one['offset']:,}", "?" if one["stored"] is None else f"{one['stored']:,}")
        rows.append((shown(one["name"]) or "/", shape, shown(element) or "?", one["order"], *numbers, shown(storage)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [
            f"{cell:>{width}}" if i in (4, 5) else f"{cell:<{width}}"
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        output().print("  ".join(cells).rstrip(), soft_wrap=True, markup=False)


def _size(number: int | None) -> str:
    return "not seen from here" if number is None else f"{number:,} bytes"


def _type(found: Document) -> str:
    if found["shape"] is None:
        return "arrays of which each step says what they are"
    return f"{'x'.join(map(str, found['shape'])) or 'scalar'} {found['dtype']}"
