"""The fixture that installs Plait by scripts/install.sh, once for each MPI, for tests of programs that use it."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from installed import BUILD_SECONDS, ROOT, Installation, openmpi_mpicc, own_mpicc

FIND_MPICC = {"own": own_mpicc, "openmpi": openmpi_mpicc}


@pytest.fixture(scope="session", params=FIND_MPICC)
def installed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """Plait, installed into a folder that is then renamed: an installation must work at any location."""
    mpicc = FIND_MPICC[request.param]()
    folder = tmp_path_factory.mktemp(request.param)
    command: list[str | Path] = [ROOT / "scripts/install.sh", folder / "first"]
    done = subprocess.run(
        command,
        env={**os.environ, "MPICC": str(mpicc)},
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    (folder / "first").rename(folder / "prefix")
    yield Installation(folder / "prefix", mpicc)
    shutil.rmtree(folder / "prefix")
