"""Readers that request another element type than that of the writer."""

import itertools

import numpy as np
import pytest
from pipe_ends import BackgroundThread, make_step_array, split_array

import plait
from plait import Layout

TYPES = ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8", "c8", "c16", ">i2", ">f8", ">c8", "<u4"]


def write(array, layout, **options):
    with plait.open("pipe:flow", "w", shape=array.shape, dtype=array.dtype, **options) as file:
        parts = split_array(array, layout)
        file.write(parts[0] if len(parts) == 1 else parts, layout)


def small_values(dtype):
    """Return values that every type except bool can represent."""
    return np.array([[0, 1, 2, 100], [127, 3, 64, 7]]).astype(dtype)


@pytest.mark.sampled(80)
@pytest.mark.parametrize("casting", ["safe", "same_kind"])
@pytest.mark.parametrize(("source", "target"), list(itertools.product(TYPES, TYPES)))
def test_conversions_equal_those_of_numpy(source, target, casting):
    array = small_values(source)
    writer = BackgroundThread(write, array, Layout(array.shape, "(*, cyclic) onto (2)"))
    url = f"pipe:flow?casting={casting}"
    if np.can_cast(source, target, casting):
        with plait.open(url, dtype=target) as file:
            assert file.dtype == np.dtype(target)
            actual = file.read()
            assert actual.dtype == np.dtype(target)
            np.testing.assert_array_equal(actual, array.astype(target))
        writer.result()
    else:
        message = f"the two ends differ: .* writes 2x4 .{array.dtype.str[1:]}, but .*casting={casting} does not convert"
        with pytest.raises(plait.ArgumentError, match=message):
            plait.open(url, dtype=target)
        with pytest.raises(plait.Error, match=message):
            writer.result()


def test_conversions_of_every_layout():
    """Unfilled halos and gaps in the target stay unchanged, and regions are applied."""
    array = make_step_array((40, 30), 1)
    array[3, 5] = 1e300
    writer = BackgroundThread(write, array, Layout(array.shape, "(block, cyclic(3)) onto (2, 2)"))
    with plait.open("pipe:flow?casting=same_kind", dtype="f4") as file:
        for _ in file:
            layout = Layout((20, 30), "(block, *) onto (3)", halo=[(1, 1), (0, 0)], order="F")
            enclosing = [np.full([2 * extent for extent in layout.padded_shape(rank)], -1, "f4") for rank in range(3)]
            arrays = [array[::2, ::2] for array in enclosing]
            file.read(layout, out=arrays, region=np.s_[::2])
            for rank, local in enumerate(arrays):
                with np.errstate(over="ignore"):
                    expected = array[::2][np.ix_(*layout.indices(rank))].astype("f4")
                np.testing.assert_array_equal(local[1:-1], expected)
                assert (local[[0, -1]] == -1).all()
                assert (enclosing[rank][1::2] == -1).all()
                assert (enclosing[rank][:, 1::2] == -1).all()
    writer.result()


def test_narrower_integers_are_truncated_and_floats_rounded():
    array = np.array([2**40 + 5, -1, 300])
    writer = BackgroundThread(write, array, Layout((3,), "(block) onto (3)"))
    with plait.open("pipe:flow?casting=same_kind", dtype="i1") as file:
        np.testing.assert_array_equal(file.read(), array.astype("i1"))
    writer.result()
    writer = BackgroundThread(write, np.array([1e300, 0.1, np.nan]), Layout((3,), "(block) onto (3)"))
    with plait.open("pipe:flow?casting=same_kind", dtype="f4") as file:
        np.testing.assert_array_equal(file.read(), np.array([np.inf, 0.1, np.nan], "f4"))
    writer.result()


@pytest.mark.parametrize("dtype", ["f2", "c16", "i4", "g"])
def test_byte_orders_are_converted(dtype):
    array = np.array([1.5, -2, 300]).astype(dtype)
    swapped = array.dtype.newbyteorder()
    writer = BackgroundThread(write, array, Layout((3,), "(block) onto (3)"))
    with plait.open("pipe:flow?casting=safe", dtype=swapped) as file:
        actual = file.read()
    assert actual.dtype == swapped
    np.testing.assert_array_equal(actual, array)
    writer.result()


def test_wider_elements_are_converted_in_pieces():
    array = make_step_array((700, 300), 2, "u1")
    writer = BackgroundThread(write, array, Layout(array.shape, "(block, cyclic) onto (2, 2)"))
    with plait.open("pipe:flow?casting=safe", dtype="c16") as file:
        np.testing.assert_array_equal(file.read(), array)
    writer.result()


def test_types_are_converted_only_with_casting():
    writer = BackgroundThread(write, np.zeros(3), Layout((3,), "(block) onto (3)"))
    message = r"writes 3 <f8, but .* reads 3 <f4.*let the reader open pipe:flow\?casting=same_kind"
    with pytest.raises(plait.ArgumentError, match=message):
        plait.open("pipe:flow", dtype="f4")
    with pytest.raises(plait.Error, match=message):
        writer.result()
    with pytest.raises(plait.ArgumentError, match='casting=unsafe is not "no", "safe" or "same_kind"'):
        plait.open("pipe:flow?casting=unsafe", dtype="f4")


def test_other_arrays_of_a_step_are_not_converted():
    def write_two_arrays():
        with plait.open("pipe:flow", "w", shape=(3,), dtype="f8") as file:
            for step in range(2):
                file.begin_step()
                file.write(np.full(3, step + 0.5))
                file.write(np.arange(4.0), variable="u")
                file.end_step()

    writer = BackgroundThread(write_two_arrays)
    with plait.open("pipe:flow?casting=same_kind", dtype="f4", shape=(3,)) as file:
        for step in file:
            assert file.read(variable="u").dtype == np.dtype("f8")
            actual = file.read()
            assert actual.dtype == np.dtype("f4")
            assert (actual == step.number + 0.5).all()
    writer.result()
