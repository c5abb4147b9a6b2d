"""Layouts as permutations of bits: the example in section 7 of DeBenedictis & del Rosario 1993, and general laws."""

import itertools
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from oracle.model import Model
from oracle.notation import to_text
from oracle.spec import Spec, Stage

import plait
from plait import BitPermutation, Layout

#: Figure 2: an image of 8x8 bytes in parts of 4x4, and blocks of eight bytes on two disks.
IMAGE = Layout((8, 8), "(block, block) onto (2, 2)")
DISKS = Layout((64,), "(cyclic(8)) onto (2)")


def test_the_image_is_figure_6():
    bits = IMAGE.bit_permutation()
    assert bits.unit == (5, 2)
    assert bits.position == (4, 3, 1, 0)
    assert (bits.source_unit_bits, bits.source_position_bits) == (0, 6)


def test_the_striped_disks_are_figure_7():
    bits = DISKS.bit_permutation()
    assert bits.unit == (3,)
    assert bits.position == (5, 4, 2, 1, 0)


def test_the_composition_is_figure_8():
    composed = IMAGE.bit_permutation().inverse().then(DISKS.bit_permutation())
    # Bits of the image: position bits 0 to 3, then unit bits 4 and 5.
    assert composed.unit == (2,)
    assert composed.position == (5, 3, 4, 1, 0)
    assert (composed.source_unit_bits, composed.source_position_bits) == (2, 4)
    for row, column in np.ndindex(8, 8):
        rank = row // 4 * 2 + column // 4
        position = row % 4 * 4 + column % 4
        byte = row * 8 + column
        disk, disk_position = byte // 8 % 2, byte // 16 * 8 + byte % 8
        assert IMAGE.bit_permutation().apply(byte) == (rank, position)
        assert DISKS.bit_permutation().apply(byte) == (disk, disk_position)
        assert composed.apply(position, unit=rank) == (disk, disk_position)
        assert composed.inverse().apply(disk_position, unit=disk) == (rank, position)


def test_the_second_eight_bytes_of_pe_2_are_figure_9():
    composed = IMAGE.bit_permutation().inverse().then(DISKS.bit_permutation())
    assert composed.trace(unit="10", position="1xyz") == ("x", "110yz")
    assert composed.block == 4
    # The eight bytes themselves, moved: disks 0 and 1, positions 24 to 27, four bytes each.
    image = np.arange(64, dtype=np.uint8).reshape(8, 8)
    second_eight = image[6:8, :4].ravel()
    moves = [composed.apply(position, unit=2) for position in range(8, 16)]
    assert moves == [(0, 24), (0, 25), (0, 26), (0, 27), (1, 24), (1, 25), (1, 26), (1, 27)]
    disks = plait.redistribute(image.ravel(), Layout((64,), "(*)"), DISKS)
    assert disks[0][24:28].tolist() == second_eight[:4].tolist()
    assert disks[1][24:28].tolist() == second_eight[4:].tolist()


def test_permutations_are_printed_as_tables_of_bits():
    assert str(IMAGE.bit_permutation()) == (
        "position          5 4 3 2 1 0\nto unit           1 . . 0 . .\nto position       . 3 2 . 1 0"
    )
    composed = IMAGE.bit_permutation().inverse().then(DISKS.bit_permutation())
    assert str(composed) == (
        "unit | position   1 0 | 3 2 1 0\nto unit           . . | . 0 . .\nto position       4 2 | 3 . 1 0"
    )
    assert str(IMAGE.bit_permutation().inverse()) == (
        "unit | position   1 0 | 3 2 1 0\nto position       5 2 | 4 3 1 0"
    )
    assert eval(repr(composed), {"BitPermutation": BitPermutation}) == composed
    wide = Layout((1 << 11,), "(cyclic(2)) onto (2)").bit_permutation()
    assert str(wide).splitlines() == [
        "position          10 9 8 7 6 5 4 3 2 1 0",
        "to unit            . . . . . . . . . 0 .",
        "to position        9 8 7 6 5 4 3 2 1 . 0",
    ]


