"""Invalid parts of layouts: each raises one ArgumentError that names the part, its position, and the values."""

import re

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from oracle.library import make_layout, make_layout_by_keywords
from oracle.notation import to_text
from oracle.spec import Spec, Stage
from oracle.strategies import distributed_specs, examples

import plait
from plait import Layout

# The mistake, the text, and patterns that the message must match.
INVALID_TEXTS = [
    # Grids and axes.
    ("no grid", "8 (block@0)", ["onto"]),
    ("axis that is not there", "8 (block@1) onto (2)", [r"\b1\b"]),
    ("axis used twice", "8x8 (block@0, block@0) onto (2, 2)", [r"axis 0|\b0\b"]),
    ("axis used twice in one list", "8 (block@(0, 0)) onto (2)", [r"\b0\b"]),
    ("axis used twice by nesting", "8 (block@0/cyclic@0) onto (2, 2)", [r"\b0\b"]),
    ("axis used by none", "8 (block@0) onto (2, 3)", [r"\b1\b"]),
    ("axis of one rank used by none", "8 (block@0) onto (2, 1)", [r"\b1\b"]),
    ("axis distributed and replicated", "8 (block@0) onto (2, 2) replicate=(0)", [r"\b0\b"]),
    ("more axes than distributed", "8 (block) onto (2, 2)", [r"\b2\b", r"\b1\b"]),
    ("fewer axes than distributed", "8x8 (block, block) onto (2)", [r"\b2\b", r"\b1\b"]),
    ("only one of two named", "8x8 (block@0, block) onto (2, 2)", ["@|axes|named?"]),
    ("only one of two nested named", "8 (block@0/cyclic) onto (2, 2)", ["@|axes|named?"]),
    ("replicated axis that is not there", "8 (block) onto (2) replicate=(3)", [r"\b3\b"]),
    ("replicated twice", "8 (block) onto (2, 2) replicate=(1, 1)", [r"\b1\b"]),
    ("extent of 0", "8 (*) onto (0) replicate=(0)", [r"\b0\b"]),
    # Ranks.
    ("repeated rank", "8 (block) onto (4) ranks=(0, 1, 5, 1)", ["rank", r"\b1\b"]),
    ("repeated rank in ranges", "8 (block) onto (4) ranks=(3:5, 4:6)", ["rank", r"\b4\b"]),
    ("negative rank", "8 (block) onto (2) ranks=(0, -1)", ["-|rank"]),
    ("too few ranks", "8 (block) onto (4) ranks=(0:3)", [r"\b3\b", r"\b4\b"]),
    ("too many ranks", "8 (block) onto (2) ranks=(0:3)", [r"\b3\b", r"\b2\b"]),
    ("range upside down", "8 (block) onto (2) ranks=(5:3)", [r"5:3|\b5\b.*\b3\b"]),
    ("unknown ranks", "8 (block) onto (2) ranks=K", ["C", "F"]),
    # Distributions.
    ("block too small", "8 (block(3)) onto (2)", [r"dimension 0", r"block\(3\)", r"\b8\b", r"\b2\b"]),
    ("block too small with an offset", "8 (block(4)) onto (2) offset=(1)", [r"block\(4\)", r"\b9\b"]),
    ("gen_block that does not sum", "4x8 (*, gen_block(3, 4)) onto (2)", ["dimension 1", r"\b7\b", r"\b8\b"]),
    ("gen_block of other length", "8 (gen_block(3, 4, 1)) onto (2)", ["dimension 0", r"\b3\b", r"\b2\b"]),
    ("gen_block with an offset", "8 (gen_block(4, 4)) onto (2) offset=(1)", ["dimension 0", r"\b8\b", r"\b9\b"]),
    ("map too short", "4x8 (*, indirect(0*3, 1*2)) onto (2)", ["dimension 1", r"\b5\b", r"\b8\b"]),
    ("map too long", "4 (indirect(0*3, 1*2)) onto (2)", ["dimension 0", r"\b5\b", r"\b4\b"]),
    ("map to a coordinate that is not there", "4 (indirect(0*3, 2)) onto (2)", ["dimension 0", r"\b2\b"]),
    ("map with a count of 0", "4 (indirect(0*0, 1*4)) onto (2)", [r"\b0\b"]),
    ("nothing to repeat", "4 (indirect(...)) onto (2)", [r"\.\.\."]),
    ("nested block too small", "8 (block@0/block(1)@1) onto (2, 2)", ["dimension 0", r"block\(1\)", r"\b4\b"]),
    ("nested gen_block", "8 (block@0/gen_block(1, 2)@1) onto (2, 2)", ["dimension 0", r"\b3\b", r"\b4\b"]),
    ("not distributed inside", "8 (block@0/*) onto (2)", [r"\*"]),
    # Sources, offsets, reverses.
    ("source too large", "8 (block) onto (2) source=(2)", ["source", r"\b2\b"]),
    ("negative source", "8 (block) onto (2) source=(-1)", ["-1|source"]),
    ("too many sources", "8 (block) onto (2) source=(0, 1)", ["source", r"\b2\b", r"\b1\b"]),
    ("too few sources", "8x8x8 (block, block, *) onto (2, 2) source=(0)", ["source", r"\b1\b"]),
    ("negative offset", "8 (block) onto (2) offset=(-1)", ["-1|offset"]),
    ("too few offsets", "8x8 (block, *) onto (2) offset=(1)", ["offset", r"\b1\b", r"\b2\b"]),
    ("reverse of no dimension", "8 (block) onto (2) reverse=(1)", ["reverse", r"\b1\b"]),
    ("reverse twice", "8 (block) onto (2) reverse=(0, 0)", ["reverse", r"\b0\b"]),
    # Order.
    ("unknown order", "8 (*) order=Z", ["C", "F"]),
    ("order of other length", "8x8 (*, *) order=(0)", ["order", r"\b1\b|\(0\)", r"\b2\b"]),
    ("order that is no permutation", "8x8 (*, *) order=(0, 0)", ["order", r"\b0\b"]),
    ("order with no such dimension", "8x8 (*, *) order=(0, 2)", ["order", r"\b2\b"]),
    # Halos.
    ("halo wider than a block", "8x12 (*, block) onto (4) halo=(0, 4)", ["dimension 1", r"\b4\b", r"\b3\b"]),
    ("halo wider on one side", "8x12 (*, block) onto (4) halo=(0, 1:4)", ["dimension 1", r"\b4\b", r"\b3\b"]),
    ("halo wider than the dimension", "3 (*) halo=(4)", ["dimension 0", r"\b4\b", r"\b3\b"]),
    ("periodic halo wider than the dimension", "3 (*) halo=(4) periodic=(0)", ["dimension 0", r"\b4\b", r"\b3\b"]),
    ("halo of a cyclic dimension", "4x12 (*, cyclic(2)) onto (3) halo=(0, 1)", ["dimension 1", "halo"]),
    ("halo of a mapped dimension", "4 (indirect(0, 1, 0, 1)) onto (2) halo=(1)", ["dimension 0", "halo"]),
    ("negative halo", "8 (block) onto (2) halo=(-1)", ["-|halo"]),
    ("too few halos", "8x8 (block, *) onto (2) halo=(1)", ["halo", r"\b1\b", r"\b2\b"]),
    ("periodic in no dimension", "8 (block) onto (2) halo=(1) periodic=(1)", ["periodic", r"\b1\b"]),
    ("periodic twice", "8 (block) onto (2) halo=(1) periodic=(0, 0)", ["periodic", r"\b0\b"]),
    # Alignment.
    ("outside the template", "8 (block) onto (2) template=15 align=(2*d0+1)", [r"\b15\b", r"\b7\b"]),
    ("below the template", "8 (block) onto (2) template=20 align=(-d0+6)", [r"\b7\b", "-1", r"\b19\b"]),
    ("constant outside", "8 (block) onto (2) template=4 align=(4)", [r"\b4\b"]),
    ("second dimension outside", "4x8 (block, *) onto (2) template=4x7 align=(d0, d1)", ["dimension 1", r"\b7\b"]),
    ("aligned twice", "8 (block, *) onto (2) template=8x8 align=(d0, d0)", ["d0|dimension 0"]),
    ("no such array dimension", "8 (block) onto (2) template=8 align=(d1)", ["d1|dimension 1"]),
    ("too few expressions", "8 (block, *) onto (2) template=8x8 align=(d0)", [r"\b1\b", r"\b2\b"]),
    ("scale of 0", "8 (block) onto (2) template=8 align=(0*d0+1)", ["0"]),
    ("template alone", "8 (block) onto (2) template=8", ["align"]),
    ("align alone", "8 (block) onto (2) align=(d0)", ["template"]),
    ("align and offset", "8 (block) onto (2) template=9 align=(d0) offset=(1)", ["offset", "align"]),
    ("distributions of the array", "8x8 (block, *) onto (2) template=8 align=(d0)", [r"\b2\b", r"\b1\b"]),
    # Counts.
    ("past 2^63 elements", "4294967296x4294967296 (*, *)", ["2\\^63|elements"]),
    ("past 2^63 ranks", "8x8 (block, block) onto (4294967296, 4294967296)", ["2\\^63|ranks"]),
    ("past 2^63 with an offset", "9223372036854775807 (block) onto (2) offset=(1)", ["2\\^63|offset"]),
    ("past 2^63 in the notation", "9223372036854775808 (*)", ["2\\^63"]),
    ("alignment past 2^63", "4611686018427387904 (*) template=8 align=(3*d0)", ["2\\^63|template"]),
    ("map past 2^63", "8 (indirect(0*9223372036854775807, 1)) onto (2)", ["2\\^63|dimension 0"]),
    ("ranks past 2^63", "8 (block) onto (2) ranks=(0, 9223372036854775808)", ["2\\^63"]),
    # Spelling.
    ("option twice", "8 (block) onto (2) order=C order=F", ["order"]),
    ("unknown option", "8 (block) onto (2) sauce=(1)", ["sauce"]),
    ("axis without a number", "8 (block@) onto (2)", ["position"]),
    ("nothing behind the slash", "8 (block/) onto (2, 2)", ["position"]),
    ("three halos", "8 (block) onto (2) halo=(1:2:3)", ["position"]),
    ("no such expression", "8 (block) onto (2) template=8 align=(d0*2)", ["position"]),
]


