"""Strategies that draw layouts with every feature of the notation in combination."""

from __future__ import annotations

import math
import os
from dataclasses import replace

from hypothesis import settings
from hypothesis import strategies as st

from .distribution import find_nested_owners
from .model import Model
from .spec import Expression, Spec, Stage

#: PLAIT_ORACLE_EXAMPLES multiplies the number of examples of each test.
_FACTOR = float(os.environ.get("PLAIT_ORACLE_EXAMPLES", "1"))
_MAX_RANKS = 12
_MAX_ELEMENTS = 400
_MAX_AXES = 5


def examples(count: int) -> settings:
    """Return the settings of a test that draws `count` examples."""
    return settings(max_examples=max(int(count * _FACTOR), 1))


def shapes(min_dimensions: int = 0, max_dimensions: int = 4, longest: int = 13) -> st.SearchStrategy[tuple[int, ...]]:
    """Draw a shape of at most 400 elements."""

    def limit_elements(sizes: list[int]) -> tuple[int, ...]:
        while math.prod(sizes) > _MAX_ELEMENTS:
            sizes[sizes.index(max(sizes))] //= 2
        return tuple(sizes)

    size = st.one_of(st.integers(1, longest), st.integers(0, longest))
    return st.lists(size, min_size=min_dimensions, max_size=max_dimensions).map(limit_elements)


def draw_rarely(draw: st.DrawFn, one_in: int = 4) -> bool:
    """Draw a boolean that is True in one of `one_in` cases."""
    return draw(st.integers(0, one_in - 1)) == one_in - 1


@st.composite
def compositions(draw: st.DrawFn, total: int, parts: int) -> tuple[int, ...]:
    """Draw sizes with this total; some may be 0."""
    cuts = sorted(draw(st.lists(st.integers(0, total), min_size=parts - 1, max_size=parts - 1)))
    return tuple(end - begin for begin, end in zip([0, *cuts], [*cuts, total], strict=True))


@st.composite
def owner_lists(draw: st.DrawFn, sizes: set[int], coordinates: int) -> tuple[tuple[tuple[int, int], ...], bool]:
    """Draw the list of an indirect distribution, and whether it starts again at its end."""
    size = max(sizes)
    repeats = size > 0 and (len(sizes) > 1 or draw(st.booleans()))
    coordinate = st.integers(0, coordinates - 1)
    if repeats:
        return tuple(draw(st.lists(st.tuples(coordinate, st.integers(1, 3)), min_size=1, max_size=3))), True
    counts: list[tuple[int, int]] = []
    remaining = size
    while remaining > 0:
        count = draw(st.integers(1, remaining))
        counts.append((draw(coordinate), count))
        remaining -= count
    return tuple(counts), False


@st.composite
def stages(draw: st.DrawFn, sizes: set[int], coordinates: int, axes: tuple[int, ...]) -> Stage:
    """Draw one distribution of a dimension.

    sizes  the numbers of indices that it distributes: several if an earlier stage gives its coordinates unequal numbers
    """
    kinds = ["block", "block(m)", "balanced", "cyclic", "cyclic(k)"]
    size = max(sizes)
    if len(sizes) == 1:
        kinds.append("gen_block")
    if size > 0:
        kinds.append("indirect")
    kind = draw(st.sampled_from(kinds))
    if kind == "block(m)":
        min_block = max(math.ceil(size / coordinates), 1)
        return Stage("block", axes, block=draw(st.integers(min_block, max(size, min_block) + 1)))
    if kind == "cyclic(k)":
        return Stage("cyclic", axes, block=draw(st.integers(1, max(size, 1) + 1) | st.integers(1, 9)))
    if kind == "gen_block":
        return Stage(kind, axes, sizes=draw(compositions(size, coordinates)))
    if kind == "indirect":
        owners, repeats = draw(owner_lists(sizes, coordinates))
        return Stage(kind, axes, owners=owners, repeats=repeats)
    return Stage(kind, axes)


