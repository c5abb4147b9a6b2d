"""The parts of a layout as a program would specify them: values without interpretation."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stage:
    """One distribution of a dimension; nested distributions are several stages."""

    kind: str  # block, balanced, cyclic, gen_block, indirect
    axes: tuple[int, ...]  # grid axes, the major one first
    block: int | None = None  # block(m), cyclic(k)
    sizes: tuple[int, ...] = ()  # gen_block: size of each block
    owners: tuple[tuple[int, int], ...] = ()  # indirect: (coordinate, how many indices)
    repeats: bool = False  # indirect: the list is repeated until the dimension ends


@dataclass(frozen=True)
class Expression:
    """The position of the array in a template dimension: `scale*d<dimension>+shift`, the constant `shift`, or `*`."""

    dimension: int | None = None
    scale: int = 0
    shift: int = 0
    star: bool = False


@dataclass(frozen=True)
class Spec:
    """A layout; template dimensions have distributions, array dimensions have halo, order and offset."""

    shape: tuple[int, ...]
    dist: tuple[tuple[Stage, ...], ...]  # stages of each dimension; none: the dimension is not distributed (`*`)
    grid: tuple[int, ...] = ()
    ranks: str | tuple[int, ...] = "C"  # a tuple: the rank at each grid position, in C order
    order: str | tuple[int, ...] = "C"  # a tuple: dimensions, slowest first
    replicate: tuple[int, ...] = ()  # axes
    source: tuple[int, ...] = ()  # coordinate for each distribution, or empty
    offset: tuple[int, ...] = ()  # offset for each dimension, or empty
    reverse: tuple[int, ...] = ()  # dimensions that have a distribution
    halo: tuple[tuple[int, int], ...] = ()  # (before, after), one for each dimension, or empty
    periodic: tuple[int, ...] = ()  # dimensions
    template: tuple[int, ...] = ()
    align: tuple[Expression, ...] = ()  # empty: the array is its own template
    named: bool = False  # whether distributions are spelled with their axes

    @property
    def slowest_first(self) -> tuple[int, ...]:
        """Return the order as a permutation."""
        dimensions = tuple(range(len(self.shape)))
        if isinstance(self.order, str):
            return dimensions if self.order == "C" else dimensions[::-1]
        return self.order

    @property
    def halos(self) -> tuple[tuple[int, int], ...]:
        """Return the halo of every dimension."""
        return self.halo or ((0, 0),) * len(self.shape)
