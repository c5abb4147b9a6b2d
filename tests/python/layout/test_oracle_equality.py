"""All small layouts of a kind: two are equal, and have the same text, if and only if they have the same meaning."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from oracle.library import make_layout
from oracle.model import InconsistentError, Model
from oracle.notation import to_text
from oracle.spec import Expression, Spec, Stage


def plain_distributions(size, extent):
    """Return all plain distributions of a dimension."""
    min_block = max(-(-size // extent), 1)
    stages = [Stage("block", (0,)), Stage("balanced", (0,))]
    stages += [Stage("block", (0,), block=block) for block in range(min_block, size + 2)]
    stages += [Stage("cyclic", (0,), block=block) for block in range(1, size + 2)]
    stages += [
        Stage("gen_block", (0,), sizes=sizes)
        for sizes in itertools.product(range(size + 1), repeat=extent)
        if sum(sizes) == size
    ]
    return stages


def every_one_dimensional(size):
    """Return all layouts of one short dimension in its plain distributions, with sources, offsets and rank maps."""
    specs = [Spec((size,), ((),)), Spec((size,), ((),), ranks=(1,)), Spec((size,), ((),), (2,), replicate=(0,))]
    for extent in range(1, 5):
        maps = ["C", "F", (*range(1, extent), extent + 1), *itertools.permutations(range(extent))]
        for shift in range(3):
            for stage in plain_distributions(size + shift, extent):
                plain = Spec((size,), ((stage,),), (extent,), offset=(shift,) if shift else ())
                with_sources = [
                    replace(plain, source=(source,) if source else (), reverse=reverse)
                    for source in range(extent)
                    for reverse in ((), (0,))
                ]
                specs += with_sources
                specs += [replace(plain, ranks=ranks) for ranks in maps[: len(maps) if shift == 0 else 3]]
    return specs


def two_axes(size):
    """Return layouts of one dimension on two axes: major and minor, nested, and with copies."""
    for grid in ((2, 2), (1, 2), (3, 1), (2, 3)):
        for kind, inner in itertools.product(("block", "cyclic", "balanced"), repeat=2):
            dists = [(((Stage(kind, axes),),), ()) for axes in ((0, 1), (1, 0))]
            dists += [(((Stage(kind, (a,)), Stage(inner, (1 - a,))),), ()) for a in (0, 1)]
            dists += [(((Stage(kind, (a,)),),), (1 - a,)) for a in (0, 1)]
            for dist, copies in dists:
                for ranks in ("C", "F", *itertools.islice(itertools.permutations(range(grid[0] * grid[1])), 0, 24, 5)):
                    yield Spec((size,), dist, grid, ranks, replicate=copies, named=True)


def two_dimensions(shape):
    """Return layouts of two dimensions with every order and many rank maps."""
    for kinds in itertools.product(("*", "block", "cyclic"), repeat=2):
        distributed = [d for d in range(2) if kinds[d] != "*"]
        dist = tuple((Stage(kinds[d], (distributed.index(d),)),) if d in distributed else () for d in range(2))
        for grid in itertools.product((1, 2), repeat=len(distributed)):
            count = int(np.prod(grid, dtype=int))
            for ranks, order in itertools.product(
                ("C", "F", *itertools.permutations(range(count))), ("C", "F", (0, 1), (1, 0))
            ):
                yield Spec(shape, dist, grid, ranks, order)


def every_map(size):
    """Return every map of a dimension to up to three coordinates, and alignments that result in many such maps."""
    specs = [Spec((size,), ((Stage("cyclic", (0,)),),), (extent,)) for extent in (1, 2, 3)]
    for extent in (1, 2, 3) if size else ():
        for owners in itertools.product(range(extent), repeat=size):
            specs.append(Spec((size,), ((Stage("indirect", (0,), owners=tuple((c, 1) for c in owners)),),), (extent,)))
    for scale, low, margin in itertools.product((1, -1, 2, -2, 3), range(3), range(2)):
        reach = abs(scale) * max(size - 1, 0)
        template = low + reach + 1 + margin
        expression = Expression(0, scale, low if scale > 0 else low + reach)
        for extent, stage in itertools.product((1, 2, 3), (("block", None), ("cyclic", None), ("cyclic", 2))):
            dist = ((Stage(stage[0], (0,), block=stage[1]),),)
            specs.append(Spec((size,), dist, (extent,), template=(template,), align=(expression,)))
            specs.append(
                Spec((size,), dist, (extent,), (*range(1, extent), 0), template=(template,), align=(expression,))
            )
    return specs


def every_copy(size):
    """Return layouts with replicas and with unused ranks, in each of their spellings."""
    block = Stage("block", (0,))
    for grid in ((1, 2), (2, 1), (2, 2), (3, 2)):
        extents = {(0, 1): Spec((size,), ((block,),), grid, replicate=(1,), named=True)}
        star = (Expression(0, 1), Expression(star=True))
        dist = ((block,), (Stage("cyclic", (1,)),))
        extents[0, 2] = Spec((size,), dist, grid, template=(size, 5), align=star)
        for index in range(3):
            constant = (Expression(0, 1), Expression(shift=index))
            extents[0, 3 + index] = Spec((size,), dist, grid, template=(size, 3), align=constant)
            yield Spec((size,), dist[::-1], grid, "F", template=(3, size), align=constant[::-1], named=True)
        for spec in extents.values():
            count = grid[0] * grid[1]
            yield from (replace(spec, ranks=ranks) for ranks in ("C", "F", *itertools.permutations(range(count))))
            yield replace(spec, ranks=tuple(range(3, 3 + count)))


def every_halo(size):
    """Return layouts that differ only in their halos, and equal layouts in different spellings."""
    for kind, extent in itertools.product(("block", "balanced", "cyclic"), (1, 2, 3)):
        plain = Spec((size, 2), ((Stage(kind, (0,)),), ()), (extent,))
        for low, high, other in itertools.product(range(3), range(3), range(2)):
            for periodic, order in itertools.product(((), (0,), (1,), (1, 0)), ("C", (0, 1), "F", (1, 0))):
                yield replace(plain, halo=((low, high), (other, other)), periodic=periodic, order=order)
        yield plain
        yield replace(plain, order="F")


def check_groups(specs):
    """Check that grouping layouts by their text and by their meaning gives the same groups."""
    texts, keys = {}, {}
    for spec in specs:
        try:
            key = Model(spec).equality_key()
        except InconsistentError:
            continue
        layout = make_layout(spec)
        text = str(layout)
        first_text, first_layout, first_spec = texts.setdefault(key, (text, layout, spec))
        assert first_text == text, f"equal, but printed differently: {to_text(first_spec)} and {to_text(spec)}"
        assert first_layout == layout, f"the same text, but not equal: {to_text(first_spec)} and {to_text(spec)}"
        assert hash(first_layout) == hash(layout)
        first_key, first_spec = keys.setdefault(text, (key, spec))
        assert first_key == key, f"different, but printed alike: {to_text(first_spec)} and {to_text(spec)}"
    # Layouts of different groups must not be equal.
    different = [layout for _, layout, _ in texts.values()]
    for a, b in itertools.pairwise(different):
        assert a != b
    assert len(different) > 1


@pytest.mark.sampled(1)
@pytest.mark.parametrize("size", range(6))
def test_every_layout_of_one_short_dimension(size):
    check_groups(every_one_dimensional(size))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("size", range(6))
def test_every_layout_of_one_dimension_on_two_axes(size):
    check_groups(two_axes(size))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (1, 1), (1, 3), (3, 1), (2, 2), (3, 2)], ids=str)
def test_every_layout_of_two_short_dimensions(shape):
    check_groups(two_dimensions(shape))


@pytest.mark.parametrize("size", range(5))
def test_every_map_of_one_short_dimension(size):
    check_groups(every_map(size))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("size", range(4))
def test_every_layout_with_copies(size):
    check_groups(every_copy(size))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("size", range(5))
def test_every_halo(size):
    check_groups(every_halo(size))
