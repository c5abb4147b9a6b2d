"""A file is abandoned because of an exception, while the program opens the next one."""

import subprocess
import sys

import h5py
import numpy as np

# The last reference to an abandoned file may be released on another thread.  Its destructor waits for the open, and the
# open waits for the interpreter's lock before it uses HDF5's library.
ABANDONING = """
import sys
import plait

failing, path = sys.argv[1:]
comm = plait.world()

def read_without_layout():
    with plait.open(failing, comm=comm) as file:
        return file.read()

for _ in range(30):
    try:
        read_without_layout()
    except plait.ArgumentError:
        pass
    plait.open(path, comm=comm).close()
if comm.rank == 0:
    print("ended")
"""


def test_an_abandoned_file_does_not_block_the_next_open(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros(4))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["x"] = np.zeros(4)
    command = [sys.executable, "-m", "plait.cli", "run", "-n", "2", sys.executable, "-c", ABANDONING]
    job = subprocess.run(
        [*command, tmp_path / "a.npy", tmp_path / "a.h5"], capture_output=True, text=True, timeout=60, check=False
    )
    assert "ended" in job.stdout, job.stderr
