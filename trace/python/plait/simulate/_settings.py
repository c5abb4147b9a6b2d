"""Converts a machine and its changes to the arguments of the compiled replay."""

from __future__ import annotations

from typing import Any

from plait._base.errors import ArgumentError
from plait.simulate._keys import READ_AHEAD, WRITE, device_keys
from plait.simulate._machine import Machine
from plait.simulate._quantities import BYTES, CHOICE, parse_whole, suggest

ASYNCHRONOUS = ("none", "reads", "writes", "all")
"""The choices of the requests that are made asynchronous, so that their programs do not wait for them."""

#: The changes that set one value of a machine, with its section and key.
_MACHINE_CHANGES = {
    "cpus": ("processors", "count"),
    "quantum": ("processors", "quantum"),
    "cache": ("cache", "size"),
    "block": ("cache", "block"),
    "policy": ("cache", "policy"),
    "process_limit": ("cache", "process_limit"),
    "read_ahead": ("cache", "read_ahead"),
    "write": ("cache", "write"),
    "delay": ("cache", "delay"),
    "dirty_limit": ("cache", "dirty_limit"),
    "stripes": ("device", "count"),
    "servers": ("device", "servers"),
    "flush": ("device", "flush"),
    "flush_writes": ("device", "flush_writes"),
}
OVERRIDES = (*_MACHINE_CHANGES, "device", "tier", "aggregate", "asynchronous", "waits")
"""The changes that :func:`plait.simulate.run` accepts for a machine and the programs."""


def apply_changes(machine: Machine, changes: dict[str, Any]) -> tuple[Machine, dict[str, Any]]:
    """Return the changed machine, and the changes of the programs.  errors  ArgumentError"""
    program: dict[str, Any] = {}
    for name, value in changes.items():
        if value is None:
            continue
        if name in _MACHINE_CHANGES:
            section, key = _MACHINE_CHANGES[name]
            machine = machine.changed(section, **{key: value})
        elif name == "device":
            machine = machine.changed("device", **_parse_device("device", str(value)))
        elif name == "tier":
            machine = machine.changed("tier", **_parse_tier(value))
        elif name in ("aggregate", "asynchronous", "waits"):
            program[name] = value
        else:
            raise ArgumentError(f"found {name}, expected one of {', '.join(OVERRIDES)}{suggest(name, OVERRIDES)}")
    return machine, program


def _parse_device(section: str, text: str) -> dict[str, Any]:
    """Return the keys and values of a text such as ``ssd?channels=4&read_latency=80us``; ``kind`` is ssd."""
    kind, _, parameters = text.partition("?")
    values: dict[str, Any] = {"kind": kind}
    for entry in filter(None, parameters.split("&")):
        name, equals_sign, value = entry.partition("=")
        if not equals_sign:
            raise ArgumentError(f"{section}: found '{entry}', expected name=value as in disk?seek_far=15ms&count=4")
        values[name] = value
    return values


def _parse_tier(value: Any) -> dict[str, Any]:
    """Return the values of a text such as ``256MiB`` or ``256MiB?kind=ssd&channels=4``."""
    if not isinstance(value, str):
        return {"size": value}
    size, _, parameters = value.partition("?")
    values = _parse_device("tier", f"server?{parameters}")
    if "&kind=" not in f"&{parameters}":
        del values["kind"]
    return {"size": size, **values}


def settings(machine: Machine, program: dict[str, Any], *, measured: bool = False) -> dict[str, Any]:
    """Return the arguments of the compiled replay.  errors  ArgumentError"""
    values = machine.document()
    cache = dict(values["cache"])
    name, _, size = str(cache["read_ahead"]).partition("?")
    cache["read_ahead"] = READ_AHEAD.index(name)
    if size:
        cache["read_ahead_size"] = parse_whole("read_ahead", size, BYTES)
    cache["write"] = WRITE.index(cache["write"])
    asynchronous = str(program.get("asynchronous", "none"))
    if asynchronous not in ASYNCHRONOUS:
        raise ArgumentError(
            f"asynchronous: found '{asynchronous}', expected one of {', '.join(ASYNCHRONOUS)}"
            f"{suggest(asynchronous, ASYNCHRONOUS)}"
        )
    waits = str(program.get("waits", "keep"))
    if waits not in ("keep", "drop"):
        raise ArgumentError(f"waits: found '{waits}', expected keep or drop")
    aggregate = program.get("aggregate", 0)
    return {
        "processors": values["processors"],
        "cache": cache,
        "tier": {key: values["tier"][key] for key in ("size", "block", "policy")}
        | {"device": device_settings(machine, "tier")},
        "device": device_settings(machine, "device"),
        "program": {
            "measured": measured,
            "aggregate": parse_whole("aggregate", aggregate, BYTES) if isinstance(aggregate, str) else int(aggregate),
            "asynchronous_reads": asynchronous in ("reads", "all"),
            "asynchronous_writes": asynchronous in ("writes", "all"),
            "keep_waits": waits == "keep",
        },
    }


def device_settings(machine: Machine, section: str) -> dict[str, Any]:
    """Return the device of a section in the form that the compiled simulation expects."""
    kind = machine.kind(section)
    values = {}
    for key, spec in device_keys()[kind][1].items():
        value = machine.get(section, key)
        values[key] = spec.choices.index(value) if spec.unit == CHOICE else value
    is_striped = section == "device"  # a tier is one device, without flushes
    return {
        "kind": kind,
        "count": machine.get(section, "count") if is_striped else 1,
        "stripe": machine.get(section, "stripe") if is_striped else 0,
        "flush": machine.get(section, "flush") if is_striped else 0.0,
        "flush_writes": machine.get(section, "flush_writes") if is_striped else 0,
        "values": {key: float(value) for key, value in values.items()},
    }
