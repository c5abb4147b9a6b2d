"""Pictures of layouts: the shown indices, their owners, and the data that conversions move."""

import itertools
import math

import numpy as np
import pytest
from rich.console import Console

import plait
from plait.draw import View, divide, grid_coordinates, measure, owner_groups, owner_table, rank_hex, runs_in_array
from plait.draw.scene import local_position
from plait.draw.tables import indices_text, traffic_summary
from plait.draw.terminal import render_layout

LAYOUTS = [
    "8x12 (block, cyclic(3)) onto (2, 2)",
    "8x12 (cyclic, *) onto (3) ranks=F",
    "7x5 (balanced, gen_block(1, 0, 4)) onto (2, 3) ranks=F order=F",
    "30 (cyclic(4)) onto (4)",
    "5x4x6 (block, cyclic, block) onto (2, 2, 2)",
    "3x3 (*, *)",
    "23 (cyclic(3)) onto (4) source=(1) offset=(2) reverse=(0)",
    "24 (indirect(0*3, 1*2, 2, ...)) onto (3)",
    "29x4 (block/cyclic(2), cyclic) onto (2, 2, 2)",
    "6x12 (block, cyclic) onto (2, 3) template=40x9 align=(2*d1+1, -d0+7)",
    "9 (block, cyclic) onto (3, 4) template=9x8 align=(d0, 6)",
    "8x12 (block@(1, 0), cyclic@2) onto (2, 2, 3) order=F",
    "12 (block) onto (4) ranks=(4:7, 0)",
    "8x12 (block, block) onto (2, 2) halo=(1, 2:1) periodic=(1)",
]


def list_indices(layout):
    return itertools.product(*(range(extent) for extent in layout.shape))


def draw_text(layout, view=None, width=100, height=40):
    """Return the picture of a layout that a terminal of this size shows."""
    console = Console(width=width, height=height, force_terminal=False, no_color=True)
    with console.capture() as capture:
        console.print(render_layout(layout, view or View(), width, height))
    return capture.get()


@pytest.mark.parametrize("text", LAYOUTS)
def test_owner_table_agrees_with_each_ranks_indices(text):
    layout = plait.Layout.parse(text)
    expected = np.empty(layout.shape, dtype=np.int64)
    for rank in layout.rank_numbers:
        expected[np.ix_(*layout.indices(rank))] = rank
    assert np.array_equal(owner_table(layout, [range(extent) for extent in layout.shape]), expected)


@pytest.mark.parametrize("text", LAYOUTS)
def test_each_band_has_one_owner_and_bands_cover_the_dimension(text):
    layout = plait.Layout.parse(text)
    for dimension, extent in enumerate(layout.shape):
        axis = divide(layout, dimension, 1000, unit="band")
        assert [band.begin for band in axis.bands] == [0, *(band.end for band in axis.bands[:-1])]
        assert axis.bands[-1].end == extent
        for band in axis.bands:
            index = [0] * layout.ndim
            owners = set()
            for index[dimension] in range(band.begin, band.end):
                owners.add(layout.owners(tuple(index)))
            assert len(owners) == 1
            if band.end < extent:
                index[dimension] = band.end
                assert layout.owners(tuple(index)) not in owners


REPLICATED = ["6x4 (block, *) onto (2, 2) replicate=(1)", "8x4 (cyclic, block) onto (3, 2, 2) replicate=(0)"]


@pytest.mark.parametrize("text", [*LAYOUTS, *REPLICATED])
def test_owner_groups_name_all_copies(text):
    layout = plait.Layout.parse(text)
    groups = owner_groups(layout, [range(extent) for extent in layout.shape])
    for index in list_indices(layout):
        assert groups.groups[groups.of_element[index]] == layout.owners(index)


