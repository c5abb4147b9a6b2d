"""Conversions between layouts of the whole notation, compared with the model: messages, runs, blocks, identities."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from oracle.library import make_layout
from oracle.model import InconsistentError, Model
from oracle.moves import find_block_size, make_locals, messages, owned_view
from oracle.notation import to_text
from oracle.spec import Spec, Stage
from oracle.strategies import examples, halos, respell_by_maps, shapes, specs

import plait


@st.composite
def pairs(draw, count=2, **options):
    """Draw two layouts of one shape, or `count` layouts."""
    shape = draw(shapes())
    return tuple(draw(specs(shape, **options)) for _ in range(count))


def collect_traffic(conversion, source, target):
    """Return the messages that ranks send and the messages that ranks receive, by (sender, receiver)."""
    sent = {
        (rank, message.rank): (message.elements, message.runs)
        for rank in source.rank_numbers
        for message in conversion.sends(rank)
    }
    received = {
        (message.rank, rank): (message.elements, message.runs)
        for rank in target.rank_numbers
        for message in conversion.receives(rank)
    }
    return sent, received


@given(pairs())
@examples(400)
def test_messages_equal_those_of_the_model(drawn):
    check_messages(*drawn)


@given(st.data())
@examples(150)
def test_messages_of_long_dimensions_equal_those_of_the_model(data):
    shape = (*data.draw(st.sampled_from([(), (2,)])), data.draw(st.integers(100, 1500)))
    shape = tuple(data.draw(st.permutations(shape)))
    check_messages(data.draw(specs(shape)), data.draw(specs(shape)))


def check_messages(a, b):
    """Compare everything that a conversion reports with the model."""
    note(f"{to_text(a)}\n{to_text(b)}")
    source, target = Model(a), Model(b)
    conversion = plait.compose(make_layout(a), make_layout(b))
    traffic = messages(source, target)
    expected = {pair: (len(message.elements), len(message.runs)) for pair, message in traffic.items()}
    sent, received = collect_traffic(conversion, source, target)
    assert sent == expected
    assert received == expected
    for rank in source.rank_numbers:
        receivers = [message.rank for message in conversion.sends(rank)]
        assert receivers == sorted(set(receivers))
    for rank in target.rank_numbers:
        receives = conversion.receives(rank)
        assert [message.rank for message in receives] == sorted({message.rank for message in receives})
        # Each element reaches each of its holders exactly once.
        assert sum(message.elements for message in receives) == int(np.prod(target.local_shape(rank), dtype=int))
    assert conversion.block == find_block_size(traffic)
    assert str(conversion.source) == str(make_layout(a))
    assert str(conversion.target) in conversion.explain()


@given(st.data())
@examples(200)
def test_messages_that_fill_halos_equal_those_of_the_model(data):
    shape = data.draw(shapes(min_dimensions=1))
    check_filling(data.draw(specs(shape)), data.draw(halos(data.draw(specs(shape)))))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", range(1, 7))
def test_every_halo_of_one_short_dimension(size):
    stages = [Stage("block", (0,)), Stage("balanced", (0,)), Stage("gen_block", (0,), sizes=(1, 0, size - 1))]
    sources = [Spec((size,), ((),)), Spec((size,), ((Stage("cyclic", (0,)),),), (2,), ranks=(2, 0))]
    for stage, extent in itertools.product(stages, (1, 2, 3)):
        if stage.sizes and extent != 3:
            continue
        for reversed_, periodic, low, high in itertools.product((False, True), (False, True), range(4), range(4)):
            target = Spec(
                (size,),
                ((stage,),),
                (extent,),
                source=(extent - 1,) if reversed_ else (),
                reverse=(0,) if reversed_ else (),
                halo=((low, high),),
                periodic=(0,) if periodic else (),
            )
            try:
                Model(target)
            except InconsistentError:
                continue
            for source in (*sources, replace(target, halo=(), periodic=())):
                check_filling(source, target)


def check_filling(a, b):
    """Compare the messages that also fill halos with the model."""
    source, target = Model(a), Model(b)
    conversion = plait.compose(make_layout(a), make_layout(b), fill_halo=True)
    assert conversion.fills_halo
    traffic = messages(source, target, fill_halo=True)
    expected = {pair: (len(message.elements), len(message.runs)) for pair, message in traffic.items()}
    sent, received = collect_traffic(conversion, source, target)
    description = f"{to_text(a)}  to  {to_text(b)}"
    assert sent == expected, description
    assert received == expected, description
    assert conversion.block == find_block_size(traffic), description


@given(pairs())
@examples(150)
def test_ranks_outside_of_the_set_are_errors(drawn):
    a, b = drawn
    conversion = plait.compose(make_layout(a), make_layout(b))
    for model, call in ((Model(a), conversion.sends), (Model(b), conversion.receives)):
        outside = [rank for rank in range(max(model.parts) + 2) if rank not in model.parts]
        for rank in [-1, *outside]:
            with pytest.raises(plait.ArgumentError, match=str(rank)):
                call(rank)


@given(pairs())
@examples(150)
def test_equal_layouts_convert_equally(drawn):
    a, b = drawn
    other_a, other_b = respell_by_maps(a), respell_by_maps(b)
    note("\n".join(map(to_text, (a, b, other_a, other_b))))
    source, target = Model(a), Model(b)
    first = plait.compose(make_layout(a), make_layout(b))
    second = plait.compose(make_layout(other_a), make_layout(other_b))
    assert first.block == second.block
    assert collect_traffic(first, source, target) == collect_traffic(second, source, target)


def test_ranks_without_elements_are_not_replicas():
    a = plait.Layout.parse("1 (block) onto (3, 2) replicate=(1)")
    b = plait.Layout.parse("1 (block) onto (3, 2) replicate=(1) ranks=(0, 1, 2, 4, 3, 5)")
    target = plait.Layout.parse("1 (*) ranks=(3)")
    assert a == b
    assert plait.compose(a, target).receives(3) == plait.compose(b, target).receives(3)
    assert plait.compose(a, target).sends(1) == plait.compose(b, target).sends(1)


@given(pairs())
@examples(100)
def test_a_layout_to_itself_moves_nothing_between_ranks(drawn):
    spec, _ = drawn
    note(to_text(spec))
    layout, model = make_layout(spec), Model(spec)
    conversion = plait.compose(layout, layout)
    for rank in model.rank_numbers:
        elements = int(np.prod(model.local_shape(rank), dtype=int))
        assert [(m.rank, m.elements) for m in conversion.sends(rank)] == ([(rank, elements)] if elements else [])
        assert conversion.receives(rank) == conversion.sends(rank)


def redistribute_to_list(arrays, source, target):
    """Redistribute arrays, and return a list even for a single array."""
    actual = plait.redistribute(arrays, source, target)
    return actual if isinstance(actual, list) else [actual]


@given(pairs(count=3))
@examples(150)
def test_conversions_through_a_third_layout_and_back_equal_direct_ones(drawn):
    note("\n".join(map(to_text, drawn)))
    models = [Model(spec) for spec in drawn]
    a, b, c = [make_layout(spec) for spec in drawn]
    whole = np.arange(1, a.elements + 1, dtype=np.int32).reshape(a.shape)
    start = make_locals(models[0], whole, 0)
    middle = redistribute_to_list(start, a, b)
    end = redistribute_to_list(middle, b, c)
    direct = redistribute_to_list(start, a, c)
    back = redistribute_to_list(middle, b, a)
    for model, left, right in ((models[2], end, direct), (models[0], back, start)):
        for rank, array, expected in zip(model.rank_numbers, left, right, strict=True):
            owned = owned_view(model, array)
            np.testing.assert_array_equal(owned, owned_view(model, expected))
            np.testing.assert_array_equal(owned.ravel(), model.local_positions(rank)[0] + 1)
