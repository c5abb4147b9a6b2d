"""plait.Layout: spelling, values, errors, and the positions of elements."""

import copy
import pickle

import numpy as np
import pytest
from brute_force import LayoutModel, find_position, models, shapes
from hypothesis import given, settings
from hypothesis import strategies as st

import plait
from plait import Layout


def test_the_block_cyclic_example():
    layout = Layout((6, 4), ["cyclic(2)", "block"], grid=(2, 2))
    assert [index.tolist() for index in layout.indices(0)] == [[0, 1, 4, 5], [0, 1]]
    assert [index.tolist() for index in layout.indices(3)] == [[2, 3], [2, 3]]
    assert layout.local_shape(0) == (4, 2)
    assert layout.local_shape(2) == (2, 2)
    assert layout.owners((4, 1)) == (0,)
    assert layout.to_local((4, 1), 0) == (2, 1)
    assert layout.to_global((3, 0), 0) == (5, 0)
    assert layout.coordinates(3) == (1, 1)


def test_properties_of_a_layout():
    layout = Layout((8, 12, 5), "(block, cyclic(3), *)", grid=(2, 2), ranks="F", order="F")
    assert layout.shape == (8, 12, 5)
    assert layout.grid == (2, 2)
    assert layout.dist == ("block", "cyclic(3)", "*")
    assert (layout.ranks, layout.order) == ("F", "F")
    assert (layout.ndim, layout.size, layout.elements) == (3, 4, 480)
    assert str(layout) == "8x12x5 (block, cyclic(3), *) onto (2, 2) ranks=F order=F"
    assert eval(repr(layout), {"Layout": Layout}) == layout


@pytest.mark.parametrize(
    "make",
    [
        lambda: Layout((8, 12), ["block", "cyclic(3)"], grid=(2, 2)),
        lambda: Layout((8, 12), ("block", "cyclic(3)"), grid=[2, 2], ranks="C", order="C"),
        lambda: Layout([8, 12], "(block, cyclic(3)) onto (2, 2)"),
        lambda: Layout((8, 12), "(block, cyclic(3))", grid=(2, 2)),
        lambda: Layout((8, 12), "8X12 ( BLOCK , Cyclic( 3 ) ) ONTO ( 2,2 ) Ranks=c ORDER = C"),
        lambda: Layout.parse("8x12 (block, cyclic(3)) onto (2, 2)"),
        lambda: Layout.parse("(block, cyclic(3)) onto (2, 2)", (8, 12)),
        lambda: Layout.parse("8x12(block(4),cyclic(3))onto(2,2)", shape=(8, 12)),
        lambda: Layout((8, 12), "(gen_block(4, 4), cyclic(3)) onto (2, 2)"),
        lambda: Layout((np.int64(8), np.int32(12)), ["balanced", "cyclic(3)"], grid=(np.int64(2), 2)),
    ],
    ids=range(10),
)
def test_many_spellings_make_equal_layouts(make):
    layout = make()
    expected = Layout((8, 12), ["block", "cyclic(3)"], grid=(2, 2))
    assert layout == expected
    assert (layout != expected) is False
    assert hash(layout) == hash(expected)
    assert str(layout) == "8x12 (block, cyclic(3)) onto (2, 2)"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Layout((), "()"), "scalar ()"),
        (lambda: Layout((), []), "scalar ()"),
        (lambda: Layout((8, 12), "(*, *)"), "8x12 (*, *)"),
        (lambda: Layout((0,), "(block)", grid=(3,)), None),
        (lambda: Layout((5,), ["cyclic(2)"], grid=(1,)), None),
        (lambda: Layout((3,), ["gen_block(0, 3, 0)"], grid=(3,)), None),
        (lambda: Layout((1 << 40, 1 << 20), ["block", "cyclic"], grid=(1 << 10, 1 << 10)), None),
    ],
)
def test_texts_survive_a_round_trip(make, text):
    layout = make()
    assert text is None or str(layout) == text
    assert Layout.parse(str(layout)) == layout


def test_layouts_are_values():
    a = Layout((8,), "(block) onto (2)")
    b = Layout((8,), "(cyclic) onto (2)")
    assert a != b
    assert a != Layout((9,), "(block) onto (2)")
    assert a != Layout((8,), "(block) onto (4)")
    assert len({a, b, Layout((8,), "(block(4)) onto (2)")}) == 2
    for copied in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        assert copied == a
        assert hash(copied) == hash(a)
    assert a != "8 (block) onto (2)"
    assert (a == None) is False  # noqa: E711
    assert a.__eq__(8) is NotImplemented
    for name in ("shape", "grid", "dist", "size", "order"):
        with pytest.raises(AttributeError):
            setattr(a, name, 1)


