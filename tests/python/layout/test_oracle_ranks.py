"""Rank names, compared with the model: layouts that differ only in rank names, and the names that move least data."""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st
from oracle.library import make_layout
from oracle.model import Model
from oracle.notation import to_text
from oracle.strategies import examples, respell_by_maps, shapes, specs

import plait


def count_holders(model):
    """Return how many ranks hold each combination of index sets."""
    return Counter(tuple(tuple(indices.tolist()) for indices in part.indices) for part in model.parts.values())


def check_renaming(a, b):
    """Check that same_up_to_ranks() finds a renaming if and only if the layouts differ only in the names of ranks."""
    model, other_model = Model(a), Model(b)
    names = plait.same_up_to_ranks(make_layout(a), make_layout(b))
    # Shape, order and halo are the entries of a model's key other than the parts.
    same = [key for i, key in enumerate(model.equality_key()) if i != 1] == [
        key for i, key in enumerate(other_model.equality_key()) if i != 1
    ]
    if not same or count_holders(model) != count_holders(other_model):
        assert names is None
        return
    assert sorted(names) == model.rank_numbers
    assert sorted(names.values()) == other_model.rank_numbers
    for rank, name in names.items():
        sets, other_sets = model.parts[rank].indices, other_model.parts[name].indices
        assert [indices.tolist() for indices in sets] == [indices.tolist() for indices in other_sets]


@given(st.data())
@examples(120)
def test_renamed_layouts_are_recognized(data):
    spec = data.draw(shapes().flatmap(specs))
    flat = respell_by_maps(spec)
    count = len(Model(flat).positions)
    renamed = replace(flat, ranks=tuple(data.draw(st.permutations(range(count + 2)))[:count]))
    note("\n".join(map(to_text, (spec, renamed))))
    check_renaming(spec, renamed)
    check_renaming(renamed, spec)


@given(st.data())
@examples(120)
def test_only_renamed_layouts_are_recognized(data):
    shape = data.draw(shapes(max_dimensions=2, longest=3))
    a, b = (data.draw(specs(shape, max_ranks=3)) for _ in range(2))
    note("\n".join(map(to_text, (a, b))))
    check_renaming(a, b)


@given(st.data())
@examples(80)
def test_relabelling_leaves_most_elements_on_their_ranks(data):
    pytest.importorskip("scipy", reason="relabelling needs SciPy")
    shape = data.draw(shapes(max_dimensions=2))
    a, b = (data.draw(specs(shape, max_ranks=4)) for _ in range(2))
    note("\n".join(map(to_text, (a, b))))
    source, target = Model(a), Model(b)
    renamed = plait.relabel(make_layout(a), make_layout(b))
    assert plait.same_up_to_ranks(renamed, make_layout(b)) is not None
    assert renamed.rank_numbers.tolist() == target.rank_numbers
    elements = {rank: set(source.local_positions(rank)[0].tolist()) for rank in source.parts}
    requested = {rank: set(target.local_positions(rank)[0].tolist()) for rank in target.parts}

    def count_staying(names):
        return sum(
            len(elements.get(name, set()) & requested[rank]) for rank, name in zip(requested, names, strict=True)
        )

    best = max(map(count_staying, itertools.permutations(target.rank_numbers)))
    staying = 0
    for rank in target.rank_numbers:
        grid = np.ix_(*renamed.indices(rank)) if shape else ()
        staying += len(
            elements.get(rank, set()) & set(np.arange(renamed.elements).reshape(shape)[grid].ravel().tolist())
        )
    assert staying == best
