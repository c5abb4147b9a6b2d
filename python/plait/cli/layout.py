"""`plait layout`: draws which rank owns each element, and counts what a conversion between two layouts transfers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

import plait
from plait.cli.support import UserError, output

if TYPE_CHECKING:
    from plait.draw import View

_EXAMPLES = """
\b
Examples:
  plait layout "(block, cyclic(3)) onto (2, 2)" 8x12
  plait layout "8x12 (block, *) onto (4)" --rank 2
  plait layout "(*, block) onto (4)" 3000x3000 "(cyclic, *) onto (4)" --dtype float64
  plait layout "(block, cyclic(3)) onto (2, 2)" 8x12 --png owners.png
\b
Copies, chosen ranks, alignment, two axes on one dimension, nested and irregular distributions:
  plait layout "(block, *) onto (2, 2) replicate=(1)" 6x4
  plait layout "(block) onto (4) ranks=(4:7, 0)" 12 "(cyclic) onto (3) ranks=(1:4)"
  plait layout "(block, *) onto (4) template=30x4 align=(2*d1+1, *)" 4x12
  plait layout "(block@(1, 0), cyclic@2) onto (2, 2, 3)" 8x12
  plait layout "(block/cyclic(2)) onto (2, 2)" 24
  plait layout "(indirect(0*3, 1*2, 2, ...)) onto (3) source=(1)" 24
\b
The halo of one rank, and what filling all of them moves:
  plait layout "(block, block) onto (2, 2) halo=(1, 2:1) periodic=(1)" 8x12 --rank 1
  plait layout "(block, block) onto (2, 2) halo=(1, 1)" 8x12 --fill-halo
