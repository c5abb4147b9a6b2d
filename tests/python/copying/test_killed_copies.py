"""Copies that are killed: a short run of tests/stress/copy_kills.py, with a new seed each time."""

import secrets
import subprocess
import sys
from pathlib import Path

import pytest
from launching import needs_mpi

SCRIPT = Path(__file__).parents[2] / "stress/copy_kills.py"


@pytest.mark.long
@pytest.mark.parametrize(("ranks", "kills"), [("1", "8"), pytest.param("2", "2", marks=needs_mpi)])
def test_a_killed_copy_leaves_no_wrong_target(tmp_path, ranks, kills):
    command = [
        sys.executable,
        str(SCRIPT),
        "--kills",
        kills,
        "--seed",
        str(secrets.randbelow(1 << 30)),
        "--ranks",
        ranks,
    ]
    result = subprocess.run([*command, "--folder", str(tmp_path)], capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}"
    assert "no wrong target" in result.stdout
