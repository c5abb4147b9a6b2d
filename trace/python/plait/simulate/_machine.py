"""A machine of the replay, read from a TOML file that it may share with the cost model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from plait._base.errors import ArgumentError
from plait.simulate._keys import DEVICE, SECTIONS, SHARED, TIER, Key, device_keys
from plait.simulate._quantities import BYTES, CHOICE, COUNT, FLAG, TEXT, parse_amount, parse_whole, suggest

_FOLDERS = ("plait.simulate.machines", "plait.model.machines")
_COST_MODEL_SECTIONS = ("processors", "disks", "requests", "network")  # a machine file may have them too


@dataclass(frozen=True)
class Machine:
    """Processors, a cache, a tier and a device; ``values`` has the contents of its file, by section and key.

    Times are in seconds, sizes in bytes, rates in bytes per second.  docs/reference/simulation.md lists all keys.
    """

    name: str
    source: str
    values: Mapping[str, Mapping[str, Any]]

    def get(self, section: str, key: str) -> Any:
        """Return a value, or its default.  errors  KeyError: no such key"""
        if key in self.values.get(section, {}):
            return self.values[section][key]
        return _keys(section, self.kind(section) if section in ("tier", "device") else "")[key].default

    def kind(self, section: str) -> str:
        """Return the kind of device of the section ``device`` or ``tier``."""
        return str(self.values.get(section, {}).get("kind", SECTIONS[section]["kind"].default))

    def changed(self, section: str, **values: Any) -> Machine:
        """Return a copy of the machine with other values: texts with units, or numbers in the units of the class.

        errors  ArgumentError: no such key, or an invalid value
        """
        old = dict(self.values.get(section, {}))
        kind = str(values.get("kind", self.kind(section))) if section in ("tier", "device") else ""
        if kind and kind != self.kind(section):  # keys of another kind have no meaning for this one
            common = DEVICE if section == "device" else TIER
            old = {key: value for key, value in old.items() if key in common}
        new = {
            key: _parse_value(f"{section}.{key}", value, _find_key(section, key, kind), numbers=True)
            for key, value in values.items()
        }
        return Machine(self.name, self.source, {**self.values, section: {**old, **new}})

    def document(self) -> dict[str, Any]:
        """Return all values, including defaults, by section and key; in seconds, bytes and bytes per second."""
        return {
            section: {
                key: self.get(section, key)
                for key in _keys(section, self.kind(section) if section in ("tier", "device") else "")
            }
            for section in SECTIONS
        }


def examples() -> tuple[str, ...]:
    """Return the names of the machines in the package, ascending."""
    return tuple(sorted(_machine_texts()))


def example_text(name: str) -> str:
    """Return the file of a machine in the package, with its comments.  errors  ArgumentError"""
    texts = _machine_texts()
    if name not in texts:
        raise ArgumentError(
            f"found the machine '{name}', expected a file or one of {', '.join(sorted(texts))}{suggest(name, texts)}"
        )
    return texts[name]


def load(name: str | os.PathLike[str] | Machine) -> Machine:
    """Return a machine of the package, or the machine that a TOML file describes.

    errors  ArgumentError if the file does not describe a machine: it names the file, the key, the value and the
            expected values; OSError if the file cannot be read
    """
    if isinstance(name, Machine):
        return name
    from plait.model._toml import read_text

    return parse(read_text(name, example_text), os.fspath(name))


def parse(text: str, name: str = "the machine file") -> Machine:
    """Return the machine that a TOML text describes; ``name`` names the text in errors.  errors  ArgumentError"""
    from plait.model._toml import tables

    sections = tables(text, name)
    for section in sections:
        expected = ("machine", "simulate", *_COST_MODEL_SECTIONS)
        if section not in expected:
            raise ArgumentError(
                f"{name}: found the section [{section}], expected {', '.join(expected)}{suggest(section, expected)}"
            )
    about = sections.get("machine", {})
    simulate_sections = sections.get("simulate")
    if not isinstance(simulate_sections, dict) or not isinstance(about, dict):
        raise ArgumentError(
            f"{name}: there is no section [simulate.device], which says what the simulation needs to know; "
            "`plait simulate machine NAME` prints a file to begin with"
        )
    values = _cost_model_values(name, sections)
    for section, entries in simulate_sections.items():
        if section not in SECTIONS or not isinstance(entries, dict):
            raise ArgumentError(
                f"{name}: found the section [simulate.{section}], expected {', '.join(SECTIONS)}"
                f"{suggest(section, SECTIONS)}"
            )
        values_of_section = _parse_section(f"{name}: simulate.{section}", section, entries)
        values[section] = {**values.get(section, {}), **values_of_section}
    return Machine(str(about.get("name", name)), str(about.get("source", "")), values)


def _cost_model_values(name: str, sections: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the values of the cost model's sections under the keys of the simulation's sections."""
    values: dict[str, dict[str, Any]] = {}
    for table, key, section, own_key in SHARED:
        entries = sections.get(table, {})
        if isinstance(entries, dict) and key in entries:
            value = _parse_value(f"{name}: {table}.{key}", entries[key], SECTIONS[section][own_key], numbers=True)
            values.setdefault(section, {})[own_key] = value
    processors = sections.get("processors", {})
    if isinstance(processors, dict) and processors.get("count") == processors.get("per_node", 0):
        values.setdefault("ranks", {})["per_node"] = 0  # one node, whatever the number of ranks
    return values


