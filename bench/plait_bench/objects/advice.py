"""The settings that follow from the measured rates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Rates = Mapping[tuple[int, int], float]
"""Bytes a second by connections and bytes of a piece."""

SUFFICES = 0.95
"""Share of the highest rate from which a cheaper choice is as good."""
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


def cheapest(rates: Rates) -> tuple[int, int] | None:
    """Return the choice with the fewest bytes in flight that reaches 95 % of the highest rate, and of several such
    choices that with the fewest connections; None without rates.
    """
    if not rates:
        return None
    least = SUFFICES * max(rates.values())
    return min((one for one, rate in rates.items() if rate >= least), key=lambda one: (one[0] * one[1], one[0]))


def memory(connections: int, piece: int) -> int:
    """Return the staging memory with which a rank has so many pieces in flight: one of two windows is fetched while
    the other one is filled.
    """
    return max(USUAL_MEMORY, 2 * connections * piece)


def advise(gets: Rates, puts: Rates, usual_get: float | None, usual_put: float | None) -> Advice:
    """Return the settings. usual_get, usual_put: bytes a second without settings."""
    get, put = cheapest(gets), cheapest(puts)
    chunk = put[1] if put is not None else None
    pairs = ((usual_get, gets), (usual_put, puts))
    if all(not rates or (usual is not None and usual >= SUFFICES * max(rates.values())) for usual, rates in pairs):
        return Advice({}, chunk)
    connections = max(one[0] for one in (get, put) if one is not None)
    needed = [memory(*one) for one in (get, put) if one is not None]
    settings = {"PLAIT_HTTP_CONNECTIONS": connections, "PLAIT_MEMORY": max(needed)}
    if get is not None:
        settings["PLAIT_HTTP_PIECE"] = get[1]
    usual = {
        "PLAIT_HTTP_CONNECTIONS": USUAL_CONNECTIONS,
        "PLAIT_HTTP_PIECE": USUAL_PIECE,
        "PLAIT_MEMORY": USUAL_MEMORY,
    }
    return Advice({name: settings[name] for name in usual if settings.get(name, usual[name]) != usual[name]}, chunk)