@pytest.mark.parametrize(
    ("text", "patterns"), [case[1:] for case in INVALID_TEXTS], ids=[case[0] for case in INVALID_TEXTS]
)
def test_invalid_texts_are_rejected(text, patterns):
    with pytest.raises(plait.ArgumentError) as caught:
        Layout.parse(text)
    message = str(caught.value)
    for pattern in patterns:
        assert re.search(pattern, message), f"{pattern} is not in: {message}"
    assert "\n" not in message
    assert len(message) < 600


INVALID_KEYWORDS = [
    ("repeated rank", ((8,), "(block)"), {"grid": (2,), "ranks": (1, 1)}, ["rank", r"\b1\b"]),
    ("unknown ranks", ((8,), "(block)"), {"grid": (2,), "ranks": "K"}, ["K"]),
    ("two rank maps", ((8,), "(block) ranks=(1, 0)"), {"grid": (2,), "ranks": (0, 1)}, ["ranks"]),
    ("two halos", ((8,), "(block) onto (2) halo=(1)"), {"halo": (2,)}, ["halo"]),
    ("two sources", ((8,), "(block) onto (2) source=(1)"), {"source": (0,)}, ["source"]),
    ("halo too wide", ((8,), ["block"]), {"grid": (4,), "halo": [(1, 3)]}, ["dimension 0", r"\b3\b", r"\b2\b"]),
    ("a bad expression", ((8,), ["block"]), {"grid": (2,), "template": (8,), "align": ("d0+",)}, ["d0"]),
]


