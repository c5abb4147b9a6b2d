"""Parts of arrays moved between layouts, reused plans, and conversions made from others, compared with the model."""

import numpy as np
from brute_force import make_distinct_array
from hypothesis import given, note
from hypothesis import strategies as st
from oracle.library import make_layout
from oracle.model import Model
from oracle.moves import expected_local, list_padded_indices, make_locals, messages
from oracle.notation import to_text
from oracle.strategies import examples, shapes, specs

import plait


@st.composite
def regions(draw, extents):
    """Draw a region of the given extents in a larger array: the array's shape, and the region, integers among it."""
    shape, region = [], []
    for extent in extents:
        begin = draw(st.integers(0, 3))
        shape.append(begin + extent + draw(st.integers(0, 3)))
        region.append(begin if extent == 1 and draw(st.booleans()) else slice(begin, begin + extent))
    return tuple(shape), tuple(region)


def as_slices(region):
    """Return a region in which integers are slices of one index."""
    return tuple(slice(item, item + 1) if isinstance(item, int) else item for item in region)


def expected_section(model, rank, whole, in_region, out):
    """Return the content of a local array after the elements marked as moved were put into it."""
    result = out.copy()
    if result.ndim == 0:
        return whole.copy() if in_region[()] else result
    halo = [np.array(list_padded_indices(model, rank, d, False), np.int64) for d in range(result.ndim)]
    owned = [np.flatnonzero(indices >= 0) for indices in halo]
    elements = np.ix_(*(indices[positions] for indices, positions in zip(halo, owned, strict=True)))
    result[np.ix_(*owned)] = np.where(in_region[elements], whole[elements], result[np.ix_(*owned)])
    return result


@given(st.data())
@examples(150)
def test_regions_are_moved_like_in_the_model(data):
    extents = data.draw(shapes(max_dimensions=3, longest=5))
    (from_shape, from_region), (to_shape, to_region) = data.draw(regions(extents)), data.draw(regions(extents))
    a, b = data.draw(specs(from_shape)), data.draw(specs(to_shape))
    note(f"{to_text(a)} {from_region}\n{to_text(b)} {to_region}")
    source, target = Model(a), Model(b)
    source_array = make_distinct_array(from_shape, "i4")
    target_array = np.zeros(to_shape, "i4")
    in_region = np.zeros(to_shape, bool)
    target_array[as_slices(to_region)] = source_array[as_slices(from_region)]
    in_region[as_slices(to_region)] = True
    out = [target.make_filled_array(rank, "i4", -7) for rank in target.rank_numbers]
    plait.redistribute(
        make_locals(source, source_array, -1),
        make_layout(a),
        make_layout(b),
        out=out,
        source_region=from_region,
        target_region=to_region,
    )
    for rank, array in zip(target.rank_numbers, out, strict=True):
        blank = target.make_filled_array(rank, "i4", -7)
        np.testing.assert_array_equal(array, expected_section(target, rank, target_array, in_region, blank))


@given(st.data())
@examples(80)
def test_reused_plans_move_the_arrays_of_each_run(data):
    shape = data.draw(shapes())
    a, b = data.draw(specs(shape)), data.draw(specs(shape))
    fill = data.draw(st.booleans())
    note(f"{to_text(a)}\n{to_text(b)}\nfill_halo={fill}")
    source, target = Model(a), Model(b)
    plan = plait.Redistribution(make_layout(a), make_layout(b), "i4", fill_halo=fill)
    for is_nonblocking in (False, True):
        whole = make_distinct_array(shape, "i4") + int(is_nonblocking)
        out = [target.make_filled_array(rank, "i4", -7) for rank in target.rank_numbers]
        before = make_locals(source, whole, -1)
        if is_nonblocking:
            plait.iredistribute(before, make_layout(a), make_layout(b), out=out, fill_halo=fill).wait()
        else:
            plan.run(before, out)
        for rank, array in zip(target.rank_numbers, out, strict=True):
            blank = target.make_filled_array(rank, "i4", -7)
            np.testing.assert_array_equal(array, expected_local(target, rank, whole, blank, fill))


@given(st.data())
@examples(60)
def test_composed_and_inverted_conversions_equal_those_of_the_model(data):
    shape = data.draw(shapes())
    a, b, c = (data.draw(specs(shape)) for _ in range(3))
    note("\n".join(map(to_text, (a, b, c))))
    first, second = plait.compose(make_layout(a), make_layout(b)), plait.compose(make_layout(b), make_layout(c))
    for conversion, source, target in (
        (first.inverse(), b, a),
        (first.inverse().inverse(), a, b),
        (first.then(second), a, c),
        (first.then(first.inverse()), a, a),
    ):
        source_model, target_model = Model(source), Model(target)
        assert conversion.source == make_layout(source)
        assert conversion.target == make_layout(target)
        expected_messages = {
            pair: (len(m.elements), len(m.runs)) for pair, m in messages(source_model, target_model).items()
        }
        actual = {
            (rank, m.rank): (m.elements, m.runs) for rank in source_model.rank_numbers for m in conversion.sends(rank)
        }
        assert actual == expected_messages
