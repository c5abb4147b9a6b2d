"""The settings of Plait that `plait bench objects` recommends, computed from the measured rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Rates = Mapping[tuple[int, int], float]
"""Bytes a second by connections and bytes of a piece."""

SUFFICES = 0.95
"""A choice with at least this share of the highest rate counts as equally fast."""
# Plait's defaults.
USUAL_MEMORY = 32 << 20
USUAL_CONNECTIONS = 64
USUAL_PIECE = 4 << 20


@dataclass(frozen=True)
class Advice:
    """Settings for one store."""

    settings: dict[str, int]
    """Environment variables with their values; empty if the defaults suffice."""
    chunk: int | None
    """Bytes of chunks or shards to write; None if no puts were measured."""


def find_smallest_setting(rates: Rates) -> tuple[int, int] | None:
    """Return the (connections, piece) with the fewest bytes in flight that reaches 95 % of the highest rate.

    If several choices have equally few bytes in flight, the one with the fewest connections wins. None without rates.
    """
    if not rates:
        return None
    sufficient = SUFFICES * max(rates.values())
    choices = [choice for choice, rate in rates.items() if rate >= sufficient]
    return min(choices, key=lambda choice: (choice[0] * choice[1], choice[0]))


def memory(connections: int, piece: int) -> int:
    """Return the staging memory in bytes with which a rank can have `connections` pieces in flight.

    Staging memory is divided into two windows: one is fetched while the other one is copied out, so that it takes
    twice the bytes in flight.
    """
    return max(USUAL_MEMORY, 2 * connections * piece)


def advise(gets: Rates, puts: Rates, usual_get: float | None, usual_put: float | None) -> Advice:
    """Return the advice. `usual_get` and `usual_put` are the rates with Plait's defaults, in bytes a second."""
    get, put = find_smallest_setting(gets), find_smallest_setting(puts)
    chunk = put[1] if put is not None else None
    pairs = ((usual_get, gets), (usual_put, puts))
    if all(not rates or (usual is not None and usual >= SUFFICES * max(rates.values())) for usual, rates in pairs):
        return Advice({}, chunk)
    connections = max(choice[0] for choice in (get, put) if choice is not None)
    needed = [memory(*choice) for choice in (get, put) if choice is not None]
    settings = {"PLAIT_HTTP_CONNECTIONS": connections, "PLAIT_MEMORY": max(needed)}
    if get is not None:
        settings["PLAIT_HTTP_PIECE"] = get[1]
    usual = {
        "PLAIT_HTTP_CONNECTIONS": USUAL_CONNECTIONS,
        "PLAIT_HTTP_PIECE": USUAL_PIECE,
        "PLAIT_MEMORY": USUAL_MEMORY,
    }
    return Advice({name: settings[name] for name in usual if settings.get(name, usual[name]) != usual[name]}, chunk)
