"""Only a single process can index a file: several ranks get an error that names the calls to use instead."""

import subprocess
import sys

import numpy as np

PROGRAM = """
import numpy as np
import plait

comm = plait.world()
with plait.open("a.npy", "r+", comm=comm) as file:
    if comm.rank == 1:  # alone: the other ranks do not wait for it
        calls = lambda: file[0], lambda: file.astype("f4")[0], lambda: np.asarray(file), lambda: file.__setitem__(0, 1)
        for call in calls:
            try:
                call()
            except plait.ArgumentError as error:
                assert "file.read(layout, region=...)" in str(error), error
                assert "open on 2 ranks" in str(error), error
            else:
                raise SystemExit("indexing was not rejected")
    layout = plait.Layout(file.shape, ["block", None], grid=comm.size)
    part = file.read(layout)
    assert part.shape == (file.shape[0] // 2, file.shape[1])
    assert (len(file), file.ndim, file.nbytes) == (8, 2, 768)
with plait.open("a.npy") as file:
    assert (file[2 * comm.rank :: 3, [3, 1]] == np.load("a.npy")[2 * comm.rank :: 3, [3, 1]]).all()
print("done", comm.rank)
"""


def test_several_ranks_get_an_error_without_waiting(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(96.0).reshape(8, 12))
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "plait.cli", "run", "-n", "2", "--", sys.executable, "program.py"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "done 0" in result.stdout
    assert "done 1" in result.stdout
