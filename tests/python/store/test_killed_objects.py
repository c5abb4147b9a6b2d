"""Writers of objects that are killed: a short run of tests/stress/object_kills.py, with a new seed each time."""

import secrets
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "stress/object_kills.py"


@pytest.mark.long
def test_a_killed_writer_leaves_no_wrong_target():
    command = [sys.executable, str(SCRIPT), "--kills", "8", "--seed", str(secrets.randbelow(1 << 30))]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout}{result.stderr}"
    assert "no wrong target" in result.stdout
