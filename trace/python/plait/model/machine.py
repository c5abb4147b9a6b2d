"""A machine in the cost model: processors, disks, requests, network; read from a TOML file.

The format is described in docs/guides/model.md, and the files of `plait.model.machines` are commented examples.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from importlib import resources
from typing import Any

from plait._base.errors import ArgumentError
from plait.model._toml import read_text, tables
from plait.model.distributions import Disks

SYNCHRONIZATIONS = ("none", "barrier", "ordered")
"""The ways in which ranks wait: never; for all ranks before each request; for all ranks and then for their turn."""

_SECTIONS = ("machine", "processors", "disks", "requests", "network")
_SIMULATION_SECTIONS = ("simulate",)  # sections of the simulation (plait.simulate), which may share the file


@dataclass(frozen=True)
class Machine:
    """The parameters of a machine in the cost model.  Times in seconds, sizes in bytes, rates in bytes per second.

    name, source       the name, and the origin of the numbers
    processors         maximum number of ranks
    per_node           ranks that share one node, its link and its cache
    memory_rate        rate at which one rank copies in memory
    disks              number of disks, their blocks, and the blocks that a disk request prefetches
    read_rate, write_rate   rates of one disk
    disk_latency       time of a disk request, before its bytes
    latency            time of an I/O request of a rank, before it reaches a disk (t_io)
    buffer             bytes of the largest I/O request
    synchronization    one of SYNCHRONIZATIONS
    step               time of a step of a synchronization; a round takes N_p steps if ordered, log2(N_p) if barrier
    message_latency    time of one message between ranks
    link_rate          rate of the link of one node, in each direction
    total_rate         rate of the whole network, and between the nodes and the disks
    """

    name: str
    source: str
    processors: int
    per_node: int
    memory_rate: float
    disks: Disks
    read_rate: float
    write_rate: float
    disk_latency: float
    latency: float
    buffer: int
    synchronization: str
    step: float
    message_latency: float
    link_rate: float
    total_rate: float

    def with_disks(self, count: int) -> Machine:
        """Return the machine with another number of disks, all else equal.  errors  ArgumentError below 1"""
        return replace(self, disks=replace(self.disks, count=count))

    @property
    def t_disk(self) -> float:
        """Time of a disk request that reads all that it prefetches, in seconds (t_disk)."""
        return self.disk_latency + self.disks.prefetch * self.t_block

    @property
    def t_block(self) -> float:
        """Time in which a disk reads one block, in seconds."""
        return self.disks.block / self.read_rate


@dataclass(frozen=True)
class _Key:
    """A key of the file: its valid values, and the attribute of Machine that stores its value."""

    attribute: str
    kind: type
    unit: str
    minimum: float = 0.0
    excludes_zero: bool = False
    default: Any = None


_KEYS: dict[str, dict[str, _Key]] = {
    "machine": {"name": _Key("name", str, "a text"), "source": _Key("source", str, "a text", default="")},
    "processors": {
        "count": _Key("processors", int, "ranks", 1),
        "per_node": _Key("per_node", int, "ranks", 1, default=1),
        "memory_rate": _Key("memory_rate", float, "bytes per second", excludes_zero=True),
    },
    "disks": {
        "count": _Key("count", int, "disks", 1),
        "block": _Key("block", int, "bytes", 1),
        "prefetch": _Key("prefetch", int, "blocks", 1, default=1),
        "read_rate": _Key("read_rate", float, "bytes per second", excludes_zero=True),
        "write_rate": _Key("write_rate", float, "bytes per second", excludes_zero=True),
        "latency": _Key("disk_latency", float, "seconds", default=0.0),
    },
    "requests": {
        "latency": _Key("latency", float, "seconds"),
        "buffer": _Key("buffer", int, "bytes", 1, default=2**62),
        "synchronization": _Key("synchronization", str, f"one of {', '.join(SYNCHRONIZATIONS)}", default="none"),
        "step": _Key("step", float, "seconds", default=0.0),
    },
    "network": {
        "latency": _Key("message_latency", float, "seconds"),
        "link_rate": _Key("link_rate", float, "bytes per second", excludes_zero=True),
        "total_rate": _Key("total_rate", float, "bytes per second", excludes_zero=True),
    },
}


def examples() -> tuple[str, ...]:
    """Return the names of the machines in the package, ascending."""
    files = resources.files("plait.model.machines").iterdir()
    return tuple(sorted(file.name.removesuffix(".toml") for file in files if file.name.endswith(".toml")))


def example_text(name: str) -> str:
    """Return the file of a machine in the package, with its comments.  errors  ArgumentError"""
    if name not in examples():
        raise ArgumentError(f"found the machine '{name}', expected a file or one of {', '.join(examples())}")
    return resources.files("plait.model.machines").joinpath(f"{name}.toml").read_text(encoding="utf-8")


def load(name: str | os.PathLike[str]) -> Machine:
    """Return a machine of the package, or the machine that a TOML file describes.

    errors  ArgumentError if the file does not describe a machine: it names the file, the key, the value and the
            expected values; OSError if the file cannot be read
    """
    return parse(read_text(name, example_text), os.fspath(name))


def parse(text: str, name: str = "the machine file") -> Machine:
    """Return the machine that a TOML text describes; `name` names the text in errors.  errors  ArgumentError"""
    sections = tables(text, name)
    for section in sections:
        if section not in (*_SECTIONS, *_SIMULATION_SECTIONS):
            raise ArgumentError(f"{name}: found the section [{section}], expected {_join_words(_SECTIONS)}")
    values: dict[str, Any] = {}
    for section, keys in _KEYS.items():
        values |= _parse_section(name, section, sections.get(section), keys)
    if values["synchronization"] not in SYNCHRONIZATIONS:
        raise ArgumentError(
            f"{name}: found requests.synchronization = '{values['synchronization']}', "
            f"expected {_join_words(SYNCHRONIZATIONS, 'or')}"
        )
    disks = Disks(*(values.pop(field.name) for field in fields(Disks)))
    return Machine(disks=disks, **values)


def _parse_section(name: str, section: str, entries: object, keys: Mapping[str, _Key]) -> dict[str, Any]:
    """Return the values of one section."""
    if not isinstance(entries, dict):
        raise ArgumentError(f"{name}: the section [{section}] is missing; add it, with {_join_words(keys)}")
    for key in entries:
        if key not in keys:
            raise ArgumentError(f"{name}: found {section}.{key}, expected {_join_words(keys)}")
    values = {}
    for key, spec in keys.items():
        value = entries.get(key, spec.default)
        if value is None:
            raise ArgumentError(f"{name}: {section}.{key} is missing; add it, in {spec.unit}")
        values[spec.attribute] = _parse_value(f"{name}: found {section}.{key} = {value!r}", value, spec)
    return values


_MIN_NUMBER, _MAX_NUMBER = 1e-15, 1e18  # limits beyond all real machines, which keep times finite


def _parse_value(problem: str, value: object, spec: _Key) -> object:
    """Return the value in the type of the key; `problem` is the beginning of the error text."""
    if spec.kind is str and isinstance(value, str):
        return value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if spec.kind is str or not is_number:
        raise ArgumentError(f"{problem}, expected {spec.unit}")
    assert isinstance(value, int | float)
    if spec.kind is not int and value != 0 and not _MIN_NUMBER <= abs(value) <= _MAX_NUMBER:  # NaN too
        raise ArgumentError(f"{problem}, expected 0 or a number of {_MIN_NUMBER:g} to {_MAX_NUMBER:g}, in {spec.unit}")
    is_valid_type = spec.kind is not int or (abs(value) < 2**63 and value == int(value))
    if not is_valid_type or value < spec.minimum or (spec.excludes_zero and value <= 0):
        limit = "above 0" if spec.excludes_zero else f"of {spec.minimum:g} or above"
        expected = "a whole number" if spec.kind is int else "a number"
        raise ArgumentError(f"{problem}, expected {expected} {limit}, in {spec.unit}")
    return spec.kind(value)


def _join_words(names: Iterable[str], last: str = "and") -> str:
    """Return the names separated by commas, with the word `last` before the last name."""
    words = list(names)
    return ", ".join(words[:-1]) + f" {last} {words[-1]}"