def _machine_texts() -> dict[str, str]:
    """Return the machine files of the package that describe a simulated machine, by name."""
    texts = {}
    for folder in _FOLDERS:
        for file in resources.files(folder).iterdir():
            if file.name.endswith(".toml") and "[simulate." in (text := file.read_text(encoding="utf-8")):
                texts[file.name.removesuffix(".toml")] = text
    return texts


def _keys(section: str, kind: str) -> Mapping[str, Key]:
    """Return the keys of a section; for a device, its own keys too."""
    if section not in ("tier", "device"):
        return SECTIONS[section]
    if kind not in device_keys():
        raise ArgumentError(
            f"{section}.kind: there is no device '{kind}'; use one of {', '.join(device_keys())}"
            f"{suggest(kind, device_keys())}"
        )
    return {**device_keys()[kind][1], **SECTIONS[section]}


def _find_key(section: str, key: str, kind: str) -> Key:
    """Return a key of a section; ``kind``: kind of the device.  errors  ArgumentError"""
    keys = _keys(section, kind)
    if key not in keys:
        of = f" of the device '{kind}'" if kind else ""
        raise ArgumentError(f"found {section}.{key}{of}, expected one of {', '.join(keys)}{suggest(key, keys)}")
    return keys[key]


def _parse_section(where: str, section: str, entries: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a section of a file; ``where`` names the section in errors.  errors  ArgumentError"""
    kind = str(entries.get("kind", SECTIONS[section]["kind"].default)) if "kind" in SECTIONS[section] else ""
    keys = _keys(section, kind)
    result = {}
    for key, value in entries.items():
        if key not in keys:
            raise ArgumentError(f"{where}: found '{key}', expected one of {', '.join(keys)}{suggest(key, keys)}")
        result[key] = _parse_value(f"{where}.{key}", value, keys[key])
    return result


def _parse_value(where: str, value: Any, key: Key, *, numbers: bool = False) -> Any:
    """Return a value in the type of its key.

    where     names the value in errors
    numbers   True to accept numbers without units: seconds, bytes or bytes per second
    errors    ArgumentError
    """
    if key.unit == FLAG:
        if not isinstance(value, bool):
            raise ArgumentError(f"{where}: found {value!r}, expected true or false")
        return value
    if key.unit == TEXT:
        if not isinstance(value, str):
            raise ArgumentError(f"{where}: found {value!r}, expected a text")
        return value
    if key.unit == CHOICE:
        if not isinstance(value, str) or value.split("?")[0] not in key.choices:
            raise ArgumentError(
                f"{where}: found {value!r}, expected one of {', '.join(key.choices)}{suggest(str(value), key.choices)}"
            )
        if "?" in value and key.choices[0] == "none":
            parse_whole(where, value.split("?", 1)[1], BYTES)
        return value
    if not isinstance(value, str) and (isinstance(value, bool) or not isinstance(value, int | float)):
        raise ArgumentError(f"{where}: found {value!r}, expected a text with a unit")
    if numbers and not isinstance(value, str):
        if not 0 <= value < 2**62:
            raise ArgumentError(f"{where}: found {value!r}, expected a number of 0 to below 2^62")
        return int(value) if key.unit in (BYTES, COUNT) else float(value)
    return parse_whole(where, value, key.unit) if key.unit in (BYTES, COUNT) else parse_amount(where, value, key.unit)
