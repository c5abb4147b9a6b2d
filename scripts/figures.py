"""Draws the figures of docs/concepts and of tutorials from the layouts that they show.

usage: python scripts/figures.py            writes docs/concepts/figures/*.svg and docs/guides/figures/*.svg
       python scripts/figures.py --check    prints which of them are out of date; the status is 1 if any is
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal
from xml.sax.saxutils import escape

import plait
from plait.draw.palette import UNOWNED, rank_hex

FOLDER = Path(__file__).parent.parent / "docs/concepts/figures"
GUIDES = Path(__file__).parent.parent / "docs/guides/figures"
CELL = 32
FONT = "font-family='Helvetica, Arial, sans-serif'"


@dataclass(frozen=True)
class Style:
    """The style of a line of text: its anchor, its size and its colour."""

    anchor: Literal["start", "middle", "end"] = "start"
    size: int = 14
    colour: str = "#222"


PLAIN = Style()
MIDDLE = Style("middle")
END = Style("end")
TITLE = Style(size=13)
BELOW = Style("middle", 13)
INDEX = Style("middle", 12, "#666")
HEADING = Style(size=12, colour="#666")
BESIDE = Style("end", 12, "#666")
NOTE = Style(colour="#666")


class Svg:
    """A picture of rectangles and texts, whose size grows with its content."""

    def __init__(self) -> None:
        """Makes an empty picture."""
        self.parts: list[str] = []
        self.width = 0.0
        self.height = 0.0

    def grow(self, x: float, y: float) -> None:
        """Extends the picture to a point."""
        self.width, self.height = max(self.width, x), max(self.height, y)

    def cell(self, x: float, y: float, fill: str, text: object = "", width: float = CELL) -> None:
        """Draws a square of an array with a number in its middle."""
        self.parts.append(
            f"<rect x='{x:g}' y='{y:g}' width='{width:g}' height='{CELL}' fill='{fill}' stroke='#ffffff' "
            "stroke-width='1.5'/>"
        )
        self.grow(x + width, y + CELL)
        self.text(x + width / 2, y + CELL / 2 + 5, text, MIDDLE)

    def text(self, x: float, y: float, text: object, style: Style = PLAIN) -> None:
        """Draws a line of text whose base line is at `y`; a letter is estimated to be 0.6 of the font size wide."""
        self.parts.append(
            f"<text x='{x:g}' y='{y:g}' {FONT} font-size='{style.size}' text-anchor='{style.anchor}' "
            f"fill='{style.colour}'>{escape(str(text))}</text>"
        )
        before = {"start": 0.0, "middle": 0.5, "end": 1.0}[style.anchor]
        self.grow(x + 0.6 * style.size * len(str(text)) * (1 - before), y + 4)

    def bracket(self, x: float, y: float, width: float, text: str) -> None:
        """Draws a bracket below cells, with a text."""
        self.parts.append(
            f"<path d='M{x + 3:g} {y:g} v6 h{width - 6:g} v-6' fill='none' stroke='#444' stroke-width='1.5'/>"
        )
        self.text(x + width / 2, y + 22, text, BELOW)

    def save(self, margin: float = 12) -> str:
        """Returns the picture as SVG, on white so that it is readable on any page."""
        width, height = self.width + 2 * margin, self.height + 2 * margin
        body = "\n".join(self.parts)
        return (
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='{-margin:g} {-margin:g} {width:g} {height:g}' "
            f"width='{width:g}' height='{height:g}'>\n"
            f"<rect x='{-margin:g}' y='{-margin:g}' width='{width:g}' height='{height:g}' fill='#ffffff'/>\n"
            f"{body}\n</svg>\n"
        )


def find_owner(layout: plait.Layout, *index: int) -> int:
    """Returns the rank that owns an element."""
    return layout.owners(index)[0]


def find_position(layout: plait.Layout, *index: int) -> int:
    """Returns the position of an element in the local array of its owner, counted in elements."""
    rank = find_owner(layout, *index)
    local, shape = layout.to_local(index, rank), layout.local_shape(rank)
    dimensions = range(layout.ndim) if layout.order == "C" else reversed(range(layout.ndim))
    result = 0
    for d in dimensions:
        result = result * shape[d] + local[d]
    return result


def distributions() -> Svg:
    """Draws one row for each way to distribute a dimension."""
    svg = Svg()
    left = 250
    rows = [
        ("12 (*)", ""),
        ("12 (block) onto (4)", "3, 3, 3, 3"),
        ("12 (block(5)) onto (4)", "5, 5, 2, 0"),
        ("12 (gen_block(1, 5, 0, 6)) onto (4)", "1, 5, 0, 6"),
        ("12 (cyclic) onto (4)", "3, 3, 3, 3"),
        ("12 (cyclic(2)) onto (4)", "4, 4, 2, 2"),
        ("12 (cyclic(3)) onto (3)", "6, 3, 3"),
        ("10 (block) onto (4)", "3, 3, 3, 1"),
        ("10 (balanced) onto (4)", "3, 3, 2, 2"),
    ]
    for i in range(12):
        svg.text(left + (i + 0.5) * CELL, 12, i, INDEX)
    svg.text(left + 12 * CELL + 16, 12, "indices of each rank", HEADING)
    for row, (text, sizes) in enumerate(rows):
        y = 20 + row * (CELL + 8)
        layout = plait.Layout.parse(text)
        sizes_found = [layout.local_shape(rank)[0] for rank in range(layout.size)]
        if sizes and sizes != ", ".join(map(str, sizes_found)):
            raise ValueError(f"{text} distributes {sizes_found}")
        svg.text(left - 12, y + CELL / 2 + 5, text, END)
        for i in range(layout.shape[0]):
            rank = find_owner(layout, i)
            svg.cell(left + i * CELL, y, rank_hex(rank), rank)
        svg.text(left + 12 * CELL + 16, y + CELL / 2 + 5, sizes or "12", NOTE)
    return svg


def grid() -> Svg:
    """Draws a 6x4 array on 2x2 ranks: owners under both rank orders, positions under both memory orders."""
    svg = Svg()
    text = "6x4 (cyclic(2), block) onto (2, 2)"
    panels = [
        ("owner, ranks=C", "", find_owner),
        ("owner, ranks=F", " ranks=F", find_owner),
        ("position, order=C", "", find_position),
        ("position, order=F", " order=F", find_position),
    ]
    for number, (title, option, value) in enumerate(panels):
        layout = plait.Layout.parse(text + option)
        left = 24 + number * (4 * CELL + 44)
        svg.text(left, 12, title, TITLE)
        for j in range(4):
            svg.text(left + (j + 0.5) * CELL, 32, j, INDEX)
        for i in range(6):
            svg.text(left - 8, 40 + (i + 0.65) * CELL, i, BESIDE)
            for j in range(4):
                svg.cell(left + j * CELL, 40 + i * CELL, rank_hex(find_owner(layout, i, j)), value(layout, i, j))
    return svg


def period() -> Svg:
    """Draws two cyclic layouts, and the pieces of their intersection in two periods."""
    svg = Svg()
    source = plait.Layout.parse("24 (cyclic(2)) onto (2)")
    target = plait.Layout.parse("24 (cyclic(3)) onto (2)")
    left = 140
    for i in range(24):
        svg.text(left + (i + 0.5) * CELL, 12, i, INDEX)
    for row, (name, layout) in enumerate((("cyclic(2) onto (2)", source), ("cyclic(3) onto (2)", target))):
        y = 20 + row * (CELL + 6)
        svg.text(left - 10, y + CELL / 2 + 5, name, END)
        for i in range(24):
            svg.cell(left + i * CELL, y, rank_hex(find_owner(layout, i)), find_owner(layout, i))
    y = 20 + 2 * (CELL + 6) + 8
    svg.text(left - 10, y + CELL / 2 + 5, "rank 0 to rank 0", END)
    for i in range(24):
        both = find_owner(source, i) == 0 and find_owner(target, i) == 0
        svg.cell(left + i * CELL, y, rank_hex(0) if both else UNOWNED, i if both else "")
    svg.bracket(left, y + CELL + 4, 12 * CELL, "one period: lcm(4, 6) = 12 indices, two pieces")
    svg.bracket(left + 12 * CELL, y + CELL + 4, 12 * CELL, "the same two pieces, 6 positions further on both sides")
    return svg


def shares() -> Svg:
    """Draws a range of positions in a file, and the boxes of the array that form the range."""
    svg = Svg()
    begin, end = 4, 17
    boxes = [range(4, 6), range(6, 12), range(12, 17)]
    colours = {position: rank_hex(number) for number, box in enumerate(boxes) for position in box}
    svg.text(0, 12, f"positions [{begin}, {end}) of a 4x6 array in C order, as they lie in the file", TITLE)
    for i in range(24):
        svg.cell(i * CELL, 22, colours.get(i, UNOWNED), i)
    svg.text(0, 88, "the same elements in the array: three boxes", TITLE)
    for i in range(4):
        for j in range(6):
            svg.cell(j * CELL, 98 + i * CELL, colours.get(6 * i + j, UNOWNED), 6 * i + j)
    notes = ["row 0, columns 4 to 5", "row 1, columns 0 to 5", "row 2, columns 0 to 4"]
    for number, note in enumerate(notes):
        svg.cell(8 * CELL, 104 + number * (CELL + 8), rank_hex(number))
        svg.text(9 * CELL + 10, 104 + number * (CELL + 8) + CELL / 2 + 5, note)
    return svg


def draw_matrix(
    svg: Svg, corner: tuple[float, float], layout: plait.Layout, values: Callable[[int, int], object]
) -> None:
    """Draws a matrix in the colours of its owners, with a value in each element."""
    left, top = corner
    rows, columns = layout.shape
    for i in range(rows):
        for j in range(columns):
            svg.cell(left + j * CELL, top + i * CELL, rank_hex(find_owner(layout, i, j)), values(i, j))


def climate() -> Svg:
    """Draws days and latitudes in the order of two files of maps, and in the order of a file of series."""
    svg = Svg()
    latitudes, months = 4, (3, 3)
    left = 66
    svg.text(left, 12, "two monthly files", TITLE)
    day = 0
    for month, days in enumerate(months):
        top = 50 + day * CELL + month * 14
        draw_matrix(
            svg, (left, top), plait.Layout((days, latitudes), "(*, block)", grid=2), lambda i, j: i * latitudes + j
        )
        for i in range(days):
            svg.text(left - 8, top + (i + 0.65) * CELL, f"day {day + i}", BESIDE)
        day += days
    right = left + latitudes * CELL + 150
    svg.text(right, 12, "the file of series", TITLE)
    bands = plait.Layout((day, latitudes), "(*, block)", grid=2)
    draw_matrix(svg, (right, 50), bands, lambda i, j: j * day + i)
    for begin in (left, right):
        for j in range(latitudes):
            svg.text(begin + (j + 0.5) * CELL, 42, f"lat {j}", Style("middle", 11, "#666"))
    svg.text(right + latitudes * CELL + 40, 42, "a number is a position in its file", NOTE)
    for rank in range(2):
        y = 62 + rank * (CELL + 8)
        svg.cell(right + latitudes * CELL + 40, y, rank_hex(rank))
        svg.text(right + (latitudes + 1) * CELL + 50, y + CELL / 2 + 5, f"read and written by rank {rank}")
    return svg


def from_mpi_io() -> Svg:
    """Draws the tiles by which a matrix is written, and the rows by which it is read."""
    svg = Svg()
    for number, (text, title) in enumerate(
        [("(block, block) onto (2, 2)", "written in tiles"), ("(block, *) onto (4)", "read in blocks of rows")]
    ):
        layout = plait.Layout.parse(f"8x8 {text}")
        left = number * (8 * CELL + 60)
        svg.text(left, 12, f"{title}: {text}", TITLE)
        draw_matrix(svg, (left, 22), layout, partial(find_owner, layout))
    return svg


def scalapack() -> Svg:
    """Draws the owners of the blocks of a matrix on a grid of processes, and the local array of one of them."""
    svg = Svg()
    layout = plait.Layout.parse("8x9 (cyclic(2), cyclic(2)) onto (2, 3) order=F")
    svg.text(0, 12, "the rank that owns each element; MB_ = NB_ = 2", TITLE)
    draw_matrix(svg, (0, 22), layout, lambda i, j: find_owner(layout, i, j))
    left = 9 * CELL + 60
    svg.text(left, 12, "rank 0 has, in the order of its memory", TITLE)
    i, j = layout.indices(0)
    for row in range(i.size):
        for column in range(j.size):
            offset = find_position(layout, int(i[row]), int(j[column]))
            svg.cell(left + column * CELL, 22 + row * CELL, rank_hex(0), offset)
    return svg


CONCEPT_FIGURES = (distributions, grid, period, shares)
TUTORIAL_FIGURES = (climate, from_mpi_io, scalapack)


def main() -> int:
    """Writes or checks all figures."""
    check = "--check" in sys.argv[1:]
    stale = []
    for draw in (*CONCEPT_FIGURES, *TUTORIAL_FIGURES):
        path = (FOLDER if draw in CONCEPT_FIGURES else GUIDES) / f"{draw.__name__}.svg"
        picture = draw().save()
        if not check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(picture, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != picture:
            stale.append(path.name)
    if stale:
        print(f"out of date: {', '.join(stale)}; run python scripts/figures.py", file=sys.stderr)
    return int(bool(stale))


if __name__ == "__main__":
    sys.exit(main())
