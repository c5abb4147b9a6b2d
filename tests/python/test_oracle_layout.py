"""Layouts in the whole notation against the model: places, spellings, equality."""

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from oracle.library import layout_by_keywords, layout_of
from oracle.model import Model, UnfitError
from oracle.notation import to_text
from oracle.spec import Spec, Stage
from oracle.strategies import dealt_specs, examples, flattened, shapes, specs

import plait
from plait import Layout


@given(dealt_specs())
@examples(700)
def test_ranks_and_shapes(spec):
    note(to_text(spec))
    layout, model = layout_of(spec), Model(spec)
    assert layout.shape == spec.shape
    assert layout.size == len(model.parts)
    assert layout.elements == int(np.prod(spec.shape, dtype=np.int64))
    assert layout.replicas == model.replicas
    assert layout.rank_numbers.dtype == np.int64
    assert layout.rank_numbers.tolist() == model.rank_numbers
    assert layout.ranks_end == max(model.parts) + 1
    for rank in range(-1, max(model.parts) + 3):
        assert layout.has_rank(rank) is (rank in model.parts)
    for rank, part in model.parts.items():
        found = layout.indices(rank)
        assert [own.tolist() for own in found] == [own.tolist() for own in part.indices]
        assert all(own.dtype == np.int64 for own in found)
        assert layout.local_shape(rank) == part.shape
        assert layout.padded_shape(rank) == model.padded_shape(rank)
    absent = next(rank for rank in itertools.count() if rank not in model.parts)
    for call in (layout.local_shape, layout.padded_shape, layout.indices):
        with pytest.raises(plait.ArgumentError, match=f"rank {absent} is in no set"):
            call(absent)


@given(st.data())
@examples(500)
def test_places_of_elements(data):
    spec = data.draw(dealt_specs())
    note(to_text(spec))
    layout, model = layout_of(spec), Model(spec)
    everywhere = list(np.ndindex(*spec.shape))
    for index in data.draw(st.lists(st.sampled_from(everywhere), max_size=6)) if everywhere else []:
        owners = model.owners(index)
        assert len(owners) == model.replicas
        assert layout.owners(index) == tuple(owners)
        for rank in owners:
            local = model.to_local(index, rank)
            assert layout.to_local(index, rank) == local
            assert layout.to_global(local, rank) == index
        for rank in [rank for rank in model.parts if rank not in owners][:3]:
            with pytest.raises(plait.ArgumentError, match=str(rank)):
                layout.to_local(index, rank)
    rank = data.draw(st.sampled_from(model.rank_numbers))
    shape = model.local_shape(rank)
    for d in range(len(shape)):
        for outside in (-1, shape[d]):
            local = [0] * len(shape)
            local[d] = outside
            with pytest.raises(plait.ArgumentError):
                layout.to_global(local, rank)


@given(dealt_specs())
@examples(700)
def test_one_layout_in_many_spellings(spec):
    note(to_text(spec))
    layout = layout_of(spec)
    others = [
        layout_by_keywords(spec),
        Layout.parse(to_text(spec, shape=False), spec.shape),
        Layout(spec.shape, to_text(spec, shape=False, backwards=True)),
        Layout.parse(to_text(spec, backwards=True).upper().replace("SCALAR", "scalar")),
        Layout.parse(to_text(spec).replace(" (", "(").replace(", ", " ,\t")),
        Layout.parse(str(layout)),
        pickle.loads(pickle.dumps(layout)),
        eval(repr(layout), {"Layout": Layout}),
    ]
    for other in others:
        assert other == layout
        assert str(other) == str(layout)
        assert hash(other) == hash(layout)
    # The printed form says the same in its own words.
    again = others[5]
    model = Model(spec)
    for rank, part in model.parts.items():
        assert [own.tolist() for own in again.indices(rank)] == [own.tolist() for own in part.indices]
        assert again.padded_shape(rank) == model.padded_shape(rank)


def check_equality(specs_):
    """Layouts that mean the same, and no others, are equal, print equally and have equal hashes."""
    layouts = [layout_of(spec) for spec in specs_]
    keys = [Model(spec).key() for spec in specs_]
    for (a, key_a), (b, key_b) in itertools.combinations(zip(layouts, keys, strict=True), 2):
        note(f"{a}   {b}")
        same = key_a == key_b
        assert (a == b) is same
        assert (a != b) is not same
        assert (str(a) == str(b)) is same
        if same:
            assert hash(a) == hash(b)


@given(st.data())
@examples(500)
def test_equal_means_equal_meaning_of_small_layouts(data):
    shape = data.draw(shapes(least=0, most=2, longest=4))
    drawn = [data.draw(specs(shape, most_ranks=4)) for _ in range(3)]
    note("\n".join(map(to_text, drawn)))
    check_equality(drawn)


