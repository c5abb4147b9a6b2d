"""Pencils of mpi4py-fft: its own objects where it is installed, and plain data against numpy.array_split."""

import importlib.util
import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from launching import WELCOME, find_launcher

import plait
from plait.notations import pencil


@pytest.mark.skipif(importlib.util.find_spec("mpi4py_fft") is None, reason="mpi4py-fft is not installed")
@pytest.mark.skipif(find_launcher() is None, reason="no MPI launcher or no mpi4py")
@pytest.mark.parametrize("ranks", [1, 4, 6])
def test_pencils_of_mpi4py_fft(ranks):
    program = Path(__file__).with_name("notation_pencils.py")
    command = [find_launcher(), "-n", str(ranks), sys.executable, program]
    environment = {**os.environ, **WELCOME}
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False, env=environment)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.split() == ["51", "pencils"]


@pytest.mark.parametrize(
    ("shape", "axis", "dims", "axes"),
    [
        ((9, 7), 1, (4, 1), None),
        ((9, 7), -1, (4,), None),
        ((9, 7), 0, (4,), None),
        ((8, 7, 6), 2, (2, 3), None),
        ((8, 7, 6), 0, (2, 3, 1), (2, 1, 0)),
        ((8, 7, 6), 1, (2, 3, 1), (0, 2, 1)),
        ((8, 7, 6, 5), 3, (2, 3), None),
    ],
)
def test_pencils_own_what_array_split_returns(shape, axis, dims, axes):
    layout = pencil.from_pencil(shape, axis, dims, axes)
    extents = list(dims) + [1] * (len(shape) - 1 - len(dims))
    if len(extents) < len(shape):
        extents.insert(axis % len(shape), 1)
    grid_axes = axes or range(len(shape))
    for rank, position in enumerate(itertools.product(*map(range, extents))):
        for d, grid_axis in enumerate(grid_axes):
            expected = np.array_split(np.arange(shape[d]), extents[grid_axis])[position[grid_axis]]
            np.testing.assert_array_equal(layout.indices(rank)[d], expected)
    assert pencil.from_pencil(*pencil.to_pencil(layout)) == layout
    assert pencil.to_pencil(layout, axis).axis == axis % len(shape)


def test_a_pencil_may_number_its_grid_in_another_order():
    layout = plait.Layout.parse("7x9x5 (*, balanced@1, balanced@0) onto (2, 4)")
    assert pencil.to_pencil(layout) == ((7, 9, 5), 0, (1, 2, 4), (0, 2, 1))


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (((9,), 0, (1,)), "2 dimensions or more"),
        (((9, 7), 1), "dims is missing"),
        (((9, 7), 2, (3,)), "axis is 2"),
        (((9, 7), 1, (3, 2)), "aligned with dimension 1, but 2 ranks"),
        (((2, 7), 1, (3,)), "2 indices for 3 ranks"),
        (((9, 7), 1, (3, 1, 1)), "dims has length 3; expected 2"),
        (((9, 7), 1, (3, 1), (0, 0)), "each grid dimension"),
    ],
)
def test_invalid_pencils_are_errors(arguments, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        pencil.from_pencil(*arguments)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("9x7 (block, *) onto (4)", "not balanced"),
        ("9x7 (balanced, balanced) onto (3, 2)", "one of which is not distributed"),
        ("9 (balanced) onto (3)", "2 dimensions or more"),
        ("2x7 (gen_block(1, 0, 1), *) onto (3)", "2 indices for 3 ranks"),
        ("9x7 (balanced, *) onto (4) ranks=(1, 2, 3, 4)", "C order"),
        ("9x7 (balanced, *) onto (4) ranks=(3, 2, 1, 0)", "not balanced"),
        ("9x7 (balanced, *) onto (4) order=F", "order=F"),
        ("9x7 (balanced, *) onto (4) halo=(1, 0)", "halos"),
        ("9x7 (balanced@0, *) onto (4, 2) replicate=(1)", "a pencil gives each to one"),
    ],
)
def test_layouts_outside_the_notation_are_rejected(text, reason):
    with pytest.raises(plait.ArgumentError, match=reason):
        pencil.to_pencil(plait.Layout.parse(text))
    with pytest.raises(plait.ArgumentError, match="dimension 0 is distributed"):
        pencil.to_pencil(plait.Layout.parse("9x7 (balanced, *) onto (4)"), 0)
