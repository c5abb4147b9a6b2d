"""The tools that `plait bench copy` compares, as far as they are installed."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from dataclasses import dataclass

from plait_bench.copies import libraries, programs
from plait_bench.copies.rows import Row

PLAIT = "plait"


@dataclass(frozen=True)
class Tool:
    """One tool that makes copies."""

    rows: str
    """The keys of the copies that the tool can make."""
    copy: Callable[[Row, str, str, int], None]
    modules: tuple[str, ...] = ()
    """The Python modules that the tool needs; they are imported before the clock starts."""
    program: str = ""
    """The program that the tool needs."""

    @property
    def is_installed(self) -> bool:
        """True if the modules and the program are installed."""
        found = all(importlib.util.find_spec(module) is not None for module in self.modules)
        return found and (not self.program or shutil.which(self.program) is not None)


TOOLS = {
    PLAIT: Tool("abcdefgh", libraries.copy_by_plait, ("plait",)),
    "zarrs_reencode": Tool("abfg", programs.copy_by_zarrs, program="zarrs_reencode"),
    "tensorstore": Tool("abfg", libraries.copy_by_tensorstore, ("tensorstore",)),
    "zarr-python": Tool("abdefg", libraries.copy_by_zarr, ("zarr", "h5py")),
    "zarr-python+zarrs": Tool("abdefg", libraries.copy_by_zarrs_pipeline, ("zarr", "zarrs", "h5py")),
    "dask": Tool("abdfg", libraries.copy_by_dask, ("dask", "zarr", "h5py")),
    "h5repack": Tool("h", programs.copy_by_h5repack, program="h5repack"),
    "nccopy": Tool("h", programs.copy_by_nccopy, program="nccopy"),
    "h5py": Tool("h", libraries.copy_by_zarr, ("h5py",)),
    "numpy": Tool("c", libraries.copy_by_memory_map, ("numpy",)),
}
"""The tools by their names."""


def tools_for(key: str, selected: tuple[str, ...] | None = None) -> list[str]:
    """Return the names of the installed tools for a copy; with `selected`, only those and Plait."""
    return [
        name
        for name, tool in TOOLS.items()
        if key in tool.rows and tool.is_installed and (selected is None or name in (PLAIT, *selected))
    ]
