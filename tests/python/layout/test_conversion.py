"""plait.compose: senders, receivers and elements of messages, compared with counts element by element."""

import numpy as np
import pytest
from brute_force import messages, models, shapes
from hypothesis import given, settings
from hypothesis import strategies as st

import plait


@given(st.data())
@settings(max_examples=250)
def test_messages_agree_with_brute_force(data):
    shape = data.draw(shapes)
    source, target = data.draw(models(shape)), data.draw(models(shape))
    conversion = plait.compose(source.layout(), target.layout())
    expected = messages(source, target)
    sent = {}
    for rank in range(source.size):
        sends = conversion.sends(rank)
        assert [message.rank for message in sends] == sorted(
            {receiver for sender, receiver in expected if sender == rank}
        )
        sent |= {(rank, message.rank): (message.elements, message.runs) for message in sends}
    assert sent == expected
    received = {
        (message.rank, rank): (message.elements, message.runs)
        for rank in range(target.size)
        for message in conversion.receives(rank)
    }
    assert received == expected
    assert sum(elements for elements, _ in expected.values()) == int(np.prod(shape))


def test_properties_of_a_conversion():
    source = plait.Layout((8, 8), "(block, *) onto (2)")
    target = plait.Layout((8, 8), "(*, block) onto (2)")
    conversion = plait.compose(source, target)
    assert isinstance(conversion, plait.Conversion)
    assert conversion.source == source
    assert conversion.target == target
    assert conversion.block == 4
    first, second = conversion.sends(0)
    assert isinstance(first, plait.Message)
    assert (first.rank, first.elements, first.runs) == (0, 16, 4)
    assert (second.rank, second.elements, second.runs) == (1, 16, 4)
    assert second == conversion.receives(1)[0] or second.rank != conversion.receives(1)[0].rank
    assert repr(first) == "Message(rank=0, elements=16, runs=4)"
    text = conversion.explain()
    assert str(source) in text
    assert str(target) in text


@pytest.mark.parametrize(
    ("source", "target", "block"),
    [
        ("12 (block) onto (3)", "12 (block) onto (3)", 4),
        ("12 (block) onto (3)", "12 (cyclic) onto (3)", 1),
        ("12 (cyclic(4)) onto (3)", "12 (cyclic(6)) onto (2)", 2),
        ("12 (block) onto (3)", "12 (block) onto (2)", 2),
        ("0 (block) onto (3)", "0 (block) onto (2)", 0),
        ("scalar ()", "scalar ()", 1),
    ],
)
def test_the_block_size_is_the_longest_run_that_holds_everywhere(source, target, block):
    assert plait.compose(plait.Layout.parse(source), plait.Layout.parse(target)).block == block


def test_layouts_of_different_shapes_do_not_compose():
    with pytest.raises(plait.ArgumentError, match="8x12"):
        plait.compose(plait.Layout((8, 12), "(*, *)"), plait.Layout((12, 8), "(*, *)"))
    with pytest.raises(plait.ArgumentError, match="target is an int"):
        plait.compose(plait.Layout((8,), "(*)"), 8)


def test_layouts_may_be_texts():
    whole, rows = plait.Layout((8,), "(*)"), plait.Layout((8,), "(block) onto (2)")
    for source, target in [("8 (*)", rows), (whole, "(block) onto (2)"), ("(*)", "8 (block) onto (2)")]:
        conversion = plait.compose(source, target)
        assert (conversion.source, conversion.target) == (whole, rows)
    assert plait.same_up_to_ranks("8 (block) onto (2)", rows) == {0: 0, 1: 1}


@pytest.mark.parametrize("rank", [-1, 2, 1 << 40])
def test_missing_ranks_are_errors(rank):
    conversion = plait.compose(plait.Layout((8,), "(block) onto (2)"), plait.Layout((8,), "(cyclic) onto (2)"))
    for get_messages in (conversion.sends, conversion.receives):
        with pytest.raises(plait.ArgumentError):
            get_messages(rank)


def test_planning_does_not_depend_on_the_size():
    size = 1 << 50
    source = plait.Layout((size,), "(cyclic(3))", grid=(5,))
    target = plait.Layout((size,), "(cyclic(7))", grid=(4,))
    conversion = plait.compose(source, target)
    sent = conversion.sends(2)
    assert [message.rank for message in sent] == [0, 1, 2, 3]
    assert sum(message.elements for message in sent) == source.local_shape(2)[0]
    assert conversion.block == 1