@pytest.mark.parametrize(
    ("arguments", "keywords", "patterns"),
    [case[1:] for case in INVALID_KEYWORDS],
    ids=[case[0] for case in INVALID_KEYWORDS],
)
def test_invalid_keywords_are_rejected(arguments, keywords, patterns):
    with pytest.raises(plait.ArgumentError) as caught:
        Layout(*arguments, **keywords)
    for pattern in patterns:
        assert re.search(pattern, str(caught.value)), f"{pattern} is not in: {caught.value}"


def test_maps_are_made_from_arrays_and_lists():
    assert Layout((6,), [plait.indirect([0, 0, 0, 1, 1, 0])], grid=(2,)) == Layout.parse(
        "6 (indirect(0*3, 1*2, 0)) onto (2)"
    )
    assert plait.indirect(np.array([0, 0, 1])).replace(" ", "") == "indirect(0*2,1)"
    by_lists = plait.indirect(indices=[[0, 3], [1, 2]])
    assert Layout((4,), [by_lists], grid=(2,)) == Layout((4,), [plait.indirect([0, 1, 1, 0])], grid=(2,))
    for call, patterns in [
        (lambda: plait.indirect(indices=[[0, 1], [1, 2]]), [r"\b1\b"]),
        (lambda: plait.indirect(indices=[[0, 1], [3]]), [r"\b2\b"]),
        (lambda: plait.indirect(indices=[[1, 0], [2]]), ["ascend", r"\b0\b|\b1\b"]),
        (lambda: plait.indirect(indices=[[-1, 0]]), ["-1"]),
        (lambda: plait.indirect([0, -1]), ["-1"]),
        (lambda: plait.indirect([[0, 1]]), ["dimension|one"]),
    ]:
        with pytest.raises(plait.ArgumentError) as caught:
            call()
        for pattern in patterns:
            assert re.search(pattern, str(caught.value)), f"{pattern} is not in: {caught.value}"


