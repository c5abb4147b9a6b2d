"""Zarr chunks and shards that several ranks change in place."""

import os

import numpy as np
import pytest

import plait

SHAPE = (23, 18)


@pytest.mark.parametrize("options", [{"codec": "zstd:1"}, {"codec": "none"}, {"codec": "gzip:1", "shards": (8, 12)}])
def test_all_ranks_change_parts_of_chunks(comm, shared, options):
    path = shared / "a.zarr"
    array = np.arange(SHAPE[0] * SHAPE[1], dtype="i4").reshape(SHAPE)
    with plait.open(path, "w", comm=comm, shape=SHAPE, dtype="i4", chunks=(4, 6), **options) as file:
        layout = plait.Layout(SHAPE, "(block, *)", grid=(comm.size,))
        file.write(np.ascontiguousarray(array[layout.indices(comm.rank)[0]]), layout)
    with plait.open(path, "r+", comm=comm) as file:
        for value, region in enumerate((np.s_[1:20, 2:17], np.s_[5:7], np.s_[:, 3:4]), 1):
            part = array[region]
            part[...] = -value * part
            layout = plait.Layout(part.shape, "(cyclic, *)", grid=(comm.size,))
            file.write(np.ascontiguousarray(part[layout.indices(comm.rank)[0]]), layout, region=region)
            columns = plait.Layout(SHAPE, "(*, block)", grid=(comm.size,))
            np.testing.assert_array_equal(file.read(columns), array[:, columns.indices(comm.rank)[1]])
    assert sorted(os.listdir(path)) == ["c", "zarr.json"]
