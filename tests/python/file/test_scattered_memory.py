"""Arrays in memory whose neighboring elements are far apart: transposed, reversed and with gaps."""

import itertools

import numpy as np
import pytest

import plait

SHAPE = (13, 11, 7)
DTYPES = ("u1", "i2", "f8", "S3")


def make_array(dtype: str, shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return np.random.default_rng(1).integers(0, 100, shape).astype(dtype)


def make_scattered_array(dtype: str, axes: tuple[int, ...], has_gaps: bool, is_reversed: bool) -> np.ndarray:
    """Return an empty array of SHAPE whose memory has its axes in another order."""
    shape = [SHAPE[axis] * (2 if has_gaps else 1) for axis in axes]
    memory = np.zeros(shape, dtype)
    view = memory[tuple(slice(None, None, 2 if has_gaps else 1) for _ in axes)].transpose(np.argsort(axes))
    return view[::-1, :, ::-1] if is_reversed else view


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("memory", [0, 64])
@pytest.mark.parametrize("strategy", ["direct", "two-phase", "automatic"])
def test_scattered_arrays_are_read_and_written(tmp_path, dtype, memory, strategy):
    array = make_array(dtype)
    np.save(tmp_path / "a.npy", array)
    for axes, has_gaps, is_reversed in itertools.product(
        itertools.permutations(range(3)), (False, True), (False, True)
    ):
        out = make_scattered_array(dtype, axes, has_gaps, is_reversed)
        with plait.open(tmp_path / "a.npy", strategy=strategy, memory=memory) as file:
            file.read(out=out)
            np.testing.assert_array_equal(out, array)
            out[...] = array[0, 0, 0]
            file.read(out=out[2:9, 3:, 1:5], region=np.s_[2:9, 3:, 1:5])
            np.testing.assert_array_equal(out[2:9, 3:, 1:5], array[2:9, 3:, 1:5])
        options = {"shape": SHAPE, "dtype": dtype, "strategy": strategy, "memory": memory}
        with plait.open(tmp_path / "b.npy", "w", **options) as file:
            out[...] = array
            file.write(out)
        np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), array)


def test_rows_may_be_longer_than_the_buffer(tmp_path):
    array = make_array("u1", (3, 3_000_000))
    np.save(tmp_path / "a.npy", array)
    out = np.zeros((3_000_000, 3), "u1").T
    with plait.open(tmp_path / "a.npy", strategy="direct") as file:
        file.read(out=out)
    np.testing.assert_array_equal(out, array)
    with plait.open(tmp_path / "b.npy", "w", shape=array.shape, dtype="u1", strategy="direct") as file:
        file.write(out)
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), array)