def test_different_shapes_and_ranks_outside_of_the_layout_are_errors():
    a = Layout.parse("8x12 (block, *) onto (2) ranks=(4, 6)")
    with pytest.raises(plait.ArgumentError, match=r"8x12.*12x8"):
        plait.compose(a, Layout.parse("12x8 (block, *) onto (2)"))
    with pytest.raises(plait.ArgumentError, match=r"8x12.*12x8"):
        plait.redistribute([np.zeros((4, 12))] * 2, a, Layout.parse("12x8 (block, *) onto (2)"))
    for call in (a.local_shape, a.padded_shape, a.indices, a.coordinates):
        for rank in (0, 5, 7, -1):
            with pytest.raises(plait.ArgumentError, match=f"rank {rank} is not in the layout {re.escape(str(a))}"):
                call(rank)
    with pytest.raises(plait.ArgumentError, match="rank 5 is not in the layout"):
        a.to_global((0, 0), 5)
    with pytest.raises(plait.ArgumentError, match=r"rank 6 .*\(0, 0\).*4"):
        a.to_local((0, 0), 6)
    with pytest.raises(plait.ArgumentError, match=r"\(8, 0\).*8x12"):
        a.owners((8, 0))


def test_a_constant_alignment_leaves_ranks_out():
    layout = Layout.parse("8 (block, cyclic) onto (2, 3) template=8x6 align=(d0, 4)")
    assert layout.rank_numbers.tolist() == [1, 4]
    assert layout.size == 2
    with pytest.raises(plait.ArgumentError, match="rank 0 is not in the layout"):
        layout.local_shape(0)


@given(st.data())
@examples(150)
def test_a_surplus_part_is_rejected_in_both_spellings(data):
    spec = data.draw(distributed_specs(halo=False))
    part = data.draw(st.sampled_from(["order", "grid", "shape", "replicate", "ranks", "halo", "offset"]))
    changes = {
        "order": lambda: {"order": tuple(range(len(spec.shape) + 1))},
        "grid": lambda: {"grid": (*spec.grid, 2), "ranks": "C"},
        "shape": lambda: {"shape": (*spec.shape, 2), "align": (), "template": (), "order": "C", "offset": ()},
        "replicate": lambda: {"replicate": (*spec.replicate, len(spec.grid))},
        "ranks": lambda: {"ranks": tuple(range(int(np.prod(spec.grid, dtype=int)) + 1))},
        "halo": lambda: {"halo": ((0, 0),) * (len(spec.shape) + 1)},
        "offset": lambda: {"offset": (0,) * (len(spec.shape) + 1), "align": (), "template": ()},
    }[part]()
    if part in ("shape", "offset") and spec.align:
        return
    invalid = Spec(**{**vars(spec), **changes})
    note(to_text(invalid))
    for make in (make_layout, make_layout_by_keywords):
        with pytest.raises(plait.ArgumentError):
            make(invalid)


def test_an_axis_must_be_used_once():
    for axes in [(0, 0), (0, 2), (2, 1)]:
        spec = Spec((4, 4), tuple((Stage("block", (axis,)),) for axis in axes), (2, 2), named=True)
        for make in (make_layout, make_layout_by_keywords):
            with pytest.raises(plait.ArgumentError, match="axis"):
                make(spec)
