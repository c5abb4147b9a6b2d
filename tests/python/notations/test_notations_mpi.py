"""MPI's darray and subarray datatypes: packed by MPI, and as plain arguments."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import plait
from plait.notations import mpi


@pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="mpi4py is not installed")
def test_layouts_equal_what_mpi_packs():
    program = Path(__file__).with_name("notation_types.py")
    result = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=300, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.split() == ["870", "darrays", "25", "subarrays"]


def test_one_rank_determines_the_layout_of_all():
    layout = mpi.from_darray(6, 5, (10, 12), ("block", "cyclic"), (None, 3), (2, 3), "F")
    assert layout == plait.Layout.parse("10x12 (block, cyclic(3)) onto (2, 3) order=F")
    assert mpi.to_darray(layout, 5) == (6, 5, (10, 12), ("block", "cyclic"), (None, 3), (2, 3), "F")
    assert mpi.from_darray(2, 0, [8, 3], ["cyclic", "none"], None, [2, 1]) == plait.Layout.parse(
        "8x3 (cyclic, *) onto (2)"
    )


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"size": 5}, "psizes"),
        ({"rank": 4}, "rank 4 of 4"),
        ({"gsizes": (8,)}, "distribs has length 2; expected 1"),
        ({"distribs": ("block", "both")}, "distribs of dimension 1"),
        ({"distribs": ("block", "none")}, "dimension 1 is not distributed"),
        ({"dargs": (3, None)}, "2 blocks of 3 are less than its 8"),
        ({"dargs": (0, None)}, "dargs of dimension 0 is 0"),
        ({"order": "X"}, "order is 'X'"),
        ({"psizes": None}, "a darray needs"),
    ],
)
def test_invalid_arguments_are_errors(change, reason):
    arguments = {
        "size": 4,
        "rank": 0,
        "gsizes": (8, 8),
        "distribs": ("block", "cyclic"),
        "dargs": (None, None),
        "psizes": (2, 2),
    }
    mpi.from_darray(**arguments)
    with pytest.raises(plait.ArgumentError, match=reason):
        mpi.from_darray(**(arguments | change))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("8x8 (gen_block(3, 5), block) onto (2, 2)", "dimension 0 is not distributed in equal blocks"),
        ("8x8 (block, cyclic(3)) onto (2, 2) ranks=F", "C order of the grid"),
        ("8x8 (cyclic, *) onto (2) source=(1, 0)", "C order of the grid|coordinate 0"),
        ("8x8 (block@0, *) onto (2, 2) replicate=(1)", "2 ranks hold each element"),
        ("8x8x2 (block, *, *) onto (2) order=(1, 0, 2)", "order="),
        ("8x0 (block, *) onto (2)", "one element at least"),
        ("8 (block) onto (2) halo=(1)", "halos"),
    ],
)
def test_layouts_outside_darray_are_rejected(text, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        mpi.to_darray(plait.Layout.parse(text), 0)


def test_layouts_outside_subarray_are_rejected():
    for text, rank, reason in [
        ("8 (cyclic) onto (2)", 1, "not consecutive"),
        ("8 (block(8)) onto (2)", 1, "rank 1 owns nothing of dimension 0"),
        ("8 (block) onto (2) halo=(1)", 0, "halos"),
        ("8x8x2 (block, *, *) onto (2) order=(1, 0, 2)", 0, "order="),
        ("scalar ()", 0, "one dimension"),
    ]:
        with pytest.raises(plait.ArgumentError, match=reason):
            mpi.to_subarray(plait.Layout.parse(text), rank)
    with pytest.raises(plait.ArgumentError, match="rank 2"):
        mpi.to_subarray(plait.Layout.parse("8 (block) onto (2)"), 2)


def test_subarrays_of_all_ranks_make_a_layout():
    whole = (4, 6)
    quarters = [(whole, (2, 4), (0, 2)), (whole, (2, 2), (0, 0)), (whole, (2, 2), (2, 0)), (whole, (2, 4), (2, 2))]
    layout = mpi.from_subarrays(quarters)
    assert layout == plait.Layout.parse("4x6 (block, gen_block(2, 4)) onto (2, 2) ranks=(1, 0, 2, 3)")
    replicated = mpi.from_subarrays({rank: quarters[rank // 2] for rank in range(8)})
    assert replicated.replicas == 2
    assert replicated.owners((0, 0)) == (2, 3)
    empty = mpi.from_subarrays([((5,), (5,), (0,), "F"), ((5,), (0,), (5,), "F")])
    assert empty == plait.Layout.parse("5 (gen_block(5, 0)) onto (2)")


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ([], "no subarrays"),
        ([((8,), (4,), (0,)), ((9,), (4,), (4,))], "different arrays"),
        ([((8,), (4,), (0,)), ((8,), (5,), (4,))], "outside"),
        ([((8,), (4,), (0,)), ((8,), (5,), (3,))], "index 3 has more than one owner"),
        ([((8,), (4,), (0,)), ((8,), (3,), (5,))], "index 4 belongs to no rank"),
        ([((8,), (4,), (0,)), ((8,), (3,), (4,))], "index 7 belongs to no rank"),
        ([((8,), (4,))], "has 2 parts"),
        (
            [((4, 4), (2, 4), (0, 0)), ((4, 4), (2, 2), (2, 0)), ((4, 4), (2, 2), (2, 2))],
            "no grid|more than one owner",
        ),
        ([((4, 4), (2, 2), (0, 0)), ((4, 4), (2, 2), (2, 2))], "no grid"),
    ],
)
def test_subarrays_that_form_no_layout_are_rejected(parts, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        mpi.from_subarrays(parts)
