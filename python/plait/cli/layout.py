"""`plait layout`: who owns what, and what a conversion moves."""

from __future__ import annotations

import re
from pathlib import Path

import click
import numpy as np

import plait
from plait.cli.support import UserError, output
from plait.draw import measure
from plait.draw.tables import rank_table, traffic_summary, traffic_table
from plait.draw.terminal import View, render_layout

_EXAMPLES = """
\b
Examples:
  plait layout "(block, cyclic(3)) onto (2, 2)" 8x12
  plait layout "8x12 (block, *) onto (4)" --rank 2
  plait layout "(*, block) onto (4)" 3000x3000 "(cyclic, *) onto (4)" --dtype float64
  plait layout "(block, cyclic(3)) onto (2, 2)" 8x12 --png owners.png
"""


@click.command("layout", short_help="Draw who owns what, and what a conversion moves.", epilog=_EXAMPLES)
@click.argument("layout")
@click.argument("rest", nargs=-1, metavar="[SHAPE] [LAYOUT2]")
@click.option("--rank", type=click.IntRange(min=0), help="Show the elements of this rank only.")
@click.option("--order", is_flag=True, help="Number the elements by their place in the memory of their rank.")
@click.option("--dtype", help="Count the conversion in bytes of elements of this type, such as float64.")
@click.option("--png", type=click.Path(dir_okay=False, path_type=Path), help="Also write a picture to this file.")
def layout_command(
    layout: str, rest: tuple[str, ...], rank: int | None, order: bool, dtype: str | None, png: Path | None
) -> None:
    """Draw who owns what in a LAYOUT of an array of the given SHAPE.

    SHAPE is written 8x12 and may stand in front of the layout instead.  With a second layout, draw both, and show what
    each rank sends to each other rank when the array goes from the first layout to the second.
    """
    source, target = _parse(layout, rest)
    itemsize = _itemsize(dtype)
    for each in (source, target):
        if rank is not None and each is not None and rank >= each.size:
            raise UserError(f"rank {rank} is not in '{each}', whose ranks are 0 to {each.size - 1}")
    view = View(rank, order)
    _show(source, view, itemsize)
    if target is None:
        if png is not None:
            from plait.draw.png import layout_png

            layout_png(source, png)
    else:
        output().print()
        _show(target, view, itemsize)
        _show_conversion(source, target, itemsize, png)
    if png is not None:
        output().print(f"picture written to {png}", soft_wrap=True)


def _parse(first: str, rest: tuple[str, ...]) -> tuple[plait.Layout, plait.Layout | None]:
    """Return the layouts that the arguments name; a second one has the shape of the first unless it names its own."""
    texts = list(rest)
    shape = None
    if texts and re.fullmatch(r"\s*\d+(\s*[xX,]\s*\d+)*\s*", texts[0]):
        shape = tuple(int(extent) for extent in re.split(r"[xX,]", texts.pop(0)))
    if len(texts) > 1:
        raise UserError(f"found {len(texts) - 1} arguments too many, beginning with '{texts[1]}'; quote each layout")
    source = _layout(first, shape)
    if not texts:
        return source, None
    target = _layout(texts[0], source.shape)
    if source.shape != target.shape:
        raise UserError(
            f"the layouts have the shapes {_shape_text(source)} and {_shape_text(target)}, which must be equal"
        )
    return source, target


def _layout(text: str, shape: tuple[int, ...] | None) -> plait.Layout:
    """Read a layout.  A shape in the text counts, and must not contradict the shape given beside it."""
    named = re.match(r"\s*(\d|scalar)", text, re.IGNORECASE) is not None
    if not named and shape is None:
        raise UserError(f"the layout '{text}' has no shape; write it behind the layout or in front of it, such as 8x12")
    return plait.Layout.parse(text) if named else plait.Layout.parse(text, shape)


def _shape_text(layout: plait.Layout) -> str:
    return "x".join(map(str, layout.shape)) or "scalar"


def _itemsize(dtype: str | None) -> int | None:
    if dtype is None:
        return None
    try:
        return np.dtype(dtype).itemsize
    except TypeError as error:
        raise UserError(
            f"'{dtype}' is not an element type; use a NumPy name such as float64, int32 or uint8"
        ) from error


def _show(layout: plait.Layout, view: View, itemsize: int | None) -> None:
    console = output()
    elements = f"{layout.elements:,} elements" + (f", {layout.elements * itemsize:,} bytes" if itemsize else "")
    ranks = f"{layout.size:,} rank{'' if layout.size == 1 else 's'}"
    console.print(f"[bold]{layout}[/bold]   {elements} on {ranks}", soft_wrap=True)
    console.print()
    height = console.height if console.is_terminal else 40
    console.print(render_layout(layout, view, console.width, max(12, height - 8)))
    if view.places:
        order = "C: the last index" if layout.order == "C" else "F: the first index"
        console.print(f"Numbers: place in the memory of the owner (order {order} varies fastest).", style="italic")
    console.print(rank_table(layout, view.rank, console.width))


def _show_conversion(source: plait.Layout, target: plait.Layout, itemsize: int | None, png: Path | None) -> None:
    console = output()
    traffic = measure(plait.compose(source, target))
    console.print(traffic_table(traffic, itemsize, console.width))
    console.print(traffic_summary(traffic, itemsize))
    if png is not None:
        from plait.draw.png import conversion_png

        conversion_png(source, target, traffic, itemsize, png)
