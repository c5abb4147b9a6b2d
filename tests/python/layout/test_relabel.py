"""Renaming ranks: its gain, compared with every order, and layouts that differ only in the names of ranks."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from notation_layouts import layouts, list_ranks, owned_elements

import plait
from plait.notations import _relabel


def count_staying(source, target):
    """Return how many elements a conversion leaves on their ranks, counted index by index."""
    source_sets, target_sets = owned_elements(source), owned_elements(target)
    total = 0
    for rank in set(source_sets) & set(target_sets):
        total += int(
            np.prod(
                [len(set(a) & set(b)) for a, b in zip(source_sets[rank], target_sets[rank], strict=True)], dtype=int
            )
        )
    return total


@pytest.fixture
def _scipy():
    pytest.importorskip("scipy", reason="scipy is not installed")


def count_moved(source, target):
    """Return the elements that a conversion sends to other ranks."""
    conversion = plait.compose(source, target)
    return sum(m.elements for rank in list_ranks(target) for m in conversion.receives(rank) if m.rank != rank)


@pytest.mark.usefixtures("_scipy")
def test_the_documented_case_of_costa():
    # 100000 x 100000 elements in blocks of 100, from a 2 x 4 to a 4 x 2 grid: COSTA saves a third of the volume.
    source = plait.Layout.parse("100000x100000 (cyclic(100), cyclic(100)) onto (2, 4)")
    target = plait.Layout.parse("100000x100000 (cyclic(100), cyclic(100)) onto (4, 2)")
    better = plait.relabel(source, target)
    assert plait.same_up_to_ranks(target, better) is not None
    before, after = count_moved(source, target), count_moved(source, better)
    assert before == 7_500_000_000
    assert 1 - after / before >= 1 / 3 - 1e-12
    assert list_ranks(better) == list_ranks(target)


@pytest.mark.usefixtures("_scipy")
@given(st.data())
@settings(max_examples=120)
def test_no_order_of_the_ranks_leaves_more_elements_in_place(data):
    source = data.draw(layouts(dimensions=(1, 2), max_extent=7))
    grids = ["onto (4)", "onto (2, 2)"] if source.ndim > 1 else ["onto (4)", "onto (3)"]
    onto = data.draw(st.sampled_from(grids))
    distributed = onto.count(",") + 1
    dist = ", ".join(
        data.draw(st.sampled_from(["block", "cyclic", "cyclic(2)", "balanced"])) if d < distributed else "*"
        for d in range(source.ndim)
    )
    target = plait.Layout.parse(f"{'x'.join(map(str, source.shape))} ({dist}) {onto}")
    better = plait.relabel(source, target)
    best = max(
        count_staying(source, _relabel.make_table(target).renamed(dict(zip(list_ranks(target), order, strict=True))))
        for order in itertools.permutations(list_ranks(target))
    )
    assert count_staying(source, better) == best
    assert list_ranks(better) == list_ranks(target)
    names = plait.same_up_to_ranks(target, better)
    assert names is not None
    assert sorted(names) == list_ranks(target)


@pytest.mark.usefixtures("_scipy")
def test_matching_layouts_keep_their_rank_names():
    source = plait.Layout.parse("12x12 (block, block) onto (2, 3)")
    assert plait.relabel(source, source) == source
    transposed = plait.Layout.parse("12x12 (block, block) onto (2, 3) ranks=F")
    assert plait.relabel(source, transposed) == source
    copies = plait.Layout.parse("12 (block@0) onto (2, 2) replicate=(1) ranks=(1, 3, 0, 2)")
    assert count_moved(copies, plait.relabel(copies, plait.Layout.parse("12 (block@0) onto (2, 2) replicate=(1)"))) == 0
    assert plait.relabel(plait.Layout.parse("4 (block) onto (2) ranks=(7, 9)"), plait.Layout.parse("4 (*)")).size == 1


@pytest.mark.usefixtures("_scipy")
@given(seed=st.integers(0, 1000), count=st.integers(1, 9))
@settings(max_examples=80)
def test_the_sparse_algorithm_finds_the_optimum_of_the_full_matrix(seed, count):
    random = np.random.default_rng(seed)
    gains = np.where(random.random((count, count)) < 0.3, random.integers(1, 20, (count, count)), 0)
    receivers, names = np.nonzero(gains)
    elements = gains[receivers, names].astype(float)
    roles = np.arange(count) * 3
    full = _relabel._assign(names, receivers, elements, roles, max_dense=count)
    sparse = _relabel._assign(names, receivers, elements, roles, max_dense=0)
    assert sorted(sparse.tolist()) == sorted(full.tolist()) == list(range(count))
    totals = [gains[np.arange(count), assignment].sum() for assignment in (full, sparse)]
    assert totals[0] == totals[1]
    stays = [(assignment == np.arange(count)).sum() for assignment in (full, sparse)]
    assert stays[0] == stays[1]


def test_relabelling_without_scipy_is_an_error(monkeypatch):
    import sys

    layout = plait.Layout.parse("8 (block) onto (2)")
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(plait.ArgumentError, match=r"plait\[assign\]"):
        plait.relabel(layout, layout)


def test_shapes_must_agree():
    with pytest.raises(plait.ArgumentError, match="8"):
        plait.relabel(plait.Layout.parse("8 (block) onto (2)"), plait.Layout.parse("9 (block) onto (2)"))


@given(layout=layouts(), seed=st.integers(0, 99))
@settings(max_examples=200)
def test_renamed_layouts_are_recognized(layout, seed):
    ranks = list_ranks(layout)
    order = np.random.default_rng(seed).permutation(np.array(ranks) + 5).tolist()
    other = _relabel.make_table(layout).renamed(dict(zip(ranks, order, strict=True)))
    names = plait.same_up_to_ranks(layout, other)
    assert names is not None
    assert sorted(names) == ranks
    assert sorted(names.values()) == list_ranks(other)
    sets, other_sets = owned_elements(layout), owned_elements(other)
    assert all(sets[rank] == other_sets[name] for rank, name in names.items())


@given(a=layouts(dimensions=(1, 1), max_extent=4), b=layouts(dimensions=(1, 1), max_extent=4))
@settings(max_examples=200)
def test_other_layouts_are_not_recognized(a, b):
    parts = [sorted(map(str, owned_elements(layout).values())) for layout in (a, b)]
    are_equal = a.shape == b.shape and parts[0] == parts[1]
    are_equal = are_equal and (a.halo, a.periodic) == (b.halo, b.periodic)
    assert (plait.same_up_to_ranks(a, b) is not None) == are_equal


def test_huge_layouts_are_compared_without_enumeration():
    def parse(text):
        return plait.Layout.parse(f"1000000000x1000000000 {text}")

    layout = parse("(cyclic(7), block) onto (100, 50)")
    names = plait.same_up_to_ranks(layout, parse("(cyclic(7), block) onto (100, 50) ranks=F"))
    assert names is not None
    assert names[1] == 100
    assert plait.same_up_to_ranks(layout, parse("(cyclic(8), block) onto (100, 50)")) is None
