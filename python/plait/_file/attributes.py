"""Attributes of arrays and groups in files: the mappings that users see, and their conversion to the core's form."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from typing import Any

import numpy as np

from .._arguments.array_types import to_descr, to_record_dtype
from .._arguments.words import shown
from .._base.errors import ArgumentError
from .._calls.guard import call, collective_errors
from .._core import ArrayAttribute, File, GroupAttributes

_TEXT_TYPE = "text"
_JSON_TYPE = "json"


class Attributes(Mapping[str, Any]):
    """The attributes of an array or a group by their names: read-only.

    A value is a number, a text, an array of numbers, or a list of texts (nested if it has several dimensions). Records
    are elements or arrays of a structured dtype. Nested JSON has the types of :mod:`json`.
    """

    def __init__(self, stored: Iterable[ArrayAttribute] = ()) -> None:
        """Objects are made by Plait."""
        self._stored = {attribute.name: attribute for attribute in stored}

    def __getitem__(self, name: str) -> Any:
        """Return the value of an attribute. Raises plait.ArgumentError if Plait cannot read its value."""
        attribute = self._stored[name]
        if attribute.error:
            raise ArgumentError(f"the attribute {name!r} cannot be read: {attribute.error}")
        return _decode_value(attribute)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the attributes whose values can be read."""
        return (name for name, attribute in self._stored.items() if not attribute.error)

    def __len__(self) -> int:
        """Count the attributes whose values can be read."""
        return sum(not attribute.error for attribute in self._stored.values())

    def __repr__(self) -> str:
        """Show them as a dict."""
        return f"Attributes({dict(self)})"

    @property
    def unreadable(self) -> dict[str, str]:
        """The names of the attributes whose values cannot be read, with the reasons."""
        return {name: attribute.error for name, attribute in self._stored.items() if attribute.error}

    @property
    def stored(self) -> list[ArrayAttribute]:
        """All attributes in the form of the compiled core; not public."""
        return list(self._stored.values())


class FileAttributes(Attributes, MutableMapping[str, Any]):
    """The attributes of the array of an open file; they can be changed in mode ``r+`` of HDF5, netCDF-4 and Zarr.

    Setting and deleting an attribute are collective; the file has the changes when it is closed. Values are those that
    :func:`plait.open` accepts. Raises plait.ArgumentError if the mode, the format or the value does not permit it.
    """

    def __init__(self, core: File) -> None:
        """Objects are made by Plait."""
        super().__init__(core.attributes)
        self._core = core

    def __setitem__(self, name: str, value: Any) -> None:
        """Set an attribute of the array, a new one or an existing one."""
        with collective_errors(self._core.fail):
            stored = encode_attribute(name, value)
        call(self._core.fail, self._core.set_attribute, stored)
        self._stored[name] = stored

    def __delitem__(self, name: str) -> None:
        """Remove an attribute. Raises KeyError if there is none of this name."""
        if name not in self._stored:
            raise KeyError(name)
        call(self._core.fail, self._core.remove_attribute, name)
        del self._stored[name]

    def __repr__(self) -> str:
        """Show them as a dict."""
        return f"FileAttributes({dict(self)})"


def encode_attributes(values: Mapping[str, Any] | None, what: str = "attributes") -> list[ArrayAttribute]:
    """Return the attributes that a caller gives, in the form of the compiled core.

    errors  ArgumentError
    """
    if values is None:
        return []
    if isinstance(values, Attributes):
        return values.stored
    if not isinstance(values, Mapping):
        raise ArgumentError(f"{what}={shown(values)} is not a mapping; give names and values, such as {{'units': 'K'}}")
    return [encode_attribute(name, value) for name, value in values.items()]


def encode_groups(groups: Mapping[str, Mapping[str, Any]] | None) -> list[GroupAttributes]:
    """Return the attributes of groups that a caller gives, in the form of the compiled core.

    errors  ArgumentError
    """
    if groups is None:
        return []
    if not isinstance(groups, Mapping) or not all(isinstance(name, str) for name in groups):
        raise ArgumentError(
            f"group_attributes={shown(groups)} is not a mapping; give names of groups and their attributes, such as "
            "{'': {'title': 'a model'}}"
        )
    return [
        GroupAttributes(name.strip("/"), encode_attributes(values, f"group_attributes[{name!r}]"))
        for name, values in groups.items()
    ]


