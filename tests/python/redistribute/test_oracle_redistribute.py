"""plait.redistribute in one process, compared with the model: every layout, with and without halos, any strides."""

import numpy as np
import pytest
from brute_force import make_distinct_array
from hypothesis import given, note
from hypothesis import strategies as st
from oracle.library import make_layout
from oracle.model import Model
from oracle.moves import expected_local, make_locals, owned_view
from oracle.notation import to_text
from oracle.strategies import examples, shapes, specs

import plait

DTYPES = ["f8", "u1", "i4", ">i2", "c16", "S3"]


def with_random_strides(draw, array):
    """Return an equal array with other strides: backwards, wide apart, or in another order of dimensions."""
    if array.ndim == 0:
        return array
    order = draw(st.permutations(range(array.ndim)))
    pads = draw(st.tuples(*[st.integers(0, 2)] * array.ndim))
    steps = draw(st.tuples(*[st.sampled_from([1, 1, -1, 2, -2])] * array.ndim))
    extents = [n * abs(step) + pad for n, step, pad in zip(array.shape, steps, pads, strict=True)]
    memory = np.zeros([extents[d] for d in order], array.dtype)
    view = memory.transpose([order.index(d) for d in range(array.ndim)])
    view = view[tuple(slice(0, n * abs(step)) for n, step in zip(array.shape, steps, strict=True))]
    view = view[tuple(slice(None, None, step) for step in steps)]
    assert view.shape == array.shape
    view[...] = array
    return view


def unwrap_at_random(arrays, draw):
    return arrays[0] if len(arrays) == 1 and draw(st.booleans()) else arrays


def choose_filler(dtype):
    return b"##" if np.dtype(dtype).kind == "S" else 99


@given(st.data())
@examples(300)
def test_into_existing_arrays(data):
    shape = data.draw(shapes())
    source_spec, target_spec = data.draw(specs(shape)), data.draw(specs(shape))
    fill_halo = data.draw(st.booleans())
    note(f"{to_text(source_spec)}\n{to_text(target_spec)}\nfill_halo={fill_halo}")
    source, target = Model(source_spec), Model(target_spec)
    whole = make_distinct_array(shape, data.draw(st.sampled_from(DTYPES)))
    before = [with_random_strides(data.draw, array) for array in make_locals(source, whole, choose_filler(whole.dtype))]
    copies = [array.copy() for array in before]
    blank = [target.make_filled_array(rank, whole.dtype, choose_filler(whole.dtype)) for rank in target.rank_numbers]
    out = [with_random_strides(data.draw, array) for array in blank]
    plait.redistribute(
        unwrap_at_random(before, data.draw),
        make_layout(source_spec),
        make_layout(target_spec),
        out=unwrap_at_random(out, data.draw),
        fill_halo=fill_halo,
    )
    for rank, local, untouched in zip(target.rank_numbers, out, blank, strict=True):
        np.testing.assert_array_equal(local, expected_local(target, rank, whole, untouched, fill_halo))
    for array, old in zip(before, copies, strict=True):
        np.testing.assert_array_equal(array, old)


@given(st.data())
@examples(300)
def test_into_new_arrays(data):
    shape = data.draw(shapes())
    source_spec, target_spec = data.draw(specs(shape)), data.draw(specs(shape))
    fill_halo = data.draw(st.booleans())
    note(f"{to_text(source_spec)}\n{to_text(target_spec)}\nfill_halo={fill_halo}")
    source, target = Model(source_spec), Model(target_spec)
    whole = make_distinct_array(shape)
    before = [with_random_strides(data.draw, array) for array in make_locals(source, whole, -1)]
    actual = plait.redistribute(
        unwrap_at_random(before, data.draw), make_layout(source_spec), make_layout(target_spec), fill_halo=fill_halo
    )
    actual = actual if isinstance(actual, list) else [actual]
    assert len(actual) == len(target.parts)
    for rank, local in zip(target.rank_numbers, actual, strict=True):
        assert local.dtype == whole.dtype
        assert local.shape == target.padded_shape(rank)
        steps = [step * local.itemsize for step in target.strides(rank)]
        assert all(
            n < 2 or local.size == 0 or stride == step
            for n, stride, step in zip(local.shape, local.strides, steps, strict=True)
        )
        # Unwritten positions may hold anything, so they are compared with themselves.
        np.testing.assert_array_equal(local, expected_local(target, rank, whole, local, fill_halo))
        np.testing.assert_array_equal(owned_view(target, local).ravel(), whole.ravel()[target.local_positions(rank)[0]])


@given(st.data())
@examples(100)
def test_with_little_memory(data):
    shape = data.draw(shapes(min_dimensions=1))
    source_spec, target_spec = data.draw(specs(shape)), data.draw(specs(shape))
    memory = data.draw(st.sampled_from([4096, 10000, 1 << 20]))
    note(f"{to_text(source_spec)}\n{to_text(target_spec)}\nmemory={memory}")
    source, target = Model(source_spec), Model(target_spec)
    whole = make_distinct_array(shape, "c16")
    out = [target.make_filled_array(rank, whole.dtype, 99) for rank in target.rank_numbers]
    blank = [array.copy() for array in out]
    plait.redistribute(
        make_locals(source, whole, -1),
        make_layout(source_spec),
        make_layout(target_spec),
        out=out,
        memory=memory,
        fill_halo=True,
    )
    for rank, local, untouched in zip(target.rank_numbers, out, blank, strict=True):
        np.testing.assert_array_equal(local, expected_local(target, rank, whole, untouched, True))


def test_a_periodic_halo_of_a_ring():
    layout = plait.Layout.parse("6 (block) onto (3) halo=(1) periodic=(0)")
    actual = plait.redistribute(np.arange(6), plait.Layout.parse("6 (*)"), layout, fill_halo=True)
    assert [array.tolist() for array in actual] == [[5, 0, 1, 2], [1, 2, 3, 4], [3, 4, 5, 0]]


def test_corners_are_filled_where_both_neighbours_are():
    layout = plait.Layout.parse("4x4 (block, block) onto (2, 2) halo=(1, 1) periodic=(1)")
    out = [np.full((4, 4), -1) for _ in range(4)]
    whole = np.arange(16).reshape(4, 4)
    plait.redistribute(whole, plait.Layout.parse("4x4 (*, *)"), layout, out=out, fill_halo=True)
    assert out[0].tolist() == [[-1, -1, -1, -1], [3, 0, 1, 2], [7, 4, 5, 6], [11, 8, 9, 10]]
    assert out[3].tolist() == [[5, 6, 7, 4], [9, 10, 11, 8], [13, 14, 15, 12], [-1, -1, -1, -1]]


def test_local_arrays_include_the_halo():
    layout = plait.Layout.parse("4 (block) onto (2) halo=(1:0)")
    with pytest.raises(plait.ArgumentError, match=r"shape 2, but .* one of shape 3 on rank 0"):
        plait.redistribute([np.zeros(2), np.zeros(2)], layout, plait.Layout.parse("4 (*)"))
    with pytest.raises(plait.ArgumentError, match=r"1 local arrays.* 2"):
        plait.redistribute([np.zeros(3)], layout, plait.Layout.parse("4 (*)"))
