"""Random layouts with every feature of Plait's notation, for tests of conversions to other notations and back."""

from __future__ import annotations

import math
import re

import numpy as np
from hypothesis import strategies as st

import plait


@st.composite
def draw_distribution(draw: st.DrawFn, size: int, extents: list[int]) -> str:
    """Draw the distribution of a dimension of `size` indices over grid axes of these extents."""
    name = draw(st.sampled_from(["block", "balanced", "cyclic", "gen_block", "indirect"]))
    coordinates = math.prod(extents)
    if name == "gen_block":
        cuts = sorted(draw(st.integers(0, size)) for _ in range(coordinates - 1))
        sizes = np.diff([0, *cuts, size]).tolist()
        return f"gen_block({', '.join(map(str, sizes))})"
    if name == "indirect":
        owners = [draw(st.integers(0, coordinates - 1)) for _ in range(size)]
        return f"indirect({', '.join(map(str, owners))})" if size else "block"
    if name == "block" and draw(st.booleans()):
        return f"block({max(-(-size // coordinates), 1) + draw(st.integers(0, 2))})"
    if name == "cyclic":
        return f"cyclic({draw(st.integers(1, 4))})"
    return name


@st.composite
def layouts(
    draw: st.DrawFn, dimensions: tuple[int, int] = (0, 3), max_extent: int = 9, plain: bool = False
) -> plait.Layout:
    """Draw a layout.

    plain  with at most one grid axis for each dimension, and without replicas, halos, shifts, explicit ranks and orders
    """
    shape = draw(st.lists(st.integers(0, max_extent), min_size=dimensions[0], max_size=dimensions[1]))
    grid = draw(st.lists(st.integers(1, 3), min_size=0, max_size=min(4, len(shape)))) if shape else []
    owner = [draw(st.integers(-1 if not plain else 0, len(shape) - 1)) for _ in grid]
    if plain:
        owner = sorted(draw(st.permutations(range(len(shape))))[: len(grid)])
    axes_by_dimension = {
        d: [axis for axis, dimension in enumerate(owner) if dimension == d] for d in range(-1, len(shape))
    }
    texts = []
    for d, size in enumerate(shape):
        axes = axes_by_dimension[d] if plain else draw(st.permutations(axes_by_dimension[d]))
        if not axes:
            texts.append("*")
        elif plain:
            texts.append(draw(draw_distribution(size, [grid[axes[0]]])))
        elif len(axes) > 1 and draw(st.booleans()):
            parts = [draw(st.sampled_from(["block", "cyclic", "cyclic(2)", "balanced"])) for _ in axes]
            texts.append("/".join(f"{text}@{axis}" for text, axis in zip(parts, axes, strict=True)))
        else:
            named = str(axes[0]) if len(axes) == 1 else f"({', '.join(map(str, axes))})"
            texts.append(f"{draw(draw_distribution(size, [grid[axis] for axis in axes]))}@{named}")
    words = ["x".join(map(str, shape)) or "scalar", f"({', '.join(texts)})"]
    if grid:
        words.append(f"onto ({', '.join(map(str, grid))})")
        ranks = draw(st.sampled_from(["C", "F"] if plain else ["C", "F", "some"]))
        if ranks == "some":
            names = draw(st.permutations(range(math.prod(grid) + 2)))[: math.prod(grid)]
            ranks = f"({', '.join(map(str, names))})"
        words.append(f"ranks={ranks}")
    if axes_by_dimension[-1]:
        words.append(f"replicate=({', '.join(map(str, axes_by_dimension[-1]))})")
    order = draw(st.sampled_from(["C", "F"] if plain or len(shape) < 2 else ["C", "C", "F", "some"]))
    if order == "some":
        order = f"({', '.join(map(str, draw(st.permutations(range(len(shape))))))})"
    words.append(f"order={order}")
    if not plain:
        extras = draw(st.sets(st.sampled_from(["source", "reverse", "halo"]), max_size=1))
        blocks = [d for d in range(len(shape)) if axes_by_dimension[d] and not re.search("/|indirect", texts[d])]
        if "source" in extras:
            last = [
                math.prod(grid[a] for a in axes_by_dimension[d]) - 1 if d in blocks else 0 for d in range(len(shape))
            ]
            entries = [draw(st.integers(0, coordinate)) for coordinate in last]
            words += [f"source=({', '.join(map(str, entries))})"] if any(entries) else []
        if "reverse" in extras and blocks:
            words.append(f"reverse=({', '.join(map(str, blocks))})")
        if "halo" in extras:
            words += _halo(draw, " ".join(words), len(shape))
    return plait.Layout.parse(" ".join(words))


def _halo(draw: st.DrawFn, text: str, dimensions: int) -> list[str]:
    """Return halos for the dimensions in which every rank owns consecutive indices."""
    base = plait.Layout.parse(text)
    widths, wraps = [], []
    for d in range(dimensions):
        sets = [base.indices(rank)[d] for rank in base.rank_numbers.tolist()]
        fits = all(not len(indices) or indices[-1] - indices[0] + 1 == len(indices) for indices in sets)
        widest = max(map(len, sets)) if fits else 0
        low, high = draw(st.integers(0, min(widest, 2))), draw(st.integers(0, min(widest, 2)))
        widths.append(f"{low}:{high}")
        if (low or high) and draw(st.booleans()):
            wraps.append(d)
    words = [f"halo=({', '.join(widths)})"] if any(width != "0:0" for width in widths) else []
    return words + ([f"periodic=({', '.join(map(str, wraps))})"] if wraps else [])


def owned_elements(layout: plait.Layout) -> dict[int, list[list[int]]]:
    """Return the elements that every rank owns, dimension by dimension."""
    return {rank: [part.tolist() for part in layout.indices(rank)] for rank in list_ranks(layout)}


def list_ranks(layout: plait.Layout) -> list[int]:
    """Return the ranks of a layout."""
    return [int(rank) for rank in layout.rank_numbers]