"""


@click.command("layout", epilog=_EXAMPLES)
@click.argument("layout")
@click.argument("rest", nargs=-1, metavar="[SHAPE] [LAYOUT2]")
@click.option("--rank", type=click.IntRange(min=0), help="Show the elements of this rank only, and its halo.")
@click.option("--order", is_flag=True, help="Number the elements by their position in the memory of their rank.")
@click.option("--fill-halo", is_flag=True, help="Also count the elements that fill the halo of the last layout.")
@click.option("--dtype", help="Count the conversion in bytes of elements of this type, such as float64.")
@click.option("--png", type=click.Path(dir_okay=False, path_type=Path), help="Also write a picture to this file.")
def layout_command(
    layout: str,
    rest: tuple[str, ...],
    rank: int | None,
    order: bool,
    fill_halo: bool,
    dtype: str | None,
    png: Path | None,
) -> None:
    """Draw which rank owns each element of an array of SHAPE under LAYOUT.

    SHAPE is written like 8x12; it may also be the beginning of the layout's text.  With a second layout, draw both, and
    show what each rank sends to each other rank when the array goes from the first layout to the second.  With
    --fill-halo and one layout, show what an update of its halo moves.

    An element that several ranks hold is drawn with all of them, as 0+2.  If a layout is not given in its normal form,
    which equal layouts share, the normal form is printed below it.
    """
    from plait.draw import View
    from plait.draw.halo import has_halo

    source, target = _parse_layouts(layout, rest)
    itemsize = _find_itemsize(dtype)
    view = View(rank, order)
    _check_rank(rank, source, target)
    if fill_halo and not has_halo(target or source):
        raise UserError(f"--fill-halo needs a halo, and '{target or source}' has none; add such as halo=(1, 1)")
    _print_layout(source, view, itemsize)
    if target is not None:
        output().print()
        _print_layout(target, view, itemsize)
    if target is not None or fill_halo:
        _print_conversion(plait.compose(source, target or source, fill_halo=fill_halo), view, itemsize, png)
    elif png is not None:
        from plait.draw.png import layout_png

        layout_png(source, png, view)
    if png is not None:
        output().print(f"picture written to {png}", soft_wrap=True)


def _parse_layouts(first: str, rest: tuple[str, ...]) -> tuple[plait.Layout, plait.Layout | None]:
    """Return the source layout, and the target layout if there is one.

    The arguments are SHAPE LAYOUT [LAYOUT2] or LAYOUT [SHAPE] [LAYOUT2]: a first argument that looks like 8x12 is the
    shape. A second layout has the shape of the first unless its text begins with a shape; the two shapes must be equal.
    """
    texts = list(rest)
    shape = None
    if texts and re.fullmatch(r"\s*\d+(\s*[xX,]\s*\d+)*\s*", texts[0]):
        shape = tuple(int(extent) for extent in re.split(r"[xX,]", texts.pop(0)))
    if len(texts) > 1:
        raise UserError(f"found {len(texts) - 1} arguments too many, beginning with '{texts[1]}'; quote each layout")
    source = _parse_layout(first, shape)
    if not texts:
        return source, None
    target = _parse_layout(texts[0], source.shape)
    if source.shape != target.shape:
        from plait.draw.tables import shape_text

        raise UserError(
            f"the layouts have the shapes {shape_text(source.shape)} and {shape_text(target.shape)}, "
            "which must be equal"
        )
    return source, target


def _parse_layout(text: str, shape: tuple[int, ...] | None) -> plait.Layout:
    """Parse a layout. A shape at the beginning of the text takes precedence over `shape`.

    errors  UserError: the text has no shape, and `shape` is None
    """
    has_shape = re.match(r"\s*(\d|scalar)", text, re.IGNORECASE) is not None
    if not has_shape and shape is None:
        raise UserError(f"the layout '{text}' has no shape; write it after or before the layout, such as 8x12")
    return plait.Layout.parse(text) if has_shape else plait.Layout.parse(text, shape)


def _check_rank(rank: int | None, source: plait.Layout, target: plait.Layout | None) -> None:
    """Raise UserError if a rank is in neither layout."""
    if rank is None or source.has_rank(rank) or (target is not None and target.has_rank(rank)):
        return
    found = " and ".join(f"'{each}', whose ranks are {_format_rank_numbers(each)}" for each in (source, target) if each)
    raise UserError(f"rank {rank} is not in {found}")


def _format_rank_numbers(layout: plait.Layout) -> str:
    if layout.size == layout.ranks_end:
        return f"0 to {layout.size - 1}"
    from plait.draw.ranks import numbers_text

    return numbers_text([int(rank) for rank in layout.rank_numbers])


def _find_itemsize(dtype: str | None) -> int | None:
    if dtype is None:
        return None
    import numpy as np

    try:
        return np.dtype(dtype).itemsize
    except TypeError as error:
        raise UserError(
            f"'{dtype}' is not an element type; use a NumPy name such as float64, int32 or uint8"
        ) from error


def _print_layout(layout: plait.Layout, view: View, itemsize: int | None) -> None:
    from plait.draw import ranks_text
    from plait.draw.halo import has_halo
    from plait.draw.tables import rank_table
    from plait.draw.terminal import render_layout

    console = output()
    elements = f"{layout.elements:,} element{'' if layout.elements == 1 else 's'}" + (
        f", {layout.elements * itemsize:,} bytes" if itemsize else ""
    )
    copies = f", {layout.replicas:,} copies of each" if layout.replicas > 1 else ""
    console.print(
        f"[bold]{_escape(layout.spelling)}[/bold]   {elements} on {ranks_text(layout)}{copies}", soft_wrap=True
    )
    normal = str(layout)
    if normal != layout.spelling:
        console.print(f"[bold]{_escape(normal)}[/bold]   is the normal form", soft_wrap=True)
    console.print()
    height = console.height if console.is_terminal else 40
    console.print(render_layout(layout, view, console.width, max(12, height - 8)))
    if view.positions:
        console.print(f"Numbers: position in the memory of the owner ({_describe_order(layout)}).", style="italic")
    elif has_halo(layout) and view.rank is None:
        console.print("--rank R draws the halo of a rank.", style="italic")
    console.print(rank_table(layout, view.rank, console.width))


def _escape(text: str) -> str:
    return text.replace("[", r"\[")


def _describe_order(layout: plait.Layout) -> str:
    if layout.order == "C":
        return "order C: the last index varies fastest"
    if layout.order == "F":
        return "order F: the first index varies fastest"
    return f"order {tuple(layout.order)}: dimension {layout.dimension_order[-1]} varies fastest"


def _print_conversion(conversion: plait.Conversion, view: View, itemsize: int | None, png: Path | None) -> None:
    from plait.draw import measure
    from plait.draw.tables import traffic_summary, traffic_table

    console = output()
    traffic = measure(conversion)
    console.print(traffic_table(traffic, itemsize, console.width))
    console.print(traffic_summary(traffic, itemsize))
    if png is not None:
        from plait.draw.png import conversion_png

        conversion_png(conversion, traffic, itemsize, png, view)
