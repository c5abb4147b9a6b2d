"""ScaLAPACK descriptors, compared with ScaLAPACK's formulas INDXG2P, INDXG2L and NUMROC."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import plait
from plait.notations import scalapack


def find_owner(index, block, source, extent):
    """Return the result of INDXG2P, with numbers from 0."""
    return (source + index // block) % extent


@given(st.data())
@settings(max_examples=200)
def test_descriptors_mean_what_scalapack_means(data):
    def draw(minimum, maximum):
        return data.draw(st.integers(minimum, maximum))

    shape, blocks, extents = [
        (draw(minimum, maximum), draw(minimum, maximum)) for minimum, maximum in ((0, 12), (1, 5), (1, 3))
    ]
    order = data.draw(st.sampled_from(["R", "C"]))
    sources = tuple(draw(0, extent - 1) for extent in extents)
    desc = [1, 0, *shape, *blocks, *sources, 99]
    layout = scalapack.from_descriptor(desc, extents, order=order)
    assert layout.shape == shape
    for row in range(extents[0]):
        for column in range(extents[1]):
            rank = row * extents[1] + column if order == "R" else column * extents[0] + row
            indices = [part.tolist() for part in layout.indices(rank)]
            for d, coordinate in enumerate((row, column)):
                expected = [
                    i for i in range(shape[d]) if find_owner(i, blocks[d], sources[d], extents[d]) == coordinate
                ]
                assert indices[d] == expected


@given(st.data())
@settings(max_examples=100)
def test_submatrices_own_what_the_formulas_say(data):
    descriptor = [1, 0, 13, 11, 3, 2, 1, 0, 99]
    start = data.draw(st.integers(0, 13)), data.draw(st.integers(0, 11))
    shape = data.draw(st.integers(0, 13 - start[0])), data.draw(st.integers(0, 11 - start[1]))
    layout = scalapack.from_descriptor(descriptor, (2, 3), start=start, shape=shape)
    for rank in range(6):
        indices = [part.tolist() for part in layout.indices(rank)]
        for d, (coordinate, extent) in enumerate(zip(divmod(rank, 3), (2, 3), strict=True)):
            expected = [
                i
                for i in range(shape[d])
                if find_owner(i + start[d], descriptor[4 + d], descriptor[6 + d], extent) == coordinate
            ]
            assert indices[d] == expected


def test_descriptors_equal_those_of_descinit():
    layout = plait.Layout.parse("100x80 (cyclic(4), cyclic(3)) onto (2, 4) ranks=F order=F")
    assert scalapack.to_grid(layout) == ((2, 4), "C")
    # NUMROC(100, 4, 1, 0, 2) = 48 rows in process row 1.
    assert scalapack.to_descriptor(layout, 3, context=5) == [1, 5, 100, 80, 4, 3, 0, 0, 48]
    assert scalapack.to_descriptor(plait.Layout.parse("0x3 (*, *) order=F"), 0)[-1] == 1


def test_a_map_assigns_ranks_to_the_grid():
    layout = scalapack.from_descriptor([1, 0, 4, 4, 2, 2, 0, 0, 2], (2, 2), order=[[6, 2], [0, 4]])
    assert {rank: [int(part[0]) for part in layout.indices(rank)] for rank in (0, 2, 4, 6)} == {
        6: [0, 0],
        2: [0, 2],
        0: [2, 0],
        4: [2, 2],
    }
    assert scalapack.to_grid(layout) == ((2, 2), ((6, 2), (0, 4)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("8x8 (block, block) onto (2, 2)", "order=C"),
        ("8 (block) onto (2) order=F", "1 dimensions"),
        ("8x8 (gen_block(5, 2, 1), *) onto (3) order=F", "dimension 0 is not distributed in equal blocks"),
        ("8x8 (block@0, *) onto (2, 2) replicate=(1) order=F", "2 ranks hold each element"),
        ("8x8 (block, block) onto (2, 2) halo=(1, 1) order=F", "halos"),
        ("8x8 (cyclic(4), *) onto (2) offset=(1, 0) order=F", "equal blocks"),
    ],
)
def test_layouts_outside_the_notation_are_rejected(text, reason):
    layout = plait.Layout.parse(text)
    with pytest.raises(plait.ArgumentError, match=reason) as caught:
        scalapack.to_descriptor(layout, 0)
    assert str(layout) in str(caught.value)


@pytest.mark.parametrize(
    ("desc", "grid", "reason"),
    [
        ([1, 0, 8, 8, 2, 2, 0, 0], (2, 2), "has length 8; expected 9"),
        ([501, 0, 8, 8, 2, 2, 0, 0, 4], (2, 2), "DTYPE_"),
        ([1, 0, 8, 8, 0, 2, 0, 0, 4], (2, 2), "MB_ is 0"),
        ([1, 0, 8, 8, 2, 2, 2, 0, 4], (2, 2), "RSRC_ is 2"),
        ([1, 0, 8, 8, 2, 2, 0, -1, 4], (2, 2), "CSRC_ is -1"),
        ([1, 0, 8, 8, 2, 2, 0, 0, 0], (2, 2), "LLD_ is 0"),
        ([1, 0, 8, 8, 2, 2, 0, 0, 4], (2,), "the grid"),
        ("nine", (2, 2), "sequence of integers"),
    ],
)
def test_invalid_descriptors_are_errors(desc, grid, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        scalapack.from_descriptor(desc, grid)
    with pytest.raises(plait.ArgumentError, match="order"):
        scalapack.from_descriptor([1, 0, 8, 8, 2, 2, 0, 0, 4], (2, 2), order="X")
    with pytest.raises(plait.ArgumentError, match="outside"):
        scalapack.from_descriptor([1, 0, 8, 8, 2, 2, 0, 0, 4], (2, 2), start=(4, 0), shape=(5, 8))
    with pytest.raises(plait.ArgumentError, match="rank 4"):
        scalapack.to_descriptor(plait.Layout.parse("8x8 (block, block) onto (2, 2) order=F"), 4)