INVALID = [
    # The mistake, the call, and a part of the message; None if the call is valid.
    ("no grid", lambda: Layout((8,), "(block)"), "onto"),
    ("grid for *", lambda: Layout((8,), "(*)", grid=(2,)), "grid"),
    ("short grid", lambda: Layout((8, 8), "(block, block)", grid=(2,)), "grid"),
    ("grid of zero", lambda: Layout((8,), "(block)", grid=(0,)), ""),
    ("negative grid", lambda: Layout((8,), "(block)", grid=(-2,)), ""),
    ("negative size", lambda: Layout((-8,), "(block)", grid=(2,)), ""),
    ("too few distributions", lambda: Layout((8, 8), "(block)", grid=(2,)), ""),
    ("too many distributions", lambda: Layout((8,), ["block", "*"], grid=(2,)), ""),
    ("block too small", lambda: Layout((8,), "(block(3))", grid=(2,)), "block(3)"),
    ("gen_block that does not sum", lambda: Layout((8,), "(gen_block(3, 4))", grid=(2,)), "7"),
    ("gen_block of other length", lambda: Layout((8,), "(gen_block(3, 4, 1))", grid=(2,)), ""),
    ("negative gen_block", lambda: Layout((8,), "(gen_block(-1, 9))", grid=(2,)), ""),
    ("33 dimensions", lambda: Layout((1,) * 33, ["*"] * 33), "33"),
    ("past 2^63 elements", lambda: Layout((1 << 32, 1 << 32), "(*, *)"), ""),
    ("past 2^63 ranks", lambda: Layout((8, 8), "(block, block)", grid=(1 << 32, 1 << 32)), ""),
    ("unknown ranks", lambda: Layout((8,), "(*)", ranks="K"), 'ranks="K"'),
    ("unknown order", lambda: Layout((8,), "(*)", order="A"), 'order="A"'),
    ("two grids", lambda: Layout((8,), "(block) onto (2)", grid=(4,)), "grid"),
    ("two shapes", lambda: Layout((8,), "9 (block) onto (2)"), "shape"),
    ("two orders", lambda: Layout((8,), "(block) onto (2) order=F", order="C"), "order"),
    ("two ranks", lambda: Layout((8,), "(block) onto (2) ranks=F", ranks="C"), "ranks"),
    ("no shape", lambda: Layout.parse("(block) onto (2)"), "no shape"),
    ("another shape", lambda: Layout.parse("8 (block) onto (2)", (9,)), "8"),
    ("a comma in a part", lambda: Layout((8, 8), ["block, *"], grid=(2,)), None),
]


@pytest.mark.parametrize(("call", "message"), [case[1:] for case in INVALID], ids=[case[0] for case in INVALID])
def test_invalid_layouts_are_argument_errors(call, message):
    if message is None:  # two distributions in one text are two distributions
        assert call().dist == ("block", "*")
        return
    with pytest.raises(plait.ArgumentError) as caught:
        call()
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, plait.Error)
    assert message in str(caught.value)
    assert len(str(caught.value)) > 20


@pytest.mark.parametrize(
    ("text", "position", "found"),
    [
        ("", 1, "the end of the text"),
        ("8x12", 5, "the end of the text"),
        ("8x12 block", 6, '"block"'),
        ("8x (block)", 4, None),
        ("8 (blok) onto (2)", 4, '"blok"'),
        ("8 (block onto (2)", 10, '"onto"'),
        ("8 (block) onto", 15, "the end of the text"),
        ("8 (block) onto (2", 18, "the end of the text"),
        ("8 (block) onto (2) onto (2)", 20, '"onto"'),
        ("8 (block) onto (2) ranks F", 26, '"F"'),
        ("8 (block) onto (2) ranks=G", 26, '"G"'),
        ("8 (block) onto (2) colour=C", 20, '"colour"'),
        ("8 (block(0)) onto (2)", 10, '"0"'),
        ("8 (block()) onto (2)", 10, '")"'),
        ("8 (cyclic(x)) onto (2)", 11, '"x"'),
        ("8 (cyclic(99999999999999999999)) onto (2)", 11, '"99999999999999999999"'),
        ("8 (gen_block) onto (2)", 13, '")"'),
        ("8 (block) onto (2) trailing", 20, '"trailing"'),
        ("8 (block;) onto (2)", 9, '";"'),
    ],
)
def test_parse_errors_have_a_position(text, position, found):
    with pytest.raises(plait.ArgumentError) as caught:
        Layout.parse(text)
    message = str(caught.value)
    assert f"position {position}:" in message
    assert "expected" in message
    if found:
        assert f"found {found}," in message


