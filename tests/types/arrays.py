"""What arrays, files and streams return, as type checkers see it.  Checked by mypy and basedpyright, never run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import plait
import plait.distant
import plait.shared

Array = npt.NDArray[Any]


def files() -> None:
    """Reading, writing, indexing."""
    layout = plait.Layout((8, 12), [None, "block"], grid=4)
    top = np.empty((3, 4), np.float32)
    with plait.open("a.npy", memory="32M") as file:
        assert_type(file, plait.File)
        assert_type(file.read(), Array)
        assert_type(file.read(region=np.s_[1:, 2]), Array)
        assert_type(file.read(layout), Array | Any)
        for part in file.read("(block, *) onto (4)"):
            print(part.shape)
        assert_type(file.read(out=top).dtype, np.dtype[np.float32])
        assert_type(file.read(layout, [top, top]), list[np.ndarray[tuple[int, int], np.dtype[np.float32]]])
        assert_type(file.iread().wait(), Array)
        assert_type(file.iwrite(top).wait(), None)
        assert_type(file.iwrite(top).test(), bool)
        assert_type(file[1:, ::2], Array | Any)
        assert_type(np.asarray(file), Array)
        file[[1, 2]] = [1.5, 2.5]
        file.write([[1, 2], [3, 4]])
        assert_type((file.shape, file.dtype), tuple[tuple[int, ...], np.dtype[Any]])
        assert_type((file.ndim, file.nbytes, file.chunks), tuple[int, int, tuple[int, ...]])
        assert_type(file.astype("f4")[0], Array | Any)
        assert_type(file.explain(layout), str)
        for step in file:
            assert_type(step, plait.Step)
    with plait.open("b.npz", "w", arrays={"a": ((2, 3), "f4"), "b": (3, np.float64)}) as several:
        several.write(top, variable="a")


def streams() -> None:
    """One position for all ranks, or one for each."""
    with plait.open("a.npy") as file, file.stream() as stream:
        assert_type(stream, plait.Stream)
        assert_type(stream.read(3), Array)
        assert_type(stream.iread(3).wait(), Array)
        assert_type(stream.tell(), int)


def memory() -> None:
    """Arrays that go from one layout to another."""
    layout = plait.Layout(8, [None], grid=1)
    top = np.empty(8)
    assert_type(plait.redistribute(top, "(*)", layout), Array | Any)
    assert_type(plait.iredistribute(top, "(*)", layout).wait(), Array | Any)
    assert_type(plait.empty(layout, "f8"), Array | Any)
    with plait.Redistribution(layout, layout, "f8") as again:
        assert_type(again.run(top), Array | Any)
        assert_type(again.explain(), str)


def bytes_of_other_ranks() -> None:
    """Distant and shared files."""
    with plait.distant.open("raw") as raw:
        assert_type(raw.read(0, 10), npt.NDArray[np.uint8])
        assert_type(raw.iread(0, bytearray(3)).wait(), bytearray)
        assert_type(raw.size(), int)
    with plait.shared.open("raw", "w") as together:
        assert_type(together.read(0, 10), npt.NDArray[np.uint8])
        assert_type(together.read(0, bytearray(3)), bytearray)
        assert_type(together.components, int)
