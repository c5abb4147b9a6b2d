"""Checks of reads: whole arrays, parts and regions against their expected content, and the texts of errors."""

import numpy as np
import pytest

import plait


def check_parts(file: plait.File, array: np.ndarray) -> None:
    """Read a three-dimensional array: the whole array, its parts by a layout, and a region with strides."""
    np.testing.assert_array_equal(file.read(), array)
    layout = plait.Layout(array.shape, "(cyclic(2), block, *)", grid=(2, 2))
    for rank, part in enumerate(file.read(layout)):
        np.testing.assert_array_equal(part, array[np.ix_(*layout.indices(rank))])
    np.testing.assert_array_equal(file.read(region=np.s_[1::3, 2, 1:9]), array[1::3, 2, 1:9])


def open_error_text(kind: type[plait.Error], url: object, mode: str = "r", **options: object) -> str:
    """Return the text of the error that is raised when the array is opened and read."""
    with pytest.raises(kind) as raised:
        plait.open(url, mode, **options).read()
    return str(raised.value)