@pytest.mark.parametrize(
    "call",
    [
        lambda: Layout(),
        lambda: Layout("8", "(block)"),
        lambda: Layout((8,), 7),
        lambda: Layout((8,), "(block)", (2,)),
        lambda: Layout((8.5,), "(*)"),
        lambda: Layout((1 << 64,), "(*)"),
        lambda: Layout((8,), "(block)", grid=2.5),
        lambda: Layout.parse(None),
    ],
)
def test_other_types_are_type_errors(call):
    with pytest.raises(TypeError) as caught:
        call()
    assert isinstance(caught.value, plait.ArgumentError)


@pytest.mark.parametrize(
    "call",
    [
        lambda layout: layout.indices(4),
        lambda layout: layout.local_shape(-1),
        lambda layout: layout.coordinates(4),
        lambda layout: layout.owners((8, 0)),
        lambda layout: layout.owners((0, -1)),
        lambda layout: layout.owners((0,)),
        lambda layout: layout.to_local((0, 0), 3),
        lambda layout: layout.to_local((0, 0), 4),
        lambda layout: layout.to_local((0, 0, 0), 0),
        lambda layout: layout.to_global((4, 0), 0),
        lambda layout: layout.to_global((0,), 0),
        lambda layout: layout.to_global((0, -1), 0),
    ],
)
def test_missing_positions_are_argument_errors(call):
    with pytest.raises(plait.ArgumentError):
        call(Layout((8, 12), "(block, cyclic(3)) onto (2, 2)"))


@given(st.data())
@settings(max_examples=300)
def test_positions_agree_with_brute_force(data):
    model = data.draw(shapes.flatmap(models))
    layout = model.layout()
    assert layout.size == model.size
    assert Layout.parse(str(layout)) == layout
    assert pickle.loads(pickle.dumps(layout)) == layout
    total = 0
    for rank in range(model.size):
        expected = model.indices(rank)
        indices = layout.indices(rank)
        assert isinstance(indices, tuple)
        assert len(indices) == len(expected)
        for actual_part, expected_part in zip(indices, expected, strict=True):
            assert actual_part.dtype == np.int64
            assert actual_part.tolist() == expected_part.tolist()
        assert layout.local_shape(rank) == tuple(len(index) for index in expected)
        total += int(np.prod([len(index) for index in expected]))
    assert total == layout.elements == int(np.prod(model.shape))
    all_indices = list(np.ndindex(*model.shape))
    for index in all_indices[:: max(len(all_indices) // 7, 1)]:
        rank, position = find_position(model, index)
        assert layout.owners(index) == (rank,)
        local = layout.to_local(index, rank)
        shape = layout.local_shape(rank)
        assert (int(np.ravel_multi_index(local, shape, order=model.order)) if shape else 0) == position
        assert layout.to_global(local, rank) == index
        if model.size > 1:
            with pytest.raises(plait.ArgumentError):
                layout.to_local(index, (rank + 1) % model.size)


@given(st.data())
@settings(max_examples=200)
def test_equal_means_equal_ownership(data):
    shape = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=2).map(tuple))
    ranks = data.draw(st.integers(1, 4))
    a, b = data.draw(models(shape, ranks)), data.draw(models(shape, ranks))

    def owned_elements(model: LayoutModel):
        array = np.arange(int(np.prod(shape))).reshape(shape)
        return [
            ([indices.tolist() for indices in model.indices(rank)], model.local(array, rank).ravel(order="K").tolist())
            for rank in range(model.size)
        ]

    same = owned_elements(a) == owned_elements(b)
    assert (a.layout() == b.layout()) is same
    assert (str(a.layout()) == str(b.layout())) is same
    if same:
        assert hash(a.layout()) == hash(b.layout())


def test_sizes_may_exceed_32_bits():
    size = 1 << 40
    layout = Layout((size, 3), "(cyclic(1000), *)", grid=(1 << 20,))
    assert layout.elements == 3 * size
    assert layout.owners((size - 1, 2)) == (((size - 1) // 1000) % (1 << 20),)
    rank = layout.owners((size - 1, 2))[0]
    assert layout.to_global(layout.to_local((size - 1, 2), rank), rank) == (size - 1, 2)
