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
def info_command(names: tuple[str, ...], json_: bool, **options_given: Any) -> None:
    """Show what each NAME contains. A NAME is as for plait.open; without one, show all pipes that have a writer.

    For a pipe, show its writer and readers, how much has gone through, the queue, and the newest step. The command does
    not become a reader, and the programs do not wait for it.
    """
    from plait.cli.attributes import print_attributes, print_dimensions
    from plait.cli.describing import describe

    options = {name: value for name, value in options_given.items() if value is not None}
    documents = _describe_all_pipes() if not names else (describe(name, options) for name in names)
    number = -1
    for number, document in enumerate(documents):
        if json_:
            click.echo(json.dumps(_to_json_numbers(document), allow_nan=False))
            continue
        lines = _make_pipe_lines(document) if document["kind"] == "pipe" else _make_store_lines(document)
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
        click.echo("no program writes to a pipe")


def _to_json_numbers(value: Any) -> Any:
    """Return the value with NaN and infinities as texts, because JSON has no such numbers."""
    if isinstance(value, dict):
        return {key: _to_json_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_to_json_numbers(item) for item in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _describe_all_pipes() -> Iterator[Document]:
    from plait._file.location import PIPE_PREFIX
    from plait.cli.describing import describe

    for name in plait.pipe_names():
        with contextlib.suppress(FileNotFoundError):  # the pipe has ended since it was listed
            yield describe(PIPE_PREFIX + name, {})


def _make_pipe_lines(document: Document) -> list[tuple[str, str]]:
    status = document["pipe"]
    transferred = f"{count(status['steps'], 'step')}, {size(status['bytes'])} so far"
    lines = [
        (shown(document["name"]), ""),
        ("array", f"{_format_type(document)}; {transferred}"),
        ("writer", _format_program(status["writer"])),
    ]
    for reader in status["readers"]:
        lines.append(("reader", f"{_format_program(reader)}, next step {reader['next_step']}"))
    if not status["readers"]:
        lines.append(("reader", "none"))
    dropped = f", {status['dropped']:,} dropped unread" if status["dropped"] else ""
    lines.append(("queue", f"{status['queued']} of {count(status['queue'], 'step')} held{dropped}"))
    if status["newest"] is not None:
        attributes = "".join(f", {shown(name)}={value!r}" for name, value in status["attributes"].items())
        lines.append(("newest", f"step {status['newest']}{attributes}"))
        lines += [
            ("", f"{shown(variable['name'])}: {variable['dtype']} {variable['layout']}")
            for variable in status["variables"]
        ]
    return [*lines, ("meets in", shown(status["folder"]))]


def _format_program(program: dict[str, Any]) -> str:
    location = f", process {program['process']} on {shown(program['host'])}" if program["host"] else ""
    return f"{shown(program['program'])}{location}, {count(program['ranks'], 'rank')}"


def _make_store_lines(document: Document) -> list[tuple[str, str]]:
    lines = [(shown(document["name"]), ""), ("kind", document["kind"])]
    if document["shape"] is not None:
        lines.append(("array", f"{_format_type(document)}, order {document['order']}, {size(document['bytes'])}"))
    if document["size"] is not None:
        lines.append(("size", f"{document['size']:,} bytes"))
    if "arrays" in document:
        return [*lines, ("holds", count(len(document["arrays"]), "array"))]
    if document["components"]:
        unit = f" in stripes of {size(document['unit'])}" if document["unit"] else ""
        lines.append(("stored", f"in {count(len(document['components']), 'component file')}{unit}"))
        lines += [
            ("", f"{shown(component['path'])}, {_format_size(component['size'])}")
            for component in document["components"]
        ]
    if document["note"]:
        lines.append(("note", shown(document["note"])))
    return lines


def _print_arrays(arrays: list[dict[str, Any]]) -> None:
    """Print a line for each array of a file."""
    rows = [("", "array", "type", "order", "at byte", "bytes", "storage")]
    for array in arrays:
        shape = (
            "empty"
            if array["empty"]
            else "?"
            if array["shape"] is None
            else "x".join(map(str, array["shape"])) or "scalar"
        )
        element = (
            array["element"] if array["dtype"] in (array["element"], None) else f"{array['element']} ({array['dtype']})"
        )
        storage = f"{array['storage']}; cannot be opened: {array['error']}" if array["error"] else array["storage"]
        if array["copied_by_library"]:
            storage = f"{array['storage']}; copied by HDF5's library only: {array['copied_by_library']}"
        if array["bytes"] is not None and 0 < (array["stored"] or 0) < array["bytes"]:
            storage = f"{storage}, {array['bytes'] / max(array['stored'], 1):.3g} times smaller"
        numbers = (f"{array['offset']:,}", "?" if array["stored"] is None else f"{array['stored']:,}")
        rows.append(
            (shown(array["name"]) or "/", shape, shown(element) or "?", array["order"], *numbers, shown(storage))
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [
            f"{cell:>{width}}" if i in (4, 5) else f"{cell:<{width}}"
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        output().print("  ".join(cells).rstrip(), soft_wrap=True, markup=False)


def _format_size(number: int | None) -> str:
    return "not seen from here" if number is None else f"{number:,} bytes"


def _format_type(document: Document) -> str:
    if document["shape"] is None:
        return "arrays of which each step says what they are"
    return f"{'x'.join(map(str, document['shape'])) or 'scalar'} {document['dtype']}"