@st.composite
def expressions(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[Expression, ...]]:
    """Draw a template and the position of an array in it."""
    remaining = list(range(len(shape)))
    template, align = [], []
    for _ in range(draw(st.integers(1, 4))):
        choice = draw(st.sampled_from(["dimension"] * 4 + ["constant", "star"]))
        if choice == "star":
            align.append(Expression(star=True))
            template.append(draw(st.integers(0, 9)))
        elif choice == "constant" or not remaining:
            shift = draw(st.integers(0, 6))
            align.append(Expression(shift=shift))
            template.append(shift + draw(st.integers(1, 5)))
        else:
            d = remaining.pop(draw(st.integers(0, len(remaining) - 1)))
            scale = draw(st.sampled_from([1, 1, -1, 2, -2, 3]))
            span = abs(scale) * max(shape[d] - 1, 0)  # between the template indices of the first and the last index
            low = draw(st.integers(0, 3))
            align.append(Expression(d, scale, low if scale > 0 else low + span))
            template.append(low + span + (1 if shape[d] else 0) + draw(st.integers(0, 3)))
    return tuple(template), tuple(align)


def _draw_axes(draw: st.DrawFn, dimensions: int, rich: bool) -> tuple[list[list[int]], int, bool]:
    """Draw how many grid axes each stage of each dimension and the replicas have, and whether axes are named."""
    counts: list[list[int]] = []
    used = 0
    for _ in range(dimensions):
        levels = draw(st.sampled_from([0, 1, 1, 1, 2, 3] if rich else [0, 1, 1, 1]))
        stage_counts = []
        for _ in range(levels):
            count = 2 if rich and draw_rarely(draw, 5) else 1
            if used + count <= _MAX_AXES:
                stage_counts.append(count)
                used += count
        counts.append(stage_counts)
    copies = draw(st.sampled_from([0, 0, 1, 1, 2])) if rich else 0
    needs_names = any(count > 1 for stage_counts in counts for count in stage_counts)
    return counts, min(copies, _MAX_AXES - used), needs_names or (rich and used > 0 and draw(st.booleans()))


def _draw_grid(draw: st.DrawFn, axes: int, max_ranks: int) -> tuple[int, ...]:
    grid = []
    remaining = max_ranks
    for _ in range(axes):
        grid.append(draw(st.integers(1, max(min(4, remaining), 1))))
        remaining //= grid[-1]
    return tuple(draw(st.permutations(grid)))


def _draw_ranks(draw: st.DrawFn, positions: int) -> str | tuple[int, ...]:
    if draw(st.booleans()):
        return draw(st.sampled_from("CF"))
    spare = draw(st.integers(0, 5))  # rank numbers that the layout does not use
    return tuple(draw(st.permutations(range(positions + spare)))[:positions])


def _draw_order(draw: st.DrawFn, dimensions: int) -> str | tuple[int, ...]:
    if draw(st.booleans()):
        return draw(st.sampled_from("CF"))
    return tuple(draw(st.permutations(range(dimensions)))) if dimensions else "C"


@st.composite
def halos(draw: st.DrawFn, spec: Spec, widest: int = 4) -> Spec:
    """Draw a halo for a layout in every dimension that may have one."""
    model = Model(spec)
    widths, periodic = [], []
    for d in range(len(spec.shape)):
        wraps = draw(st.booleans())
        widest_here = min(model.widest_halo(d), widest) if model.is_consecutive(d) and draw(st.booleans()) else 0
        widths.append((draw(st.integers(0, widest_here)), draw(st.integers(0, widest_here))))
        if wraps and widths[-1] != (0, 0):
            periodic.append(d)
    return replace(spec, halo=tuple(widths) if widths else (), periodic=tuple(draw(st.permutations(periodic))))


