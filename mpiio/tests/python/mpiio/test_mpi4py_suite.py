"""mpi4py's own tests of files have the same result with Plait as without."""

import re
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest
from mpiio_programs import needs_mpi, run

pytestmark = [needs_mpi, pytest.mark.long]

DOWNLOADS = Path(__file__).parents[4] / ".plait"


@pytest.fixture(scope="module")
def suite():
    """The tests of the mpi4py that is installed, from its source archive, which is fetched once."""
    name = f"mpi4py-{version('mpi4py')}"
    if not (DOWNLOADS / name / "test/main.py").exists():
        wanted = ["--no-deps", "--no-binary", "mpi4py", f"mpi4py=={version('mpi4py')}", "--dest", DOWNLOADS]
        fetched = subprocess.run(
            [sys.executable, "-m", "pip", "download", "-q", *wanted], capture_output=True, text=True, check=False
        )
        if fetched.returncode != 0:
            pytest.skip(f"the source archive of mpi4py cannot be fetched: {fetched.stderr.strip()[-200:]}")
        with tarfile.open(DOWNLOADS / f"{name}.tar.gz") as archive:
            archive.extractall(DOWNLOADS)
    return DOWNLOADS / name


@pytest.mark.parametrize("name", ["test_io", "test_file", "test_errhandler"])
def test_the_suite_has_the_same_result(suite, name):
    results = []
    for mode in (None, "on"):
        done = run(3, sys.executable, suite / "test/main.py", "-i", name, plait=mode)
        # The lines of the ranks mix, so that only the words are compared.
        words = set(re.findall(r"Ran \d+ tests|OK|FAILED", done.stderr + done.stdout))
        assert any(word.startswith("Ran") for word in words)
        results.append((done.returncode, words))
    assert results[0] == results[1]
