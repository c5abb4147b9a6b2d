"""PNG pictures: written, of a sensible size, and rejected if nothing can be drawn."""

import numpy as np
import pytest

import plait

pytest.importorskip("matplotlib")

from plait.draw import View, measure, rank_hex
from plait.draw.png import conversion_png, layout_png
from plait.draw.terrain import terrain_png


def read_png_size(path):
    """Return width and height of a PNG file from its header."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "text",
    [
        "8x12 (block, cyclic(3)) onto (2, 2)",
        "100000 (cyclic) onto (3)",
        "3000x5000 (cyclic, block) onto (2, 2)",
        "6x8x10 (block, block, cyclic) onto (2, 2, 2)",
        "40x40 (block, block) onto (40, 40)",
        "4x2x6x6 (*, block, block, cyclic) onto (2, 2, 3)",
        "6x4 (block, *) onto (2, 2) replicate=(1)",
        "12x18 (block, cyclic(3)) onto (2, 2, 30) replicate=(2)",
        "300x300 (block, cyclic) onto (2, 2, 3) replicate=(2)",
        "12 (block) onto (4) ranks=(4:7, 1000000)",
        "24x30 (indirect(0*3, 1*2, 2, ...), cyclic) onto (3, 2)",
        "1000000000000 (cyclic(100000)) onto (1000)",
    ],
)
def test_a_layout_is_drawn(tmp_path, text):
    layout_png(plait.Layout.parse(text), tmp_path / "layout.png")
    width, height = read_png_size(tmp_path / "layout.png")
    assert 300 < width < 5000  # pixels
    assert 300 < height < 5000


@pytest.mark.parametrize(("text", "reason"), [("0x3 (*, *)", "no elements"), ("2x0x3x2 (*, *, *, *)", "no elements")])
def test_layouts_that_cannot_be_drawn_are_rejected(tmp_path, text, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        layout_png(plait.Layout.parse(text), tmp_path / "layout.png")
    assert not (tmp_path / "layout.png").exists()


def test_a_conversion_is_drawn(tmp_path):
    source = plait.Layout((300, 200), "(*, block) onto (4)")
    target = plait.Layout((300, 200), "(cyclic, *) onto (5)")
    conversion = plait.compose(source, target)
    conversion_png(conversion, measure(conversion), 8, tmp_path / "conversion.png")
    assert read_png_size(tmp_path / "conversion.png")[0] > 1000


def read_png_colours(path):
    """Return the colours of the pixels as numbers 0xRRGGBB."""
    from matplotlib.image import imread

    pixels = np.round(imread(path)[..., :3] * 255).astype(np.uint32)
    return set(np.unique(pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2]).tolist())


def test_all_copies_have_stripes_of_their_colours(tmp_path):
    layout_png(plait.Layout.parse("4x4 (block, *) onto (2, 3) replicate=(1)"), tmp_path / "copies.png")
    assert {int(rank_hex(rank)[1:], 16) for rank in range(6)} <= read_png_colours(tmp_path / "copies.png")


def test_a_selected_rank_is_drawn_in_its_colour_only(tmp_path):
    layout = plait.Layout.parse("4x4 (block, *) onto (4)")
    layout_png(layout, tmp_path / "one.png", View(2))
    colours = read_png_colours(tmp_path / "one.png")
    assert int(rank_hex(2)[1:], 16) in colours
    assert not {int(rank_hex(rank)[1:], 16) for rank in (0, 1, 3)} & colours


def test_a_conversion_between_different_ranks_is_drawn(tmp_path):
    source = plait.Layout.parse("12x4x4 (block, *, *) onto (4) ranks=(4:7, 0) halo=(1, 0, 0)")
    target = plait.Layout.parse("12x4x4 (cyclic, *, *) onto (3, 2) ranks=(3:9) replicate=(1)")
    conversion = plait.compose(source, target)
    conversion_png(conversion, measure(conversion), None, tmp_path / "x.png", View(4))
    assert read_png_size(tmp_path / "x.png")[0] > 1000


def test_terrain_is_drawn(tmp_path):
    elevation = np.add.outer(np.arange(30), np.arange(40)).astype(np.int16)
    layouts = [plait.Layout((30, 40), "(*, block) onto (4)"), plait.Layout((30, 40), "(cyclic, cyclic) onto (2, 2)")]
    terrain_png(elevation, layouts, "terrain", tmp_path / "terrain.png")
    assert read_png_size(tmp_path / "terrain.png")[0] > 300
