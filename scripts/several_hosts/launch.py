"""The hosts' `mpiexec`: the MPI's own one, told on which hosts to start the ranks."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from several_hosts.spec import HEAD_ADDRESS, Spec

COUNTS = ("-n", "-np", "--n", "--np")


def real_mpiexec(tools: Path) -> str:
    """The launcher of the MPI of this Python environment, or else the first on the path that is not ours."""
    folders = [str(Path(sys.executable).parent), str(Path(sys.prefix) / "bin")]
    folders += [folder for folder in os.environ.get("PATH", "").split(os.pathsep) if Path(folder) != tools]
    for name in ("mpiexec", "mpirun"):
        found = shutil.which(name, path=os.pathsep.join(folders))
        if found is not None:
            return found
    raise RuntimeError("no MPI launcher was found; install one with: pip install 'plait[mpi,mpich]'")


def ranks_in(arguments: list[str]) -> int:
    """How many ranks the arguments ask for, over all parts of a job of several programs; 0 where they do not say."""
    return sum(int(number) for option, number in itertools.pairwise(arguments) if option in COUNTS and number.isdigit())


def placed(spec: Spec, ranks: int) -> list[str]:
    """How many ranks go to each host in turn, as `name:number`."""
    each = -(-ranks // spec.hosts) if spec.place == "block" else 1
    return [f"{name}:{each}" for name in spec.names()]


def options(spec: Spec, tools: Path, ranks: int, version: str) -> list[str]:
    """What makes the launcher start ranks on the hosts.  errors  RuntimeError: it is of a kind not known here."""
    hosts = ",".join(placed(spec, ranks))
    if "HYDRA" in version:
        agent = ["-launcher", "ssh", "-launcher-exec", str(tools / "on-host")]
        return [*agent, "-hosts", hosts, "-localhost", HEAD_ADDRESS]
    raise RuntimeError("the MPI launcher is none of MPICH's kind (Hydra), the one that is known to reach these hosts")


def main(state: Path, arguments: list[str]) -> NoReturn:
    """Becomes the launcher."""
    tools = state / "bin"
    launcher = real_mpiexec(tools)
    more: list[str] = []
    if ranks := ranks_in(arguments):
        done = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False)
        more = options(Spec.load(state / "spec.json"), tools, ranks, done.stdout + done.stderr)
    os.execv(launcher, [launcher, *more, *arguments])
