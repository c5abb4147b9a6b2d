"""Concurrent programs that read, modify and write the same chunk: no modification may be lost.

If another program has changed the chunk meanwhile, Plait raises an error, and the program tries again.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np

import plait

_CODE = """
import sys, plait
url, number, left = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
while left:
    try:
        with plait.open(url, "r+") as file:
            file[number] = file[number] + 1
        left -= 1
    except plait.StoreError as error:
        assert "another program has changed it" in str(error), error
"""


def check_no_addition_is_lost(url: str, times: int) -> None:
    """Run four programs that each increment one element of a new one-chunk array, and check the sums."""
    with plait.open(url, "w", shape=8, dtype="i8", chunks=8) as file:
        file.write(np.zeros(8, "i8"))
    command = [sys.executable, "-c", _CODE, url]
    programs = [subprocess.Popen([*command, str(number), str(times)]) for number in range(4)]
    assert [program.wait() for program in programs] == [0] * 4
    assert plait.open(url).read().tolist() == [times] * 4 + [0] * 4
