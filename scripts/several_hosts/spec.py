"""The requested hosts: the options of scripts/hosts.py as one value, and the units of those options."""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import asdict, dataclass, field
from pathlib import Path

MAX_HOSTS = 32
ADDRESSES = "10.77.0"  # prefix of the private network, which exists only inside the namespaces
HEAD = "head"
HEAD_ADDRESS = f"{ADDRESSES}.254"
LOCAL = "/var/tmp"


@dataclass
class Spec:
    """The hosts of one run."""

    hosts: int = 2
    link: int = 0
    """rate of each host's link in each direction, in bits a second; 0 does not limit it"""
    delay: float = 0.0
    """seconds that a packet takes from one host to another"""
    disk: int = 0
    """rate of each host's disk for reads and for writes, in bytes a second; 0 does not limit it"""
    disk_size: int = 0
    """size of each host's disk in bytes; 0 means a folder without a bound, or 1 GiB if `disk` is limited"""
    local: list[str] = field(default_factory=lambda: [LOCAL])
    """folders that are on each host's own disk"""
    shared: list[str] = field(default_factory=list)
    """folders that all hosts share, even if they are below one of `local`"""
    place: str = "block"
    """how ranks are distributed over hosts: block or cyclic"""
    launcher: str = ""
    """the launcher of the MPI library; empty if there is none"""
    command: list[str] = field(default_factory=list)

    def names(self) -> list[str]:
        """Returns the names of the hosts."""
        return [f"host{number}" for number in range(self.hosts)]

    def address(self, host: int) -> str:
        """Returns the address of a host."""
        return f"{ADDRESSES}.{host + 1}"

    def save(self, path: Path) -> None:
        """Writes a file that `load` reads."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @staticmethod
    def load(path: Path) -> Spec:
        """Reads a file that `save` wrote."""
        return Spec(**json.loads(path.read_text(encoding="utf-8")))


BYTES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "ki": 2**10, "mi": 2**20, "gi": 2**30}
BITS = {"bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9}
SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def _parse_quantity(
    text: str, units: dict[str, int] | dict[str, float], endings: tuple[str, ...], expected: str
) -> float:
    bare = text.strip().lower()
    for ending in endings:
        bare = bare.removesuffix(ending)
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([a-z]*)", bare)
    if match is None or match[2] not in units or float(match[1]) <= 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not {expected}")
    return float(match[1]) * units[match[2]]


def size(text: str) -> int:
    """Returns bytes, from a size such as 64MB or 1GiB."""
    return int(_parse_quantity(text, BYTES, ("b",), "a size such as 64MB or 1GiB"))


def disk_rate(text: str) -> int:
    """Returns bytes per second, from a rate such as 50MB/s."""
    return int(_parse_quantity(text, BYTES, ("/s", "b"), "a disk's rate such as 50MB/s"))


def link_rate(text: str) -> int:
    """Returns bits per second, from a rate such as 100mbit or 1gbit."""
    return int(_parse_quantity(text, BITS, (), "a link's rate such as 100mbit or 1gbit"))


def seconds(text: str) -> float:
    """Returns seconds, from a time such as 100us or 2ms."""
    return _parse_quantity(text, SECONDS, (), "a time such as 100us or 2ms")