def _decode_value(attribute: ArrayAttribute) -> Any:
    if attribute.dtype == _JSON_TYPE:
        return json.loads(attribute.texts[0])
    if attribute.dtype == _TEXT_TYPE:
        return _nest_texts(iter(attribute.texts), attribute.shape)
    dtype = to_record_dtype(attribute.dtype) if attribute.dtype.startswith("[") else np.dtype(attribute.dtype)
    array = np.frombuffer(attribute.values, dtype).reshape(attribute.shape)
    return array if attribute.shape else array[()]


def _nest_texts(texts: Iterator[str], shape: tuple[int, ...]) -> Any:
    return [_nest_texts(texts, shape[1:]) for _ in range(shape[0])] if shape else next(texts)


def encode_attribute(name: Any, value: Any) -> ArrayAttribute:
    """Return an attribute in the form of the compiled core.

    errors  ArgumentError
    """
    try:
        return _encode_value(name, value)
    except TypeError:  # raised by the conversion of a text
        raise ArgumentError(
            f"the attribute {shown(name)} has a name or a text that is not UTF-8; give other ones"
        ) from None


def _encode_value(name: Any, value: Any) -> ArrayAttribute:
    if not isinstance(name, str) or not name:
        raise ArgumentError(f"the attribute {shown(name)} is not a name; give a text that is not empty")
    if isinstance(value, str):
        return ArrayAttribute(name, _TEXT_TYPE, [], texts=[str(value)])
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, str) for item in value):
        return ArrayAttribute(name, _TEXT_TYPE, [len(value)], texts=[str(item) for item in value])
    array = _to_array(value)
    if array is None:
        return ArrayAttribute(name, _JSON_TYPE, [], texts=[_encode_json(name, value)])
    if array.dtype.kind in "US":
        texts = [
            text if isinstance(text, str) else text.decode("utf-8", "surrogateescape")
            for text in array.ravel().tolist()
        ]
        return ArrayAttribute(name, _TEXT_TYPE, array.shape, texts=texts)
    descr, _ = to_descr(array.dtype)
    return ArrayAttribute(name, descr, array.shape, values=np.ascontiguousarray(array).tobytes())


def _to_array(value: Any) -> np.ndarray[Any, Any] | None:
    """Return a value that consists of numbers or texts of one kind as an array; None for all other values."""
    if value is None or isinstance(value, Mapping):
        return None
    mixed = isinstance(value, (list, tuple)) and _is_mixed(value)
    try:
        array = np.asarray(value)
    except ValueError:  # the value has lists of different lengths
        return None
    return None if mixed or array.dtype.kind not in "biufcUSV" else array


def _is_mixed(value: Any) -> bool:
    """Return True if a list has texts, truth values or None among numbers."""
    if isinstance(value, (list, tuple)):
        kinds = {_kind_name(item) for item in value}
        return len(kinds) > 1 or any(_is_mixed(item) for item in value)
    return value is None


def _kind_name(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return "list"
    if isinstance(value, (bool, np.bool_)):
        return "truth"
    return (
        "text" if isinstance(value, str) else "number" if isinstance(value, (int, float, complex, np.generic)) else "?"
    )


def _encode_json(name: str, value: Any) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError):
        raise ArgumentError(
            f"the attribute {name!r} is {shown(value)}; give a number, a text, an array of numbers, a list of texts, "
            "or what JSON can spell"
        ) from None


def to_json_value(value: Any) -> Any:
    """Return the value of an attribute as lists, numbers and texts, which :mod:`json` can write."""
    if isinstance(value, (np.ndarray, np.generic)):
        plain = value.tolist()
        return _to_json_types(plain)
    return value


def _to_json_types(value: Any) -> Any:
    if isinstance(value, np.ndarray):  # an array in a record, which tolist() of the record leaves as it is
        value = value.tolist()
    if isinstance(value, (list, tuple)):  # a tuple is a record
        return [_to_json_types(item) for item in value]
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