@given(st.data())
@examples(500)
def test_spelled_with_maps_alone(data):
    spec = data.draw(dealt_specs())
    flat = flattened(spec)
    note(f"{to_text(spec)}\n{to_text(flat)}")
    assert Model(spec).key() == Model(flat).key(), "the model contradicts itself"
    check_equality([spec, flat])
    part = data.draw(st.sampled_from(["order", "ranks", "halo", "periodic"]))
    other = changed(data, flat, part)
    note(to_text(other))
    check_equality([spec, other])


def changed(data, spec, part):
    """Return a layout that differs in one part at most."""
    if part == "order":
        return replace(spec, order=tuple(data.draw(st.permutations(range(len(spec.shape))))) or "C")
    if part == "ranks":
        count = len(Model(spec).positions)
        return replace(spec, ranks=tuple(data.draw(st.permutations(range(count)))))
    if part == "halo":
        bare = replace(spec, halo=(), periodic=())
        return replace(bare, halo=((0, 0),) * len(spec.shape))
    return replace(spec, periodic=tuple(d for d in range(len(spec.shape)) if d not in spec.periodic))


def one_dimension(size, extent):
    """Return all plain distributions of a dimension."""
    least = max(-(-size // extent), 1)
    found = [Stage("block", (0,)), Stage("balanced", (0,))]
    found += [Stage("block", (0,), block=m) for m in range(least, size + 2)]
    found += [Stage("cyclic", (0,), block=k) for k in range(1, size + 2)]
    found += [
        Stage("gen_block", (0,), sizes=sizes)
        for sizes in itertools.product(range(size + 1), repeat=extent)
        if sum(sizes) == size
    ]
    return found


def every_one_dimensional(size):
    """Return all layouts of one short dimension in its plain distributions, with sources, offsets and rank maps."""
    found = [Spec((size,), ((),)), Spec((size,), ((),), ranks=(1,)), Spec((size,), ((),), (2,), replicate=(0,))]
    for extent in range(1, 5):
        maps = ["C", tuple(range(extent))[::-1], (*range(1, extent), 0), (*range(1, extent), extent)]
        for shift in range(3):
            for stage in one_dimension(size + shift, extent):
                plain = Spec((size,), ((stage,),), (extent,), offset=(shift,) if shift else ())
                turned = [
                    replace(plain, source=(s,) if s else (), reverse=reverse)
                    for s in range(extent)
                    for reverse in ((), (0,))
                ]
                found += turned
                found += [replace(plain, ranks=ranks) for ranks in maps]
    return found


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
        dealt = [d for d in range(2) if kinds[d] != "*"]
        dist = tuple((Stage(kinds[d], (dealt.index(d),)),) if d in dealt else () for d in range(2))
        for grid in itertools.product((1, 2), repeat=len(dealt)):
            count = int(np.prod(grid, dtype=int))
            for ranks, order in itertools.product(
                ("C", "F", *itertools.permutations(range(count))), ("C", "F", (0, 1), (1, 0))
            ):
                yield Spec(shape, dist, grid, ranks, order)


def check_groups(every):
    """Grouping layouts by their text and by their meaning gives the same groups."""
    texts, keys = {}, {}
    for spec in every:
        try:
            key = Model(spec).key()
        except UnfitError:
            continue
        layout = layout_of(spec)
        text = str(layout)
        known = texts.setdefault(key, (text, layout, spec))
        assert known[0] == text, f"equal, but printed apart: {to_text(known[2])} and {to_text(spec)}"
        assert known[1] == layout, f"the same text, but not equal: {to_text(known[2])} and {to_text(spec)}"
        assert hash(known[1]) == hash(layout)
        other = keys.setdefault(text, (key, spec))
        assert other[0] == key, f"different, but printed alike: {to_text(other[1])} and {to_text(spec)}"
    # The layouts of different groups differ from each other.
    different = [layout for _, layout, _ in texts.values()]
    for a, b in itertools.pairwise(different):
        assert a != b
    assert len(different) > 1


@pytest.mark.parametrize("size", range(6))
def test_every_layout_of_one_short_dimension(size):
    check_groups(every_one_dimensional(size))


@pytest.mark.parametrize("size", range(6))
def test_every_layout_of_one_dimension_on_two_axes(size):
    check_groups(two_axes(size))


@pytest.mark.parametrize("shape", [(0, 0), (0, 2), (1, 1), (1, 3), (3, 1), (2, 2), (3, 2)], ids=str)
def test_every_layout_of_two_short_dimensions(shape):
    check_groups(two_dimensions(shape))
