"""Every kind of HDF5 chunk index, with unlimited dimensions at every position, compared with h5py."""

import itertools
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import plait

h5py = pytest.importorskip("h5py")

# Shape and chunks for each number of dimensions; in the last dimension the chunks at the edge are partial.
SHAPES = {1: ((7,), (2,)), 2: ((5, 7), (2, 3)), 3: ((4, 5, 7), (2, 2, 3)), 4: ((3, 4, 2, 5), (2, 2, 1, 3))}
# The kinds of chunk indices by their numbers in the specification of the format.
SINGLE, IMPLICIT, FIXED_ARRAY, EXTENSIBLE_ARRAY, VERSION_2_TREE = range(1, 6)


def maximum_shapes(shape: tuple[int, ...]) -> list[tuple[int | None, ...]]:
    """Return maximum shapes: each dimension has a fixed length, may grow by 4, or is unlimited."""
    return list(itertools.product(*((extent, extent + 4, None) for extent in shape)))


def dataset_options(rank: int) -> list[dict[str, object]]:
    """Return the options of datasets with every combination of maximum shape and compression."""
    shape, chunks = SHAPES[rank]
    filters = ({}, {"compression": "gzip"})
    variants = [
        {"chunks": chunks, "maxshape": maximum, **options} for maximum in maximum_shapes(shape) for options in filters
    ]
    return [*variants, {"chunks": shape}, {"chunks": shape, "compression": "gzip"}]


def index_kind(dataset: "h5py.Dataset") -> int:
    """Return the kind of index that the specification prescribes for a dataset with version 4 of the layout message."""
    unlimited = sum(extent is None for extent in dataset.maxshape)
    if unlimited:
        return EXTENSIBLE_ARRAY if unlimited == 1 else VERSION_2_TREE
    if dataset.maxshape == dataset.chunks:
        return SINGLE
    early = dataset.id.get_create_plist().get_alloc_time() == h5py.h5d.ALLOC_TIME_EARLY
    return IMPLICIT if early and dataset.compression is None else FIXED_ARRAY


def write_datasets(path: Path, rank: int, libver: str = "latest") -> tuple[dict[str, np.ndarray], set[int]]:
    """Write datasets with all options, and return their arrays by name and the kinds of their indices."""
    array = np.arange(math.prod(SHAPES[rank][0]), dtype="i4").reshape(SHAPES[rank][0])
    expected, kinds = {}, set()
    with h5py.File(path, "w", libver=(libver, libver)) as file:
        for number, options in enumerate(dataset_options(rank)):
            for variant in ("whole", "part", "early"):
                name = f"{number}{variant}"
                early = {"dcpl": make_early_allocation()} if variant == "early" else {}
                dataset = file.create_dataset(name, array.shape, "i4", fillvalue=-1, **options, **early)
                if variant == "part":  # some chunks are missing
                    dataset[..., array.shape[-1] // 2 :] = array[..., array.shape[-1] // 2 :]
                else:
                    dataset[...] = array
                expected[name] = dataset[...]
                kinds.add(index_kind(dataset))
    return expected, kinds


def make_early_allocation() -> "h5py.h5p.PropDCID":
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    return properties


@pytest.mark.parametrize("rank", SHAPES)
def test_all_kinds_of_indices_are_read(tmp_path, rank):
    expected, kinds = write_datasets(tmp_path / "a.h5", rank)
    assert kinds >= {SINGLE, IMPLICIT, FIXED_ARRAY, EXTENSIBLE_ARRAY} | ({VERSION_2_TREE} if rank > 1 else set())
    for name, array in expected.items():
        with plait.open(f"{tmp_path}/a.h5::{name}") as file:
            np.testing.assert_array_equal(file.read(), array, err_msg=name)


def test_arrays_that_grew_and_shrank_are_read(tmp_path):
    """The file still contains the elements of an extensible array that are outside the shape."""
    arrays = []
    with h5py.File(tmp_path / "a.h5", "w", libver="latest") as file:
        for number, maximum in enumerate(maximum_shapes((4, 6, 5))):
            dataset = file.create_dataset(str(number), (4, 6, 5), "i4", chunks=(2, 3, 2), maxshape=maximum)
            dataset[...] = number
            for extents in ((8, 10, 9), (4, 8, 5), (3, 7, 6)):
                limits = zip(extents, maximum, strict=True)
                dataset.resize([extent if maximum is None else min(extent, maximum) for extent, maximum in limits])
                dataset[...] = np.arange(dataset.size).reshape(dataset.shape)
            arrays.append(dataset[...])
    for number, array in enumerate(arrays):
        with plait.open(f"{tmp_path}/a.h5::{number}") as file:
            np.testing.assert_array_equal(file.read(), array)


def test_an_older_library_reads_all_kinds_of_indices(tmp_path):
    older = sorted(Path("/usr/lib").glob("*/libhdf5*.so.103"))
    if not older:
        pytest.skip("no HDF5 1.10 or 1.12 in /usr/lib")
    expected, _ = write_datasets(tmp_path / "a.h5", 3, "v110")
    np.savez(tmp_path / "expected.npz", **expected)
    code = f"""
import numpy, plait
for name, array in numpy.load({str(tmp_path / "expected.npz")!r}).items():
    numpy.testing.assert_array_equal(plait.open({str(tmp_path / "a.h5")!r} + "::" + name).read(), array, err_msg=name)
"""
    environment = {**os.environ, "PLAIT_HDF5": str(older[0])}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