def test_a_large_dimension_is_shown_around_the_selected_rank():
    layout = plait.Layout((10**12,), "(cyclic(100000)) onto (1000)")
    axis = divide(layout, 0, 10, focus=50_000_000)
    assert [band.begin // 100_000 for band in axis.bands] == list(range(498, 508))
    assert "· 500 ·" in " ".join(draw_text(layout, View(rank=500)).split())


def element_order(layout, rank):
    """Return the numbers of a rank's elements in the order of its memory, and -1 for halo positions."""
    order = layout.dimension_order
    extents = [layout.shape[d] for d in order]
    numbers = np.arange(layout.elements).reshape(extents).transpose(np.argsort(order))
    padded = np.full(layout.padded_shape(rank), -1)
    owned = zip(layout.halo, layout.local_shape(rank), strict=True)
    padded[tuple(slice(lo, lo + size) for (lo, _), size in owned)] = numbers[np.ix_(*layout.indices(rank))]
    return padded.transpose(order).ravel()


RUNS = [
    "4x5 (block, cyclic(2)) onto (2, 2)",
    "4x5x3 (*, cyclic(3), *) onto (2) order=(1, 0, 2)",
    "6x4 (block, *) onto (2) halo=(0, 1)",
    "6x4 (block, *) onto (2) halo=(1, 0)",
    "5x3x4 (*, indirect(0, 1, 0), indirect(0, 1, 1, 0)) onto (2, 2)",
    "5x6 (*, cyclic) onto (5)",
    "6x6 (block, *) onto (2, 2) order=F replicate=(1)",
    "4 (block(2)) onto (3)",
]


@pytest.mark.parametrize("text", [*LAYOUTS, *RUNS])
def test_runs_are_contiguous_in_memory(text):
    layout = plait.Layout.parse(text)
    for rank in layout.rank_numbers:
        elements = element_order(layout, rank)
        # A halo position has -1, so element 0 does not continue it.
        is_joined = (np.diff(elements) == 1) & (elements[1:] > 0)
        ends = [k + 1 for k in range(len(is_joined)) if not is_joined[k]]
        stretches = [part for part in np.split(elements, ends) if len(part) and part[0] >= 0]
        assert runs_in_array(layout, rank) == (len(stretches), max(map(len, stretches), default=0))


def test_a_huge_dimension_is_divided_without_enumeration():
    layout = plait.Layout((10**15,), "(cyclic(3)) onto (4)")
    axis = divide(layout, 0, 20)
    assert len(axis.bands) <= 20
    assert str(axis.bands[0]) == "0..2"
    assert axis.bands[-1].end == 10**15
    assert axis.describe("elements") == f"elements 0..47 and {10**15 - 7}..{10**15 - 1} of {10**15}"


@pytest.mark.parametrize("text", LAYOUTS)
def test_grid_coordinates_are_all_different_and_in_the_grid(text):
    layout = plait.Layout.parse(text)
    positions = [grid_coordinates(layout, rank) for rank in layout.rank_numbers]
    assert len(set(positions)) == layout.size
    assert all(0 <= c < extent for position in positions for c, extent in zip(position, layout.grid, strict=True))


def test_grid_coordinates_follow_the_order_of_ranks():
    assert grid_coordinates(plait.Layout((4, 6), "(block, block) onto (2, 3)"), 1) == (0, 1)
    assert grid_coordinates(plait.Layout((4, 6), "(block, block) onto (2, 3) ranks=F"), 1) == (1, 0)


@pytest.mark.parametrize("order", ["C", "F"])
def test_local_position_counts_through_the_local_array(order):
    layout = plait.Layout((6, 9), ["cyclic", "cyclic(2)"], grid=(2, 3), order=order)
    for rank in range(layout.size):
        shape = layout.local_shape(rank)
        numbers = np.arange(math.prod(shape)).reshape(shape, order=order)
        for i, row in enumerate(layout.indices(rank)[0]):
            for j, column in enumerate(layout.indices(rank)[1]):
                assert local_position(layout, (int(row), int(column)), rank) == numbers[i, j]


def test_two_dimensions_are_drawn_as_a_grid_of_ranks():
    lines = draw_text(plait.Layout((2, 4), "(block, cyclic) onto (2, 2)")).splitlines()
    assert [line.split() for line in lines[:3]] == [  # the first row and column number the indices
        ["0", "1", "2", "3"],
        ["0", "0", "1", "0", "1"],
        ["1", "2", "3", "2", "3"],
    ]


def test_only_a_selected_rank_is_drawn():
    text = draw_text(plait.Layout((4,), "(cyclic) onto (2)"), View(rank=1))
    assert text.splitlines()[1].split() == ["·", "1", "·", "1"]


def test_positions_are_drawn_instead_of_ranks():
    text = draw_text(plait.Layout((6,), "(cyclic) onto (2)"), View(positions=True))
    assert text.splitlines()[1].split() == ["0", "0", "1", "1", "2", "2"]


@pytest.mark.parametrize("shape", [(3000, 3000), (5, 3000, 40), (100000,), (1, 1), (1,), (2, 2, 2)])
@pytest.mark.parametrize("kind", ["cyclic", "block", "cyclic(7)"])
@pytest.mark.parametrize("size", [(60, 20), (200, 60)])
def test_pictures_fit_the_terminal(shape, kind, size):
    layout = plait.Layout(shape, [kind] * len(shape), grid=(2,) * len(shape))
    lines = draw_text(layout, width=size[0], height=size[1]).splitlines()
    assert max(len(line.rstrip()) for line in lines) <= size[0]
    assert len(shape) == 3 or len(lines) <= size[1]


def test_positions_are_never_merged_into_bands():
    text = draw_text(plait.Layout((3000, 4), "(*, block) onto (2)"), View(positions=True))
    assert ["2", "4", "5", "4", "5"] in [line.split() for line in text.splitlines()]


def test_the_shown_part_of_a_large_array_is_named():
    assert "Shown: rows 0.." in draw_text(plait.Layout((3000, 3000), "(cyclic, *) onto (4)"))
    assert "Shown" not in draw_text(plait.Layout((3000, 3000), "(block, *) onto (4)"))


def test_more_dimensions_than_three_are_drawn_slab_by_slab():
    text = draw_text(plait.Layout((4, 2, 2, 3), "(block, *, *, cyclic) onto (2, 3)"))
    assert text.splitlines()[0].split("   ")[:2] == ["[0..1, 0..1, :, :]", "[2..3, 0..1, :, :]"]
    assert text.splitlines()[2].split() == ["0", "0", "1", "2", "0", "3", "4", "5"]


def test_an_empty_array_is_labelled_as_empty():
    assert "no elements" in draw_text(plait.Layout((0, 4), "(block, *) onto (2)"))


def test_traffic_counts_each_element_once():
    source = plait.Layout((8, 12), "(block, cyclic(3)) onto (2, 2)")
    target = plait.Layout((8, 12), "(cyclic, *) onto (3)")
    traffic = measure(plait.compose(source, target))
    expected = np.zeros((4, 3), dtype=np.int64)
    for index in list_indices(source):
        expected[source.owners(index)[0], target.owners(index)[0]] += 1
    assert np.array_equal(traffic.elements, expected)
    assert traffic.stationary + traffic.moved == 96
    assert traffic.messages == 9
    assert traffic.complete
    assert "72 elements (75.0%) in 9 messages" in traffic_summary(traffic, None).plain
    assert "576 bytes (75.0%)" in traffic_summary(traffic, 8).plain


def test_traffic_between_different_ranks_is_labelled_by_their_numbers():
    source = plait.Layout.parse("12 (block) onto (4) ranks=(4:7, 0)")
    target = plait.Layout.parse("12 (cyclic) onto (3, 2) ranks=(6:12) replicate=(1)")
    traffic = measure(plait.compose(source, target))
    assert traffic.senders == [0, 4, 5, 6]
    assert traffic.receivers == list(range(6, 12))
    assert traffic.elements.tolist() == [[1] * 6] * 4
    assert (traffic.stationary, traffic.moved, traffic.messages) == (1, 23, 23)


def test_traffic_of_many_ranks_is_bounded():
    source = plait.Layout((64, 64), "(block, block) onto (8, 8)")
    target = plait.Layout((64, 64), "(*, block) onto (64)")
    traffic = measure(plait.compose(source, target), limit=10)
    assert traffic.elements.shape == (10, 10)
    assert not traffic.complete
    assert "first 10 × 10 ranks" in traffic_summary(traffic, None).plain


@pytest.mark.parametrize(
    ("indices", "text"),
    [
        ([], "none"),
        ([4], "4"),
        ([0, 1, 2], "0..2"),
        ([0, 1, 4, 5], "0..1, 4..5"),
        ([0, 2, 4, 6, 8, 10], "0, 2, 4 … 10"),
    ],
)
def test_indices_are_written_as_stretches(indices, text):
    assert indices_text(np.array(indices, dtype=np.int64)) == text


def test_each_rank_has_another_colour():
    colours = [rank_hex(rank) for rank in range(64)]
    assert len(set(colours)) == 64
    assert all(len(colour) == 7 for colour in colours)
