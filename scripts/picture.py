"""Draws the picture at the top of README.md, docs/figures/terrain.png, in the style of `plait demo`.

usage: python scripts/picture.py [FILE]      needs matplotlib and the pillow that comes with it
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import plait
from plait.draw.terrain import terrain_png

TARGET = Path(__file__).parent.parent / "docs/figures/terrain.png"
LAYOUTS = {"(block, *)": (4,), "(block, block)": (2, 2), "(*, cyclic(12))": (4,), "(cyclic(12), block)": (2, 2)}
WIDTH, COLOURS = 880, 28
"""Width in pixels and number of colours; both are small, so that the page loads quickly."""


def main() -> None:
    """Draws a part of the terrain under four layouts, and reduces the size of the picture."""
    from matplotlib import cbook
    from PIL import Image

    target = Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET
    data: Any = cbook.get_sample_data("jacksboro_fault_dem.npz")
    with data as sample:
        elevation = np.ascontiguousarray(sample["elevation"])[72:272, 81:321]
    layouts = [plait.Layout(elevation.shape, dist, grid=grid) for dist, grid in LAYOUTS.items()]
    with tempfile.TemporaryDirectory() as folder:
        large = Path(folder) / "large.png"
        terrain_png(elevation, layouts, "One array, four layouts over 4 ranks", large)
        picture = Image.open(large).convert("RGB")
    picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.Resampling.LANCZOS)
    target.parent.mkdir(parents=True, exist_ok=True)
    picture.quantize(COLOURS, dither=Image.Dither.NONE).save(target, optimize=True)


if __name__ == "__main__":
    main()
