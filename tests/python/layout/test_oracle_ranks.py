"""Names of ranks against the model: which layouts differ in them alone, and which names save most moving."""

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
from oracle.strategies import examples, flattened, shapes, specs

import plait


def held(model):
    """Return how many ranks hold each combination of index sets."""
    return Counter(tuple(tuple(own.tolist()) for own in part.indices) for part in model.parts.values())


def check_renaming(a, b):
    one, other = Model(a), Model(b)
    names = plait.same_up_to_ranks(make_layout(a), make_layout(b))
    # Shape, order and halo are the entries of a model's key other than the parts.
    same = [key for i, key in enumerate(one.key()) if i != 1] == [key for i, key in enumerate(other.key()) if i != 1]
    if not same or held(one) != held(other):
        assert names is None
        return
    assert sorted(names) == one.rank_numbers
    assert sorted(names.values()) == other.rank_numbers
    for rank, name in names.items():
        mine, theirs = one.parts[rank].indices, other.parts[name].indices
        assert [own.tolist() for own in mine] == [own.tolist() for own in theirs]


@given(st.data())
@examples(120)
def test_layouts_that_differ_in_the_names_of_ranks(data):
    spec = data.draw(shapes().flatmap(specs))
    flat = flattened(spec)
    count = len(Model(flat).positions)
    renamed = replace(flat, ranks=tuple(data.draw(st.permutations(range(count + 2)))[:count]))
    note("\n".join(map(to_text, (spec, renamed))))
    check_renaming(spec, renamed)
    check_renaming(renamed, spec)


@given(st.data())
@examples(120)
def test_small_layouts_and_the_names_of_ranks(data):
    shape = data.draw(shapes(most=2, longest=3))
    a, b = (data.draw(specs(shape, max_ranks=3)) for _ in range(2))
    note("\n".join(map(to_text, (a, b))))
    check_renaming(a, b)


@given(st.data())
@examples(80)
def test_the_best_names(data):
    pytest.importorskip("scipy", reason="relabelling needs SciPy")
    shape = data.draw(shapes(most=2))
    a, b = (data.draw(specs(shape, max_ranks=4)) for _ in range(2))
    note("\n".join(map(to_text, (a, b))))
    source, target = Model(a), Model(b)
    found = plait.relabel(make_layout(a), make_layout(b))
    assert plait.same_up_to_ranks(found, make_layout(b)) is not None
    assert found.rank_numbers.tolist() == target.rank_numbers
    elements = {rank: set(source.local_positions(rank)[0].tolist()) for rank in source.parts}
    wanted = {rank: set(target.local_positions(rank)[0].tolist()) for rank in target.parts}

    def stays(names):
        return sum(len(elements.get(name, set()) & wanted[rank]) for rank, name in zip(wanted, names, strict=True))

    best = max(map(stays, itertools.permutations(target.rank_numbers)))
    kept = 0
    for rank in target.rank_numbers:
        grid = np.ix_(*found.indices(rank)) if shape else ()
        kept += len(elements.get(rank, set()) & set(np.arange(found.elements).reshape(shape)[grid].ravel().tolist()))
    assert kept == best
