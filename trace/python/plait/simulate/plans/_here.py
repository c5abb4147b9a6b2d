"""Writes machine files of this host for simulated accesses, with the constants of the cost model for this host."""

from __future__ import annotations

import os

from plait import _core

_RATES = ("store", "window", "copy")
_TIMES = {"request": "request", "write_request": "write_request", "run": "run", "wait": "wait"}


def constants_text() -> str:
    """Return the section ``[simulate.ranks]`` with the constants in force, and a comment that states their origin."""
    source, values = _core.costs(False)
    lines = ["[simulate.ranks]"]
    if source:
        lines.append(f"# constants of `plait model calibrate`, {source}")
    else:
        lines.append("# not measured; `plait model calibrate` does it, and then this file has what it found")
    lines += [f'{key} = "{1e6 * values[f"{name}_seconds"]:.4g} us"' for key, name in _TIMES.items()]
    lines += [f'{name}_rate = "{values[f"{name}_bytes_per_second"] / 1e6:.4g} MB/s"' for name in _RATES]
    return "\n".join(lines) + "\n"


def here_text() -> str:
    """Return a machine file of this host for accesses to files that are in memory: cores and constants."""
    return (
        f'[machine]\nname = "{os.uname().nodename}"\nsource = "constants in force"\n\n'
        f"[simulate.processors]\ncount = {len(os.sched_getaffinity(0))}\n\n"
        '[simulate.cache]\nsize = "1 TiB"\nwrite = "full"\n\n[simulate.device]\nkind = "ssd"\n\n'
        f"{constants_text()}"
    )
