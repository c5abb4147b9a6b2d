"""Pictures of halos: the padded block of a rank, and the ranks from which its positions are filled."""

import math

import numpy as np
import pytest
from rich.console import Console

import plait
from plait.draw import View, measure
from plait.draw.halo import Kind
from plait.draw.png import layout_png
from plait.draw.scene import Limits, build_scene
from plait.draw.tables import traffic_summary
from plait.draw.terminal import render_layout

LAYOUTS = [
    "8x12 (block, block) onto (2, 2) halo=(1, 2:1) periodic=(1)",
    "8x12 (block, block) onto (2, 2) halo=(1, 1) periodic=(0, 1)",
    "9 (block) onto (3) halo=(2) ranks=(7, 3, 5)",
    "3 (*) halo=(2:3) periodic=(0)",
    "5x6 (*, gen_block(1, 3, 2)) onto (3) halo=(1, 3:0) periodic=(0) order=F",
    "4x4x6 (block, *, block) onto (2, 3) halo=(1, 0, 1:2) periodic=(2)",
    "6x4 (block, block) onto (2, 2, 2) replicate=(1) halo=(2, 1)",
]
LARGE_LIMITS = Limits(100, 100, 100)


def draw_text(layout, view, width=100, height=40):
    """Return the picture of a layout that a terminal of this size shows."""
    console = Console(width=width, height=height, force_terminal=False, no_color=True)
    with console.capture() as capture:
        console.print(render_layout(layout, view, width, height))
    return capture.get()


@pytest.mark.parametrize("text", LAYOUTS)
def test_a_halo_is_shown_as_it_is_filled(text):
    layout = plait.Layout.parse(text)
    with_halo, without_halo = plait.compose(layout, layout, fill_halo=True), plait.compose(layout, layout)
    for rank in map(int, layout.rank_numbers):
        kinds = build_scene(layout, View(rank), LARGE_LIMITS).kinds
        count = {kind: int((kinds == kind).sum()) for kind in Kind}
        assert count[Kind.OWNED] == sum(message.elements for message in without_halo.receives(rank))
        received = count[Kind.OWNED] + count[Kind.HALO] + count[Kind.WRAPPED]
        assert received == sum(message.elements for message in with_halo.receives(rank))
        assert received + count[Kind.UNTOUCHED] == math.prod(layout.padded_shape(rank))
        assert count[Kind.UNTOUCHED] == 0 or not all(layout.periodic)


@pytest.mark.parametrize("text", LAYOUTS)
def test_positions_of_a_halo_count_through_the_padded_array(text):
    layout = plait.Layout.parse(text)
    for rank in map(int, layout.rank_numbers):
        scene = build_scene(layout, View(rank, positions=True), LARGE_LIMITS)
        numbers = sorted(int(label) for label in scene.labels[scene.kinds < Kind.OTHER])
        assert numbers == list(range(math.prod(layout.padded_shape(rank))))


def test_marks_distinguish_a_halo_in_the_terminal():
    layout = plait.Layout.parse("4x8 (block, block) onto (2, 2) halo=(1, 1) periodic=(1)")
    lines = draw_text(layout, View(1)).splitlines()
    assert lines[:6] == [
        "   0 1 2 3 4 5 6 7 8 ",
        "-1       - - - - - - ",
        " 0 · · · 0'1 1 1 1 0~",
        " 1 · · · 0'1 1 1 1 0~",
        " 2 · · · 2'3'3'3'3'2~",
        " 3 · · · · · · · ·   ",
    ]
    assert "r~: its halo, wrapped around" in " ".join(lines)


def test_a_large_block_is_shown_with_its_small_halo():
    layout = plait.Layout.parse("3000x1000000 (block, block) onto (10, 10) halo=(1, 10) periodic=(0)")
    scene = build_scene(layout, View(1), Limits(1, 20, 20))
    assert [str(band) for band in scene.rows.bands] == ["-1", "0..299", "300", "301..302"]
    assert [str(band) for band in scene.columns.bands] == [
        "99988..99989", "99990..99999", "100000..199999", "200000..200009", "200010..200011"
    ]  # fmt: skip
    assert scene.labels[0, 0].tolist() == ["", "90", "91", "92", ""]
    assert scene.labels[0, 1].tolist() == ["·", "0", "1", "2", "·"]
    text = draw_text(layout, View(1))
    assert "Shown: rows -1..302 of 3000, columns 99988..200011 of 1000000." in text


def test_a_halo_over_many_small_blocks_fits_the_width():
    sizes = ", ".join(["1"] * 60 + ["100"])
    layout = plait.Layout.parse(f"160 (gen_block({sizes})) onto (61) halo=(80)")
    scene = build_scene(layout, View(60), Limits(1, 20, 20))
    assert len(scene.columns.bands) <= 20
    assert Kind.OWNED in scene.kinds
    assert max(len(line) for line in draw_text(layout, View(60), width=60).splitlines()) <= 60


def test_a_rank_without_elements_has_no_halo():
    layout = plait.Layout.parse("4 (block(2)) onto (3) halo=(1)")
    assert "Rank 2 owns nothing here." in draw_text(layout, View(2))
    assert "Rank 9 is not one of the ranks here." in draw_text(layout, View(9))


def test_the_traffic_that_fills_halos_is_counted_separately():
    layout = plait.Layout.parse("8x12 (block, block) onto (2, 2) halo=(1, 1)")
    traffic = measure(plait.compose(layout, layout, fill_halo=True))
    assert np.diagonal(traffic.elements).tolist() == [24] * 4
    assert traffic.halo == traffic.moved == 4 * (6 + 4 + 1)
    assert "44 elements (31.4%) of these fill halos" in traffic_summary(traffic, None).plain
    assert "halos" not in traffic_summary(measure(plait.compose(layout, layout)), None).plain


@pytest.mark.sampled(2)
@pytest.mark.parametrize("text", [*LAYOUTS, "3000x3000 (block, block) onto (10, 10) halo=(1, 10) periodic=(0)"])
@pytest.mark.parametrize("positions", [False, True])
def test_a_halo_is_drawn_as_a_picture(tmp_path, text, positions):
    pytest.importorskip("matplotlib")
    layout = plait.Layout.parse(text)
    layout_png(layout, tmp_path / "halo.png", View(int(layout.rank_numbers[-1]), positions))
    assert (tmp_path / "halo.png").stat().st_size > 5000
