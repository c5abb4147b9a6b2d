"""How often indexing reads compressed chunks, by Plait's own events."""

import os
import subprocess
import sys

import pytest
from launching import WELCOME

from plait import trace

PROGRAM = """
import sys
import numpy as np
import plait

name, most = sys.argv[1], int(sys.argv[2])
a = np.arange(40_000.0).reshape(200, 200)
with plait.open(name, "w", shape=a.shape, dtype="f8", chunks=(100, 50), codec="gzip:1") as file:
    file.write(a)
with plait.open(name) as file:
    for i in range(most):
        assert (file[i] == a[i]).all()
with plait.open(name, "r+") as file:
    assert (file[5, :60] == a[5, :60]).all()
    file[5, 3] = -1
    assert file[5, 3] == -1 and file[5, 4] == a[5, 4]
"""


@pytest.mark.parametrize("name", ["a.h5::v", "a.zarr"])
def test_rows_of_chunks_decompress_each_chunk_once(tmp_path, name):
    def bytes_read(rows):
        (tmp_path / "t.plait").unlink(missing_ok=True)
        environment = {**os.environ, **WELCOME, "PLAIT_TRACE": "t.plait"}
        subprocess.run(
            [sys.executable, "-c", PROGRAM, name, str(rows)], cwd=tmp_path, env=environment, check=True, timeout=300
        )
        with trace.open(tmp_path / "t.plait") as recorded:
            events = recorded.read()
        physical = (events["kind"] == trace.Kind.READ) & ((events["flags"] & trace.Flag.LOGICAL) == 0)
        return int(events["result"][physical].sum())

    # A row needs 4 chunks of about 7 KB. Headers and metadata are a few KB more or less.
    once = bytes_read(1)
    assert abs(bytes_read(100) - once) < 6_000
    assert bytes_read(101) > once + 20_000  # the next row of chunks
