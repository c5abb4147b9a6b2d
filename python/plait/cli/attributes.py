"""Prints attributes, and the dimensions of groups, for `plait info`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import plait
from plait._base.amounts import shown
from plait._file.attributes import to_json_value
from plait.cli.support import output

_MAX_VALUE_LENGTH = 100  # characters of a value that are printed

Document = dict[str, Any]


def describe_attributes(attributes: plait.Attributes) -> Document:
    """Return attributes as JSON values, and the reasons for those that cannot be read."""
    values = {name: to_json_value(value) for name, value in attributes.items()}
    return {"attributes": values, "unreadable_attributes": attributes.unreadable}


def read_groups(name: str) -> list[Document]:
    """Return the groups of a file."""
    return [
        {
            "name": group.name,
            "dimensions": [asdict(dimension) for dimension in group.dimensions],
            **describe_attributes(group.attributes),
        }
        for group in plait.groups_in(name)
    ]


def print_dimensions(document: Document) -> None:
    """Print the dimensions that each group defines."""
    for group in document.get("groups") or []:
        _print_values(
            f"dimensions of group /{shown(group['name'])}",
            {
                dimension["name"]: f"{dimension['length']:,}{', unlimited' * dimension['unlimited']}"
                for dimension in group["dimensions"]
            },
        )


def print_attributes(document: Document) -> None:
    """Print the attributes of groups, of arrays, and of the only array."""
    for group in document.get("groups") or []:
        _print_attributes(f"attributes of group /{shown(group['name'])}", group)
    for array in document.get("arrays") or []:
        _print_attributes(f"attributes of {shown(array['name']) or '/'}", array)
    if "arrays" not in document:
        _print_attributes("attributes", document)


def _print_attributes(head: str, document: Document) -> None:
    values = {name: _format_value(value) for name, value in document.get("attributes", {}).items()}
    values |= {name: f"cannot be read: {why}" for name, why in document.get("unreadable_attributes", {}).items()}
    _print_values(head, values)


def _print_values(head: str, values: dict[str, str]) -> None:
    if not values:
        return
    output().print(head, soft_wrap=True, markup=False)
    width = max(map(len, map(shown, values)))
    for name, text in values.items():
        output().print(f"  {shown(name):<{width}}  {text}", soft_wrap=True, markup=False)


def _format_value(value: Any) -> str:
    text = shown(value) if isinstance(value, str) else str(value)
    return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[:_MAX_VALUE_LENGTH]}..."
