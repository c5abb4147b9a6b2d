"""Layouts in the whole notation against the model: positions, spellings, equality."""

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from oracle.library import make_layout, make_layout_by_keywords
from oracle.model import Model
from oracle.notation import to_text
from oracle.strategies import distributed_specs, examples, respell_by_maps, shapes, specs

import plait
from plait import Layout


@given(distributed_specs())
@examples(400)
def test_ranks_and_shapes_equal_those_of_the_model(spec):
    note(to_text(spec))
    layout, model = make_layout(spec), Model(spec)
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
        index_sets = layout.indices(rank)
        assert [indices.tolist() for indices in index_sets] == [indices.tolist() for indices in part.indices]
        assert all(indices.dtype == np.int64 for indices in index_sets)
        assert layout.local_shape(rank) == part.shape
        assert layout.padded_shape(rank) == model.padded_shape(rank)
    absent = next(rank for rank in itertools.count() if rank not in model.parts)
    for call in (layout.local_shape, layout.padded_shape, layout.indices):
        with pytest.raises(plait.ArgumentError, match=f"rank {absent} is not in the layout"):
            call(absent)


@given(st.data())
@examples(300)
def test_positions_of_elements_equal_those_of_the_model(data):
    spec = data.draw(distributed_specs())
    note(to_text(spec))
    layout, model = make_layout(spec), Model(spec)
    all_indices = list(np.ndindex(*spec.shape))
    for index in data.draw(st.lists(st.sampled_from(all_indices), max_size=6)) if all_indices else []:
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


@given(distributed_specs())
@examples(400)
def test_many_spellings_make_equal_layouts(spec):
    note(to_text(spec))
    layout = make_layout(spec)
    others = [
        make_layout_by_keywords(spec),
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
    # The printed form, which may differ from the spelling above, has the same meaning.
    parsed = Layout.parse(str(layout))
    model = Model(spec)
    for rank, part in model.parts.items():
        assert [indices.tolist() for indices in parsed.indices(rank)] == [indices.tolist() for indices in part.indices]
        assert parsed.padded_shape(rank) == model.padded_shape(rank)


def check_equality(specs_):
    """Check that layouts are equal, print equally and have equal hashes if and only if they have the same meaning."""
    layouts = [make_layout(spec) for spec in specs_]
    keys = [Model(spec).equality_key() for spec in specs_]
    for (a, key_a), (b, key_b) in itertools.combinations(zip(layouts, keys, strict=True), 2):
        note(f"{a}   {b}")
        same = key_a == key_b
        assert (a == b) is same
        assert (a != b) is not same
        assert (str(a) == str(b)) is same
        if same:
            assert hash(a) == hash(b)


@given(st.data())
@examples(300)
def test_equal_means_equal_meaning_of_small_layouts(data):
    shape = data.draw(shapes(min_dimensions=0, max_dimensions=2, longest=4))
    drawn = [data.draw(specs(shape, max_ranks=4)) for _ in range(3)]
    note("\n".join(map(to_text, drawn)))
    check_equality(drawn)


@given(st.data())
@examples(300)
def test_layouts_spelled_with_maps_only_are_equal(data):
    spec = data.draw(distributed_specs())
    flat = respell_by_maps(spec)
    note(f"{to_text(spec)}\n{to_text(flat)}")
    assert Model(spec).equality_key() == Model(flat).equality_key(), "the model contradicts itself"
    check_equality([spec, flat])
    part = data.draw(st.sampled_from(["order", "ranks", "halo", "periodic"]))
    other = change_part(data, flat, part)
    note(to_text(other))
    check_equality([spec, other])


def change_part(data, spec, part):
    """Return a layout that may differ from `spec` in this part, and in no other."""
    if part == "order":
        return replace(spec, order=tuple(data.draw(st.permutations(range(len(spec.shape))))) or "C")
    if part == "ranks":
        count = len(Model(spec).positions)
        return replace(spec, ranks=tuple(data.draw(st.permutations(range(count)))))
    if part == "halo":
        without_halo = replace(spec, halo=(), periodic=())
        return replace(without_halo, halo=((0, 0),) * len(spec.shape))
    return replace(spec, periodic=tuple(d for d in range(len(spec.shape)) if d not in spec.periodic))