@st.composite
def specs(
    draw: st.DrawFn, shape: tuple[int, ...], rich: bool = True, halo: bool = True, max_ranks: int = _MAX_RANKS
) -> Spec:
    """Draw a layout of a shape; `rich` adds alignments, offsets, nested distributions, sources, replicas and halos."""
    template, align, offset = (), (), ()
    extents = shape
    if rich and draw_rarely(draw):
        template, align = draw(expressions(shape))
        extents = template
    elif rich and shape and draw_rarely(draw):
        offset = tuple(draw(st.integers(0, 5)) if draw(st.booleans()) else 0 for _ in shape)
    counts, copies, named = _draw_axes(draw, len(extents), rich)
    axes = sum(map(sum, counts)) + copies
    grid = _draw_grid(draw, axes, max_ranks)
    replicated = sorted(draw(st.permutations(range(axes)))[:copies])
    free = [axis for axis in range(axes) if axis not in replicated]
    if named:
        free = draw(st.permutations(free))
    # The offsets of dimensions that are not distributed have no effect; they are left out.
    if offset:
        offset = tuple(shift if is_distributed else 0 for shift, is_distributed in zip(offset, counts, strict=True))
        extents = tuple(size + shift for size, shift in zip(shape, offset, strict=True))
    dist: list[tuple[Stage, ...]] = []
    source, reverse = [], []
    for d, stage_counts in enumerate(counts):
        dimension_stages: list[Stage] = []
        for count in stage_counts:
            own_axes, free = tuple(free[:count]), free[count:]
            coordinates = math.prod(grid[axis] for axis in own_axes)
            owners = find_nested_owners(
                dimension_stages, extents[d], grid, *((source[d], d in reverse) if dimension_stages else ())
            )
            outer_coordinates = _list_coordinates(dimension_stages, grid)
            sizes = {sum(1 for owner in owners if owner == c) for c in outer_coordinates}
            stage = draw(stages(sizes, coordinates, own_axes))
            if not dimension_stages:
                has_source = rich and stage.kind != "indirect" and draw_rarely(draw, 3)
                source.append(draw(st.integers(0, coordinates - 1)) if has_source else 0)
                if has_source and draw(st.booleans()):
                    reverse.append(d)
            dimension_stages.append(stage)
        if not stage_counts:
            source.append(0)
        dist.append(tuple(dimension_stages))
    positions = math.prod(grid)
    spec = Spec(
        shape,
        tuple(dist),
        grid,
        _draw_ranks(draw, positions) if rich else draw(st.sampled_from("CF")),
        _draw_order(draw, len(shape)) if rich else draw(st.sampled_from("CF")),
        tuple(replicated),
        tuple(source) if any(source) else (),
        offset if any(offset) else (),
        tuple(reverse),
        template=template,
        align=align,
        named=named,
    )
    return draw(halos(spec)) if rich and halo and draw(st.booleans()) else spec


def _list_coordinates(dimension_stages: list[Stage], grid: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return all coordinates, one for each stage, of a dimension."""
    result: list[tuple[int, ...]] = [()]
    for stage in dimension_stages:
        extent = math.prod(grid[axis] for axis in stage.axes)
        result = [(*outer, c) for outer in result for c in range(extent)]
    return result


def distributed_specs(**options: object) -> st.SearchStrategy[Spec]:
    """Draw a shape and a layout of it."""
    return shapes().flatmap(lambda shape: specs(shape, **options))


def respell_by_maps(spec: Spec) -> Spec:
    """Return an equal layout that has only maps: a grid axis per dimension, indirect distributions, explicit ranks."""
    model = Model(replace(spec, halo=(), periodic=()))
    classes: list[list[tuple[int, ...]]] = []
    for d in range(len(spec.shape)):
        sets = {tuple(part.indices[d].tolist()) for part in model.parts.values()}
        classes.append(sorted(sets))
    return _make_spec_of_maps(spec, model, classes)


def _make_spec_of_maps(spec: Spec, model: Model, classes: list[list[tuple[int, ...]]]) -> Spec:
    """Return respell_by_maps from the different index sets of each dimension, its classes."""
    holders: dict[tuple[int, ...], list[int]] = {}
    for rank, part in model.parts.items():
        key = tuple(sets.index(tuple(indices.tolist())) for sets, indices in zip(classes, part.indices, strict=True))
        holders.setdefault(key, []).append(rank)
    # All coordinates that own nothing have the same index set, whose class has more holders than the others: then the
    # layout has no such spelling.
    counts = {len(ranks) for ranks in holders.values()}
    if len(counts) != 1:
        return spec
    copies = counts.pop()
    grid = (*(len(sets) for sets in classes), copies)
    dist = []
    for d, sets in enumerate(classes):
        owners = tuple((c, 1) for i in range(spec.shape[d]) for c, indices in enumerate(sets) if i in indices)
        dist.append((Stage("indirect" if owners else "block", (d,), owners=owners),))
    ranks = [rank for key in sorted(holders) for rank in holders[key]]
    return Spec(
        spec.shape,
        tuple(dist),
        grid,
        tuple(ranks),
        spec.slowest_first if spec.shape else "C",
        (len(classes),),
        halo=spec.halo,
        periodic=spec.periodic,
        named=True,
    )
