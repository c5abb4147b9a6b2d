"""What layouts, conversions and their notations return.  Checked by mypy and basedpyright, never run."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import plait
from plait import config
from plait.notations import dask, mpi, scalapack


def layouts() -> None:
    """A layout and its parts."""
    layout = plait.Layout((8, 12), "(block, *)", grid=(4,), halo=[1, (0, 2)])
    assert_type(plait.Layout.parse("8x12 (block, *) onto (4)"), plait.Layout)
    assert_type(layout.shape, tuple[int, ...])
    assert_type(layout.local_shape(0), tuple[int, ...])
    assert_type(layout.indices(0), tuple[npt.NDArray[np.int64], ...])
    assert_type(layout.index_set(0, 1), plait.IndexSet)
    assert_type(layout.index_set(0, 1) & plait.IndexSet.range(0, 3), plait.IndexSet)
    assert_type(layout.owners((1, 2)), tuple[int, ...])
    assert_type(layout == layout, bool)
    assert_type({layout: 1}, dict[plait.Layout, int])
    assert_type(layout.bit_permutation(), plait.BitPermutation)
    assert_type(plait.indirect([0, 1, 1]), str)


def conversions() -> None:
    """What one layout sends to another."""
    conversion = plait.compose(plait.Layout(8, "(block)", grid=2), plait.Layout(8, "(cyclic)", grid=2))
    assert_type(conversion, plait.Conversion)
    assert_type(conversion.sends(0), list[plait.Message])
    assert_type(conversion.sends(0)[0].elements, int)
    assert_type(conversion.inverse().then(conversion).explain(), str)
    assert_type(plait.relabel("8 (block) onto (2)", "8 (cyclic) onto (2)"), plait.Layout)
    assert_type(plait.same_up_to_ranks("8 (block) onto (2)", "8 (block) onto (2)"), dict[int, int] | None)


def notations() -> None:
    """Layouts as others spell them."""
    matrix = scalapack.from_descriptor([1, 0, 1000, 800, 64, 32, 0, 0, 500], (2, 3))
    assert_type(matrix, plait.Layout)
    assert_type(mpi.from_darray(6, 0, (1000, 800), ("block", "none"), None, (6, 1)), plait.Layout)
    assert_type(dask.to_chunks(matrix), tuple[tuple[int, ...], ...])


def compilers() -> None:
    """What programs in C are compiled with."""
    assert_type(config.cflags(), list[str])
    assert_type(config.libs("mpich"), list[str])