#: Layouts that are permutations of bits: all extents and numbers of ranks are powers of two.
BIT_LAYOUTS = [
    "16 (*)",
    "16 (block) onto (4)",
    "16 (balanced) onto (2)",
    "16 (gen_block(4, 4, 4, 4)) onto (4)",
    "16 (cyclic) onto (16)",
    "16 (cyclic(2)) onto (4)",
    "4x8 (cyclic, cyclic(2)) onto (2, 2)",
    "4x8 (cyclic, cyclic(2)) onto (2, 2) ranks=F",
    "4x8 (block, *) onto (2) order=F",
    "2x4x8 (*, block, cyclic) onto (4, 2) ranks=F order=F",
    "1x4x1x2 (block, cyclic, *, block) onto (1, 2, 2)",
    "scalar ()",
]


def position_of_every_element(layout, order):
    """Return rank and position of each element in C order, from the methods of the layout."""
    positions = []
    for index in np.ndindex(*(layout.shape if order == "C" else layout.shape[::-1])):
        element = index if order == "C" else index[::-1]
        (rank,) = layout.owners(element)
        shape, local = layout.local_shape(rank), layout.to_local(element, rank)
        positions.append((rank, int(np.ravel_multi_index(local, shape, order=layout.order)) if shape else 0))
    return positions


@pytest.mark.parametrize("text", BIT_LAYOUTS)
@pytest.mark.parametrize("order", ["C", "F"])
def test_every_element_has_the_position_of_its_bits(text, order):
    layout = Layout.parse(text)
    bits = layout.bit_permutation(order)
    assert [bits.apply(number) for number in range(layout.elements)] == position_of_every_element(layout, order)
    there_and_back = bits.then(bits.inverse())
    assert there_and_back == BitPermutation((), tuple(range(there_and_back.source_position_bits))[::-1])
    assert bits.inverse().inverse() == bits
    assert hash(bits.inverse().inverse()) == hash(bits)


@pytest.mark.parametrize(("a", "b"), list(itertools.product(BIT_LAYOUTS[:6], repeat=2)))
def test_the_block_size_equals_that_of_the_conversion(a, b):
    source, target = Layout.parse(a), Layout.parse(b)
    composed = source.bit_permutation().inverse().then(target.bit_permutation())
    assert composed.block == plait.compose(source, target).block


def distributed_bits(sizes):
    """Draw the distributed bits of an array's indices, by axis: single bits, or several at once."""

    @st.composite
    def draw_spec(draw):
        bits = [(d, b) for d, size in enumerate(sizes) for b in range(size)]
        distributed = draw(st.lists(st.sampled_from(bits), unique=True, max_size=5)) if bits else []
        dist = []
        for d in range(len(sizes)):
            own_bits = sorted(((b, axis) for axis, (e, b) in enumerate(distributed) if e == d), reverse=True)
            dist.append(tuple(Stage("cyclic", (axis,), block=1 << b) for b, axis in own_bits))
        order = tuple(draw(st.permutations(range(len(sizes))))) or "C"
        shape = tuple(1 << size for size in sizes)
        return Spec(shape, tuple(dist), (2,) * len(distributed), order=order, named=bool(distributed))

    return draw_spec()


@given(st.lists(st.integers(0, 3), max_size=3).flatmap(distributed_bits))
@settings(max_examples=150)
def test_any_bits_can_be_distributed(spec):
    note(to_text(spec))
    bits = Layout.parse(to_text(spec)).bit_permutation()
    model = Model(spec)
    positions_by_number = {}
    for rank in model.rank_numbers:
        elements, positions = model.local_positions(rank)
        positions_by_number |= dict(
            zip(elements.tolist(), ((rank, position) for position in positions.tolist()), strict=True)
        )
    assert [bits.apply(number) for number in range(math.prod(spec.shape))] == [
        positions_by_number[i] for i in range(len(positions_by_number))
    ]


