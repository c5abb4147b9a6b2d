"""The hosts' `mpiexec`: runs the launcher of the MPI library with the hosts of the ranks as arguments."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from several_hosts.spec import HEAD_ADDRESS, Spec

CHECKOUT = Path(__file__).parents[2]
COUNTS = ("-n", "-np", "--n", "--np")


def find_launcher() -> str:
    """Returns the launcher that PLAIT_MPIEXEC names, or else the one of this Python environment or on the path.

    Returns "" if there is none.
    """
    if named := os.environ.get("PLAIT_MPIEXEC"):
        return shutil.which(named) or ""
    folders = [Path(sys.executable).parent, Path(sys.prefix) / "bin", CHECKOUT / ".plait/env/bin"]
    path = os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")])
    return shutil.which("mpiexec", path=path) or shutil.which("mpirun", path=path) or ""


def find_obstacle_to_launcher(launcher: str) -> str | None:
    """Returns why a launcher cannot reach the hosts, or None."""
    if not launcher:
        return "no MPI launcher was found; install one with: pip install 'plait[mpi,mpich]'"
    done = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False)
    return (
        None if "HYDRA" in done.stdout + done.stderr else f"{launcher} is not MPICH's (Hydra), which reaches the hosts"
    )


def count_ranks(arguments: list[str]) -> int:
    """Returns the total number of ranks in the arguments, which may start several programs; 0 if they state none."""
    return sum(int(number) for option, number in itertools.pairwise(arguments) if option in COUNTS and number.isdigit())


def list_host_slots(spec: Spec, ranks: int) -> list[str]:
    """Returns the number of ranks for each host in turn, as `name:number`."""
    ranks_per_host = -(-ranks // spec.hosts) if spec.place == "block" else 1
    return [f"{name}:{ranks_per_host}" for name in spec.names()]


def main(state: Path, arguments: list[str]) -> NoReturn:
    """Replaces this process by the launcher, with the hosts as arguments if the arguments request ranks."""
    spec = Spec.load(state / "spec.json")
    host_options: list[str] = []
    ranks = count_ranks(arguments)
    obstacle = find_obstacle_to_launcher(spec.launcher) if ranks or not spec.launcher else None
    if obstacle is not None:
        raise RuntimeError(obstacle)
    if ranks:
        agent = ["-launcher", "ssh", "-launcher-exec", str(state / "bin" / "on-host")]
        host_options = [*agent, "-hosts", ",".join(list_host_slots(spec, ranks)), "-localhost", HEAD_ADDRESS]
    os.execv(spec.launcher, [spec.launcher, *host_options, *arguments])
