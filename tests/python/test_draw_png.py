"""PNG pictures: written, of a sensible size, and refused where nothing can be drawn."""

import numpy as np
import pytest

import plait

pytest.importorskip("matplotlib")

from plait.draw import measure
from plait.draw.png import conversion_png, layout_png
from plait.draw.terrain import terrain_png


def size_of(path):
    """Return width and height of a PNG file from its header."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


@pytest.mark.parametrize(
    "text",
    [
        "8x12 (block, cyclic(3)) onto (2, 2)",
        "100000 (cyclic) onto (3)",
        "3000x5000 (cyclic, block) onto (2, 2)",
        "6x8x10 (block, block, cyclic) onto (2, 2, 2)",
        "40x40 (block, block) onto (40, 40)",
    ],
)
def test_a_layout_is_drawn(tmp_path, text):
    layout_png(plait.Layout.parse(text), tmp_path / "layout.png")
    width, height = size_of(tmp_path / "layout.png")
    assert 300 < width < 5000
    assert 300 < height < 5000


@pytest.mark.parametrize(("text", "reason"), [("2x2x2x2 (*, *, *, *)", "1 to 3 dimensions"), ("0x3 (*, *)", "no elem")])
def test_what_has_no_picture_is_refused(tmp_path, text, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        layout_png(plait.Layout.parse(text), tmp_path / "layout.png")
    assert not (tmp_path / "layout.png").exists()


def test_a_conversion_is_drawn(tmp_path):
    source = plait.Layout((300, 200), "(*, block) onto (4)")
    target = plait.Layout((300, 200), "(cyclic, *) onto (5)")
    conversion_png(source, target, measure(plait.compose(source, target)), 8, tmp_path / "conversion.png")
    assert size_of(tmp_path / "conversion.png")[0] > 1000


def test_terrain_is_drawn(tmp_path):
    elevation = np.add.outer(np.arange(30), np.arange(40)).astype(np.int16)
    layouts = [plait.Layout((30, 40), "(*, block) onto (4)"), plait.Layout((30, 40), "(cyclic, cyclic) onto (2, 2)")]
    terrain_png(elevation, layouts, "terrain", tmp_path / "terrain.png")
    assert size_of(tmp_path / "terrain.png")[0] > 300
