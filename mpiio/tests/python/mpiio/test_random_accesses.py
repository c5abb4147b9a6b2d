"""Random programs leave the same files, results and file pointers with Plait as with the MPI alone."""

import pytest
from mpiio_programs import accesses, needs_mpi, run_python

pytestmark = needs_mpi

MODE = "explain,always"  # the arrays are small

NUMBERS = {1: 80, 2: 80, 3: 80, 4: 80, 6: 40}


def compare(ranks, first, number, folder):
    logs = {}
    for mode in (None, MODE):
        files = folder / str(mode)
        files.mkdir()
        done = run_python(ranks, "random_accesses.py", first, number, files, plait=mode)
        logs[mode] = [(files / f"log.{rank}").read_text() for rank in range(ranks)]
    assert logs[MODE] == logs[None]
    writes, reads = accesses(done.stderr)
    assert writes > number / 4
    assert reads > number / 8
    assert done.stderr.count("the last one of irregular lists") > number / 20


@pytest.mark.parametrize("ranks", NUMBERS)
def test_random_programs(ranks, tmp_path):
    compare(ranks, 1000 * ranks, NUMBERS[ranks], tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("ranks", NUMBERS)
def test_many_random_programs(ranks, tmp_path):
    compare(ranks, 100_000 * ranks, 4 * NUMBERS[ranks], tmp_path)
