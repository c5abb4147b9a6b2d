"""Concurrent programs that read, modify and write the same chunk: no modification may be lost.

If another program has changed the chunk meanwhile, Plait raises an error, and the program tries again.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import plait

_INCREMENT = """
import sys, plait
url, index, remaining = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
while remaining:
    try:
        with plait.open(url, "r+") as file:
            file[index] = file[index] + 1
        remaining -= 1
    except plait.StoreError as error:
        assert "another program has changed it" in str(error), error
"""


def check_no_addition_is_lost(url: str, times: int) -> None:
    """Let four programs each increment their element of a new one-chunk array `times` times, and check the sums."""
    with plait.open(url, "w", shape=8, dtype="i8", chunks=8) as file:
        file.write(np.zeros(8, "i8"))
    command = [sys.executable, "-c", _INCREMENT, url]
    programs = [subprocess.Popen([*command, str(index), str(times)]) for index in range(4)]
    assert [program.wait() for program in programs] == [0] * 4
    assert plait.open(url).read().tolist() == [times] * 4 + [0] * 4