#: Layouts that are no permutation of bits, and a part of the message.
INVALID = [
    ("8x12 (block, block) onto (2, 2)", "dimension 1 has the size 12"),
    ("0x8 (*, *)", "dimension 0 has the size 0"),
    ("8x16 (block, block) onto (2, 3)", "dimension 1 is distributed over 3 coordinates"),
    ("4x16 (*, cyclic(3)) onto (2)", "dimension 1 of size 16, index 4 is at position 1 of rank 1"),
    ("16 (block(5)) onto (4)", "dimension 0 of size 16, index 4 is at position 4 of rank 0"),
    ("16 (gen_block(1, 3, 4, 8)) onto (4)", "dimension 0 of size 16"),
    ("16 (gen_block(0, 8, 0, 8)) onto (4)", "element 0 is at position 0 of rank 1"),
    ("4 (block) onto (8)", "8 ranks for 4 elements"),
    ("16 (block(16)) onto (2)", "dimension 0 of size 16, index 8 is at position 8 of rank 0"),
    # The elements of single bits agree with a permutation; others do not.
    ("4 (indirect(0, 0, 1, 0)) onto (2)", "dimension 0 of size 4, index 3 is on rank 0"),
    ("8 (indirect(0*3, 1, 0, 1*3)) onto (2)", "dimension 0 of size 8, index 4 is at position 3 of rank 0"),
    ("8 (indirect(0, 0, 0, 0, 1, 1, 0, 1)) onto (2)", "dimension 0 of size 8, index 6 is on rank 0"),
    ("4x2 (block, *) onto (2, 2) replicate=(1)", "copies"),
    ("8 (block) onto (4) halo=(1)", "halo"),
    ("8 (block) onto (2) ranks=(0, 2)", "go up to 2"),
    ("8 (block) onto (2) ranks=(1, 0)", "element 0 is at position 0 of rank 1"),
    ("8 (block) onto (8) ranks=(0, 1, 2, 3, 4, 5, 7, 6)", "index 6 is on rank 7"),
    ("8 (cyclic) onto (2) source=(1)", "element 0 is at position 0 of rank 1"),
]


@pytest.mark.parametrize(("text", "message"), INVALID, ids=[text for text, _ in INVALID])
def test_layouts_that_are_no_permutation_of_bits_are_rejected(text, message):
    layout = Layout.parse(text)
    with pytest.raises(plait.ArgumentError) as caught:
        layout.bit_permutation()
    assert message in str(caught.value)
    assert str(layout) in str(caught.value)


def test_incompatible_arguments_are_errors():
    bits = IMAGE.bit_permutation()
    for call, message in [
        (lambda: BitPermutation((0,), (0,)), "bit 0 is named twice"),
        (lambda: BitPermutation((2,), (0,)), "bit 2 is named twice or is not one of the bits 0 to 1"),
        (lambda: BitPermutation((), tuple(range(63))), "63 bits; at most 62"),
        (lambda: BitPermutation((), (0,), 2), "2 bits of the source's unit"),
        (lambda: bits.then(bits), "2 bits of a unit and 4 of a position"),
        (lambda: bits.apply(64), "64 does not fit into 6 bits"),
        (lambda: bits.apply(-1), "-1 does not fit"),
        (lambda: bits.apply(1, unit=1), "unit 1 does not fit into 0 bits"),
        (lambda: bits.trace(position="10"), '"10" of the position has 2 characters; expected 6'),
        (lambda: bits.trace(position="10-xyz"), "'-'"),
        (lambda: bits.trace("1", "101xyz"), '"1" of the unit has 1 characters; expected 0'),
        (lambda: IMAGE.bit_permutation("K"), 'order="K"'),
    ]:
        with pytest.raises(plait.ArgumentError) as caught:
            call()
        assert message in str(caught.value)


def test_the_cost_does_not_depend_on_the_size():
    layout = Layout((1 << 40, 1 << 20), "(cyclic(1024), block)", grid=(1 << 16, 1 << 10))
    bits = layout.bit_permutation()
    assert bits.unit == (*range(45, 29, -1), *range(19, 9, -1))
    assert len(bits.position) == 34
    assert pickle.loads(pickle.dumps(bits)) == bits
