"""Formats numbers, machines and titles for the output of benchmarks."""

from __future__ import annotations

import math

from rich import box
from rich.table import Table
from rich.text import Text

NOTHING = "–"
"""The text for a missing measurement."""


def three_digits(value: float) -> str:
    """Return a number with three digits if it is below 100, and without a fraction otherwise."""
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def milliseconds(seconds: float) -> str:
    """Return a time in milliseconds."""
    return three_digits(seconds * 1000)


def microseconds(seconds: float | None) -> str:
    """Return a time in microseconds."""
    return NOTHING if seconds is None else three_digits(seconds * 1e6)


def factor(value: float) -> str:
    """Return a speed-up with two or three digits."""
    return f"{value:,.0f}x" if value >= 99.5 else f"{value:.1f}x" if value >= 9.95 else f"{value:.2f}x"


def power(value: int) -> str:
    """Return a number in a short form such as ``10^6``, ``1,009`` or ``3.2·10^6``."""
    exponent = int(math.log10(value)) if value > 0 else 0
    if value < 1000:
        return str(value)
    if value == 10**exponent:
        return f"10^{exponent}"
    return f"{value:,}" if value < 10**6 else f"{value / 10**exponent:.1f}·10^{exponent}"


def kibibytes(count: int) -> str:
    """Return a number of bytes in KiB."""
    return "< 4" if count < 4096 else f"{count / 1024:,.0f}"


def machine_line(machine: dict[str, str]) -> str:
    """Return a description of the machine."""
    return f"{machine['processor']}, {machine['cores']} cores, {machine['memory']}, {machine['system']}"


def version_line(machine: dict[str, str]) -> str:
    """Return the versions of Plait and Python."""
    return f"Plait {machine['plait']}, Python {machine['python']}"


def notes(lines: list[str], wrong: list[str], checked: str) -> Text:
    """Return the notes on a table and a line for each entry of `wrong`, or the text `checked` if no data was wrong."""
    ending = [f"WRONG DATA: {where}." for where in wrong] or [checked]
    return Text("\n".join(lines + ending), style="" if wrong else "dim")


def ranks_header(machine: dict[str, str], ranks: int, where: str = "") -> Text:
    """Return the lines above the results of MPI ranks; `where` is added to their description."""
    mpi = machine.get("MPI", "MPI")
    return Text(f"{machine_line(machine)}\n{count_text(ranks, 'rank')}, {mpi}{where}; {version_line(machine)}")


def titled_table(title: str) -> Table:
    """Return an empty table in the form that all benchmarks use."""
    return Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left", title_style="bold")


def rate(bytes_per_second: float | None) -> str:
    """Return a rate in MB/s."""
    return NOTHING if bytes_per_second is None else three_digits(bytes_per_second / 1e6)


def short_bytes(count: int) -> str:
    """Return ``4K``, ``16M`` or ``1000``, in the form that options accept."""
    for power_, letter in ((30, "G"), (20, "M"), (10, "K")):
        if count and count % (1 << power_) == 0:
            return f"{count >> power_}{letter}"
    return str(count)


def count_text(number: int, noun: str) -> str:
    """Return ``1 rank`` or ``2 ranks``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
