"""What calls return, as type checkers see it: mypy's strictest rules hold for a program that uses Plait."""

from pathlib import Path

import pytest

PROGRAM = """
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import plait
import plait.distant

Array = npt.NDArray[Any]

def program() -> None:
    layout = plait.Layout(8, [None], grid=1)
    layout = plait.Layout((8, 12), [None, "block"], grid=4)
    with plait.open("a.npy", memory="32M") as file:
        assert_type(file.read(), Array)
        assert_type(file.read(region=np.s_[1:, 2]), Array)
        assert_type(file.read(layout), Array | Any)
        for part in file.read("(block, *) onto (4)"):
            print(part.shape)
        top = np.empty((3, 4), np.float32)
        assert_type(file.read(out=top).dtype, np.dtype[np.float32])
        assert_type(file.read(layout, [top, top]), list[np.ndarray[tuple[int, int], np.dtype[np.float32]]])
        assert_type(file.iread().wait(), Array)
        assert_type(file.iwrite(top).wait(), None)
        assert_type(file[1:, ::2], Array | Any)
        assert_type(np.asarray(file), Array)
        file[[1, 2]] = [1.5, 2.5]
        file.write([[1, 2], [3, 4]])
        assert_type((file.ndim, file.nbytes, file.chunks), tuple[int, int, tuple[int, ...]])
        assert_type(file.astype("f4")[0], Array | Any)
        assert_type(file.stream().read(3), Array)
        assert_type(file.stream().iread(3).wait(), Array)
        for step in file:
            assert_type(step, plait.Step)
    assert_type(plait.redistribute(top, "(*, *)", layout), Array | Any)
    assert_type(plait.empty(layout, "f8"), Array | Any)
    with plait.distant.open("raw") as raw:
        assert_type(raw.read(0, 10), npt.NDArray[np.uint8])
        assert_type(raw.iread(0, bytearray(3)).wait(), bytearray)
"""


def test_a_program_under_the_strictest_rules(tmp_path: Path) -> None:
    api = pytest.importorskip("mypy.api")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    found, errors, status = api.run(["--strict", "--follow-imports=silent", f"--cache-dir={tmp_path}", str(program)])
    assert status == 0, found + errors
