"""The keys of the simulation's machine files: sections, keys, units, defaults."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from plait import _simulation
from plait._base.amounts import seconds, size
from plait.simulate._quantities import BYTES, CHOICE, COUNT, FLAG, RATE, SHARE, TEXT, TIME

READ_AHEAD = tuple(_simulation.READ_AHEAD.split(","))
"""The strategies of read-ahead; ``many`` and ``adaptive`` accept a size: ``many?64 KiB``."""
WRITE = tuple(_simulation.WRITE.split(","))
"""The strategies that determine when written data goes to the device."""


class Key(NamedTuple):
    """A key of a section."""

    unit: int
    """The kind of amount: TIME, BYTES and so on."""
    default: float | str | bool
    about: str
    """A clause for the table of keys, which follows the kind: a time `of a processor, from one process to another`."""
    choices: tuple[str, ...] = ()


PROCESSORS = {
    "count": Key(COUNT, 1, "processors that share the processes"),
    "quantum": Key(TIME, 0.010, "for which a process runs while others are ready"),
    "switch": Key(TIME, 0.0, "of a processor, from one process to another"),
    "call": Key(TIME, 0.0, "of the file system's code, for each request"),
    "interrupt": Key(TIME, 0.0, "of each request that a device ends"),
}
CACHE = {
    "size": Key(BYTES, 0, "0: there is none"),
    "block": Key(BYTES, 4096, "what is read, written and kept as a whole"),
    "policy": Key(TEXT, "lru", "which block is evicted for another"),
    "process_limit": Key(BYTES, 0, "that one process may have in it; 0: all"),
    "read_ahead": Key(CHOICE, "none", "what is read before it is asked for", READ_AHEAD),
    "read_ahead_size": Key(BYTES, 131072, "of read-ahead `many`, and the most of `adaptive`"),
    "write": Key(CHOICE, "through", "when what was written goes to the device", WRITE),
    "delay": Key(TIME, 30.0, "the age at which `delayed` writes go to the device"),
    "flush_interval": Key(TIME, 5.0, "how often `delayed` looks at ages"),
    "dirty_start": Key(SHARE, 1.0, "the share of the cache above which dirty blocks go to the device"),
    "dirty_limit": Key(SHARE, 1.0, "the share of the cache above which writers wait"),
    "coalesce": Key(BYTES, 1 << 20, "of the largest request that adjacent dirty blocks make"),
    "write_allocate": Key(FLAG, True, "whether what is written comes into the cache"),
    "set_up": Key(TIME, 0.0, "of the processor, for each request, to begin a copy"),
    "copy_rate": Key(RATE, 1e15, "at which the processor copies between cache and program"),
}
TIER = {
    "size": Key(BYTES, 0, "0: there is none"),
    "block": Key(BYTES, 65536, "what is kept as a whole"),
    "policy": Key(TEXT, "lru", "which block is evicted for another"),
    "kind": Key(TEXT, "server", "the device that it is on"),
}
DEVICE = {
    "kind": Key(TEXT, "disk", "one of the devices"),
    "count": Key(COUNT, 1, "devices alike, over which bytes lie in stripes"),
    "stripe": Key(BYTES, 1 << 16, "of a stripe, where there are several"),
    "flush": Key(TIME, 0.0, "of a flush: at the end of fsync, and of each write with O_DSYNC or O_SYNC"),
    "flush_writes": Key(COUNT, 0, "small writes of the file system's own before each flush"),
}
RANKS = {
    "per_node": Key(COUNT, 0, "consecutive ranks that share a node; 0: all share one"),
    "plan": Key(TIME, 10e-6, "in which a rank makes the plan of an access"),
    "message": Key(TIME, 0.3e-6, "in which a rank works out one message"),
    "request": Key(TIME, 0.5e-6, "of a read, before its bytes"),
    "write_request": Key(TIME, 4e-6, "of a write, before its bytes"),
    "store_rate": Key(RATE, 4.6e9, "from the page cache straight into an array"),
    "window_rate": Key(RATE, 6e9, "from the page cache into a window, and of all writes"),
    "copy_rate": Key(RATE, 15e9, "between a window, or a message, and an array"),
    "run": Key(TIME, 2e-9, "of a run of such a copy, besides its bytes"),
    "wait": Key(TIME, 3e-6, "until a rank that waited goes on"),
    "turns": Key(FLAG, False, "whether writers of a node take turns; measured times of writes contain such waits"),
}
NETWORK = {
    "latency": Key(TIME, 2e-6, "of a message between nodes"),
    "link_rate": Key(RATE, 12.5e9, "of the link of a node, in each direction"),
    "total_rate": Key(RATE, 1e15, "of all messages together"),
    "eager": Key(BYTES, 1 << 16, "up to which a message leaves before its receiver waits for it"),
}
SECTIONS = {
    "processors": PROCESSORS,
    "cache": CACHE,
    "tier": TIER,
    "device": DEVICE,
    "ranks": RANKS,
    "network": NETWORK,
}
SHARED = (
    ("processors", "per_node", "ranks", "per_node"),
    ("processors", "memory_rate", "ranks", "copy_rate"),
    ("network", "latency", "network", "latency"),
    ("network", "link_rate", "network", "link_rate"),
    ("network", "total_rate", "network", "total_rate"),
)
"""Sections and keys of the cost model; each is followed by the section and key here that it sets by default."""


def _split_choices(choices: str) -> tuple[str, ...]:
    return tuple(choices.split(",")) if choices else ()


@cache
def device_keys() -> dict[str, tuple[str, dict[str, Key]]]:
    """Return the known devices: the description of each, and its own keys."""
    return {
        name: (
            about,
            {
                key: Key(
                    unit, choices.split(",")[int(fallback)] if choices else fallback, words, _split_choices(choices)
                )
                for key, unit, fallback, words, choices in parameters
            },
        )
        for name, about, parameters in _simulation.devices()
    }


_UNIT_NAMES = {
    TIME: "time",
    BYTES: "bytes",
    RATE: "rate",
    COUNT: "number",
    SHARE: "share",
    TEXT: "text",
    FLAG: "true, false",
}


def key_table() -> list[str]:
    """Return all sections and keys as lines of text."""
    lines = []
    for section, keys in SECTIONS.items():
        lines += [f"[simulate.{section}]", *_rows(keys), ""]
    for name, (about, keys) in device_keys().items():
        lines += [f'kind = "{name}": {about}', *_rows(keys), ""]
    return lines[:-1]


def _rows(keys: dict[str, Key]) -> list[str]:
    return [
        f"  {name:<18}{', '.join(key.choices) or _UNIT_NAMES[key.unit]:<12}  {key.about}; {_format_default(key)}"
        for name, key in keys.items()
    ]


def _format_default(key: Key) -> str:
    """Return the default in the notation of a machine file."""
    if isinstance(key.default, bool | str):
        return str(key.default).lower()
    if key.default == 0 or key.unit == COUNT:
        return f"{key.default:g}"
    if key.unit == TIME:
        return seconds(key.default)
    if key.unit == SHARE:
        return f"{100 * key.default:g} %"
    if key.unit == RATE:
        return "no limit" if key.default >= 1e15 else f"{key.default / 1e6:g} MB/s"
    return size(key.default) if key.default % 1024 == 0 else f"{key.default:g} B"
